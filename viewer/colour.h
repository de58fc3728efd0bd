/* Whether what a command prints for people has colour: one answer for all of them. */
#ifndef SEEP_VIEWER_COLOUR_H
#define SEEP_VIEWER_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

/* In the order of the words of --color. */
enum seep_colour { SEEP_COLOUR_AUTO, SEEP_COLOUR_ALWAYS, SEEP_COLOUR_NEVER };

/* What the user wants of this process; until then it is AUTO. */
void seep_colour_choose(enum seep_colour wanted);

/* Whether text on `out` has colour. AUTO: on a terminal that is not dumb, without NO_COLOR. */
bool seep_colour_of(FILE *out);

#endif

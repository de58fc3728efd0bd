/* Whether a command's output for people is coloured: one answer for all commands. */
#ifndef SEEP_VIEWER_COLOUR_H
#define SEEP_VIEWER_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

/* In the order of the words of --color. */
enum seep_colour { SEEP_COLOUR_AUTO, SEEP_COLOUR_ALWAYS, SEEP_COLOUR_NEVER };

/* Sets the user's choice for this process; AUTO before the first call. */
void seep_colour_choose(enum seep_colour wanted);

/* Whether text on `out` has colour. AUTO: on a terminal that is not dumb, without NO_COLOR. */
bool seep_colour_of(FILE *out);

#endif

/* What several looks say of a process's, or a tree's, growth as a whole. */
#ifndef SEEP_LIBPROF_PRINT_LOOK_GROWTH_TEXT_H
#define SEEP_LIBPROF_PRINT_LOOK_GROWTH_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* How fast live memory and what is resident grow; the part that most of the latter is, if it is not
 * what is live; and when the limit is reached. */
void seep_look_put_growth(const json_t *look, FILE *out);

#endif

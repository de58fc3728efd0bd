/* Tables for a terminal. */
#ifndef SEEP_KERNELS_TABLE_H
#define SEEP_KERNELS_TABLE_H

#include <jansson.h>
#include <stdio.h>

/* The rows of rows.h, a scenario after the other, and a last line that counts them: those of a run
 * that was not ended are fewer than there would be, and are said to be. */
void seep_table_print_verdicts(const json_t *rows, FILE *out);

/* An array of objects; their keys are the columns, as they come up. Numbers stand right, with four
 * digits; texts left. */
void seep_table_print(const json_t *objects, FILE *out);

#endif

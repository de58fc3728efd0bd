/* Tables for a terminal. */
#ifndef SEEP_KERNELS_TABLE_H
#define SEEP_KERNELS_TABLE_H

#include <jansson.h>
#include <stdio.h>

/* The rows of rows.h, a scenario after the other; at the end those that fail once more, and a line
 * that counts all and says how long they took. On a terminal a row that is wider goes on in lines
 * of its own. */
void seep_table_print_verdicts(const json_t *rows, double seconds, FILE *out);

/* An array of objects; their keys are the columns, as they come up. Numbers stand right, with four
 * digits; texts left. */
void seep_table_print(const json_t *objects, FILE *out);

#endif

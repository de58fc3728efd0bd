/* What a look document says of one process, or of all of a tree together. */
#ifndef SEEP_LIBPROF_PRINT_LOOK_SUMS_H
#define SEEP_LIBPROF_PRINT_LOOK_SUMS_H

#include <jansson.h>
#include <stdbool.h>

/* The first or the last look. */
const json_t *seep_look_at(const json_t *look, bool last);

/* The sum over all processes that were there, in the first or the last round. */
double seep_look_total(const json_t *look, bool last, const char *key);

/* From the first look to the last. */
double seep_look_minutes(const json_t *look);

/* The holders of one process, or of all processes together. */
const json_t *seep_look_holders(const json_t *look);

/* Bytes on each GPU, by name, in the last round. A new reference. */
json_t *seep_look_devices(const json_t *look);

#endif

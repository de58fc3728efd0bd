/* Finds the common caller of many lines: walks down the tree of stacks while one child has most of
 * the bytes. */
#ifndef SEEP_LIBPROF_MEASURE_COMMON_CALLER_H
#define SEEP_LIBPROF_MEASURE_COMMON_CALLER_H

#include "libprof/model/model.h"

struct seep_common_caller {
    uint32_t stack; /* of the dictionary; 0: no stack has most of them below it */
    double bytes;   /* of the sites below it, itself included */
};

/* For sites[0, n), which have bytes[0, n), none negative. Returns 0 or -SEEP_ENOMEM. Allocates:
 * scratch. */
SEEP_MUST_CHECK int seep_common_caller_find(const struct seep_model *m, const uint32_t *sites,
                                            const double *bytes, size_t n,
                                            struct seep_common_caller *out);

#endif

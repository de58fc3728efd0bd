/* Scenes in the formats that the lab reads, made up: `seep-lab make-data`. */
#ifndef SEEP_KERNELS_DATA_KINDS_H
#define SEEP_KERNELS_DATA_KINDS_H

#include "libprof/base/error.h"

#include <stdint.h>

struct seep_data_kind {
    const char *name;
    /* Into an empty folder. 0 or a negative SEEP_E…, why in *err. */
    int (*make)(const char *folder, double scale, uint64_t seed, struct seep_error *err);
};

/* Ends with a NULL name. */
extern const struct seep_data_kind seep_data_kinds[];

#endif

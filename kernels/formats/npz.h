/* NumPy's .npz: a zip of .npy arrays (through libzip). */
#ifndef SEEP_KERNELS_NPZ_H
#define SEEP_KERNELS_NPZ_H

#include "libprof/error.h"

#include <stddef.h>
#include <stdint.h>

struct seep_npy {
    char kind;       /* 'f', 'i', 'u' or 'b' */
    unsigned item_bytes;
    unsigned n_dims; /* 0 … 4 */
    size_t shape[4];
    size_t n_items;
    void *values;    /* C order, little-endian; Fortran order is refused */
};

/* One array of the file, without ".npy" in its name. free() the values. */
SEEP_MUST_CHECK int seep_npz_read(const char *path, const char *name, struct seep_npy *out,
                                  struct seep_error *err);
SEEP_MUST_CHECK int seep_npy_from_bytes(const void *bytes, size_t n, struct seep_npy *out,
                                        struct seep_error *err);

#endif

/* NumPy's .npy: one array. */
#ifndef SEEP_KERNELS_NPY_H
#define SEEP_KERNELS_NPY_H

#include "libprof/base/error.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct seep_npy {
    char kind; /* 'f' (of 2, 4 or 8 bytes), 'i', 'u' (1 to 8) or 'b' (1) */
    unsigned item_bytes;
    unsigned n_dims; /* 0 … 4 */
    size_t shape[4];
    size_t n_items;
    void *values; /* C order, little-endian, aligned as malloc() does; free() it */
};

/* A lone .npy file's bytes; nothing may follow the values. */
SEEP_MUST_CHECK int seep_npy_from_bytes(const void *bytes, size_t n, struct seep_npy *out,
                                        struct seep_error *err);

/* The beginning of such a file: fills all of *out but the values and sets *begin to where they are.
 * All of the n bytes are there; the values take them exactly to the end. The error has no file. */
SEEP_MUST_CHECK int seep_npy_header(const void *bytes, size_t n, struct seep_npy *out,
                                    size_t *begin, struct seep_error *err);

#ifdef __cplusplus
}
#endif
#endif

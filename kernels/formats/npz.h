/* NumPy's .npz: a zip of .npy arrays (through libzip). */
#ifndef SEEP_KERNELS_NPZ_H
#define SEEP_KERNELS_NPZ_H

#include "kernels/formats/npy.h"
#include "libprof/base/error.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One array of the file, without ".npy" in its name. Stored and deflated entries are read, as NumPy
 * writes them; Fortran order, big-endian numbers, texts, records and objects are refused with a
 * word. Memory is taken for what the file can hold (deflate packs 1032 to 1 at best), 4 GiB at
 * most. 0, -SEEP_EIO, -SEEP_ENODATA (no array of that name), -SEEP_EFORMAT, -SEEP_EVERSION,
 * -SEEP_ENOMEM. Threads: safe on distinct outputs. */
SEEP_MUST_CHECK int seep_npz_read(const char *path, const char *name, struct seep_npy *out,
                                  struct seep_error *err);
SEEP_MUST_CHECK int seep_npz_from_bytes(const void *bytes, size_t n, const char *name,
                                        struct seep_npy *out, struct seep_error *err);

#ifdef __cplusplus
}
#endif
#endif

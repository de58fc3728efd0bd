/* The beginning of a .npy file. */
#ifndef SEEP_KERNELS_NPZ_HEADER_H
#define SEEP_KERNELS_NPZ_HEADER_H

#include "kernels/formats/npz.h"

/* Fills all of *out but the values and sets *begin to where they are. All of the n bytes are there;
 * the values take them exactly to the end. The error has no file. */
SEEP_MUST_CHECK int seep_npy_header(const void *bytes, size_t n, struct seep_npy *out,
                                    size_t *begin, struct seep_error *err);

#endif

/* PLY (Turk, 1994): ascii, binary_little_endian, binary_big_endian; any elements and properties,
 * lists included. */
#ifndef SEEP_KERNELS_PLY_H
#define SEEP_KERNELS_PLY_H

#include "kernels/formats/ply_types.h"
#include "libprof/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a file of at most 4 GiB. What a header claims is held against the bytes that are left
 * before memory is taken: a file of n bytes takes at most about 16 n. Fields of ascii bodies are
 * split by any white space; comments and obj_info are not kept; the first of two properties of one
 * name counts. Infinities and NaN are values like others. Strict: a list's count is an integer and
 * not negative, an element that has items has properties, integers fit their types, nothing but
 * white space (ascii) or nothing at all (binary) follows the last item.
 *
 * 0, -SEEP_EIO, -SEEP_EFORMAT (err->offset says where), -SEEP_ENOMEM; *out only where 0.
 * Threads: safe on distinct outputs. */
SEEP_MUST_CHECK int seep_ply_read(const char *path, struct seep_ply **out, struct seep_error *err);
SEEP_MUST_CHECK int seep_ply_from_bytes(const void *bytes, size_t n, struct seep_ply **out,
                                        struct seep_error *err);
/* Writes in ply->encoding; in ascii with the digits that bring every value back (of a NaN, only
 * that it is one). -SEEP_EINVAL where a name is no word or a list's length does not fit its
 * count_type; -SEEP_EIO. */
SEEP_MUST_CHECK int seep_ply_write(const char *path, const struct seep_ply *ply,
                                   struct seep_error *err);
void seep_ply_free(struct seep_ply *ply);

/* NULL where there is none of that name; the property must be a scalar of that type. The
 * values are aligned as malloc() does. An element without items gives a pointer that must not be
 * read. */
const struct seep_ply_element *seep_ply_element(const struct seep_ply *ply, const char *name);
const void *seep_ply_scalars(const struct seep_ply_element *element, const char *name,
                             enum seep_ply_type type);
size_t seep_ply_type_bytes(enum seep_ply_type type);

#ifdef __cplusplus
}
#endif
#endif

/* Whole files, bounded, and a cursor over untrusted bytes. Threads: safe on distinct outputs. */
#ifndef SEEP_KERNELS_BYTE_FILE_H
#define SEEP_KERNELS_BYTE_FILE_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Reads a regular file of at most `most` bytes; *bytes has a 0 behind it and is free()d by the
 * caller. 0, -SEEP_EIO (also what is no regular file, or grows meanwhile), -SEEP_EFORMAT (too
 * large), -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_file_read(const char *path, size_t most, uint8_t **bytes, size_t *n,
                                   struct seep_error *err);

/* A zlib stream unpacks to at most this many times its size (zlib's technical notes). */
enum { SEEP_MAX_DEFLATE_RATIO = 1032 };

/* Little-endian records; reading past the end gives zeros and sets `short_`. */
struct seep_bytes {
    const uint8_t *at, *end, *begin;
    bool short_;
};

struct seep_bytes seep_bytes_of(const void *bytes, size_t n);
size_t seep_bytes_left(const struct seep_bytes *b);
uint64_t seep_bytes_offset(const struct seep_bytes *b);
uint8_t seep_bytes_u8(struct seep_bytes *b);
uint32_t seep_bytes_u32(struct seep_bytes *b);
uint64_t seep_bytes_u64(struct seep_bytes *b);
double seep_bytes_f64(struct seep_bytes *b);
const uint8_t *seep_bytes_take(struct seep_bytes *b, size_t n); /* NULL past the end */

/* Whether a name from an untrusted file stays in the folder that it is relative to: not empty, not
 * absolute, no component "..", no control character, no space at either end, under 4096 bytes. */
bool seep_name_is_safe(const char *name);

/* A file written whole or not at all: a temporary beside `path`, renamed by _commit. Either _commit
 * or _cancel ends a writer that was opened; write errors may be left to _commit, which looks at the
 * stream. -SEEP_EIO; -SEEP_EINVAL for a path that is empty or too long. */
struct seep_file_writer {
    FILE *stream;
    char path[4096], temporary[4104];
};
SEEP_MUST_CHECK int seep_file_writer_open(struct seep_file_writer *w, const char *path,
                                          struct seep_error *err);
SEEP_MUST_CHECK int seep_file_writer_commit(struct seep_file_writer *w, struct seep_error *err);
void seep_file_writer_cancel(struct seep_file_writer *w);

#endif

/* A long text in memory, compressed while it is written: to be read once, at the end. */
#ifndef SEEP_LIBPROF_BASE_PACKED_TEXT_H
#define SEEP_LIBPROF_BASE_PACKED_TEXT_H

#include "libprof/base/error.h"

#include <stddef.h>

enum { SEEP_PACKED_TEXT_PIECE = 1024 };

/* All zero: empty. */
struct seep_packed_text {
    struct z_stream_s *z; /* NULL: nothing was added, or no more is */
    unsigned char *bytes;
    size_t n, capacity;
    size_t n_next;
    char next[SEEP_PACKED_TEXT_PIECE]; /* is compressed once it is full */
};

/* Return 0 or -SEEP_ENOMEM. Allocate. */
SEEP_MUST_CHECK int seep_packed_text_add(struct seep_packed_text *text, const char *bytes,
                                         size_t n);
SEEP_MUST_CHECK int
seep_packed_text_end(struct seep_packed_text *text); /* Nothing more is added. */

/* After its end: gives all of it to `put`, which returns 0 or -1. Returns 0, -SEEP_ENOMEM or, if
 * `put` failed, -SEEP_EIO. Allocates. */
SEEP_MUST_CHECK int seep_packed_text_write(const struct seep_packed_text *text,
                                           int (*put)(const char *bytes, size_t n, void *context),
                                           void *context);
void seep_packed_text_fini(struct seep_packed_text *text);

#endif

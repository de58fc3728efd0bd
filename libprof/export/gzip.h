/* Bytes on their way into a stream, compressed as gzip has it. */
#ifndef SEEP_LIBPROF_EXPORT_GZIP_H
#define SEEP_LIBPROF_EXPORT_GZIP_H

#include "libprof/base/error.h"

#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

struct seep_gzip {
    z_stream z;
    FILE *out;
    int rc; /* the first error: nothing is written after it */
};

/* Begins; seep_gzip_end() either way. Allocates. */
void seep_gzip_begin(struct seep_gzip *gzip, FILE *out);
void seep_gzip_write(struct seep_gzip *gzip, const void *bytes, size_t n);

/* Writes what is left. Returns 0, -SEEP_ENOMEM or -SEEP_EIO, of all that was written. */
SEEP_MUST_CHECK int seep_gzip_end(struct seep_gzip *gzip);

#endif

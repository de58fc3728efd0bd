/* A stream that compresses bytes with gzip and writes them to a file. */
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

/* Begins; call seep_gzip_end() whatever happens. Allocates. */
void seep_gzip_begin(struct seep_gzip *gzip, FILE *out);
void seep_gzip_write(struct seep_gzip *gzip, const void *bytes, size_t n);

/* Writes the rest. Returns 0, -SEEP_ENOMEM or -SEEP_EIO for all that was written. */
SEEP_MUST_CHECK int seep_gzip_end(struct seep_gzip *gzip);

#endif

/* Files of other tools, plain or packed by gzip. */
#ifndef SEEP_LIBPROF_TORCH_PACKED_FILE_H
#define SEEP_LIBPROF_TORCH_PACKED_FILE_H

#include "libprof/base/error.h"

#include <zlib.h>

/* A regular file, for gzread() and gzclose(); NULL with *err, which may be NULL. A pipe or a
 * terminal does not block. */
gzFile seep_packed_open(const char *path, struct seep_error *err);

#endif

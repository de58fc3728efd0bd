/* Sizes as users write them. */
#ifndef SEEP_LIBPROF_BASE_SIZE_PARSE_H
#define SEEP_LIBPROF_BASE_SIZE_PARSE_H

#include "libprof/base/error.h"

#include <stdint.h>

/* Parses "4096", "64MiB", "1.5GB", "512k": a decimal number and a unit. KiB, MiB, GiB, TiB and the
 * bare letters K, M, G, T are powers of 1024; kB, MB, GB, TB powers of 1000; case does not matter.
 * The result is rounded to whole bytes. Returns 0, or -SEEP_EINVAL if it is not a size or above
 * 2^63. */
SEEP_MUST_CHECK int seep_size_parse(const char *text, uint64_t *bytes);

#endif

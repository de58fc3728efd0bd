/* Pages of machines: 4 KiB on x86-64; on 64-bit Arm 4, 16 or 64 KiB, as its kernel was built. */
#ifndef SEEP_LIBPROF_FORMAT_PAGE_FORMAT_H
#define SEEP_LIBPROF_FORMAT_PAGE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* Whoever needs no more than "within one page", "a page or more", or a step that misses no page,
 * takes the least of all machines. */
enum { SEEP_LEAST_PAGE_BYTES = 4096, SEEP_MOST_PAGE_BYTES = 65536 };

static inline bool seep_is_page_size(uint64_t bytes)
{
    return bytes >= SEEP_LEAST_PAGE_BYTES && bytes <= SEEP_MOST_PAGE_BYTES &&
           (bytes & (bytes - 1)) == 0;
}

#endif

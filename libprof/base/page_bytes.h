/* The page of the machine that this program runs on, in bytes: 4 KiB, or on 64-bit Arm also 16 or
 * 64 KiB. A file may be another machine's (seep_header_page_bytes()). */
#ifndef SEEP_LIBPROF_BASE_PAGE_BYTES_H
#define SEEP_LIBPROF_BASE_PAGE_BYTES_H

#include <stdint.h>

uint64_t seep_page_bytes(void);

#endif

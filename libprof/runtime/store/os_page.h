/* The page of this machine, in bytes. Asked once, of what the kernel hands to each program: no
 * system call. Runtime part. Threads: any. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_OS_PAGE_H
#define SEEP_LIBPROF_RUNTIME_STORE_OS_PAGE_H

#include <stdint.h>

extern uintptr_t seep_os_page_known; /* 0: not asked yet. Tests set it */

uintptr_t seep_os_page_bytes(void);

/* log2 of it. */
unsigned seep_os_page_bits(void);

/* An address or a size, rounded to pages. */
uintptr_t seep_os_page_down(uintptr_t at);
uintptr_t seep_os_page_up(uintptr_t at);

#endif

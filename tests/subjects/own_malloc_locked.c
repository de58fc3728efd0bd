/* own_malloc with its own lock around mmap, such as jemalloc and Chromium's PartitionAlloc hold:
 * rustc and therefore every cargo build. */
#define OWN_MALLOC_LOCK
#include "own_malloc.c"

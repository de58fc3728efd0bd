/* own_malloc with a lock of its own around mmap, as jemalloc and Chromium's PartitionAlloc hold
 * one: rustc and with it every cargo build. */
#define OWN_MALLOC_LOCK
#include "own_malloc.c"

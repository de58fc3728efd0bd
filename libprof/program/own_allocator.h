/* Which allocator a program or library contains, judged by the names and texts in its file. */
#ifndef SEEP_LIBPROF_PROGRAM_OWN_ALLOCATOR_H
#define SEEP_LIBPROF_PROGRAM_OWN_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>

struct seep_own_allocator {
    char name[24];    /* "jemalloc", … */
    char version[24]; /* "5.3.0"; "": unknown */
};

/* Searches the ELF file `path`: its string tables and read-only data, a bounded part of each.
 * False: no known allocator, or the file cannot be read. Any bytes are safe. Allocates scratch. */
bool seep_own_allocator_find(const char *path, struct seep_own_allocator *found);

/* Searches the bytes of such a part and adds to *found, which begins as zero. True: its name and
 * version are known. Pure. */
bool seep_own_allocator_scan(const char *bytes, size_t n, struct seep_own_allocator *found);

/* "jemalloc 5.3.0" */
enum { SEEP_OWN_ALLOCATOR_TEXT = 56 };
const char *seep_own_allocator_text(const struct seep_own_allocator *a,
                                    char text[SEEP_OWN_ALLOCATOR_TEXT]);

#endif

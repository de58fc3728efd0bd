/* Allocators that libraries bring: library_allocators.def. */
#ifndef SEEP_LIBPROF_CODE_LIBRARY_ALLOCATORS_H
#define SEEP_LIBPROF_CODE_LIBRARY_ALLOCATORS_H

#include "libprof/code/code.h"

/* As the table describes; none is NULL. */
struct seep_library_allocator {
    const char *library;
    const char *package, *function; /* of what asked for the memory */
    const char *distribution;
    const char *allocator;
    const char *live, *setting;
};

enum { SEEP_PACKAGE_NAME = 64 };

/* The package whose code asked for a stack's memory, by the innermost frame that belongs to one.
 * False: a file of no package asked, as a malloc that was preloaded, or Python for the user's line.
 */
bool seep_package_that_asked(const struct seep_code *code, uint32_t stack,
                             char package[SEEP_PACKAGE_NAME]);

/* The allocator that asked for a stack's memory; NULL: none of the table. Looks up symbols. Returns
 * 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_library_allocator_of_stack(const struct seep_code *code, uint32_t stack,
                                                    const struct seep_library_allocator **out);

/* "pyarrow 26.0.1"; without the version if it is not known for sure: only if the library's file is
 * still the one that the job used, its names having been read, is what is installed beside it. */
char *seep_library_allocator_name(const struct seep_code *code, uint32_t stack,
                                  const struct seep_library_allocator *its);

#endif

/* The Python files that a job ran, read only if they have not changed since. */
#ifndef SEEP_LIBPROF_SOURCE_SOURCE_FILES_H
#define SEEP_LIBPROF_SOURCE_SOURCE_FILES_H

#include "libprof/source/python_source.h"

enum { SEEP_SOURCE_MAX_FILES = 256 };

struct seep_source_file {
    uint32_t name; /* the caller's number for it */
    char *bytes;
    struct seep_python_source source;
};

struct seep_source_files {
    struct seep_source_file *list;
    size_t n, capacity;
    size_t bytes; /* of all of them */
};

/* Adds a regular file whose name ends in ".py" and that was last changed before `before_unix_ns`;
 * silently leaves out others, files that are not Python, and files without room. `cwd`: base of
 * relative names. Returns 0 or -SEEP_ENOMEM. Allocates: free with seep_source_files_fini(). */
SEEP_MUST_CHECK int seep_source_files_add(struct seep_source_files *files, uint32_t name,
                                          const char *path, const char *cwd,
                                          uint64_t before_unix_ns);
void seep_source_files_fini(struct seep_source_files *files);

/* Removes the file added last. */
void seep_source_files_drop(struct seep_source_files *files);

/* The file with that number; NULL if there is none. */
const struct seep_source_file *seep_source_files_find(const struct seep_source_files *files,
                                                      uint32_t name);

#endif

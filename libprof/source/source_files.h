/* The Python files that a job ran, read where they are still what they were. */
#ifndef SEEP_LIBPROF_SOURCE_SOURCE_FILES_H
#define SEEP_LIBPROF_SOURCE_SOURCE_FILES_H

#include "libprof/source/python_source.h"

enum { SEEP_SOURCE_MAX_FILES = 256 };

struct seep_source_file {
    uint32_t name; /* the caller's number of it */
    char *bytes;
    struct seep_python_source source;
};

struct seep_source_files {
    struct seep_source_file *list;
    size_t n, capacity;
    size_t bytes; /* of all of them */
};

/* Adds a regular file whose name ends in ".py" and that was last changed before `before_unix_ns`;
 * another is silently left out, and so is what is no Python or has no room. `cwd`: what a relative
 * name is below. Returns 0 or -SEEP_ENOMEM. Allocates: free with seep_source_files_fini(). */
SEEP_MUST_CHECK int seep_source_files_add(struct seep_source_files *files, uint32_t name,
                                          const char *path, const char *cwd,
                                          uint64_t before_unix_ns);
void seep_source_files_fini(struct seep_source_files *files);

/* Leaves out the last one that was added, after all. */
void seep_source_files_drop(struct seep_source_files *files);

/* The file of that number; NULL where it is not there. */
const struct seep_source_file *seep_source_files_find(const struct seep_source_files *files,
                                                      uint32_t name);

#endif

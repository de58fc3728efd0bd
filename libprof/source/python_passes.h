/* Where a Python file passes on what a line made: some call that gets it may keep a reference. */
#ifndef SEEP_LIBPROF_SOURCE_PYTHON_PASSES_H
#define SEEP_LIBPROF_SOURCE_PYTHON_PASSES_H

#include "libprof/source/python_source.h"

enum { SEEP_PASSES_MAX = 3 };

struct seep_passes {
    uint32_t list[SEEP_PASSES_MAX]; /* statements */
    size_t n;                       /* 0: none, or too many to be clear */
    bool returned;                  /* the line gives it to its caller instead */
};

/* Of the statement at `line`: those that pass the variable to a call to which it assigns, or itself
 * if it passes the result of one call to another. Pure. */
void seep_python_passes_find(const struct seep_python_source *source, uint64_t line,
                             struct seep_passes *passes);

#endif

/* Which CPython a process runs, and where that has its state: by the symbols of the program or of
 * the library that it is in. */
#ifndef SEEP_LIBPROF_LOOK_PYTHON_RUNTIME_H
#define SEEP_LIBPROF_LOOK_PYTHON_RUNTIME_H

#include "libprof/who/find/copy_memory.h"
#include "libprof/who/graph/process_maps.h"

struct seep_python_runtime {
    uint64_t address; /* of _PyRuntime */
    uint32_t version; /* PY_VERSION_HEX; where it does not tell (before 3.11), of its file's name */
};

/* False: there is none. Files are opened as `pid` sees them. */
bool seep_python_runtime_find(struct seep_python_runtime *runtime, const struct seep_maps *maps,
                              struct seep_copy_memory *memory, pid_t pid);

#endif

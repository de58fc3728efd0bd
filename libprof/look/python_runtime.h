/* Which CPython a process runs and where its state is, found by the symbols of the program or
 * library that contains it. */
#ifndef SEEP_LIBPROF_LOOK_PYTHON_RUNTIME_H
#define SEEP_LIBPROF_LOOK_PYTHON_RUNTIME_H

#include "libprof/who/process/remote.h"

struct seep_python_runtime {
    uint64_t address; /* of _PyRuntime */
    uint32_t
        version;   /* PY_VERSION_HEX; before 3.11, which does not store it, from the file's name */
    bool no_gil;   /* free-threaded: objects are others */
    bool mimalloc; /* which allocates its objects */
    bool starts;   /* it cannot run code yet */
    bool ends;     /* it takes them apart */
};

/* False: there is none. Opens files as the remote says. */
bool seep_python_runtime_find(struct seep_python_runtime *runtime, const struct seep_maps *maps,
                              struct seep_remote *remote);

#endif

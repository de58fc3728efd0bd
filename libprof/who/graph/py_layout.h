/* Which Python a process runs, and where that keeps what. What is read by these offsets is checked:
 * a type must be a type, a length fit its block. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_LAYOUT_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_LAYOUT_H

#include "libprof/format/python_layout.h"

struct seep_python_types;

struct seep_python {
    const struct seep_python_layout *layout; /* NULL: no Python, or one that is not known */
    uint64_t runtime;
    struct seep_python_types *types;
};

#endif

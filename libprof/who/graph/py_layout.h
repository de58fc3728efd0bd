/* Which Python a process runs, and where that version keeps its fields. Whatever these offsets lead
 * to is checked: a type must be a type, and a length must fit its block. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_LAYOUT_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_LAYOUT_H

#include "libprof/format/python_layout.h"

struct seep_python_types;

struct seep_python {
    const struct seep_python_layout *layout; /* NULL: no Python, or an unknown one */
    uint64_t runtime;
    struct seep_python_types *types;
};

#endif

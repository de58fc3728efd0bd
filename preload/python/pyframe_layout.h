/* Which layout the interpreter of this process has. Layouts of 3.8 to 3.13 are in the table of
 * libprof/format/python_layout.h; seep_pylayout_fits() catches vendors' changes. From 3.14 on they
 * come from the table that the interpreter carries (_Py_DebugOffsets).
 *
 * Threads: any. Allocates: never. */
#ifndef SEEP_PRELOAD_PYTHON_PYFRAME_LAYOUT_H
#define SEEP_PRELOAD_PYTHON_PYFRAME_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libprof/format/python_layout.h"

/* Where _Py_DebugOffsets has its groups, in 64-bit words from the start of _PyRuntime. 3.13's only
 * confirm the layout; later ones provide it. A group has its size first; later versions add fields
 * at the ends of groups. */
#define SEEP_PYDEBUG_RUNTIME 3
struct seep_pydebug {
    uint32_t minor;
    unsigned thread, frame, code, object, type, tuple, bytes, text;
};
static const struct seep_pydebug seep_pydebug[] = {
    {.minor = 13, .thread = 19, .frame = 28, .code = 34},
    {14, 22, 31, 39, 50, 52, 56, 74, 77},
    {15, 22, 39, 47, 58, 60, 68, 86, 89},
};

/* NULL: a version without one, or an unknown one. */
static inline const struct seep_pydebug *seep_pydebug_find(uint32_t minor)
{
    for (unsigned i = 0; i < sizeof(seep_pydebug) / sizeof(*seep_pydebug); i++)
        if (seep_pydebug[i].minor == minor)
            return &seep_pydebug[i];
    return NULL;
}

/* The layout of Python 3.`minor`, or NULL if the tables have none (from 3.14 on an interpreter
 * carries its own). */
const struct seep_python_layout *seep_pylayout_find(uint32_t minor);

/* Fills `layout` from the _Py_DebugOffsets at the start of `runtime`, for 3.14 and later. False if
 * they are missing, belong to a build without a GIL, or do not have their version's shape. */
bool seep_pylayout_from_debug(struct seep_python_layout *layout, uintptr_t runtime);

/* Whether the interpreter with its code type at `code_type` and its state at `runtime` has this
 * layout, as far as can be told from outside. */
bool seep_pylayout_fits(const struct seep_python_layout *layout, uintptr_t code_type,
                        uintptr_t runtime);

/* Reads of the interpreter's structures. */
static inline uintptr_t seep_py_word(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}

static inline uint32_t seep_py_u32(uintptr_t address)
{
    return *(const volatile uint32_t *)address;
}

#endif

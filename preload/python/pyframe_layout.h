/* Which layout the interpreter of this process has. Layouts of 3.8 to 3.13 are in the table of
 * libprof/format/python_layout.h; seep_pylayout_fits() catches vendors' changes. For 3.14 they come
 * from the table that the interpreter carries (_Py_DebugOffsets).
 *
 * Threads: any. Allocates: never. */
#ifndef SEEP_PRELOAD_PYTHON_PYFRAME_LAYOUT_H
#define SEEP_PRELOAD_PYTHON_PYFRAME_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "libprof/format/python_layout.h"

/* Where _Py_DebugOffsets has its groups, in 64-bit words from the start of _PyRuntime. 3.13's only
 * confirm the layout; 3.14's provide it. */
#define SEEP_PYDEBUG_RUNTIME    3
#define SEEP_PYDEBUG_313_THREAD 19
#define SEEP_PYDEBUG_313_FRAME  28
#define SEEP_PYDEBUG_313_CODE   34
#define SEEP_PYDEBUG_314_THREAD 22
#define SEEP_PYDEBUG_314_FRAME  31
#define SEEP_PYDEBUG_314_CODE   39
#define SEEP_PYDEBUG_314_OBJECT 50
#define SEEP_PYDEBUG_314_TYPE   52
#define SEEP_PYDEBUG_314_TUPLE  56
#define SEEP_PYDEBUG_314_BYTES  74
#define SEEP_PYDEBUG_314_TEXT   77

/* The layout of Python 3.`minor`, or NULL if the tables have none (3.14 carries its own). */
const struct seep_python_layout *seep_pylayout_find(uint32_t minor);

/* Fills `layout` for 3.14 from the _Py_DebugOffsets at the start of `runtime`. False if they are
 * missing, belong to a build without a GIL, or do not have 3.14's shape. */
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

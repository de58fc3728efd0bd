/* Where CPython keeps what a stack walk reads: byte offsets by version, for 64-bit builds with a
 * GIL.
 *
 * The numbers are offsetof()s over each version's own headers; tests/pyframe/layout_check.c
 * computes them again for every CPython that is installed and compares. A minor version keeps them
 * in all of its bug-fix releases; what a vendor may have changed is caught by seep_pylayout_fits().
 * For 3.14 they come from the table that the interpreter carries (_Py_DebugOffsets).
 *
 * Threads: constant data. Allocates: never. */
#ifndef SEEP_PRELOAD_PYTHON_PYFRAME_LAYOUT_H
#define SEEP_PRELOAD_PYTHON_PYFRAME_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* How the running frames are linked. */
enum seep_pychain {
    SEEP_PYCHAIN_OBJECTS, /* frame objects from the thread state (≤ 3.10) */
    SEEP_PYCHAIN_CFRAME,  /* interpreter frames from tstate->cframe (3.11, 3.12) */
    SEEP_PYCHAIN_CURRENT, /* interpreter frames from tstate->current_frame (3.13, 3.14) */
};

/* How instructions map to lines. */
enum seep_pylines {
    SEEP_PYLINES_LNOTAB,    /* ≤ 3.9: co_lnotab, by byte offset */
    SEEP_PYLINES_RANGES,    /* 3.10: PEP 626 ranges, f_lasti counts instructions */
    SEEP_PYLINES_LOCATIONS, /* ≥ 3.11: PEP 657 locations */
};

/* Every offset there is; 0 where a version has no such field.
 *   tstate_frame       PyThreadState: frame, cframe or current_frame
 *   cframe_frame       _PyCFrame: current_frame
 *   frame_*            PyFrameObject or _PyInterpreterFrame; position is f_lasti, prev_instr or
 *                      instr_ptr, entry is_entry (3.11), locals the first local variable
 *   code_*             PyCodeObject; size is its type's tp_basicsize, lines the line table,
 * traceable the index of the first instruction that a trace shows, nlocals the number of locals
 * (with cells from 3.11 on), cells co_cell2arg (≤ 3.10) text_ascii/compact sizes of PyASCIIObject
 * and PyCompactUnicodeObject: where characters begin tuple_items        PyTupleObject: ob_item
 *   runtime_*          _PyRuntime: the finalizing thread, and autoTSSkey */
#define SEEP_PYLAYOUT_FIELDS(X)                                                                    \
    X(tstate_frame)                                                                                \
    X(cframe_frame)                                                                                \
    X(frame_code)                                                                                  \
    X(frame_back)                                                                                  \
    X(frame_position)                                                                              \
    X(frame_owner)                                                                                 \
    X(frame_entry)                                                                                 \
    X(frame_locals)                                                                                \
    X(code_size)                                                                                   \
    X(code_flags)                                                                                  \
    X(code_firstline)                                                                              \
    X(code_nlocals)                                                                                \
    X(code_cells)                                                                                  \
    X(code_file)                                                                                   \
    X(code_name)                                                                                   \
    X(code_qualname)                                                                               \
    X(code_lines)                                                                                  \
    X(code_traceable)                                                                              \
    X(code_instructions)                                                                           \
    X(text_ascii)                                                                                  \
    X(text_compact)                                                                                \
    X(tuple_items)                                                                                 \
    X(runtime_finalizing)                                                                          \
    X(runtime_tss)

struct seep_pylayout {
    uint32_t minor; /* 8 … 14, of Python 3 */
    enum seep_pychain chain;
    enum seep_pylines lines;
#define X(field) uint32_t field;
    SEEP_PYLAYOUT_FIELDS(X)
#undef X
};

/* The same in all versions. */
#define SEEP_PYOBJECT_TYPE     8u
#define SEEP_PYOBJECT_SIZE     16u
#define SEEP_PYTYPE_NAME       24u
#define SEEP_PYTYPE_BASICSIZE  32u
#define SEEP_PYTYPE_FLAGS      168u
#define SEEP_PYTYPE_READY      (1ul << 12) /* PyType_Ready() has been here: the interpreter lives */
#define SEEP_PYBYTES_DATA      32u
#define SEEP_PYCELL_CONTENT    16u
#define SEEP_PYTEXT_LENGTH     16u
#define SEEP_PYTEXT_STATE      32u
#define SEEP_PYTEXT_KIND_SHIFT 2u /* three bits: bytes a character */
#define SEEP_PYTEXT_COMPACT    (1u << 5)
#define SEEP_PYTEXT_ASCII      (1u << 6)
#define SEEP_PYOWNER_GENERATOR 1u
#define SEEP_PYOWNER_SHIM      3u /* and above: frames of the interpreter's own (3.12+) */

#define SEEP_PYTYPE_BYTES (1ul << 27) /* tp_flags of bytes, str and their subclasses */
#define SEEP_PYTYPE_TEXT  (1ul << 28)
#define SEEP_PYTYPE_TUPLE (1ul << 26)

/* Where _Py_DebugOffsets has its groups, in 64-bit words from the start of _PyRuntime. 3.13's tells
 * that an interpreter is what it seems; 3.14's is where the layout comes from. */
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

/* 3.8, 3.9 and 3.10 differ in little, as do 3.12 and 3.13. */
#define SEEP_PYLAYOUT_OBJECTS                                                                      \
    .chain = SEEP_PYCHAIN_OBJECTS, .tstate_frame = 24, .frame_code = 32, .frame_back = 24,         \
    .code_size = 176, .code_flags = 36, .code_firstline = 40, .code_nlocals = 28,                  \
    .code_cells = 96, .code_file = 104, .code_name = 112, .code_lines = 120, .text_ascii = 48,     \
    .text_compact = 72, .tuple_items = 24, .runtime_finalizing = 16

static const struct seep_pylayout seep_pylayout_38 = {
    SEEP_PYLAYOUT_OBJECTS, .minor = 8,          .lines = SEEP_PYLINES_LNOTAB,
    .frame_position = 104, .frame_locals = 360, .runtime_tss = 1392,
};

static const struct seep_pylayout seep_pylayout_39 = {
    SEEP_PYLAYOUT_OBJECTS, .minor = 9,          .lines = SEEP_PYLINES_LNOTAB,
    .frame_position = 104, .frame_locals = 360, .runtime_tss = 584,
};

static const struct seep_pylayout seep_pylayout_310 = {
    SEEP_PYLAYOUT_OBJECTS, .minor = 10,         .lines = SEEP_PYLINES_RANGES,
    .frame_position = 96,  .frame_locals = 352, .runtime_tss = 584,
};

static const struct seep_pylayout seep_pylayout_311 = {
    .minor = 11,
    .chain = SEEP_PYCHAIN_CFRAME,
    .lines = SEEP_PYLINES_LOCATIONS,
    .tstate_frame = 56,
    .cframe_frame = 8,
    .frame_code = 32,
    .frame_back = 48,
    .frame_position = 56,
    .frame_owner = 69,
    .frame_entry = 68,
    .frame_locals = 72,
    .code_size = 184,
    .code_flags = 48,
    .code_firstline = 72,
    .code_nlocals = 76,
    .code_file = 112,
    .code_name = 120,
    .code_qualname = 128,
    .code_lines = 136,
    .code_traceable = 168,
    .code_instructions = 184,
    .text_ascii = 48,
    .text_compact = 72,
    .tuple_items = 24,
    .runtime_finalizing = 24,
    .runtime_tss = 592,
};

#define SEEP_PYLAYOUT_INTERPRETER                                                                  \
    .lines = SEEP_PYLINES_LOCATIONS, .frame_code = 0, .frame_back = 8, .frame_position = 56,       \
    .frame_owner = 70, .frame_locals = 72, .code_flags = 48, .code_firstline = 68,                 \
    .code_nlocals = 72, .code_file = 112, .code_name = 120, .code_qualname = 128,                  \
    .code_lines = 136, .text_ascii = 40, .text_compact = 56, .tuple_items = 24

static const struct seep_pylayout seep_pylayout_312 = {
    SEEP_PYLAYOUT_INTERPRETER,
    .minor = 12,
    .chain = SEEP_PYCHAIN_CFRAME,
    .tstate_frame = 56,
    .cframe_frame = 0,
    .code_size = 192,
    .code_traceable = 176,
    .code_instructions = 192,
    .runtime_finalizing = 24,
    .runtime_tss = 1544,
};

static const struct seep_pylayout seep_pylayout_313 = {
    SEEP_PYLAYOUT_INTERPRETER,
    .minor = 13,
    .chain = SEEP_PYCHAIN_CURRENT,
    .tstate_frame = 72,
    .code_size = 200,
    .code_traceable = 184,
    .code_instructions = 200,
    .runtime_finalizing = 608,
    .runtime_tss = 2160,
};

/* The layout of Python 3.`minor`, or NULL where there is none in the tables (3.14 has its own). */
const struct seep_pylayout *seep_pylayout_find(uint32_t minor);

/* Fills `layout` for 3.14 from the _Py_DebugOffsets at the start of `runtime`. False where they are
 * missing, those of a build without a GIL, or not of the shape that 3.14 has. */
bool seep_pylayout_from_debug(struct seep_pylayout *layout, uintptr_t runtime);

/* Whether the interpreter that has its code type at `code_type` and its state at `runtime` has this
 * layout, as far as can be told from outside. */
bool seep_pylayout_fits(const struct seep_pylayout *layout, uintptr_t code_type, uintptr_t runtime);

/* Reads of another program's structures. */
static inline uintptr_t seep_py_word(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}

static inline uint32_t seep_py_u32(uintptr_t address)
{
    return *(const volatile uint32_t *)address;
}

#endif

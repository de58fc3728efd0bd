/* Where CPython keeps what stacks and references are read from: byte offsets by version, for 64-bit
 * builds with a GIL. The recorder reads them in its own process, the heap's reader in a copy.
 *
 * They are offsetof()s over each version's own headers, and stay in all bug-fix releases of a minor
 * version; tests/pyframe computes them again for every CPython that is installed. What a vendor may
 * have changed is for their readers to notice: each checks what it finds. A new version is a row
 * here, and what it does otherwise.
 *
 * Threads: constant data. Allocates: never. */
#ifndef SEEP_LIBPROF_FORMAT_PYTHON_LAYOUT_H
#define SEEP_LIBPROF_FORMAT_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How the running frames are linked. */
enum seep_python_chain {
    SEEP_PYTHON_CHAIN_OBJECTS, /* frame objects from the thread state (≤ 3.10) */
    SEEP_PYTHON_CHAIN_CFRAME,  /* interpreter frames from tstate->cframe (3.11, 3.12) */
    SEEP_PYTHON_CHAIN_CURRENT, /* interpreter frames from tstate->current_frame (≥ 3.13) */
};

/* How instructions map to lines. */
enum seep_python_lines {
    SEEP_PYTHON_LINES_LNOTAB,    /* ≤ 3.9: co_lnotab, by byte offset */
    SEEP_PYTHON_LINES_RANGES,    /* 3.10: PEP 626 ranges, f_lasti counts instructions */
    SEEP_PYTHON_LINES_LOCATIONS, /* ≥ 3.11: PEP 657 locations */
};

/* Where instances have their attributes. */
enum seep_python_dict_place {
    SEEP_DICT_BY_OFFSET,    /* ≤ 3.10 */
    SEEP_DICT_VALUES_FIRST, /* 3.11: values, then dict, before the object */
    SEEP_DICT_TAGGED,       /* 3.12: one word, its lowest bit tells values from dict */
    SEEP_DICT_INLINE,       /* 3.13: dict before the object, values behind it */
};

/* What a walk of the calling thread's stack needs; 0 where a version has no such field.
 *   thread_frame       PyThreadState: frame, cframe or current_frame
 *   cframe_frame       _PyCFrame: current_frame
 *   frame_*            PyFrameObject or _PyInterpreterFrame; position is f_lasti, prev_instr or
 *                      instr_ptr, entry is_entry (3.11), locals the first local variable
 *   code_*             PyCodeObject; size is its type's tp_basicsize, lines the line table,
 *                      traceable the index of the first instruction that a trace shows, n_locals
 *                      the number of locals (with cells from 3.11 on), moved co_cell2arg (≤ 3.10)
 *   text_*             sizes of PyASCIIObject and PyCompactUnicodeObject: where characters begin
 *   tuple_items        PyTupleObject: ob_item
 *   runtime_*          _PyRuntime: the finalizing thread, and autoTSSkey */
#define SEEP_PYTHON_STACK_FIELDS(X)                                                                \
    X(thread_frame)                                                                                \
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
    X(code_n_locals)                                                                               \
    X(code_moved)                                                                                  \
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

/* Further fields that references need; 0 if a version has no such field.
 *   runtime_*, interpreter_*, thread_*  _PyRuntime, PyInterpreterState, PyThreadState
 *   runtime_initialized  not 0 from when it can run code until it ends
 *   runtime_allocator  who allocates objects (≥ 3.13): preconfig.allocator
 *   frame_top          the number of values on its stack (3.11 to 3.13, locals included), or where
 *                      the stack ends (up to 3.9, and from 3.14 on)
 *   frame_function     the function that runs (≥ 3.11)
 *   frame_object_frame PyFrameObject: the frame (≥ 3.11)
 *   code_names         of all variables from 3.11 on; before, cells and frees have their own
 *   type_keys          PyHeapTypeObject: ht_cached_keys
 *   generator_*        PyGenObject: a PyFrameObject up to 3.10, then the frame itself; the state,
 * and its value while it runs: below it has not begun, or stopped values             PyDictValues:
 * where they begin function_*         PyFunctionObject; function_name is the qualified name
 *   module_state       PyModuleObject: md_state
 *   pool_*, arena_*    sizes, of the allocator of small objects */
#define SEEP_PYTHON_HEAP_FIELDS(X)                                                                 \
    X(runtime_interpreters)                                                                        \
    X(runtime_initialized)                                                                         \
    X(runtime_allocator)                                                                           \
    X(interpreter_next)                                                                            \
    X(interpreter_id)                                                                              \
    X(interpreter_threads)                                                                         \
    X(interpreter_modules)                                                                         \
    X(thread_dict)                                                                                 \
    X(frame_dict)                                                                                  \
    X(frame_globals)                                                                               \
    X(frame_function)                                                                              \
    X(frame_top)                                                                                   \
    X(frame_object_frame)                                                                          \
    X(code_names)                                                                                  \
    X(code_cells)                                                                                  \
    X(code_frees)                                                                                  \
    X(code_stack)                                                                                  \
    X(type_keys)                                                                                   \
    X(generator_frame)                                                                             \
    X(generator_state)                                                                             \
    X(generator_runs)                                                                              \
    X(values)                                                                                      \
    X(function_closure)                                                                            \
    X(function_globals)                                                                            \
    X(function_builtins)                                                                           \
    X(function_code)                                                                               \
    X(function_defaults)                                                                           \
    X(function_kwdefaults)                                                                         \
    X(function_dict)                                                                               \
    X(function_name)                                                                               \
    X(module_state)                                                                                \
    X(pool_bytes)                                                                                  \
    X(arena_bytes)

struct seep_python_layout {
    uint32_t minor; /* 8 … 15, of Python 3 */
    enum seep_python_chain chain;
    enum seep_python_lines lines;
#define X(field) uint32_t field;
    SEEP_PYTHON_STACK_FIELDS(X)
    SEEP_PYTHON_HEAP_FIELDS(X)
#undef X
    bool tagged;   /* what frames hold has tags in its lowest two bits */
    bool new_keys; /* PyDictKeysObject as from 3.11 on */
    enum seep_python_dict_place dict_place;
};

/* ---- the same in all versions --------------------------------------------------------------- */

enum {
    SEEP_PY_TYPE = 8,
    SEEP_PY_SIZE = 16,
    SEEP_PY_TYPE_NAME = 24,
    SEEP_PY_TYPE_BASIC = 32,
    SEEP_PY_TYPE_ITEM = 40,
    SEEP_PY_TYPE_FLAGS = 168,
    SEEP_PY_TYPE_WEAKS = 208,
    SEEP_PY_TYPE_MEMBERS = 240,
    SEEP_PY_TYPE_BASE = 256,
    SEEP_PY_TYPE_DICT = 264,
    SEEP_PY_TYPE_DICTOFFSET = 288,
    SEEP_PY_TYPE_BASES = 336,
    SEEP_PY_TYPE_MRO = 344,
    SEEP_PY_TYPE_SUBCLASSES = 360,
    SEEP_PY_TYPE_BYTES = 416, /* of the part that all types have */
    SEEP_PY_BYTES_DATA = 32,
    SEEP_PY_DICT_KEYS = 32,
    SEEP_PY_DICT_VALUES = 40,
    SEEP_PY_LIST_ITEMS = 24,
    SEEP_PY_SET_USED = 24,
    SEEP_PY_SET_MASK = 32,
    SEEP_PY_SET_TABLE = 40,
    SEEP_PY_SET_SMALL = 48,
    SEEP_PY_CELL_CONTENT = 16,
    SEEP_PY_MODULE_DICT = 16,
    SEEP_PY_WEAK_CALLBACK = 24,
    SEEP_PY_WEAK_BYTES = 56, /* and vectorcall, which is no object */
    SEEP_PY_THREAD_NEXT = 8,
    SEEP_PY_TEXT_LENGTH = 16,
    SEEP_PY_TEXT_STATE = 32,
    SEEP_PY_DEQUE_MOST = 64,
    SEEP_PY_LRU_WRAPPER = 56, /* lru_cache_object: an element of a list (56), wrapper, */
    SEEP_PY_LRU_CACHE = 72,   /* typed, cache, */
    SEEP_PY_LRU_MOST = 96,    /* hits, func, maxsize */
    SEEP_PY_ARRAY_BASE = 48,  /* numpy's: data, n axes, axes, strides, base */
};

/* Of a string's state. */
#define SEEP_PY_TEXT_INTERNED   3u
#define SEEP_PY_TEXT_KIND_SHIFT 2u
#define SEEP_PY_TEXT_KIND       7u /* bytes a character: 1, 2 or 4 */
#define SEEP_PY_TEXT_COMPACT    (1u << 5)
#define SEEP_PY_TEXT_ASCII      (1u << 6)

/* PYTHONMALLOC=mimalloc, and mimalloc_debug. */
#define SEEP_PY_ALLOCATOR_MIMALLOC       7u
#define SEEP_PY_ALLOCATOR_MIMALLOC_DEBUG 8u

/* Owner of a frame (≥ 3.11). */
#define SEEP_PY_OWNER_GENERATOR 1u
#define SEEP_PY_OWNER_OBJECT    2u
#define SEEP_PY_OWNER_SHIM      3u /* and above: frames of the interpreter's own (3.12+) */

/* Of tp_flags. */
#define SEEP_PY_INLINE_VALUES   (1u << 2) /* 3.13 */
#define SEEP_PY_MANAGED_WEAKREF (1u << 3) /* ≥ 3.12 */
#define SEEP_PY_MANAGED_DICT    (1u << 4) /* ≥ 3.11 */
#define SEEP_PY_HEAP_TYPE       (1u << 9)
#define SEEP_PY_READY           (1u << 12) /* PyType_Ready() has been here */
#define SEEP_PY_GC              (1u << 14)
#define SEEP_PY_IS_INT          (1u << 24)
#define SEEP_PY_IS_LIST         (1u << 25)
#define SEEP_PY_IS_TUPLE        (1u << 26)
#define SEEP_PY_IS_BYTES        (1u << 27)
#define SEEP_PY_IS_TEXT         (1u << 28)
#define SEEP_PY_IS_DICT         (1u << 29)
#define SEEP_PY_IS_TYPE         (1u << 31)

/* ---- the versions --------------------------------------------------------------------------- */

#define SMALL_POOLS .pool_bytes = 4096, .arena_bytes = 256 * 1024
#define LARGE_POOLS .pool_bytes = 16384, .arena_bytes = 1024 * 1024

#define OLD_FUNCTION                                                                               \
    .function_closure = 48, .function_globals = 24, .function_code = 16, .function_defaults = 32,  \
    .function_kwdefaults = 40, .function_dict = 72, .function_name = 104

#define NEW_FUNCTION                                                                               \
    .function_closure = 72, .function_globals = 16, .function_builtins = 24, .function_code = 48,  \
    .function_defaults = 56, .function_kwdefaults = 64, .function_dict = 88, .function_name = 40

/* 3.8, 3.9 and 3.10 differ in little. */
#define FRAME_OBJECTS                                                                              \
    .chain = SEEP_PYTHON_CHAIN_OBJECTS, .runtime_interpreters = 32, .runtime_initialized = 12,     \
    .runtime_finalizing = 16, .interpreter_threads = 8, .thread_frame = 24, .thread_dict = 152,    \
    .frame_code = 32, .frame_back = 24, .frame_dict = 56, .frame_globals = 48, .code_size = 176,   \
    .code_flags = 36, .code_firstline = 40, .code_n_locals = 28, .code_moved = 96,                 \
    .code_names = 72, .code_frees = 80, .code_cells = 88, .code_stack = 32, .code_file = 104,      \
    .code_name = 112, .code_lines = 120, .generator_frame = 16, .text_ascii = 48,                  \
    .text_compact = 72, .tuple_items = 24, .module_state = 32, .dict_place = SEEP_DICT_BY_OFFSET

/* From 3.11 on a frame is no object. */
#define FRAMES_ALONE                                                                               \
    .lines = SEEP_PYTHON_LINES_LOCATIONS, .frame_position = 56, .frame_top = 64,                   \
    .frame_object_frame = 24, .code_flags = 48, .code_names = 96, .code_file = 112,                \
    .code_name = 120, .code_qualname = 128, .code_lines = 136, .new_keys = true, NEW_FUNCTION,     \
    LARGE_POOLS

/* So do 3.12 and all later ones. */
#define NEWER_FRAMES                                                                               \
    .frame_code = 0, .frame_back = 8, .frame_function = 16, .frame_dict = 40, .frame_globals = 24, \
    .code_firstline = 68, .code_n_locals = 72, .code_stack = 64, .generator_frame = 72,            \
    .generator_state = 67, .text_ascii = 40, .text_compact = 56

static const struct seep_python_layout seep_python_layout_38 = {
    FRAME_OBJECTS,
    OLD_FUNCTION,
    SMALL_POOLS,
    .minor = 8,
    .lines = SEEP_PYTHON_LINES_LNOTAB,
    .runtime_tss = 1392,
    .interpreter_id = 16,
    .interpreter_modules = 56,
    .frame_position = 104,
    .frame_top = 72,
    .frame_locals = 360,
    .type_keys = 872,
};

static const struct seep_python_layout seep_python_layout_39 = {
    FRAME_OBJECTS,
    OLD_FUNCTION,
    SMALL_POOLS,
    .minor = 9,
    .lines = SEEP_PYTHON_LINES_LNOTAB,
    .runtime_tss = 584,
    .interpreter_id = 24,
    .interpreter_modules = 856,
    .frame_position = 104,
    .frame_top = 72,
    .frame_locals = 360,
    .type_keys = 864,
};

static const struct seep_python_layout seep_python_layout_310 = {
    FRAME_OBJECTS,
    NEW_FUNCTION,
    LARGE_POOLS,
    .minor = 10,
    .lines = SEEP_PYTHON_LINES_RANGES,
    .runtime_tss = 584,
    .interpreter_id = 24,
    .interpreter_modules = 856,
    .frame_position = 96,
    .frame_locals = 352,
    .type_keys = 872,
};

static const struct seep_python_layout seep_python_layout_311 = {
    FRAMES_ALONE,
    .minor = 11,
    .chain = SEEP_PYTHON_CHAIN_CFRAME,
    .runtime_interpreters = 40,
    .runtime_initialized = 16,
    .runtime_finalizing = 24,
    .runtime_tss = 592,
    .interpreter_id = 48,
    .interpreter_threads = 16,
    .interpreter_modules = 888,
    .thread_frame = 56,
    .thread_dict = 128,
    .cframe_frame = 8,
    .frame_code = 32,
    .frame_back = 48,
    .frame_owner = 69,
    .frame_entry = 68,
    .frame_locals = 72,
    .frame_dict = 24,
    .frame_globals = 8,
    .code_size = 184,
    .code_firstline = 72,
    .code_n_locals = 76,
    .code_stack = 68,
    .code_traceable = 168,
    .code_instructions = 184,
    .type_keys = 872,
    .module_state = 32,
    .generator_frame = 80,
    .generator_state = 75,
    .text_ascii = 48,
    .text_compact = 72,
    .tuple_items = 24,
    .dict_place = SEEP_DICT_VALUES_FIRST,
};

static const struct seep_python_layout seep_python_layout_312 = {
    FRAMES_ALONE,
    NEWER_FRAMES,
    .minor = 12,
    .chain = SEEP_PYTHON_CHAIN_CFRAME,
    .runtime_interpreters = 40,
    .runtime_initialized = 16,
    .runtime_finalizing = 24,
    .runtime_tss = 1544,
    .interpreter_id = 8,
    .interpreter_threads = 72,
    .interpreter_modules = 944,
    .thread_frame = 56,
    .thread_dict = 112,
    .cframe_frame = 0,
    .frame_owner = 70,
    .frame_locals = 72,
    .code_size = 192,
    .code_traceable = 176,
    .code_instructions = 192,
    .tuple_items = 24,
    .type_keys = 880,
    .module_state = 32,
    .dict_place = SEEP_DICT_TAGGED,
};

static const struct seep_python_layout seep_python_layout_313 = {
    FRAMES_ALONE,
    NEWER_FRAMES,
    .minor = 13,
    .chain = SEEP_PYTHON_CHAIN_CURRENT,
    .runtime_interpreters = 632,
    .runtime_initialized = 600,
    .runtime_finalizing = 608,
    .runtime_tss = 2160,
    .interpreter_next = 7264,
    .interpreter_id = 7272,
    .runtime_allocator = 10396,
    .interpreter_threads = 7344,
    .interpreter_modules = 7656,
    .thread_frame = 72,
    .thread_dict = 128,
    .frame_owner = 70,
    .frame_locals = 72,
    .code_size = 200,
    .code_traceable = 184,
    .code_instructions = 200,
    .tuple_items = 24,
    .type_keys = 880,
    .module_state = 32,
    .values = 8,
    .dict_place = SEEP_DICT_INLINE,
};

/* Complete only for references: stacks are read by the table that a 3.14 carries. */
static const struct seep_python_layout seep_python_layout_314 = {
    FRAMES_ALONE,
    NEWER_FRAMES,
    .minor = 14,
    .chain = SEEP_PYTHON_CHAIN_CURRENT,
    .runtime_interpreters = 808,
    .runtime_initialized = 776,
    .runtime_finalizing = 784,
    .interpreter_next = 7272,
    .interpreter_id = 7280,
    .runtime_allocator = 10612,
    .interpreter_threads = 7344,
    .interpreter_modules = 7688,
    .thread_frame = 72,
    .thread_dict = 128,
    .frame_owner = 74,
    .frame_locals = 80,
    .tuple_items = 32,
    .type_keys = 880,
    .module_state = 32,
    .values = 8,
    .tagged = true,
    .dict_place = SEEP_DICT_INLINE,
};

/* So it is for 3.15. */
static const struct seep_python_layout seep_python_layout_315 = {
    FRAMES_ALONE,
    NEWER_FRAMES,
    .minor = 15,
    .chain = SEEP_PYTHON_CHAIN_CURRENT,
    .runtime_interpreters = 936,
    .runtime_initialized = 904,
    .runtime_finalizing = 912,
    .interpreter_next = 7264,
    .interpreter_id = 7272,
    .runtime_allocator = 10732,
    .interpreter_threads = 7336,
    .interpreter_modules = 7592,
    .thread_frame = 72,
    .thread_dict = 152,
    .frame_owner = 74,
    .frame_locals = 80,
    .tuple_items = 32,
    .type_keys = 888,
    .values = 8,
    .module_state = 24,
    .generator_runs = 4,
    .tagged = true,
    .dict_place = SEEP_DICT_INLINE,
};

#undef SMALL_POOLS
#undef LARGE_POOLS
#undef OLD_FUNCTION
#undef NEW_FUNCTION
#undef FRAME_OBJECTS
#undef FRAMES_ALONE
#undef NEWER_FRAMES

/* What _PyRuntime begins with from 3.13 on (_Py_DebugOffsets). */
struct seep_python_offsets_head {
    char cookie[8];
    uint64_t version, free_threaded;
};

/* Built without a GIL (3.13t and later): an object has another head there, and bytecode a copy for
 * each thread, so no row of this table fits. */
static inline bool seep_python_has_no_gil(const struct seep_python_offsets_head *head)
{
    return memcmp(head->cookie, "xdebugpy", sizeof head->cookie) == 0 && head->free_threaded != 0;
}

/* In _PyRuntime, the number that the next interpreter gets: 1 while there was only the first one,
 * and -1 after the end. */
static inline uint32_t seep_python_next_interpreter(const struct seep_python_layout *layout)
{
    return layout->runtime_interpreters + 16; /* behind the newest and the first one */
}

static inline bool seep_python_is_mimalloc(uint32_t allocator)
{
    return allocator == SEEP_PY_ALLOCATOR_MIMALLOC || allocator == SEEP_PY_ALLOCATOR_MIMALLOC_DEBUG;
}

/* All of them, the oldest first. */
static const struct seep_python_layout *const seep_python_layouts[] = {
    &seep_python_layout_38,  &seep_python_layout_39,  &seep_python_layout_310,
    &seep_python_layout_311, &seep_python_layout_312, &seep_python_layout_313,
    &seep_python_layout_314, &seep_python_layout_315,
};
enum { SEEP_PYTHON_LAYOUTS = sizeof seep_python_layouts / sizeof *seep_python_layouts };

/* The layout of a version given as PY_VERSION_HEX; NULL if unknown. */
static inline const struct seep_python_layout *seep_python_layout_find(uint32_t version)
{
    for (unsigned i = 0; i < SEEP_PYTHON_LAYOUTS; i++)
        if (version >> 16 == 0x0300u + seep_python_layouts[i]->minor)
            return seep_python_layouts[i];
    return NULL;
}

#endif

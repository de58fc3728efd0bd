/* Where CPython keeps what refers to what: byte offsets by version, for 64-bit builds with a GIL.
 *
 * They are offsetof()s over each version's own headers, and stay in all bug-fix releases of a minor
 * version; tests/pyframe/heap_layout_check.c computes them again for every CPython that is
 * installed. What reads them checks what it finds: a type must be a type, a length fit its block.
 */
#ifndef SEEP_LIBPROF_HEAP_PY_LAYOUT_H
#define SEEP_LIBPROF_HEAP_PY_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEEP_PY_NO_FIELD = 0xffff };

struct seep_python_layout {
    uint8_t minor;
    /* _PyRuntime and PyInterpreterState */
    uint16_t runtime_interpreters, interpreter_next, interpreter_threads, interpreter_modules;
    /* PyThreadState; frame is that, or (3.11, 3.12) its cframe, which has the frame */
    uint16_t thread_frame, cframe_frame, thread_dict;
    /* PyFrameObject up to 3.10, _PyInterpreterFrame from then on. `top` counts what is on its stack
     * (3.11 to 3.13, locals included), or is where that ends (up to 3.9, and in 3.14). */
    uint16_t frame_code, frame_back, frame_owner, frame_dict, frame_globals, frame_top,
        frame_locals;
    uint16_t frame_object_frame; /* of PyFrameObject, from 3.11 on */
    /* PyCodeObject; from 3.11 on all variables stand in one table of names */
    uint16_t code_n_locals, code_names, code_cells, code_frees, code_stack;
    uint16_t code_file, code_name, code_qualname;
    uint16_t tuple_items;     /* PyTupleObject.ob_item */
    uint16_t type_keys;       /* PyHeapTypeObject.ht_cached_keys */
    uint16_t generator_frame; /* a PyFrameObject up to 3.10, the frame itself from then on */
    uint16_t generator_state; /* PyGenObject.gi_frame_state */
    uint16_t values;          /* of PyDictValues: where they begin */
    uint16_t text_ascii;      /* size of PyASCIIObject: where characters of ASCII texts begin */
    uint16_t text_compact;    /* of PyCompactUnicodeObject: where others begin */
    uint16_t function_closure, function_globals, function_code, function_defaults;
    uint16_t function_kwdefaults, function_dict, function_name;
    bool tagged;                      /* what frames hold has tags in its lowest two bits */
    bool new_keys;                    /* PyDictKeysObject as from 3.11 on */
    uint8_t dict_place;               /* enum seep_python_dict_place */
    uint32_t pool_bytes, arena_bytes; /* of the allocator of small objects */
};

/* Where instances have their attributes. */
enum seep_python_dict_place {
    SEEP_DICT_BY_OFFSET,    /* ≤ 3.10 */
    SEEP_DICT_VALUES_FIRST, /* 3.11: values, then dict, before the object */
    SEEP_DICT_TAGGED,       /* 3.12: one word, its lowest bit tells values from dict */
    SEEP_DICT_INLINE,       /* 3.13: dict before the object, values behind it */
};

struct seep_python_types;

struct seep_python {
    const struct seep_python_layout *layout; /* NULL: no Python, or one that is not known */
    uint64_t runtime;
    struct seep_python_types *types;
};

/* The layout of a version, as PY_VERSION_HEX has it; NULL where it is not known. */
const struct seep_python_layout *seep_python_layout_find(uint32_t version);

/* The same in all versions. */
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
    SEEP_PY_DICT_KEYS = 32,
    SEEP_PY_DICT_VALUES = 40,
    SEEP_PY_LIST_ITEMS = 24,
    SEEP_PY_SET_USED = 24,
    SEEP_PY_SET_MASK = 32,
    SEEP_PY_SET_TABLE = 40,
    SEEP_PY_SET_SMALL = 48,
    SEEP_PY_CELL_CONTENT = 16,
    SEEP_PY_MODULE_DICT = 16,
    SEEP_PY_MODULE_STATE = 32,
    SEEP_PY_WEAK_CALLBACK = 24,
    SEEP_PY_WEAK_BYTES = 64,
    SEEP_PY_THREAD_NEXT = 8,
    SEEP_PY_TEXT_LENGTH = 16,
    SEEP_PY_TEXT_STATE = 32,
    SEEP_PY_DEQUE_MOST = 64,
    SEEP_PY_LRU_WRAPPER = 56, /* lru_cache_object: an element of a list (56), wrapper, */
    SEEP_PY_LRU_CACHE = 72,   /* typed, cache, */
    SEEP_PY_LRU_MOST = 96,    /* hits, func, maxsize */
    SEEP_PY_ARRAY_BASE = 48,  /* numpy's: data, n axes, axes, strides, base */
};

/* Of tp_flags. */
#define SEEP_PY_INLINE_VALUES   (1u << 2) /* 3.13 */
#define SEEP_PY_MANAGED_WEAKREF (1u << 3) /* ≥ 3.12 */
#define SEEP_PY_MANAGED_DICT    (1u << 4) /* ≥ 3.11 */
#define SEEP_PY_HEAP_TYPE       (1u << 9)
#define SEEP_PY_READY           (1u << 12)
#define SEEP_PY_GC              (1u << 14)
#define SEEP_PY_IS_LIST         (1u << 25)
#define SEEP_PY_IS_TUPLE        (1u << 26)
#define SEEP_PY_IS_BYTES        (1u << 27)
#define SEEP_PY_IS_TEXT         (1u << 28)
#define SEEP_PY_IS_DICT         (1u << 29)
#define SEEP_PY_IS_TYPE         (1u << 31)

#endif

/* Types of Python objects, as found in the memory of a process: read once, then known. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_TYPES_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_TYPES_H

#include "libprof/who/graph/py_layout.h"

#include <stddef.h>

struct seep_heap;

/* What of a type says how its objects are read. */
enum seep_pytype_kind {
    SEEP_PYTYPE_OTHER,
    SEEP_PYTYPE_LEAF, /* numbers and constants: refers to nothing */
    SEEP_PYTYPE_BYTES,
    SEEP_PYTYPE_TEXT,
    SEEP_PYTYPE_DICT,
    SEEP_PYTYPE_LIST,
    SEEP_PYTYPE_TUPLE,
    SEEP_PYTYPE_SET,
    SEEP_PYTYPE_DEQUE,
    SEEP_PYTYPE_TYPE,
    SEEP_PYTYPE_MODULE,
    SEEP_PYTYPE_FUNCTION,
    SEEP_PYTYPE_CODE,
    SEEP_PYTYPE_CELL,
    SEEP_PYTYPE_FRAME,
    SEEP_PYTYPE_GENERATOR,
    SEEP_PYTYPE_WEAK,
    SEEP_PYTYPE_PROXY,    /* mappingproxy */
    SEEP_PYTYPE_ARRAY,    /* numpy.ndarray */
    SEEP_PYTYPE_LRU,      /* functools.lru_cache */
    SEEP_PYTYPE_LINK,     /* what that keeps for a result, where it is bounded */
    SEEP_PYTYPE_LOCAL,    /* threading.local */
    SEEP_PYTYPE_VARIABLE, /* of a context: the value that it has cached is the context's */
};

struct seep_pymember {
    int64_t offset;
    uint64_t label; /* how it is called, as in an edge of the graph */
};

enum { SEEP_PYTYPE_NAME = 64, SEEP_PYTYPE_MEMBERS = 32 };

struct seep_pytype {
    uint64_t address;
    uint32_t flags;
    int64_t basic, item, dict_offset, weak_offset; /* bytes */
    enum seep_pytype_kind kind;
    bool borrows;     /* of ctypes: what its objects point to is freed by somebody else */
    size_t n_members; /* those that refer to objects */
    struct seep_pymember members[SEEP_PYTYPE_MEMBERS];
    char name[SEEP_PYTYPE_NAME]; /* as the type has it: often with its module */
};

/* The type at `address`, or NULL where there is none. The pointer lives as long as the heap. */
const struct seep_pytype *seep_python_type(struct seep_heap *heap, uint64_t address);

/* The type of the object at `address`, with `room` bytes for it; NULL where there is none. */
const struct seep_pytype *seep_python_object(struct seep_heap *heap, uint64_t address,
                                             uint64_t room);

/* How many bytes lie before an object of that type, in its block. */
uint64_t seep_python_before(const struct seep_python *python, const struct seep_pytype *type);

/* The type's name without its module. */
const char *seep_pytype_short(const struct seep_pytype *type);

void seep_python_types_fini(struct seep_python *python);

#endif

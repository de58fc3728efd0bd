/* Types of Python objects, as found in the memory of a process: read once, then known. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_TYPES_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_TYPES_H

#include "libprof/who/graph/py_layout.h"

#include <stddef.h>

struct seep_heap;

/* The property of a type that decides how its objects are read. */
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
    SEEP_PYTYPE_LINK,     /* what a bounded lru_cache keeps for a result */
    SEEP_PYTYPE_LOCAL,    /* threading.local */
    SEEP_PYTYPE_VARIABLE, /* contextvars: the value that it caches belongs to the context */
};

struct seep_pymember {
    int64_t offset;
    uint64_t label; /* the type's name in an edge of the graph */
};

enum { SEEP_PYTYPE_NAME = 64, SEEP_PYTYPE_MEMBERS = 32 };

struct seep_pytype {
    uint64_t address;
    uint32_t number; /* 1 and more, as nodes have it */
    uint32_t flags;
    int64_t basic, item, dict_offset, weak_offset; /* bytes */
    enum seep_pytype_kind kind;
    bool borrows; /* of ctypes: somebody else frees the memory that its objects point to */
    char name[SEEP_PYTYPE_NAME]; /* as in the type: often with its module */
    size_t n_members;            /* those that refer to objects, at most SEEP_PYTYPE_MEMBERS */
    struct seep_pymember members[];
};

/* The type at `address`, or NULL if there is none. The pointer lives as long as the heap. */
const struct seep_pytype *seep_python_type(struct seep_heap *heap, uint64_t address);

/* The type of a node that is an object, or NULL. */
const struct seep_pytype *seep_node_type(struct seep_heap *heap, uint32_t node);

/* The type of the object at `address`, which has `room` bytes; NULL if there is none. */
const struct seep_pytype *seep_python_object(struct seep_heap *heap, uint64_t address,
                                             uint64_t room);

/* The same, for an object that begins with these words. */
const struct seep_pytype *seep_python_head(struct seep_heap *heap, const uint64_t words[2],
                                           uint64_t room);

/* How many bytes of its block lie before an object of that type. */
uint64_t seep_python_before(const struct seep_python *python, const struct seep_pytype *type);

/* The type's name without its module. */
const char *seep_pytype_short(const struct seep_pytype *type);

void seep_python_types_fini(struct seep_python *python);

#endif

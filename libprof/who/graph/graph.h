/* The heap of a process as a graph: what is live are its nodes, and who refers to what its edges.
 * Nodes are blocks of the malloc family, objects in the arenas of Python's small-object allocator,
 * maps, and, as they are met, objects in the data of programs and libraries. Edges are not stored:
 * they are read from the memory each time they are walked. Threads: none may share one. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_GRAPH_H
#define SEEP_LIBPROF_WHO_GRAPH_GRAPH_H

#include "libprof/base/error.h"
#include "libprof/base/hash_index.h"
#include "libprof/format/snapshot_format.h"
#include "libprof/who/graph/memory.h"
#include "libprof/who/graph/process_maps.h"
#include "libprof/who/graph/py_layout.h"

#define SEEP_NODE_NONE UINT32_MAX

enum seep_node_kind {
    SEEP_NODE_UNKNOWN,
    SEEP_NODE_NATIVE, /* words that may be addresses */
    SEEP_NODE_PYTHON, /* an object */
    SEEP_NODE_RAW,    /* no addresses, or those that its owner reads */
};

struct seep_node {
    uint64_t start;
    uint64_t bytes; /* 0: outside of the heap */
    uint32_t site;
    uint8_t kind;
    uint8_t object; /* where the Python object begins, in words: behind its garbage collector's */
};

/* How a node is reached from another one: a kind, and what it needs to be told. */
enum seep_label_kind {
    SEEP_LABEL_NONE,
    SEEP_LABEL_ATTRIBUTE, /* address of the name, a str */
    SEEP_LABEL_MEMBER,    /* address of the name, a C string of the type's */
    SEEP_LABEL_KNOWN,     /* index of a field that CPython or a library keeps (py_fields.h) */
    SEEP_LABEL_WORD,      /* index in seep_label_words */
    SEEP_LABEL_KEY,       /* address of the key */
    SEEP_LABEL_INDEX,     /* the index */
    SEEP_LABEL_LOCAL,     /* address of the variable's name, a str */
    SEEP_LABEL_TEMPORARY, /* on a frame's stack */
    SEEP_LABEL_OFFSET,    /* bytes into the node */
    SEEP_LABEL_ADDRESS,   /* of the word, in data of a program or library, or on a stack */
    SEEP_LABEL_HIDDEN,    /* not told: what belongs together for the user */
    SEEP_LABEL_MODULE,    /* address of the name, a str */
};

/* Of a block that nobody seems to hold, and of a large one. */
enum seep_inner {
    SEEP_INNER_HOLDS = 1, /* an address of any place in it does */
    SEEP_INNER_WHOLE = 2, /* it is read to its end */
};

typedef uint64_t seep_label;

static inline seep_label seep_label_of(enum seep_label_kind kind, uint64_t value)
{
    return (uint64_t)kind << 56 | (value & UINT64_C(0xffffffffffffff));
}

static inline enum seep_label_kind seep_label_kind(seep_label label)
{
    return (enum seep_label_kind)(label >> 56);
}

static inline uint64_t seep_label_value(seep_label label)
{
    return label & UINT64_C(0xffffffffffffff);
}

struct seep_heap;

/* Takes an edge to `node`. `cost`: how far that is, in the sense of what a user would name as the
 * holder; `exact`: it is a reference for sure, not a word that looks like one. */
typedef void seep_edge_taker(struct seep_heap *heap, uint32_t node, seep_label label, unsigned cost,
                             bool exact);

struct seep_heap {
    struct seep_memory *memory;
    const struct seep_maps *maps;
    const struct seep_snapshot_range *own; /* memory of seep's own, [n_own] */
    size_t n_own;
    struct seep_node *nodes;
    uint32_t n_blocks; /* those of the heap, by address; then those outside */
    uint32_t n_nodes, capacity;
    uint64_t *starts;         /* [n_blocks] of the nodes, side by side: they are searched most */
    uint64_t lowest, highest; /* of the heap's nodes */
    uint64_t first_region, n_regions;
    uint32_t *
        *page_tables; /* by region of 64 MiB: the first node at or behind each page, or NULL */
    uint32_t *region_first;         /* [n_regions] the first node at or behind each */
    struct seep_hash_index outside; /* nodes by address */
    struct seep_python python;
    seep_edge_taker *take;
    void *taker;       /* its own */
    uint8_t *inner;    /* [n_blocks] of enum seep_inner; NULL: not looked for (who/ways/inner.h) */
    uint64_t inner_at; /* the address that has just led into such a block */
    bool inner_cut;    /* not all that may hold an address was read to its end */
    bool in_types; /* what is scanned are the interpreter's own data, flags of types among them */
    bool owners_only; /* words of objects that do not own what they point to are passed over */
    bool node_is_attributes; /* of the dict that is walked: it is an instance's or a module's */
};

/* Takes what is live, in any order, into an empty graph; blocks that overlap others are left out.
 * Returns 0 or -SEEP_ENOMEM. Allocates: the nodes; seep_graph_fini() in either case. */
SEEP_MUST_CHECK int seep_graph_init(struct seep_heap *heap,
                                    const struct seep_snapshot_block *blocks, size_t n);
void seep_graph_fini(struct seep_heap *heap);

/* The heap's node that `address` lies in, or SEEP_NODE_NONE. */
uint32_t seep_heap_find(const struct seep_heap *heap, uint64_t address);

/* The node of an object outside of the heap; with `make` a new one where there is room. */
uint32_t seep_heap_outside(struct seep_heap *heap, uint64_t address, bool make);

/* Where programs lie low, so does their heap: below 4 GiB, where numbers look like addresses. */
static inline bool seep_heap_is_low(uint64_t address)
{
    return address < UINT64_C(1) << 32;
}

/* Address of the object in a node of kind SEEP_NODE_PYTHON. */
static inline uint64_t seep_node_object(const struct seep_node *node)
{
    return node->start + (uint64_t)node->object * 8;
}

static inline uint64_t seep_node_end(const struct seep_node *node)
{
    return node->start + node->bytes;
}

/* Words that stand in labels of kind SEEP_LABEL_WORD. */
enum seep_label_word {
    SEEP_WORD_KEY,
    SEEP_WORD_ELEMENT,
    SEEP_WORD_CLOSURE,
    SEEP_WORD_DEFAULTS,
    SEEP_WORD_KWDEFAULTS,
    SEEP_WORD_CODE,
    SEEP_WORD_GLOBALS,
    SEEP_WORD_BASES,
    SEEP_WORD_CLASS,
    SEEP_WORD_STATE,
    SEEP_WORD_CALLBACK,
    SEEP_WORD_DATA,
    SEEP_WORD_MODULES,
    SEEP_WORD_THREAD,
    SEEP_WORD_CACHE,
};
const char *seep_label_word_text(enum seep_label_word word);

#endif

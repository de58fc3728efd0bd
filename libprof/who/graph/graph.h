/* The heap of a process as a graph: live blocks are its nodes, references its edges. Nodes are
 * blocks of the malloc family, objects in the arenas of Python's small-object allocator, maps, and,
 * once they are met, objects in the data of programs and libraries. Edges are not stored: each walk
 * reads them from memory. Threads: none may share a graph. */
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
    SEEP_NODE_RAW,    /* no addresses, or only its owner reads them */
};

/* The property of an object's type that those who refer to it ask for. */
enum seep_node_type {
    SEEP_NODE_OF_ANY, /* its type has to be read */
    SEEP_NODE_TEXT,
    SEEP_NODE_MODULE,
    SEEP_NODE_CLASS,
    SEEP_NODE_OTHER,
    SEEP_NODE_NO_OBJECT, /* it was looked at: words lead to no object in it */
};

struct seep_node {
    uint64_t start;
    uint64_t bytes; /* 0: outside of the heap */
    uint32_t site;
    uint8_t kind;
    uint8_t object; /* where the Python object begins, in words: after its GC head, */
    uint8_t type;   /* what it is, */
    uint8_t counts; /* and its reference count, if that is from 1 to 254; else 0 */
};

/* How a node is reached from another one: a kind, and what is needed to name it. */
enum seep_label_kind {
    SEEP_LABEL_NONE,
    SEEP_LABEL_ATTRIBUTE, /* address of the name, a str */
    SEEP_LABEL_MEMBER,    /* address of the name, a C string of the type's */
    SEEP_LABEL_KNOWN,     /* index of a field of CPython or a library (py_fields.h) */
    SEEP_LABEL_WORD,      /* index in seep_label_words */
    SEEP_LABEL_KEY,       /* address of the key */
    SEEP_LABEL_INDEX,     /* the index */
    SEEP_LABEL_LOCAL,     /* address of the variable's name, a str */
    SEEP_LABEL_TEMPORARY, /* on a frame's stack */
    SEEP_LABEL_OFFSET,    /* bytes into the node */
    SEEP_LABEL_ADDRESS,   /* of the word, in data of a program or library, or on a stack */
    SEEP_LABEL_HIDDEN,    /* not shown: the user sees both as one */
    SEEP_LABEL_MODULE,    /* address of the name, a str */
};

/* For a block that nothing seems to hold, or a large one. */
enum seep_inner {
    SEEP_INNER_HOLDS = 1, /* an address anywhere inside the block holds it */
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
struct seep_heap_region;

/* What leads to memory that no node contains, where not all blocks are known. */
enum seep_stranger {
    SEEP_STRANGER_OBJECT, /* certainly an object */
    SEEP_STRANGER_RAW,    /* memory of an object, of which it tells how many bytes it has */
    SEEP_STRANGER_WORD,   /* a word that may be an address */
};

/* Takes the address of such memory; `bytes`: of it, 0: not told. False: it is none of the heap. */
typedef bool seep_stranger_taker(struct seep_heap *heap, uint64_t address, uint64_t bytes,
                                 enum seep_stranger what);

/* Takes an edge to `node`. `cost`: how unlikely a user is to name that as the holder; `exact`:
 * certainly a reference, not a word that looks like one. */
typedef void seep_edge_taker(struct seep_heap *heap, uint32_t node, seep_label label, unsigned cost,
                             bool exact);

enum { SEEP_HEAP_RECENT = 1 << 10 };

struct seep_heap {
    struct seep_memory *memory;
    const struct seep_maps *maps;
    const struct seep_snapshot_range *own; /* seep's own memory, [n_own] */
    size_t n_own;
    struct seep_node *nodes;
    uint32_t n_blocks; /* the heap's nodes, by address; then those outside */
    uint32_t n_nodes, capacity;
    uint64_t lowest, highest; /* of the heap's nodes */
    uint64_t first_region, n_regions;
    struct seep_heap_region *regions; /* [n_regions] an index of the nodes, */
    uint32_t *tables;                 /* and its tables */
    size_t n_tables, table_capacity;
    struct seep_hash_index outside; /* nodes by address, */
    struct seep_outside {
        uint64_t address;
        uint32_t node;          /* SEEP_NODE_NONE: there is none */
    } recent[SEEP_HEAP_RECENT]; /* and those met last */
    struct seep_python python;
    seep_edge_taker *take;
    void *taker; /* its own */
    struct seep_vtable {
        uint64_t address;
        bool is_storage;
    } vtables[SEEP_HEAP_RECENT]; /* first words of native nodes met last (native.h) */
    bool is_counting;            /* it wants neither labels nor costs */
    seep_stranger_taker *meet;   /* NULL: all blocks are known */
    uint32_t most_outside;       /* nodes outside that there is room for; 0: the usual number */
    uint8_t *inner;    /* [n_blocks] of enum seep_inner; NULL: not looked for (who/ways/inner.h) */
    uint64_t inner_at; /* the address that has just led into such a block */
    bool inner_cut;    /* some memory that may contain addresses was not read to its end */
    bool in_types;     /* the interpreter's own data is being scanned, with flags of types in it */
    bool owners_only;  /* words of objects that do not own what they point to are skipped */
    bool node_is_attributes; /* the dict being walked is an instance's or a module's */
};

/* Takes live blocks, in any order, into an empty graph; leaves out blocks that overlap others.
 * Returns 0 or -SEEP_ENOMEM. Allocates: the nodes; seep_graph_fini() in either case. */
SEEP_MUST_CHECK int seep_graph_init(struct seep_heap *heap,
                                    const struct seep_snapshot_block *blocks, size_t n);
void seep_graph_fini(struct seep_heap *heap);

/* For an address between `lowest` and `highest`. */
uint32_t seep_heap_find_within(const struct seep_heap *heap, uint64_t address);

/* The heap's node that contains `address`, or SEEP_NODE_NONE. */
static inline uint32_t seep_heap_find(const struct seep_heap *heap, uint64_t address)
{
    return address - heap->lowest < heap->highest - heap->lowest
               ? seep_heap_find_within(heap, address)
               : SEEP_NODE_NONE;
}

/* Fetches what seep_heap_expect_node() will need. False: no node is near the address. */
bool seep_heap_expect(const struct seep_heap *heap, uint64_t address);

/* Fetches what seep_heap_find() will need. */
void seep_heap_expect_node(const struct seep_heap *heap, uint64_t address);

/* The node of an object outside the heap; with `make` a new one, if there is room. */
uint32_t seep_heap_outside(struct seep_heap *heap, uint64_t address, bool make);

/* Where it is noted what an address outside the heap was found to be. */
static inline struct seep_outside *seep_heap_recent(struct seep_heap *heap, uint64_t address)
{
    return &heap->recent[(address >> 3) % SEEP_HEAP_RECENT];
}

/* Programs at low addresses also have their heap below 4 GiB, where numbers look like addresses. */
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

/* Words for labels of kind SEEP_LABEL_WORD. */
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

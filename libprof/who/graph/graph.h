/* The heap of a process as a graph: live blocks are its nodes, references its edges. Nodes are
 * blocks of the malloc family, objects in the arenas of Python's small-object allocator, maps, and,
 * once they are met, objects in the data of programs and libraries. Edges are not stored: each walk
 * reads them from memory. Threads: none may share a graph. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_GRAPH_H
#define SEEP_LIBPROF_WHO_GRAPH_GRAPH_H

#include "libprof/arch/arch.h"
#include "libprof/base/error.h"
#include "libprof/base/hash_index.h"
#include "libprof/format/snapshot_format.h"
#include "libprof/who/graph/label.h"
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

#define SEEP_NODE_STARTS ((UINT64_C(1) << 48) - 1)
#define SEEP_NODE_SIZES  ((UINT64_C(1) << 46) - 1)

/* There are millions of them: 24 bytes each. */
struct seep_node {
    uint64_t start : 48;
    uint64_t kind : 2;
    uint64_t type : 3;          /* of an object: what it is */
    uint64_t is_attributes : 1; /* a dict with the attributes of an instance, a module or a class */
    uint64_t is_surveyed : 1;   /* its edges are known */
    uint64_t is_explained : 1;  /* all references that the object counts are known, or */
    uint64_t is_overcounted : 1; /* it counts more than are known */
    uint64_t owns_itself : 1;    /* its owners know its count of references, too (edges.c) */
    uint64_t bytes : 46;         /* 0: outside of the heap */
    uint64_t object : 8;         /* where the Python object begins, in words: after its GC head, */
    uint64_t counts : 8;         /* and its reference count, if that is from 1 to 254; else 0 */
    uint32_t site;
    uint32_t class; /* number of an object's type, or of the name of C++'s class; 0: not known */
};

/* For a block that nothing seems to hold, or a large one. */
enum seep_inner {
    SEEP_INNER_HOLDS = 1, /* an address anywhere inside the block holds it */
    SEEP_INNER_WHOLE = 2, /* it is read to its end */
};

struct seep_heap;
struct seep_heap_region;
struct seep_survey;
struct seep_cells;

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

/* Where only some blocks of a line were recorded: one of them. */
struct seep_sample {
    uint64_t start;
    uint16_t stands_for;
};

/* Of a map that counts as far as it was touched. */
struct seep_touched {
    uint64_t start, bytes;
};

enum { SEEP_HEAP_RECENT = 1 << 10 };

struct seep_heap {
    struct seep_memory *memory;
    const struct seep_maps *maps;
    const struct seep_snapshot_range *own; /* seep's own memory, [n_own] */
    size_t n_own;
    struct seep_node *nodes;
    uint32_t n_blocks;           /* the heap's nodes, by address; then those outside */
    uint32_t n_nodes, capacity;  /* nodes that there is room for, */
    size_t allocated;            /* and while blocks are being taken */
    struct seep_sample *samples; /* [n_samples] blocks that stand for several of their line, */
    size_t n_samples, sample_capacity;
    uint16_t *stands_for;         /* [n_blocks] for how many each does; NULL: for itself */
    struct seep_touched *touched; /* [n_touched] by address, once the graph is whole */
    size_t n_touched, touched_capacity;
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
        bool is_class, is_storage;
    } vtables[SEEP_HEAP_RECENT]; /* first words of native nodes met last (native.h) */
    struct seep_survey *survey;  /* what is known of all nodes (who/survey), or NULL */
    bool is_surveyed;            /* nothing more is read from memory */
    bool shows_keys;             /* texts of dict keys may be shown */
    uint64_t deep_left; /* bytes of large blocks that are still read to their ends, from behind */
    bool deep_cut;      /* SEEP_NATIVE_SCANNED on; whether some were not */
    uint8_t marks;      /* of the edge that is given to the taker: enum seep_edge_mark */
    struct seep_cells *cells;    /* what goes with its owner (cells.h), NULL: all has nodes; */
    uint32_t cells_site;         /* the site of all that is in arenas; */
    uint64_t with_bytes, n_with; /* and what goes with the node that is being read */
    uint64_t least_address;      /* smaller numbers are no addresses of blocks */
    seep_stranger_taker *meet;   /* NULL: all blocks are known */
    uint32_t most_outside;       /* nodes outside that there is room for; 0: the usual number */
    uint8_t *inner;    /* [n_blocks] of enum seep_inner; NULL: not looked for (who/ways/inner.h) */
    uint64_t inner_at; /* the address that has just led into a block */
    bool inner_cut;    /* some memory that may contain addresses was not read to its end */
    bool in_types;     /* the interpreter's own data is being scanned, with flags of types in it */
    bool owners_only;  /* words of objects that do not own what they point to are skipped */
};

/* Takes live blocks, in any order, into a new graph, all at once or one after the other; what is
 * none is skipped, and blocks that overlap others are left out in the end. They return 0 or
 * -SEEP_ENOMEM. Allocate: the nodes; seep_graph_fini() in either case. */
SEEP_MUST_CHECK int seep_graph_init(struct seep_heap *heap,
                                    const struct seep_snapshot_block *blocks, size_t n);
SEEP_MUST_CHECK int seep_graph_add(struct seep_heap *heap, const struct seep_snapshot_block *block);
SEEP_MUST_CHECK int seep_graph_add_map(struct seep_heap *heap,
                                       const struct seep_snapshot_block *map);
SEEP_MUST_CHECK int seep_graph_end(struct seep_heap *heap);
void seep_graph_fini(struct seep_heap *heap);

/* From here on no node is found by its address: all are known. */
void seep_graph_forget_index(struct seep_heap *heap);

/* For an address between `lowest` and `highest`. */
uint32_t seep_heap_find_within(const struct seep_heap *heap, uint64_t address);

/* The heap's node that contains `address`, or SEEP_NODE_NONE. */
static inline uint32_t seep_heap_find(const struct seep_heap *heap, uint64_t address)
{
    address = seep_arch_untagged(address);
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

/* For how many blocks of its line one of the heap's nodes stands. */
static inline uint32_t seep_node_stands_for(const struct seep_heap *heap, uint32_t node)
{
    return heap->stands_for ? heap->stands_for[node] : 1;
}

/* What counts of a map. */
static inline uint64_t seep_map_counted(const struct seep_snapshot_block *map)
{
    const uint64_t touched = (uint64_t)map->touched_pages * SEEP_TOUCHED_PAGE;

    return touched && touched < map->bytes ? touched : map->bytes;
}

/* What counts of a node. */
uint64_t seep_node_counted(const struct seep_heap *heap, uint32_t node);

/* The bytes of all these. */
static inline uint64_t seep_node_all_bytes(const struct seep_heap *heap, uint32_t node)
{
    const uint64_t each =
        heap->n_touched ? seep_node_counted(heap, node) : (uint64_t)heap->nodes[node].bytes;

    return each * seep_node_stands_for(heap, node);
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

#endif

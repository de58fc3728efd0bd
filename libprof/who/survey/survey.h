/* A survey reads the whole heap once, in the order of addresses: what each node is, and what it
 * refers to. Afterwards the heap can be walked without the process's memory, as often as somebody
 * likes. In it are some thirty bytes for each node. */
#ifndef SEEP_LIBPROF_WHO_SURVEY_SURVEY_H
#define SEEP_LIBPROF_WHO_SURVEY_SURVEY_H

#include "libprof/base/hash_index.h"
#include "libprof/who/graph/native.h"
#include "libprof/who/graph/py_types.h"
#include "libprof/who/survey/edge_store.h"
#include "libprof/who/survey/heap.h"

/* Texts of a process that are shown later, when it may be gone: names of attributes, variables,
 * classes and functions, each by an address that stands for it. */

enum { SEEP_NAMES_LONGEST = 256 }; /* of one text, with the zero byte that ends it */

struct seep_names {
    struct seep_name {
        uint64_t key;
        uint32_t at; /* place in `texts` */
    } * list;        /* [n] */
    char *texts;     /* [n_bytes] the first is an empty one */
    size_t n, capacity, n_bytes, text_capacity;
    struct seep_hash_index by_key;
};

void seep_names_fini(struct seep_names *names);

/* The number of a key's text; 0: it has none. */
uint32_t seep_names_find(const struct seep_names *names, uint64_t key);

/* Adds a text, cut to SEEP_NAMES_LONGEST, for a key that has none. Returns its number; 0: there is
 * no room for more. Allocates. */
uint32_t seep_names_add(struct seep_names *names, uint64_t key, const char *text);

/* The same, with the text of another number. */
uint32_t seep_names_add_same(struct seep_names *names, uint64_t key, uint32_t number);

/* The text and the key of a number; "" and 0 for 0. The text lives until the next one is added. */
const char *seep_names_text(const struct seep_names *names, uint32_t number);
uint64_t seep_names_key(const struct seep_names *names, uint32_t number);

struct seep_storage_of {
    uint32_t node;
    struct seep_storage storage;
};

struct seep_survey {
    struct seep_edge_store edges;
    uint32_t *place;  /* [capacity] of each node's edges; 0: it is a leaf */
    uint32_t n_inner; /* nodes that are none */
    /* Of so many blocks that have no node, and that roots alone refer to (cells.h). */
    uint64_t roots_bytes, n_with_roots;
    struct seep_names names;
    struct seep_storage_of *storages; /* [n_storages] of tensors on GPUs, by node */
    size_t n_storages, storage_capacity;
    uint16_t *exact; /* [capacity] how many certain references to an object were met; NULL: all were
                      */
    bool no_memory;
};

/* Reads what all nodes refer to. `keys`: whether texts of the keys of small dicts are needed, too.
 * Returns 0 or -SEEP_ENOMEM. Allocates: heap->survey; seep_survey_fini() in either case. */
SEEP_MUST_CHECK int seep_survey_begin(struct seep_heap *heap, bool keys);

/* A certain reference from outside of the heap, as a root's. */
void seep_survey_count(struct seep_heap *heap, uint32_t node);

/* Reads nodes that roots have led to since, and compares the objects' counts of references with
 * those that were met. From here on nothing of the process's memory is needed. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_survey_end(struct seep_heap *heap);

/* Leaves out what will never be believed, by all that is known now: before edges are asked for.
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_survey_settle(struct seep_heap *heap);

/* The edges of a node. */
struct seep_edge_cursor seep_heap_edges(const struct seep_heap *heap, uint32_t node);

/* Stores the next one that is believed, by what is known by now, in *edge. False: there is none. */
bool seep_heap_next(const struct seep_heap *heap, uint32_t node, struct seep_edge_cursor *cursor,
                    struct seep_edge *edge);

/* Whether an edge can be believed at all, once all is known of nodes. */
bool seep_heap_may_believe(const struct seep_heap *heap, const struct seep_edge *edge);

/* Whether an edge from a node, or from a root (SEEP_NODE_NONE), is believed by now. */
bool seep_heap_believes(const struct seep_heap *heap, uint32_t from, const struct seep_edge *edge);

/* Nothing is reached from it, and it says nothing of itself. */
static inline bool seep_node_is_leaf(const struct seep_heap *heap, uint32_t node)
{
    return !heap->survey->place[node];
}

/* A label as the survey keeps it: the value of one with a name is that name's number. */
seep_label seep_survey_label(struct seep_heap *heap, seep_label label);

/* Keeps the text of a str object, by its own address. Returns its number, 0 if there is no room. */
uint32_t seep_survey_text(struct seep_heap *heap, uint64_t text);

/* Keeps the names of a code object's function and file. */
void seep_survey_code(struct seep_heap *heap, uint64_t code);

/* What a container says of itself: how many entries it has, and how many it can have by its own
 * bound; both -1 if not. */
int64_t seep_node_length(const struct seep_heap *heap, uint32_t node);
int64_t seep_node_bound(const struct seep_heap *heap, uint32_t node);

/* The bytes, and the number, of what has no node of its own and goes with this one (cells.h). */
void seep_node_with(const struct seep_heap *heap, uint32_t node, uint64_t *bytes, uint64_t *n);

/* A node's own bytes and these; 0: it is outside of the heap, and nothing goes with it. */
uint64_t seep_node_bytes(const struct seep_heap *heap, uint32_t node);

/* The name of a class, a function, a code object or a str that was met, by its address, and the
 * file of a code object; "": it has none. */
const char *seep_heap_name(const struct seep_heap *heap, uint64_t address);
const char *seep_heap_code_file(const struct seep_heap *heap, uint64_t code);

/* The name with the number that a label has. */
static inline const char *seep_label_name(const struct seep_heap *heap, seep_label label)
{
    return seep_names_text(&heap->survey->names, (uint32_t)seep_label_value(label));
}

/* The name of the C++ class of a block; "": it is none of a class. */
const char *seep_node_class(const struct seep_heap *heap, uint32_t node);

/* The address that says what a block is: of its object's type, of its class's vtable; 0: none. */
uint64_t seep_node_kind_at(struct seep_heap *heap, uint32_t node);

void seep_survey_fini(struct seep_heap *heap);

#endif

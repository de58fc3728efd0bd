#include "libprof/who/survey/survey.h"

#include <stdlib.h>
#include <string.h>

#include "libprof/base/hash_index.h"
#include "libprof/who/graph/cells.h"
#include "libprof/who/graph/py_text.h"
#include "libprof/who/graph/py_walk.h"

/* A library has some ten thousand names. Who makes up more of them sees some without a name. */
enum { MAX_NAMES = 1 << 19, MAX_BYTES = 16 << 20 };

void seep_names_fini(struct seep_names *names)
{
    free(names->list);
    free(names->texts);
    seep_hash_fini(&names->by_key);
    *names = (struct seep_names){0};
}

uint32_t seep_names_find(const struct seep_names *names, uint64_t key)
{
    const uint64_t hash = seep_hash_two(key, 0);
    uint32_t at = seep_hash_begin(&names->by_key, hash), id;

    while ((id = seep_hash_next(&names->by_key, hash, &at)) != SEEP_HASH_NONE)
        if (names->list[id].key == key)
            return id + 1;
    return 0;
}

static uint32_t add(struct seep_names *names, uint64_t key, uint32_t text)
{
    if (names->n >= MAX_NAMES ||
        seep_grow(&names->list, &names->capacity, names->n + 1, sizeof *names->list) ||
        seep_hash_add(&names->by_key, seep_hash_two(key, 0), (uint32_t)names->n))
        return 0;
    names->list[names->n++] = (struct seep_name){key, text};
    return (uint32_t)names->n;
}

/* Cut after a whole character. */
static size_t cut(const char *text)
{
    size_t n = strnlen(text, SEEP_NAMES_LONGEST);

    if (n < SEEP_NAMES_LONGEST)
        return n;
    for (n--; n && ((uint8_t)text[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

uint32_t seep_names_add(struct seep_names *names, uint64_t key, const char *text)
{
    const size_t n = cut(text), at = names->n_bytes ? names->n_bytes : 1;

    if (at + n + 1 > MAX_BYTES ||
        seep_grow(&names->texts, &names->text_capacity, at + n + 1, sizeof *names->texts))
        return 0;
    names->texts[0] = '\0';
    memcpy(names->texts + at, text, n);
    names->texts[at + n] = '\0';
    const uint32_t number = add(names, key, n ? (uint32_t)at : 0);
    names->n_bytes = number && n ? at + n + 1 : at;
    return number;
}

uint32_t seep_names_add_same(struct seep_names *names, uint64_t key, uint32_t number)
{
    return number ? add(names, key, names->list[number - 1].at) : 0;
}

const char *seep_names_text(const struct seep_names *names, uint32_t number)
{
    return number && names->texts ? names->texts + names->list[number - 1].at : "";
}

uint64_t seep_names_key(const struct seep_names *names, uint32_t number)
{
    return number ? names->list[number - 1].key : 0;
}

/* The edges of a surveyed heap, as far as they are believed. */

bool seep_heap_may_believe(const struct seep_heap *heap, const struct seep_edge *edge)
{
    if (edge->marks & SEEP_EDGE_EXACT)
        return true;
    const struct seep_node *to = &heap->nodes[edge->to];
    return !to->is_explained && (to->kind != SEEP_NODE_PYTHON || edge->marks & SEEP_EDGE_OBJECT);
}

bool seep_heap_believes(const struct seep_heap *heap, uint32_t from, const struct seep_edge *edge)
{
    enum { DEPENDS = SEEP_EDGE_BORROWED | SEEP_EDGE_DEEP | SEEP_EDGE_INNER };

    if (!(edge->marks & DEPENDS))
        return true;
    if (edge->marks & SEEP_EDGE_BORROWED && heap->owners_only &&
        heap->nodes[edge->to].kind != SEEP_NODE_PYTHON)
        return false;
    if (edge->marks & SEEP_EDGE_DEEP && !(heap->inner && heap->inner[from] & SEEP_INNER_WHOLE))
        return false;
    return !(edge->marks & SEEP_EDGE_INNER) ||
           (heap->inner && heap->inner[edge->to] & SEEP_INNER_HOLDS);
}

struct seep_edge_cursor seep_heap_edges(const struct seep_heap *heap, uint32_t node)
{
    const struct seep_survey *s = heap->survey;
    struct seep_edge_facts facts;

    return s->place[node] ? seep_edge_store_open(&s->edges, s->place[node], node, &facts)
                          : (struct seep_edge_cursor){0};
}

bool seep_heap_next(const struct seep_heap *heap, uint32_t node, struct seep_edge_cursor *cursor,
                    struct seep_edge *edge)
{
    while (cursor->at && seep_edge_store_next(&heap->survey->edges, cursor, edge))
        if (seep_heap_believes(heap, node, edge))
            return true;
    return false;
}

enum {
    IMMORTAL = 1 << 28, /* from here on nobody counts the object's references */
    FILE_OF_CODE = 1,   /* behind a code object's address: the key of its file's name */
};
#define MAX_DEEP (UINT64_C(512) << 20) /* bytes of large blocks that are read to their ends */

/* ---- texts ----------------------------------------------------------------------------------- */

uint32_t seep_survey_text(struct seep_heap *heap, uint64_t text)
{
    struct seep_names *names = &heap->survey->names;
    const uint32_t known = text ? seep_names_find(names, text) : 0;
    char to[SEEP_NAMES_LONGEST];

    if (known || !text)
        return known;
    (void)seep_python_text(heap, text, to, sizeof to);
    return seep_names_add(names, text, to);
}

void seep_survey_code(struct seep_heap *heap, uint64_t code)
{
    const struct seep_python_layout *l = heap->python.layout;
    struct seep_names *names = &heap->survey->names;
    const uint32_t name = l->code_qualname ? l->code_qualname : l->code_name;

    if (!code || seep_names_find(names, code))
        return;
    const uint32_t function = seep_survey_text(heap, seep_memory_word(heap->memory, code + name));
    const uint32_t file =
        seep_survey_text(heap, seep_memory_word(heap->memory, code + l->code_file));
    (void)seep_names_add_same(names, code, function);
    (void)seep_names_add_same(names, code + FILE_OF_CODE, file);
}

static uint32_t c_text(struct seep_heap *heap, uint64_t key, uint64_t text)
{
    struct seep_names *names = &heap->survey->names;
    const uint32_t known = seep_names_find(names, key);
    char to[SEEP_NAMES_LONGEST];

    if (known)
        return known;
    (void)seep_memory_text(heap->memory, text, to, sizeof to);
    return seep_names_add(names, key, to);
}

seep_label seep_survey_label(struct seep_heap *heap, seep_label label)
{
    const enum seep_label_kind kind = seep_label_kind(label);
    const uint64_t value = seep_label_value(label);

    switch (kind) {
    case SEEP_LABEL_ATTRIBUTE:
    case SEEP_LABEL_ENTRY:
    case SEEP_LABEL_LOCAL:
    case SEEP_LABEL_MODULE:
    case SEEP_LABEL_KEY: /* 0: it is not needed */
        return seep_label_of(kind, seep_survey_text(heap, value));
    case SEEP_LABEL_MEMBER:
        return seep_label_of(kind, c_text(heap, value, value));
    default:
        return label;
    }
}

void seep_survey_count(struct seep_heap *heap, uint32_t node)
{
    if (heap->survey->exact[node] < UINT16_MAX)
        heap->survey->exact[node]++;
}

/* The dict that an object, or a cell, and its user see as one. */
static bool shows_as_attributes(seep_label label)
{
    return seep_label_kind(label) == SEEP_LABEL_HIDDEN;
}

static void record(struct seep_heap *heap, uint32_t node, seep_label label, unsigned cost,
                   bool exact)
{
    struct seep_survey *s = heap->survey;
    struct seep_edge edge = {.to = node,
                             .marks = (uint8_t)(heap->marks | (exact ? SEEP_EDGE_EXACT : 0)),
                             .cost = (uint16_t)cost,
                             .label = seep_survey_label(heap, label)};

    if (exact)
        seep_survey_count(heap, node);
    if (exact && shows_as_attributes(label))
        heap->nodes[node].is_attributes = 1;
    if (edge.marks & SEEP_EDGE_INNER)
        edge.inside = heap->inner_at - heap->nodes[node].start;
    seep_edge_store_add(&s->edges, &edge);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* What is shown of a class or a function is its own name. */
static void keep_name(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    struct seep_survey *s = heap->survey;

    if (type->kind == SEEP_PYTYPE_TYPE)
        (void)c_text(heap, object, seep_memory_word(heap->memory, object + SEEP_PY_TYPE_NAME));
    if (type->kind != SEEP_PYTYPE_FUNCTION || seep_names_find(&s->names, object))
        return;
    const uint32_t text = seep_survey_text(
        heap, seep_memory_word(heap->memory, object + heap->python.layout->function_name));
    (void)seep_names_add_same(&s->names, object, text);
}

static void read_node(struct seep_heap *heap, uint32_t n, int64_t length, int64_t bound)
{
    struct seep_survey *s = heap->survey;

    heap->nodes[n].is_surveyed = 1;
    heap->with_bytes = heap->n_with = 0;
    seep_edge_store_begin(&s->edges, n);
    seep_heap_read(heap, n);
    s->place[n] = seep_edge_store_end(
        &s->edges, &(struct seep_edge_facts){length, bound, heap->with_bytes, heap->n_with});
}

static void read_object(struct seep_heap *heap, uint32_t n)
{
    const uint64_t object = seep_node_object(&heap->nodes[n]);
    const struct seep_pytype *type =
        seep_python_type(heap, seep_memory_word(heap->memory, object + SEEP_PY_TYPE));

    if (!type) {
        heap->nodes[n].is_surveyed = 1;
        return;
    }
    heap->nodes[n].class = type->number;
    keep_name(heap, object, type);
    read_node(heap, n, seep_python_length(heap, object, type),
              seep_python_bound(heap, object, type));
}

/* Reading may find more objects, outside of the heap or in its blocks. */
static void read_objects(struct seep_heap *heap)
{
    for (bool any = true; any;) {
        any = false;
        for (uint32_t i = 0; i < heap->n_nodes; i++) {
            if (heap->nodes[i].kind != SEEP_NODE_PYTHON || heap->nodes[i].is_surveyed)
                continue;
            read_object(heap, i);
            any = true;
        }
    }
}

/* A tensor's storage: its elements are not read. */
static void keep_storage(struct seep_heap *heap, uint32_t n)
{
    struct seep_survey *s = heap->survey;
    struct seep_storage storage;

    if (!seep_native_storage(heap, n, &storage))
        return;
    seep_native_spare(heap, &storage);
    if (storage.device == SEEP_DEVICE_CPU)
        return;
    if (seep_grow(&s->storages, &s->storage_capacity, s->n_storages + 1, sizeof *s->storages))
        s->no_memory = true;
    else
        s->storages[s->n_storages++] = (struct seep_storage_of){n, storage};
}

/* By its vtable, the class of most blocks is known already. */
static void keep_class(struct seep_heap *heap, uint32_t n)
{
    struct seep_names *names = &heap->survey->names;
    const uint64_t vtable = seep_memory_word(heap->memory, heap->nodes[n].start);
    char name[SEEP_NAMES_LONGEST];

    if (heap->nodes[n].bytes < sizeof vtable || !seep_native_is_vtable(heap, vtable))
        return;
    heap->nodes[n].class = seep_names_find(names, vtable);
    if (!heap->nodes[n].class && seep_native_class(heap, vtable, name, sizeof name))
        heap->nodes[n].class = seep_names_add(names, vtable, name);
}

static void classify(struct seep_heap *heap, uint32_t n)
{
    if (heap->nodes[n].kind != SEEP_NODE_UNKNOWN)
        return;
    seep_heap_classify(heap, n);
    if (heap->nodes[n].kind != SEEP_NODE_NATIVE)
        return;
    keep_class(heap, n);
    keep_storage(heap, n);
}

static void read_blocks(struct seep_heap *heap)
{
    for (uint32_t i = 0; i < heap->n_blocks; i++)
        if (heap->nodes[i].kind == SEEP_NODE_NATIVE)
            read_node(heap, i, -1, -1);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int make(struct seep_heap *heap, bool keys)
{
    const size_t n = heap->capacity;
    struct seep_survey *s = heap->survey = calloc(1, sizeof *heap->survey);

    if (!s)
        return -SEEP_ENOMEM;
    heap->shows_keys = keys;
    heap->deep_left = MAX_DEEP;
    s->place = calloc(n + (size_t)1, sizeof *s->place);
    s->exact = calloc(n + (size_t)1, sizeof *s->exact);
    return s->place && s->exact ? seep_edge_store_init(&s->edges) : -SEEP_ENOMEM;
}

static int outcome(const struct seep_survey *s)
{
    return s->no_memory || s->edges.no_memory ? -SEEP_ENOMEM : 0;
}

int seep_survey_begin(struct seep_heap *heap, bool keys)
{
    if (make(heap, keys))
        return -SEEP_ENOMEM;
    heap->take = record;
    for (uint32_t i = 0; i < heap->n_blocks; i++)
        classify(heap, i);
    if (heap->python.layout)
        read_objects(heap);
    read_blocks(heap);
    return outcome(heap->survey);
}

/* Numbers that need a node's own memory are read in the order of addresses, too. */
static void compare_counts(struct seep_heap *heap)
{
    const uint16_t *exact = heap->survey->exact;

    for (uint32_t i = 0; i < heap->n_nodes; i++) {
        struct seep_node *node = &heap->nodes[i];
        if (node->kind != SEEP_NODE_PYTHON)
            continue;
        const uint32_t counts =
            node->counts ? node->counts : seep_memory_u32(heap->memory, seep_node_object(node));
        node->is_explained = exact[i] >= counts;
        node->is_overcounted = counts && counts < IMMORTAL && exact[i] < counts;
    }
}

struct unmet {
    struct seep_heap *heap;
    size_t n;
};

static bool count_unmet(void *unmet, uint64_t start, uint32_t bytes)
{
    (void)start;
    (void)bytes;
    ((struct unmet *)unmet)->n++;
    return true;
}

static bool add_unmet(void *unmet, uint64_t start, uint32_t bytes)
{
    struct seep_heap *heap = ((struct unmet *)unmet)->heap;
    const uint32_t n = heap->n_nodes++;

    heap->nodes[n] = (struct seep_node){
        .start = start & SEEP_NODE_STARTS, .bytes = bytes, .site = heap->cells_site};
    seep_heap_classify(heap, n);
    if (heap->nodes[n].kind == SEEP_NODE_NATIVE)
        heap->nodes[n].kind = SEEP_NODE_RAW; /* a table of an object that is gone */
    heap->nodes[n].is_surveyed = 1;
    return true;
}

/* Room for more nodes, behind those outside. */
static int widen(struct seep_heap *heap, size_t more)
{
    struct seep_survey *s = heap->survey;
    const size_t n = heap->n_nodes + more;
    size_t capacity = heap->capacity;

    if (n <= capacity)
        return 0;
    if (n > UINT32_MAX / 2 || seep_grow(&heap->nodes, &capacity, n, sizeof *heap->nodes))
        return -SEEP_ENOMEM;
    uint32_t *place = realloc(s->place, (capacity + 1) * sizeof *place);
    s->place = place ? place : s->place;
    uint16_t *exact = place ? realloc(s->exact, (capacity + 1) * sizeof *exact) : NULL;
    s->exact = exact ? exact : s->exact;
    if (!exact)
        return -SEEP_ENOMEM;
    memset(place + heap->capacity, 0, (capacity + 1 - heap->capacity) * sizeof *place);
    memset(exact + heap->capacity, 0, (capacity + 1 - heap->capacity) * sizeof *exact);
    heap->capacity = (uint32_t)capacity;
    return 0;
}

/* What nobody refers to goes with nobody: it is lost, or Python's count of its references is wrong.
 */
static int take_unmet(struct seep_heap *heap)
{
    struct unmet unmet = {.heap = heap};

    if (!heap->cells)
        return 0;
    seep_cells_each_unmet(heap->cells, count_unmet, &unmet);
    if (widen(heap, unmet.n))
        return -SEEP_ENOMEM;
    seep_cells_each_unmet(heap->cells, add_unmet, &unmet);
    return 0;
}

/* By now it is known of all dicts whether they have attributes. */
static seep_label settled_label(const struct seep_heap *heap, uint32_t node, seep_label label,
                                int64_t length)
{
    if (seep_label_kind(label) != SEEP_LABEL_ENTRY)
        return label;
    if (heap->nodes[node].is_attributes)
        return seep_label_of(SEEP_LABEL_ATTRIBUTE, seep_label_value(label));
    return seep_label_of(SEEP_LABEL_KEY,
                         heap->shows_keys && length <= SEEP_DICT_FEW ? seep_label_value(label) : 0);
}

/* Writes the edges of a node again, without those that will never be believed. */
static uint32_t settle_node(struct seep_heap *heap, struct seep_edge_store *to, uint32_t node)
{
    const struct seep_edge_store *from = &heap->survey->edges;
    struct seep_edge_facts facts;
    struct seep_edge edge;
    struct seep_edge_cursor cursor =
        seep_edge_store_open(from, heap->survey->place[node], node, &facts);

    seep_edge_store_begin(to, node);
    while (seep_edge_store_next(from, &cursor, &edge)) {
        if (!seep_heap_may_believe(heap, &edge))
            continue;
        edge.label = settled_label(heap, node, edge.label, facts.length);
        seep_edge_store_add(to, &edge);
    }
    return seep_edge_store_end(to, &facts);
}

/* All that is known of nodes is known: what only looked like references to them, and the edges of
 * what turned out to be raw, are left out. The rest comes to lie in the order of nodes. */
int seep_survey_settle(struct seep_heap *heap)
{
    struct seep_survey *s = heap->survey;
    struct seep_edge_store to = s->edges; /* the kinds are the same */

    to.bytes = NULL;
    to.n = 1;
    to.capacity = 0;
    for (uint32_t i = 0; i < heap->n_nodes; i++) {
        if (s->place[i])
            s->place[i] = heap->nodes[i].kind == SEEP_NODE_RAW ? 0 : settle_node(heap, &to, i);
        s->n_inner += s->place[i] != 0;
    }
    free(s->edges.bytes);
    s->edges = to;
    return to.no_memory ? -SEEP_ENOMEM : 0;
}

int seep_survey_end(struct seep_heap *heap)
{
    struct seep_survey *s = heap->survey;

    heap->take = record;
    if (heap->python.layout) {
        read_objects(heap);
        if (take_unmet(heap))
            return -SEEP_ENOMEM;
        compare_counts(heap);
    }
    free(s->exact);
    s->exact = NULL;
    heap->is_surveyed = true;
    return outcome(s);
}

void seep_survey_fini(struct seep_heap *heap)
{
    struct seep_survey *s = heap->survey;

    if (!s)
        return;
    seep_edge_store_fini(&s->edges);
    seep_names_fini(&s->names);
    free(s->place);
    free(s->exact);
    free(s->storages);
    free(s);
    heap->survey = NULL;
}

/* ---- what is known of a node ----------------------------------------------------------------- */

static struct seep_edge_facts facts_of(const struct seep_heap *heap, uint32_t node)
{
    const uint32_t place = heap->survey->place[node];
    struct seep_edge_facts facts = {.length = -1, .bound = -1};

    if (place)
        (void)seep_edge_store_open(&heap->survey->edges, place, node, &facts);
    return facts;
}

int64_t seep_node_length(const struct seep_heap *heap, uint32_t node)
{
    return facts_of(heap, node).length;
}

int64_t seep_node_bound(const struct seep_heap *heap, uint32_t node)
{
    return facts_of(heap, node).bound;
}

void seep_node_with(const struct seep_heap *heap, uint32_t node, uint64_t *bytes, uint64_t *n)
{
    const struct seep_edge_facts facts = facts_of(heap, node);

    *bytes = facts.with_bytes;
    *n = facts.n_with;
}

uint64_t seep_node_bytes(const struct seep_heap *heap, uint32_t node)
{
    return heap->nodes[node].bytes + facts_of(heap, node).with_bytes;
}

const char *seep_heap_name(const struct seep_heap *heap, uint64_t address)
{
    const struct seep_names *names = &heap->survey->names;

    return seep_names_text(names, seep_names_find(names, address));
}

const char *seep_heap_code_file(const struct seep_heap *heap, uint64_t code)
{
    return seep_heap_name(heap, code + FILE_OF_CODE);
}

const char *seep_node_class(const struct seep_heap *heap, uint32_t node)
{
    return heap->nodes[node].kind == SEEP_NODE_PYTHON
               ? ""
               : seep_names_text(&heap->survey->names, heap->nodes[node].class);
}

uint64_t seep_node_kind_at(struct seep_heap *heap, uint32_t node)
{
    const struct seep_pytype *type = seep_node_type(heap, node);

    if (type)
        return type->address;
    return heap->nodes[node].kind == SEEP_NODE_PYTHON
               ? 0
               : seep_names_key(&heap->survey->names, heap->nodes[node].class);
}

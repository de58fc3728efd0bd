#include "libprof/verdict/graph_nodes.h"

#include "libprof/code/function_kinds.h"
#include "libprof/thresholds/thresholds.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT = 48 }; /* sites: looking up names is expensive, and one says enough */

static const char *name_of(const struct seep_case *c, uint32_t frame)
{
    const struct seep_symbol *symbol;

    return seep_symbols_get(c->code->symbols, frame, &symbol) && symbol[0].function
               ? symbol[0].function
               : NULL;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Autograd's memory that is no node: what tensors outside any graph have (views, and the metadata
 * that parameters keep in case a graph follows), and the engine's own task list, which its thread
 * for a device frees when it gets to it. */
static bool is_of_no_graph(const char *name)
{
    static const char *const makers[] = {
        "torch::autograd::Engine::",
        "torch::autograd::python::PythonEngine::",
        "torch::autograd::impl::",
        "torch::autograd::make_variable",
        "torch::autograd::as_view",
        "torch::autograd::VariableHooks",
        "torch::autograd::THPVariable",
        "torch::autograd::(anonymous namespace)::ConcreteAutogradMetaFactory"};

    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        if (begins(name, makers[i]))
            return true;
    }
    return false;
}

/* "at::_ops::add_Tensor::call(…)", but not what redispatches. */
static bool is_entry(const char *name)
{
    const char *operator= name + strlen("at::_ops::");

    return begins(operator+ strcspn(operator, ":"), "::call");
}

/* A graph node is made by the operator's own autograd kernel, which has no name in a stripped
 * library, right below the operator's entry; tensors and their data are made deeper, below
 * functions that have names. */
bool seep_graph_makes_node(const struct seep_case *c, uint32_t stack)
{
    const struct seep_dictionary *d = &c->m->dict;
    unsigned unknown = 0;

    for (uint32_t s = stack; s; s = d->stacks[s].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[s].frame];
        if (seep_function_kinds_is(c->code->lines->kinds, d->stacks[s].frame,
                                   SEEP_FUNCTION_GRAPH_NODE))
            return true;
        if (f->kind != SEEP_FRAME_NATIVE)
            return false;
        const char *name = name_of(c, d->stacks[s].frame);
        if (!name)
            unknown++;
        else if (begins(name, "torch::autograd::"))
            return !is_of_no_graph(name);
        else if (begins(name, "at::_ops::"))
            return unknown > 0 && is_entry(name);
        else if (!begins(name, "operator new") &&
                 !seep_function_kinds_is(c->code->lines->kinds, d->stacks[s].frame,
                                         SEEP_FUNCTION_ALLOCATOR))
            return false;
    }
    return false;
}

bool seep_graph_piles_up(const struct seep_site_signs *site)
{
    return site->kept.bytes && site->kept.blocks >= site->start.blocks + SEEP_T_STEPS;
}

int seep_graph_names(const struct seep_case *c, const uint32_t *sites, size_t n)
{
    enum { BATCH = 512 };
    const struct seep_dictionary *d = &c->m->dict;
    uint32_t frames[BATCH] = {0};
    size_t at = 0;

    for (size_t i = 0; i < n && at < BATCH; i++) {
        for (uint32_t s = c->m->sites[sites[i]].stack; s && at < BATCH; s = d->stacks[s].parent) {
            if (d->frames[d->stacks[s].frame].kind != SEEP_FRAME_NATIVE)
                break;
            frames[at++] = d->stacks[s].frame;
        }
    }
    return seep_symbols_resolve(c->code->symbols, frames, at);
}

static bool gained_less(const struct seep_site_signs *a, const struct seep_site_signs *b)
{
    return a->kept.bytes + b->start.bytes < b->kept.bytes + a->start.bytes;
}

/* Picks the case's sites that pile up and gained most since the start, as indices, most first: a
 * line that calls a trainer has thousands. Returns how many. */
static size_t pick(const struct seep_case *c, const struct seep_site_signs *signs, size_t *places,
                   size_t capacity)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_sites; i++) {
        size_t at = n;
        if (!seep_graph_piles_up(&signs[i]))
            continue;
        while (at && gained_less(&signs[places[at - 1]], &signs[i]))
            at--;
        if (at == capacity)
            continue;
        n += n < capacity;
        memmove(places + at + 1, places + at, (n - at - 1) * sizeof *places);
        places[at] = i;
    }
    return n;
}

int seep_graph_nodes_count(const struct seep_case *c, const struct seep_site_signs *signs,
                           unsigned *n_nodes)
{
    size_t places[LOOKED_AT];
    uint32_t sites[LOOKED_AT] = {0};
    size_t n = pick(c, signs, places, LOOKED_AT);
    unsigned named = 0;

    *n_nodes = 0;
    for (size_t i = 0; i < n; i++)
        sites[i] = c->sites[places[i]];
    if (seep_graph_names(c, sites, n))
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        uint32_t stack = c->m->sites[sites[i]].stack;
        *n_nodes += seep_graph_makes_node(c, stack);
        named += name_of(c, c->m->dict.stacks[stack].frame) != NULL;
    }
    bool model = (c->parts >> SEEP_PART_MODEL) & 1;
    if (!named && model && n >= SEEP_T_GRAPH_SITES && !c->signs->kept_by.by_python)
        *n_nodes = (unsigned)n;
    return 0;
}

/* ---- graphs that are there at once ----------------------------------------------------------- */

/* Whether a site is on the host and of the line itself, or of its function. */
static bool is_beside(const struct seep_case *c, const struct seep_model_site *site)
{
    const struct seep_dict_frame *line = &c->m->dict.frames[c->frame];
    const struct seep_dict_frame *its = &c->m->dict.frames[c->code->lines->shown[site->stack]];

    if (!c->m->spaces[site->space].name.host_like || site->totals.allocations < SEEP_T_STEPS)
        return false;
    if (c->m->spaces[c->space].name.host_like)
        return c->code->lines->line_of[c->code->lines->shown[site->stack]] ==
               c->code->lines->line_of[c->frame];
    return line->kind == SEEP_FRAME_PYTHON && its->kind == line->kind &&
           its->source == line->source && its->function == line->function;
}

/* A site, and its blocks that were allocated after step 1 began and are live at the end. */
struct stayed {
    uint32_t site;
    uint64_t blocks;
};

static int by_blocks(const void *a, const void *b)
{
    const struct stayed *p = a, *q = b;

    if (p->blocks != q->blocks)
        return p->blocks > q->blocks ? -1 : 1;
    return (p->site > q->site) - (p->site < q->site);
}

/* Blocks of a site that stay, if as many come while their container fills as before. Otherwise they
 * belong to the last step's own graph, which has a node of one stack for each layer. */
static uint64_t count_stayed(const struct seep_case *c, const struct seep_growth *g,
                             const struct seep_level *level)
{
    const int32_t last = c->span->last, filled = !g->growing && g->plateau ? g->plateau : last;
    const int64_t blocks = seep_level_at(level, last).blocks - seep_level_at(level, 0).blocks;
    const int64_t late =
        seep_level_at(level, last).blocks - seep_level_at(level, filled / 2).blocks;

    return blocks >= SEEP_T_STEPS && late * SEEP_T_RARE >= blocks ? (uint64_t)blocks : 0;
}

/* Writes to stayed[0, *n), which has room for all sites of the model, most blocks first. */
static int find_stayed(const struct seep_case *c, const struct seep_growth *g,
                       struct stayed *stayed, size_t *n)
{
    struct seep_level level = {0};
    int rc = 0;

    *n = 0;
    for (uint32_t i = 0; i < c->m->n_sites && !rc; i++) {
        if (!is_beside(c, &c->m->sites[i]))
            continue;
        rc = seep_level_sum(c->m, &i, 1, SEEP_LEVEL_ALL, &level);
        const uint64_t blocks = rc ? 0 : count_stayed(c, g, &level);
        if (blocks)
            stayed[(*n)++] = (struct stayed){i, blocks};
    }
    seep_level_fini(&level);
    qsort(stayed, *n, sizeof *stayed, by_blocks);
    return rc;
}

int seep_graphs_count(const struct seep_case *c, const struct seep_growth *g, uint64_t *graphs)
{
    struct stayed *stayed = malloc((c->m->n_sites + 1) * sizeof *stayed);
    uint32_t sites[LOOKED_AT] = {0};
    size_t n = 0;
    int rc = stayed ? find_stayed(c, g, stayed, &n) : -SEEP_ENOMEM;

    *graphs = 0;
    n = n < LOOKED_AT ? n : LOOKED_AT;
    for (size_t i = 0; i < n; i++)
        sites[i] = stayed[i].site;
    if (!rc)
        rc = seep_graph_names(c, sites, n);
    /* An operator may make several blocks of a graph on one stack, or be run in one branch only. */
    for (size_t i = 0; i < n && !rc && stayed[i].blocks * SEEP_T_ALIKE_SHARE >= stayed[0].blocks;
         i++) {
        if (seep_graph_makes_node(c, c->m->sites[sites[i]].stack))
            *graphs = stayed[i].blocks;
    }
    free(stayed);
    return rc;
}

/* ---- where nothing is known of nodes --------------------------------------------------------- */

/* The stack that calls a network: outside of its outermost module. 0: it is in none. */
static uint32_t call_of_network(const struct seep_model *m, uint32_t stack)
{
    const struct seep_dictionary *d = &m->dict;
    uint32_t call = 0;

    for (uint32_t s = stack; s; s = d->stacks[s].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[s].frame];
        if (f->kind == SEEP_FRAME_PYTHON &&
            strcmp(seep_dictionary_text(d, f->function), "_call_impl") == 0)
            call = d->stacks[s].parent;
    }
    return call;
}

bool seep_graph_is_called_alike(const struct seep_case *c, uint32_t site)
{
    const uint32_t call = call_of_network(c->m, c->m->sites[site].stack);

    for (size_t i = 0; i < c->n_sites && i < LOOKED_AT && call; i++)
        if (call_of_network(c->m, c->m->sites[c->sites[i]].stack) == call)
            return true;
    return false;
}

int seep_graph_results_count(const struct seep_case *c, const struct seep_growth *g, unsigned *n,
                             uint64_t *graphs)
{
    struct seep_level level = {0};
    unsigned all = 0;
    int rc = 0;

    *n = 0;
    *graphs = 0;
    for (uint32_t i = 0; i < c->m->n_sites && !rc; i++) {
        const struct seep_model_site *site = &c->m->sites[i];
        if (site->space != c->space || site->totals.allocations < SEEP_T_STEPS ||
            !seep_graph_is_called_alike(c, i))
            continue;
        rc = seep_level_sum(c->m, &i, 1, SEEP_LEVEL_ALL, &level);
        const uint64_t blocks = rc ? 0 : count_stayed(c, g, &level);
        all++;
        if (!blocks)
            continue;
        ++*n;
        *graphs = *graphs && *graphs < blocks ? *graphs : blocks;
    }
    seep_level_fini(&level);
    if (*n < SEEP_T_GRAPH_RESULTS || *n < SEEP_T_HALF * all) {
        *n = 0;
        *graphs = 0;
    }
    return rc;
}

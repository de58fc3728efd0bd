/* graph-retention: nodes of autograd graphs pile up, step by step or until an epoch ends. */
#include "libprof/judge/pattern_rules.h"

#include "libprof/base/text.h"
#include "libprof/code/function_kinds.h"

#include <string.h>

static const char *name_of(const struct seep_case *c, uint32_t frame)
{
    const struct seep_symbol *symbol;

    return seep_symbols_get(c->symbols, frame, &symbol) && symbol[0].function ? symbol[0].function
                                                                              : NULL;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A node of a graph is made by the operator's own autograd kernel, which has no name in a stripped
 * library, right below the operator's entry; tensors and their data are made further in, below
 * functions that have names. */
static bool makes_node(const struct seep_case *c, uint32_t stack)
{
    const struct seep_dictionary *d = &c->m->dict;
    unsigned unknown = 0;

    for (uint32_t s = stack; s; s = d->stacks[s].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[s].frame];
        if (seep_function_kinds_is(c->frames->kinds, d->stacks[s].frame, SEEP_FUNCTION_GRAPH_NODE))
            return true;
        if (f->kind != SEEP_FRAME_NATIVE)
            return false;
        const char *name = name_of(c, d->stacks[s].frame);
        if (!name)
            unknown++;
        else if (begins(name, "torch::autograd::"))
            return true;
        else if (begins(name, "at::_ops::"))
            return unknown > 0 && strstr(name, "::call") != NULL;
        else if (!begins(name, "operator new") &&
                 !seep_function_kinds_is(c->frames->kinds, d->stacks[s].frame,
                                         SEEP_FUNCTION_ALLOCATOR))
            return false;
    }
    return false;
}

static bool holds_blocks(const struct seep_case *c, uint32_t site)
{
    uint64_t blocks;

    return seep_rule_kept_by(c, site, &blocks) && blocks >= SEEP_RULE_STEPS;
}

/* Resolves the native frames inside Python of the sites that pile up. */
static void resolve(const struct seep_case *c, const uint32_t *sites, size_t n)
{
    enum { BATCH = 512 };
    const struct seep_dictionary *d = &c->m->dict;
    uint32_t frames[BATCH];
    size_t at = 0;

    for (size_t i = 0; i < n && at < BATCH; i++) {
        for (uint32_t s = c->m->sites[sites[i]].stack; s && at < BATCH; s = d->stacks[s].parent) {
            if (d->frames[d->stacks[s].frame].kind != SEEP_FRAME_NATIVE)
                break;
            frames[at++] = d->stacks[s].frame;
        }
    }
    if (seep_symbols_resolve(c->symbols, frames, at))
        return; /* no memory: names stay unknown */
}

/* How many of the line's sites that pile up make graph nodes. Where nothing can be looked up, many
 * such sites below the model's forward say the same with good odds: one node or two an operator. */
static unsigned count_nodes(const struct seep_case *c)
{
    enum { LOOKED_AT = 48, MANY = 6 };
    uint32_t sites[LOOKED_AT] = {0};
    size_t n = 0;
    unsigned nodes = 0, named = 0;

    for (size_t i = 0; i < c->n_sites && n < LOOKED_AT; i++) {
        if (holds_blocks(c, c->sites[i]))
            sites[n++] = c->sites[i];
    }
    resolve(c, sites, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t stack = c->m->sites[sites[i]].stack;
        nodes += makes_node(c, stack);
        named += name_of(c, c->m->dict.stacks[stack].frame) != NULL;
    }
    bool model = (c->parts >> SEEP_PART_MODEL) & 1;
    return !named && model && n >= MANY ? (unsigned)n : nodes;
}

/* All the sites of the line that pile up, whatever their share: nodes are small and many. */
static void keep_graph(const struct seep_case *c, struct seep_finding *f)
{
    uint64_t blocks;

    for (size_t i = 0; i < c->n_sites; i++) {
        uint64_t bytes = seep_rule_kept_by(c, c->sites[i], &blocks);
        if (bytes && blocks >= SEEP_RULE_STEPS)
            seep_rule_keep_site(f, c->sites[i], bytes, blocks);
    }
}

static bool judge_epoch_graph(const struct seep_case *c, struct seep_finding *f)
{
    struct seep_sawtooth s = seep_sawtooth_find(c);
    char top[SEEP_SIZE_TEXT], rise[SEEP_SIZE_TEXT];
    unsigned nodes;

    if (s.falls < 2 || s.epoch_falls * 2 < s.falls || s.rise <= 0 ||
        s.top - s.base < SEEP_RULE_CACHE_BYTES || s.rising * 10 < s.steps * 6)
        return false;
    nodes = count_nodes(c);
    if (!nodes)
        return false;
    keep_graph(c, f);
    seep_rule_verdict(f, SEEP_PATTERN_GRAPH_RETENTION, SEEP_RETENTION, 0.85);
    f->growth = (struct seep_slope){s.rise, s.rise, s.rise};
    f->returns = true;
    f->saving_bytes = (uint64_t)s.height;
    seep_finding_note(f, "grows by %s a step within each epoch, up to %s, and is let go at its end",
                      seep_text_size(s.rise, rise), seep_text_size(s.top, top));
    seep_finding_note(f, "%u sites of this line make nodes of autograd graphs", nodes);
    return f->n_sites > 0;
}

bool seep_rule_graph_retention(const struct seep_case *c, struct seep_finding *f)
{
    unsigned nodes;

    if (seep_rule_is_timed(c) || seep_rule_is_data(c))
        return false;
    if (!c->growth->growing || !seep_rule_has_enough_steps(c))
        return judge_epoch_graph(c, f);
    nodes = count_nodes(c);
    if (!nodes)
        return false;
    keep_graph(c, f);
    seep_rule_verdict(f, SEEP_PATTERN_GRAPH_RETENTION, SEEP_LEAK, nodes > 2 ? 0.9 : 0.75);
    f->saving_bytes = f->live_bytes;
    seep_rule_note_growth(c, f);
    seep_finding_note(f, "%u sites of this line make nodes of autograd graphs, which stay", nodes);
    return f->n_sites > 0;
}

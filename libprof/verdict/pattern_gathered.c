/* Outputs of an evaluation that are gathered on a device until its last batch is done. All of this
 * happens between two training steps, at whose ends nothing is left; we see it in the peak within a
 * step, and in how many blocks of one stack were live at once. */
#include "libprof/base/text.h"
#include "libprof/code/function_kinds.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/graph_nodes.h"
#include "libprof/verdict/pattern_judge.h"
#include "libprof/words/space.h"

#include <string.h>

struct gathered {
    struct seep_held most; /* at once */
    uint64_t rounds;       /* how often that many blocks were allocated */
};

static struct gathered gathered_by(const struct seep_model_site *site)
{
    const struct seep_totals *t = &site->totals;
    const uint64_t mean = t->allocations ? t->allocated_bytes / t->allocations : 0;
    const uint64_t blocks = mean ? t->peak_bytes / mean : 0;

    return (struct gathered){{t->peak_bytes, blocks}, blocks ? t->allocations / blocks : 0};
}

/* ---- what an evaluation is --------------------------------------------------------------------
 */

/* The stack that `a` shares with `b`, function by function from the outermost in. */
static uint32_t shared(const struct seep_dictionary *d, uint32_t a, uint32_t b)
{
    unsigned depth_a = seep_dictionary_depth(d, a), depth_b = seep_dictionary_depth(d, b);
    uint32_t same;

    for (; depth_b > depth_a; depth_b--)
        b = d->stacks[b].parent;
    for (; depth_a > depth_b; depth_a--)
        a = d->stacks[a].parent;
    for (same = a; a; a = d->stacks[a].parent, b = d->stacks[b].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[a].frame];
        const struct seep_dict_frame *g = &d->frames[d->stacks[b].frame];
        if (f->kind != g->kind || f->source != g->source || f->function != g->function)
            same = d->stacks[a].parent;
    }
    return same;
}

/* The call that contains all training steps: what the optimizer's steps and backward passes have in
 * common. Stacks of other threads have nothing in common with the first ones. */
static uint32_t around_steps(const struct seep_case *c)
{
    const uint16_t learns = 1u << SEEP_PART_BACKWARD | 1u << SEEP_PART_OPTIMIZER;
    uint32_t all = 0;

    for (size_t i = 0; i < c->m->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[i];
        if (!(c->code->lines->parts[site->stack] & learns) ||
            2 * site->totals.allocations < (uint64_t)c->span->last)
            continue;
        const uint32_t next = all ? shared(&c->m->dict, all, site->stack) : site->stack;
        all = next ? next : all;
    }
    return all;
}

/* Whether a stack passes through an evaluation that contains no training steps (a test case of a
 * training does). */
static bool evaluates(const struct seep_case *c, const struct seep_model_site *site,
                      uint32_t around)
{
    const struct seep_dictionary *d = &c->m->dict;
    const uint32_t outer = shared(d, site->stack, around);

    for (uint32_t s = site->stack; s && s != outer; s = d->stacks[s].parent) {
        if (seep_function_kinds_is(c->code->lines->kinds, d->stacks[s].frame,
                                   SEEP_FUNCTION_EVALUATION))
            return true;
    }
    return false;
}

/* ---- what it gathers ------------------------------------------------------------------------- */

/* Nearly all that an evaluation allocates on this stack is live at its end and gone before the next
 * step ends. A step's own layers, in contrast, are as many in every step, and a decoder's keys and
 * values are made anew for each token. */
static bool gathers(const struct seep_case *c, const struct seep_model_site *site)
{
    const struct gathered g = gathered_by(site);

    return g.most.blocks >= SEEP_T_MANY && g.rounds >= SEEP_T_AGAIN &&
           (seep_case_is_of_torch(c) ||
            (double)g.rounds <= SEEP_T_GATHERED_TURNS * (double)c->m->epochs) &&
           g.rounds * SEEP_T_RARE <= (uint64_t)c->span->last &&
           (double)seep_case_short_frees(c, site) >=
               SEEP_T_NEARLY_ALL * (double)site->totals.frees &&
           seep_totals_live_blocks(&site->totals) < g.most.blocks;
}

/* How many blocks of one stack a training step has live at once on a line: layers that share it. */
static uint64_t layers_of(const struct seep_case *c, uint32_t around)
{
    uint64_t most = 0;

    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[c->sites[i]];
        const uint64_t blocks = gathered_by(site).most.blocks;
        if (blocks > most && !evaluates(c, site, around) && !gathers(c, site))
            most = blocks;
    }
    return most;
}

/* In a snapshot: whether it is what several places of a network's forward compute. */
static bool gathers_results(const struct seep_case *c)
{
    unsigned n = 0, all = 0;

    for (uint32_t i = 0; i < c->m->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[i];
        if (site->space != c->space || site->totals.allocations < SEEP_T_MANY ||
            !seep_graph_is_called_alike(c, i))
            continue;
        n += gathers(c, site);
        all++;
    }
    return n >= SEEP_T_GRAPH_RESULTS && n >= SEEP_T_HALF * all;
}

/* Whether nodes of graphs are gathered on the line as well. */
static int has_nodes(const struct seep_case *c, bool *found)
{
    const uint32_t line = c->code->lines->line_of[c->frame];
    int rc = 0;

    *found = seep_case_is_of_torch(c) && gathers_results(c);
    for (uint32_t i = 0; i < c->m->n_sites && !rc && !*found; i++) {
        const struct seep_model_site *site = &c->m->sites[i];
        if (!c->m->spaces[site->space].name.host_like ||
            c->code->lines->line_of[c->code->lines->shown[site->stack]] != line ||
            !gathers(c, site))
            continue;
        rc = seep_graph_names(c, &i, 1);
        *found = !rc && seep_graph_makes_node(c, site->stack);
    }
    return rc;
}

static void say(const struct seep_case *c, struct seep_finding *f, bool evaluation, bool nodes)
{
    char size[SEEP_SIZE_TEXT], space[SEEP_SPACE_WORDS];
    const int gpu = seep_case_space(c)->device;

    (void)seep_text_size((double)f->live_bytes, size);
    f->saving_bytes = f->live_bytes;
    f->returns = true;
    f->title = evaluation ? seep_text_format("Evaluation collects %s on GPU %d%s", size, gpu,
                                             nodes ? ", with the autograd graph of each batch" : "")
                          : seep_text_format("%s is collected on GPU %d between steps", size, gpu);
    f->advice =
        strdup(!evaluation ? "If the next steps learn from it, ignore this. If it is an "
                             "evaluation, move what you keep of each batch to the CPU (.cpu())."
               : nodes ? "Evaluate under torch.no_grad(). Move what you keep of each batch to the "
                         "CPU (.cpu()), or compute the metric batch by batch."
                       : "Move what you keep of each batch to the CPU (.cpu()), or compute the "
                         "metric batch by batch.");
    seep_finding_note(f, "%llu blocks are alive at once: %.0f %% of the peak of %s",
                      (unsigned long long)f->count,
                      100.0 * (double)f->live_bytes / (double)c->space_peak,
                      seep_space_words(seep_case_space(c)->text, space));
    seep_finding_note(f, "They are freed before the next step ends: this raises the peak but does "
                         "not grow from step to step");
}

bool seep_case_judge_gathered(const struct seep_case *c, struct seep_finding *f, bool with_graph)
{
    bool nodes = false, evaluation = false;

    /* Only a device's tensors can show this; do not look at stacks otherwise. */
    if (seep_case_space(c)->class != SEEP_CLASS_TENSOR || c->signs->timed ||
        (c->m->epochs < 2 && !seep_case_is_of_torch(c)))
        return false;
    const uint32_t around = around_steps(c);
    const uint64_t layers = layers_of(c, around);
    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[c->sites[i]];
        const struct seep_held most = gathered_by(site).most;
        if (!gathers(c, site) || most.blocks < SEEP_T_GATHERED_LAYERS * layers)
            continue;
        seep_finding_keep(f, c->sites[i], most.bytes, most.blocks);
        evaluation |= evaluates(c, site, around);
    }
    if (f->live_bytes < SEEP_T_PEAK_BYTES || f->live_bytes * SEEP_T_LARGE_SHARE < c->space_peak ||
        has_nodes(c, &nodes) || nodes != with_graph)
        return false;
    const bool decides = (double)f->live_bytes >= SEEP_T_GATHERED_SHARE * (double)c->space_peak;
    /* Rollouts for learning look the same; a graph is kept to go backward through it. */
    if (!evaluation && (nodes || !decides))
        return false;
    seep_finding_verdict(f, f->pattern,
                         evaluation && (nodes || decides) ? SEEP_RETENTION : SEEP_INFO,
                         evaluation ? SEEP_LIKELY : SEEP_POSSIBLE);
    say(c, f, evaluation, nodes);
    return true;
}

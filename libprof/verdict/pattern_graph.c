/* graph-retention: nodes of autograd graphs pile up, step by step or until an epoch ends. */
#include "libprof/base/text.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/graph_nodes.h"
#include "libprof/verdict/pattern_judge.h"
#include "libprof/verdict/prospect.h"

#include <math.h>

/* Keeps all sites of the line that pile up, whatever their share: nodes are small and many. */
static void keep_graph(const struct seep_case *c, struct seep_finding *f)
{
    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_site_signs *site = &c->signs->sites[i];
        if (seep_graph_piles_up(site))
            seep_finding_keep(f, c->sites[i], site->kept.bytes, site->kept.blocks);
    }
}

static void note_graph(const struct seep_case *c, struct seep_finding *f)
{
    if (c->signs->kept_by.in_graph && *c->signs->kept_by.text)
        seep_finding_note(f, "Held through an autograd graph: %s", c->signs->kept_by.text);
    else if (c->signs->kept_by.in_graph)
        seep_finding_note(f, "Held through an autograd graph");
    else if (c->signs->graph_results)
        seep_finding_note(f,
                          "What %u places of the network's forward compute on the way stays alive "
                          "together: only the autograd graph keeps that",
                          c->signs->graph_results);
    else
        seep_finding_note(f, "Autograd graph nodes from this line stay alive, at %u site%s",
                          c->signs->graph_nodes, c->signs->graph_nodes == 1 ? "" : "s");
}

static bool piles_up_by_epoch(const struct seep_sawtooth *s)
{
    return s->falls >= SEEP_T_AGAIN && s->epoch_falls >= SEEP_T_HALF * s->falls && s->rise > 0 &&
           s->top - s->base >= SEEP_T_CACHE_BYTES && s->rising >= SEEP_T_RISING * s->steps;
}

/* If the loop goes round many times per optimizer step, as in an episode of reinforcement learning,
 * its lap ends with that step: the graph was kept to go backward through. */
static bool waits_for_optimizer(const struct seep_case *c)
{
    return c->m->step_why == SEEP_WHY_LOOP_BETWEEN && c->span->by_laps;
}

static bool judge_epoch_graph(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_sawtooth *s = &c->signs->sawtooth;
    char top[SEEP_SIZE_TEXT], rise[SEEP_SIZE_TEXT];

    if (!piles_up_by_epoch(s) || waits_for_optimizer(c))
        return false;
    keep_graph(c, f);
    seep_finding_verdict(f, SEEP_PATTERN_GRAPH_RETENTION, SEEP_RETENTION, SEEP_LIKELY);
    f->growth = (struct seep_slope){s->rise, s->rise, s->rise};
    f->returns = true;
    f->saving_bytes = (uint64_t)s->height;
    seep_finding_note(
        f, "Grows by %s a step within each epoch, up to %s, and is freed when the epoch ends",
        seep_text_size(s->rise, rise), seep_text_size(s->top, top));
    note_graph(c, f);
    return f->n_sites > 0;
}

/* Lasts until a sum of losses is started anew, as for a log: it raises the peak, no more. */
static bool judge_summed_graph(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_sawtooth *s = &c->signs->sawtooth;
    char top[SEEP_SIZE_TEXT], base[SEEP_SIZE_TEXT];

    if (!seep_case_comes_in_bursts(c) || waits_for_optimizer(c))
        return false;
    keep_graph(c, f);
    seep_finding_verdict(f, SEEP_PATTERN_GRAPH_RETENTION, SEEP_PRESSURE, SEEP_LIKELY);
    f->growth = (struct seep_slope){s->rise, s->rise, s->rise};
    f->returns = true;
    f->saving_bytes = (uint64_t)s->height;
    seep_finding_note(f, "%u time%s live memory fell from about %s to %s", s->falls,
                      s->falls == 1 ? "" : "s", seep_text_size(s->top, top),
                      seep_text_size(s->base, base));
    note_graph(c, f);
    return f->n_sites > 0;
}

/* Blocks that are kept for each graph come in whole numbers, on a device as on the host. */
static bool is_whole(const struct seep_finding *f, uint64_t graphs)
{
    const double each = (double)f->count / (double)graphs;

    return floor(each + 0.5) >= 1 && fabs(each - floor(each + 0.5)) < SEEP_T_SAME_SIZE * each;
}

static const char *counted_by(const struct seep_case *c)
{
    return c->signs->graph_results         ? "what one place of the network's forward keeps"
           : seep_case_space(c)->host_like ? "the nodes of one operator in this line"
                                           : "the nodes of one operator in this function";
}

static void note_bound(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;

    if (k->bounded)
        seep_finding_note(f, "Bounded by %s, which holds %llu of at most %llu results", k->text,
                          (unsigned long long)k->length, (unsigned long long)k->bound);
    if (!c->signs->growth.growing)
        seep_finding_note(f,
                          "Live memory is flat since step %d: each new graph replaces an old one",
                          (int)c->signs->growth.plateau);
    if (!k->in_graph)
        seep_finding_note(f,
                          "%llu autograd graphs are alive at once, counted by %s; this line has "
                          "%.1f blocks for each",
                          (unsigned long long)c->signs->graphs, counted_by(c),
                          (double)f->count / (double)c->signs->graphs);
}

/* A pool or deque that is full: the number of results it keeps is intended, the graph behind each
 * is not. */
static bool judge_full_graph(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    const uint64_t results = k->in_graph && k->length ? k->length : c->signs->graphs;

    if (!c->signs->graphs || c->offset_by_sibling_line)
        return false;
    keep_graph(c, f);
    if (!f->count || f->live_bytes < SEEP_T_CACHE_BYTES ||
        (!c->signs->kept_by.in_graph && !is_whole(f, c->signs->graphs)))
        return false;
    const bool large =
        f->live_bytes >= SEEP_T_LARGE_BYTES || f->live_bytes * SEEP_T_LARGE_SHARE >= c->space_peak;
    seep_finding_verdict(f, SEEP_PATTERN_GRAPH_RETENTION, large ? SEEP_RETENTION : SEEP_INFO,
                         c->signs->kept_by.in_graph ? SEEP_CERTAIN : SEEP_LIKELY);
    f->saving_bytes = f->live_bytes;
    f->plateau_step = c->signs->growth.growing ? 0 : c->signs->growth.plateau;
    f->title = seep_text_format("%llu results are kept, each with its autograd graph",
                                (unsigned long long)results);
    note_bound(c, f);
    if (c->signs->kept_by.in_graph)
        note_graph(c, f);
    return true;
}

static bool is_graph_of_steps(const struct seep_case *c, struct seep_finding *f)
{
    const bool seen = c->signs->kept_by.in_graph && !c->signs->is_data;

    /* The last step's own graph is larger if its input is. */
    if ((!c->signs->graph_nodes && !c->signs->graph_results && !seen) || c->signs->is_replaced)
        return false;
    if (c->signs->timed && !seep_prospect_is_endless(c->signs->prospect))
        return false;
    if (!c->signs->growth.growing || !c->signs->enough_steps)
        return judge_epoch_graph(c, f) || judge_summed_graph(c, f);
    keep_graph(c, f);
    seep_finding_verdict(f, SEEP_PATTERN_GRAPH_RETENTION, SEEP_LEAK,
                         seen || c->signs->graph_nodes > 2 ? SEEP_CERTAIN : SEEP_LIKELY);
    f->saving_bytes = f->live_bytes;
    seep_case_note_growth(c, f);
    note_graph(c, f);
    return f->n_sites > 0;
}

bool seep_is_graph_retention(const struct seep_case *c, struct seep_finding *f)
{
    const enum seep_pattern pattern = f->pattern;

    if (judge_full_graph(c, f))
        return true;
    seep_finding_blank(f);
    f->pattern = pattern;
    if (is_graph_of_steps(c, f))
        return true;
    seep_finding_blank(f);
    f->pattern = pattern;
    return seep_case_judge_gathered(c, f, true);
}

/* graph-retention: nodes of autograd graphs pile up, step by step or until an epoch ends. */
#include "libprof/base/text.h"
#include "libprof/measure/thresholds.h"
#include "libprof/patterns/pattern_order.h"
#include "libprof/signs/graph_nodes.h"

/* Keeps all the sites of the line that pile up, whatever their share: nodes are small and many. */
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
    if (c->signs->kept_by.in_graph)
        seep_finding_note(f, "its holder has it by way of an autograd graph: %s",
                          c->signs->kept_by.text);
    else
        seep_finding_note(f, "nodes of autograd graphs that this line makes stay, at %u site%s",
                          c->signs->graph_nodes, c->signs->graph_nodes == 1 ? "" : "s");
}

static bool piles_up_by_epoch(const struct seep_sawtooth *s)
{
    return s->falls >= SEEP_T_EPOCH_FALLS &&
           s->epoch_falls >= SEEP_T_FALLS_WITH_EPOCHS * s->falls && s->rise > 0 &&
           s->top - s->base >= SEEP_T_CACHE_BYTES && s->rising >= SEEP_T_BURST_RISING * s->steps;
}

/* Where the loop goes round many times for a step of the optimizer, as in an episode of
 * reinforcement learning, its lap ends with that step: the graph was kept to go backward through.
 */
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
    seep_finding_verdict(f, SEEP_PATTERN_GRAPH_RETENTION, SEEP_RETENTION, SEEP_T_SURE_SHAPE);
    f->growth = (struct seep_slope){s->rise, s->rise, s->rise};
    f->returns = true;
    f->saving_bytes = (uint64_t)s->height;
    seep_finding_note(f, "grows by %s a step within each epoch, up to %s, and is freed at its end",
                      seep_text_size(s->rise, rise), seep_text_size(s->top, top));
    note_graph(c, f);
    return f->n_sites > 0;
}

/* Until a sum of losses is begun anew, as for a log: the peak is higher, and no more. */
static bool judge_summed_graph(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_sawtooth *s = &c->signs->sawtooth;
    char top[SEEP_SIZE_TEXT], base[SEEP_SIZE_TEXT];

    if (!seep_case_comes_in_bursts(c) || waits_for_optimizer(c))
        return false;
    keep_graph(c, f);
    seep_finding_verdict(f, SEEP_PATTERN_GRAPH_RETENTION, SEEP_PRESSURE, SEEP_T_SURE_BURSTS);
    f->growth = (struct seep_slope){s->rise, s->rise, s->rise};
    f->returns = true;
    f->saving_bytes = (uint64_t)s->height;
    seep_finding_note(f, "%u times the level fell from about %s to %s", s->falls,
                      seep_text_size(s->top, top), seep_text_size(s->base, base));
    note_graph(c, f);
    return f->n_sites > 0;
}

bool seep_is_graph_retention(const struct seep_case *c, struct seep_finding *f)
{
    const bool seen = c->signs->kept_by.in_graph && !c->signs->is_data;

    /* The last step's own graph is larger, where the input is. */
    if ((!c->signs->graph_nodes && !seen) || c->signs->is_replaced)
        return false;
    if (!c->signs->growth.growing || !c->signs->enough_steps)
        return judge_epoch_graph(c, f) || judge_summed_graph(c, f);
    keep_graph(c, f);
    seep_finding_verdict(f, SEEP_PATTERN_GRAPH_RETENTION, SEEP_LEAK,
                         seen                        ? SEEP_T_SURE_EVERY_SIGN
                         : c->signs->graph_nodes > 2 ? SEEP_T_SURE_NO_OTHER
                                                     : SEEP_T_SURE_INDIRECT);
    f->saving_bytes = f->live_bytes;
    seep_case_note_growth(c, f);
    note_graph(c, f);
    return f->n_sites > 0;
}

/* Growth: of garbage that waits for the cyclic collector, and of containers that are only added
 * to. */
#include "libprof/base/text.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/freed_blocks.h"
#include "libprof/verdict/messages.h"
#include "libprof/verdict/pattern_judge.h"
#include "libprof/verdict/prospect.h"

#include <string.h>

/* ---- what they share --------------------------------------------------------------------------
 */

static bool grows_for_good(const struct seep_case *c)
{
    return seep_prospect_is_endless(c->signs->prospect) && !c->offset_by_sibling_line;
}

enum seep_confidence seep_signs_confidence(const struct seep_signs *signs)
{
    const enum seep_prospect p = signs->prospect;

    if (p == SEEP_ENDLESS_BY_LAP)
        return SEEP_LIKELY;
    if (seep_prospect_is_endless(p) && p != SEEP_ENDLESS_BY_PACE)
        return SEEP_CERTAIN;
    return signs->timed ? SEEP_POSSIBLE : SEEP_LIKELY;
}

static void describe_growth(const struct seep_case *c, struct seep_finding *f)
{
    seep_case_keep_retaining(c, f);
    seep_finding_verdict(f, f->pattern, SEEP_LEAK, seep_signs_confidence(c->signs));
    f->saving_bytes = f->live_bytes;
    seep_case_note_growth(c, f);
}

/* ---- reference-cycle: freed by the cyclic collector only --------------------------------------
 */

/* Blocks that a driver gives to an allocator, and takes back, are in no cycles. Without an
 * allocator each tensor is the driver's own block. */
static bool is_of_allocator(const struct seep_case *c)
{
    uint16_t tensors;

    return seep_model_tensor_space(c->m, c->space, &tensors);
}

static bool was_seen_as(const struct seep_case *c, enum seep_holders_state state)
{
    return c->signs->kept_by.known && c->signs->kept_by.state == state;
}

static void note_cycle(struct seep_finding *f)
{
    seep_finding_note(f, "A snapshot shows that only a reference cycle holds it");
}

/* The collector is disabled, or does not get to it. */
static bool judge_cycle_that_grows(const struct seep_case *c, struct seep_finding *f)
{
    if (!was_seen_as(c, SEEP_HOLDERS_CYCLE) || !grows_for_good(c))
        return false;
    describe_growth(c, f);
    note_cycle(f);
    return f->n_sites > 0;
}

static bool follow_epochs(const struct seep_sawtooth *s)
{
    return s->epoch_falls > SEEP_T_HALF * s->falls;
}

/* If a cycle was seen to hold much of it, one fall after a rise over several steps is as good as
 * many. Without a fall it may have been dropped just once. */
static bool is_much_in_a_cycle(const struct seep_case *c)
{
    const struct seep_sawtooth *s = &c->signs->sawtooth;
    const uint64_t bytes = c->signs->kept_by.cycle_bytes;

    return was_seen_as(c, SEEP_HOLDERS_CYCLE) && bytes >= SEEP_T_CACHE_BYTES &&
           bytes * SEEP_T_LARGE_SHARE >= c->space_peak && s->falls && s->rise > 0 &&
           s->rising >= SEEP_T_SERIES && s->rising >= SEEP_T_RISING * s->steps &&
           s->height * SEEP_T_LARGE_SHARE >= (double)c->space_peak;
}

bool seep_is_reference_cycle(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_sawtooth *s = &c->signs->sawtooth;
    char top[SEEP_SIZE_TEXT], base[SEEP_SIZE_TEXT], rise[SEEP_SIZE_TEXT];

    if (judge_cycle_that_grows(c, f))
        return true;
    seep_finding_blank(f);
    /* Memory that the program holds is a buffer that it empties itself; and a graph is freed by the
     * code that summed the losses, unless a cycle was seen. */
    if (was_seen_as(c, SEEP_HOLDERS_HELD) || seep_kept_by_nobody(&c->signs->kept_by) ||
        (c->signs->graph_nodes && !was_seen_as(c, SEEP_HOLDERS_CYCLE)))
        return false;
    if (!is_much_in_a_cycle(c) && (!seep_case_comes_in_bursts(c) || follow_epochs(s)))
        return false;
    if (is_of_allocator(c))
        return false;
    seep_case_keep_retaining(c, f);
    if (!f->n_sites)
        f->sites[f->n_sites++] = c->sites[0];
    seep_finding_verdict(f, SEEP_PATTERN_REFERENCE_CYCLE, SEEP_PRESSURE,
                         was_seen_as(c, SEEP_HOLDERS_CYCLE) ? SEEP_CERTAIN : SEEP_LIKELY);
    f->saving_bytes = (uint64_t)s->height;
    seep_finding_note(f, "Freed only in bursts: %u time%s live memory fell from about %s to %s",
                      s->falls, s->falls == 1 ? "" : "s", seep_text_size(s->top, top),
                      seep_text_size(s->base, base));
    seep_finding_note(f, "In between it rises by %s a step%s", seep_text_size(s->rise, rise),
                      follow_epochs(s) ? "" : "; the falls do not match epoch ends");
    if (was_seen_as(c, SEEP_HOLDERS_CYCLE))
        note_cycle(f);
    return true;
}

/* ---- growth without an end ------------------------------------------------------------------ */

void seep_case_note_prospect(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;

    const bool is_counted = k->grows && k->length; /* a tree has no entries */

    seep_finding_note(f, "%s",
                      c->signs->prospect == SEEP_ENDLESS_LOST ? seep_kept_by_nobody_text(k)
                      : c->signs->prospect == SEEP_ENDLESS_BY_HOLDER && k->grows && !is_counted
                          ? "What holds it keeps more in each snapshot, and has no bound"
                          : seep_prospect_text(c->signs->prospect));
    if (is_counted)
        seep_finding_note(f, "%s has %llu entries, ≈ %.3g more a %s, and no bound", k->text,
                          (unsigned long long)k->length, k->pace, seep_case_unit(c));
}

bool seep_is_shm_growth(const struct seep_case *c, struct seep_finding *f)
{
    if (!grows_for_good(c))
        return false;
    describe_growth(c, f);
    seep_finding_note(f, "%llu shared mappings outlive the %s that made them",
                      (unsigned long long)f->count, seep_case_unit(c));
    seep_case_note_prospect(c, f);
    return f->n_sites > 0;
}

/* A loader's thread pins what somebody else keeps. */
static void blame_taker(const struct seep_case *c, struct seep_finding *f)
{
    f->sender = seep_batch_taker(c);
    if (f->sender)
        seep_finding_note(f, "This line takes the batches, which the loader's thread has pinned");
    if (!c->signs->kept_by.known)
        f->advice =
            strdup("Find what keeps the batches: a list, a queue, or a branch of itertools.tee() "
                   "that lags behind. Keep clone() of what must stay, not the pinned batch.");
}

bool seep_is_unbounded_growth(const struct seep_case *c, struct seep_finding *f)
{
    if (!grows_for_good(c))
        return seep_case_judge_gathered(c, f, false);
    describe_growth(c, f);
    seep_case_note_prospect(c, f);
    if (c->signs->prospect == SEEP_ENDLESS_POOL)
        blame_taker(c, f);
    return f->n_sites > 0;
}

/* Whether a slope that does not meet every criterion of growth is steady all the same. */
static bool is_steady(const struct seep_growth *g)
{
    return g->growing ||
           (g->shape.windows && g->shape.rising >= SEEP_T_STEADY_RISING * g->shape.windows &&
            g->shape.falling == 0 && g->shape.late_share > SEEP_T_TREND_LATE_SHARE &&
            g->shape.fall < SEEP_T_STEADY_FALL);
}

/* For some causes the advice is not to run longer. */
static void say_what_is_open(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_library_cache *cache = c->signs->cache;
    const struct seep_library_cache *maybe =
        c->signs->prospect == SEEP_OPEN_FREED ? seep_freed_blocks_cache(c, c->signs) : NULL;

    if (maybe)
        seep_finding_note(f, "%s: %s", maybe->name, maybe->bound);
    f->of_arenas = c->signs->prospect == SEEP_OPEN_ARENAS;
    if (f->of_arenas) {
        f->title = strdup("Small Python objects pile up");
        f->advice =
            strdup("Look for a list, dict or set that is only added to, here or at other lines. "
                   "seep run --python-allocators shows each object at its own line.");
    }
    if (c->signs->prospect == SEEP_OPEN_TRAINED) {
        f->title = strdup("The network grows by new parameters");
        f->advice =
            strdup("If every part of the network is in use, plan memory for its final size. If "
                   "not, remove old parts from the network and from the optimizer.");
    }
    if (c->signs->prospect == SEEP_OPEN_LIBRARY_EACH) {
        f->title = seep_text_format("%s grows", cache->name);
        f->keeper = strdup(cache->name);
        f->advice = strdup(cache->advice);
        seep_finding_note(f, "%s: %s", cache->name, cache->bound);
    }
}

/* Growth that may yet end: too few steps, or none past the first epoch. */
bool seep_is_undetermined(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_growth *g = &c->signs->growth;
    const double total = g->slope.value * (g->to - g->from);

    if (!seep_prospect_is_open(c->signs->prospect) || g->slope.low <= 0 ||
        c->offset_by_sibling_line || g->to - g->from < SEEP_T_UNDETERMINED_STEPS || !is_steady(g) ||
        total < SEEP_T_SHOWN_BYTES)
        return false;
    if (!c->signs->enough_steps &&
        (total * SEEP_T_NEGLIGIBLE < (double)c->space_peak || total < SEEP_T_CACHE_BYTES))
        return false;
    if (c->signs->timed && !c->code->lines->is_own[c->m->sites[c->sites[0]].stack])
        return false;
    seep_case_keep_retaining(c, f);
    seep_finding_verdict(f, SEEP_PATTERN_UNDETERMINED, SEEP_PRESSURE, SEEP_POSSIBLE);
    seep_case_note_growth(c, f);
    seep_finding_note(f, "%s", seep_prospect_text(c->signs->prospect));
    if (f->n_sites)
        say_what_is_open(c, f);
    return f->n_sites > 0;
}

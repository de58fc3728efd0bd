/* Growth: of what is replaced by something larger, of garbage that waits for the cyclic collector,
 * and of what is only ever added to. */
#include "libprof/judge/pattern_rules.h"

#include "libprof/base/text.h"
#include "libprof/measure/segments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- legitimate-growth: a larger block in the place of an old one, now and then -------------- */

struct staircase {
    int jumps;
    int32_t last_jump;  /* step */
    int64_t start, end; /* bytes before the first jump and after the last */
    int64_t least_blocks, most_blocks;
};

/* The level as stairs; false where it ever falls back by more than a tenth of what it was, at once
 * or by and by: blocks of many sizes in a queue go up and down, too. */
static bool climb(const struct seep_case *c, struct staircase *s)
{
    const struct seep_level *level = &c->growth->level;
    struct seep_level_point from = seep_level_at(level, c->span->warm < 1 ? 1 : c->span->warm);
    int64_t before = from.bytes, highest = from.bytes;

    *s = (struct staircase){
        .start = from.bytes, .least_blocks = from.blocks, .most_blocks = from.blocks};
    for (size_t i = 0; i < level->n && level->points[i].step <= c->span->last; i++) {
        const struct seep_level_point *p = &level->points[i];
        if (p->step <= c->span->warm)
            continue;
        if (p->bytes < highest - highest / 10)
            return false;
        highest = p->bytes > highest ? p->bytes : highest;
        if (p->bytes > before + before / 50) {
            s->jumps++;
            s->last_jump = p->step;
        }
        before = p->bytes;
        if (p->blocks < s->least_blocks)
            s->least_blocks = p->blocks;
        if (p->blocks > s->most_blocks)
            s->most_blocks = p->blocks;
    }
    s->end = before;
    return true;
}

bool seep_rule_legitimate_growth(const struct seep_case *c, struct seep_finding *f)
{
    struct staircase s;
    int32_t judged = c->span->last - c->span->warm;
    char from[SEEP_SIZE_TEXT], to[SEEP_SIZE_TEXT];

    if (seep_rule_is_timed(c) || judged < 2 * SEEP_RULE_STEPS || !climb(c, &s))
        return false;
    if (s.jumps < 2 || s.jumps > judged / 4 || s.end - s.start < SEEP_RULE_CACHE_BYTES ||
        (double)s.end < 1.2 * (double)s.start)
        return false;
    if (s.least_blocks < 1 || s.most_blocks - s.least_blocks > s.least_blocks / 10)
        return false;
    /* Stairs that go on to the end may be a history that is joined to itself at each evaluation:
     * parameters and their optimizer's state are many blocks. */
    bool ended = s.last_jump < c->span->last - judged / 10;
    if (!ended && (!seep_rule_is_network(c) && s.least_blocks < 4))
        return false;
    seep_rule_keep_retaining_sites(c, f);
    seep_rule_verdict(f, SEEP_PATTERN_LEGITIMATE_GROWTH, SEEP_INFO, ended ? 0.9 : 0.6);
    f->plateau_step = ended ? s.last_jump : 0;
    seep_finding_note(
        f, "from %s to %s in %d jumps, each a larger block in the place of an old one",
        seep_text_size((double)s.start, from), seep_text_size((double)s.end, to), s.jumps);
    seep_finding_note(f, "the number of blocks stays: %lld", (long long)s.most_blocks);
    if (ended)
        seep_finding_note(f, "the last jump was in step %d of %d", (int)s.last_jump,
                          (int)c->m->n_steps);
    return f->n_sites > 0;
}

/* ---- reference-cycle: freed by the cyclic collector only, in bursts -------------------------- */

/* Whether the level rises between its falls, and by an amount worth a word. */
static bool is_worth_a_word(const struct seep_case *c, const struct seep_sawtooth *s)
{
    return s->falls >= 3 && s->rise > 0 && s->top - s->base >= SEEP_RULE_CACHE_BYTES &&
           (s->top - s->base) * 50 >= (double)c->space_peak && s->rising * 10 >= s->steps * 6 &&
           s->steps >= s->falls * 3;
}

/* What a driver gave to an allocator, and takes back from it: that has no cycles. Without one each
 * tensor is the driver's own block. */
static bool is_of_allocator(const struct seep_case *c)
{
    uint16_t tensors;

    return seep_model_tensor_space(c->m, c->space, &tensors);
}

bool seep_rule_reference_cycle(const struct seep_case *c, struct seep_finding *f)
{
    struct seep_sawtooth s = seep_sawtooth_find(c);
    char top[SEEP_SIZE_TEXT], base[SEEP_SIZE_TEXT], rise[SEEP_SIZE_TEXT];

    if (seep_rule_is_timed(c) || !is_worth_a_word(c, &s) || s.epoch_falls * 2 > s.falls ||
        is_of_allocator(c))
        return false;
    seep_rule_keep_retaining_sites(c, f);
    if (!f->n_sites)
        f->sites[f->n_sites++] = c->sites[0];
    seep_rule_verdict(f, SEEP_PATTERN_REFERENCE_CYCLE, SEEP_PRESSURE, 0.7);
    f->saving_bytes = (uint64_t)s.height;
    seep_finding_note(f, "freed only in bursts: %u times the level fell from about %s to %s",
                      s.falls, seep_text_size(s.top, top), seep_text_size(s.base, base));
    seep_finding_note(f, "in between it rises by %s a step; the falls do not follow the epochs",
                      seep_text_size(s.rise, rise));
    return true;
}

/* ---- growth without an end ---------------------------------------------------------------- */

bool seep_rule_unbounded_growth(const struct seep_case *c, struct seep_finding *f)
{
    bool shm = seep_rule_space(c)->class == SEEP_CLASS_SHM, timed = seep_rule_is_timed(c);
    int64_t first, last;

    if (seep_rule_fades(c, &first, &last))
        return false;
    if (!c->growth->growing || c->exchanges || !seep_rule_has_enough_steps(c) ||
        !c->growth->past_epoch)
        return false;
    /* What items cost when they are first used looks like this until every one was: without epochs
     * nobody knows when that is. */
    if (!timed && !c->span->epochs_known && seep_rule_is_data(c) && !c->has_workers && !shm)
        return false;
    seep_rule_keep_retaining_sites(c, f);
    seep_rule_verdict(f, shm ? SEEP_PATTERN_SHM_GROWTH : SEEP_PATTERN_UNBOUNDED_GROWTH, SEEP_LEAK,
                      timed                   ? 0.6
                      : c->span->epoch_passed ? 0.95
                                              : 0.85);
    f->saving_bytes = f->live_bytes;
    seep_rule_note_growth(c, f);
    if (shm)
        seep_finding_note(f, "%llu shared maps outlive their steps", (unsigned long long)f->count);
    if (c->span->epoch_passed)
        seep_finding_note(f, "goes on after the first epoch (%d steps)", (int)c->span->epoch_steps);
    return f->n_sites > 0;
}

/* Growth that may yet end: too few steps, or none past the first epoch. */
bool seep_rule_undetermined(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_growth *g = c->growth;
    bool timed = seep_rule_is_timed(c), enough = seep_rule_has_enough_steps(c);
    int64_t first, last;

    if (g->slope.low <= 0 || c->exchanges || g->to - g->from < 4)
        return false;
    double total = g->slope.value * (g->to - g->from);
    bool steady =
        g->growing || (g->shape.windows && g->shape.rising >= 0.75 * g->shape.windows &&
                       g->shape.falling == 0 && g->shape.late_share > 0.15 && g->shape.fall < 0.25);
    if (!steady || total < SEEP_RULE_SHOWN_BYTES)
        return false;
    /* Little data carries only what is large. */
    if (!enough && (total * 50 < (double)c->space_peak || total < SEEP_RULE_CACHE_BYTES))
        return false;
    if (timed && !c->frames->is_own[c->m->sites[c->sites[0]].stack])
        return false;
    seep_rule_keep_retaining_sites(c, f);
    seep_rule_verdict(f, SEEP_PATTERN_UNDETERMINED, SEEP_PRESSURE, 0.5);
    seep_rule_note_growth(c, f);
    if (c->span->epochs_known && !c->span->epoch_passed)
        seep_finding_note(f, "no step past the first epoch was seen: first-touch-cache, "
                             "aliased-cache, graph-retention and unbounded-growth look alike until "
                             "then");
    else if (g->by_process)
        seep_finding_note(f, "each process lived for one epoch at most: a cache that fills "
                             "(first-touch-cache, aliased-cache) and unbounded-growth look alike");
    else if (seep_rule_fades(c, &first, &last))
        seep_finding_note(f, "each epoch adds less than the one before: it may end");
    else if (enough)
        seep_finding_note(f,
                          "epochs are not known here: first-touch-cache (it ends when every item "
                          "was used once) and unbounded-growth look alike until then");
    else
        seep_finding_note(f, "only %d %s after the warm-up: a plateau could not show",
                          (int)(g->to - g->from), timed ? "time slices" : "steps");
    return f->n_sites > 0;
}

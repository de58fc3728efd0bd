#include "preload/steps/laps.h"

#include <string.h>

/* A lap has at least three steps: with fewer it is unclear which loop encloses which. */
enum { STEPS_BETWEEN = 2 };

/* The outermost loop that changed, as SEEP_LAP_…; -1: the steps are at different places. */
static int change(const struct seep_lap_loops *before, const struct seep_lap_loops *now)
{
    const unsigned n = before->n < now->n ? before->n : now->n;

    for (unsigned i = 0; i < n; i++) {
        const struct seep_pyloop *a = &before->loops[i], *b = &now->loops[i];
        if (a->path != b->path)
            return -1;
        const bool same = a->iterator == b->iterator;
        if (same && a->place == b->place)
            continue;
        if (same && a->place < b->place)
            return 2 * (int)i + 1;
        return a->position == b->position ? 2 * (int)i : -1;
    }
    return before->n == now->n ? SEEP_LAP_STILL : -1;
}

static void begin_anew(struct seep_laps *laps, uint64_t t_ns, uint32_t period)
{
    memset(laps->n_changes, 0, sizeof(laps->n_changes));
    laps->begun = true;
    laps->t_ns = t_ns;
    laps->period = period;
}

/* Whether steps change in this way so seldom that it is not the steps' own loop. */
static bool is_around(const struct seep_laps *laps, int changed)
{
    uint32_t further_out = 0, ordinary = 0;

    for (int i = 0; i < SEEP_LAP_CHANGES; i++) {
        if (i <= changed)
            further_out += laps->n_changes[i];
        else if (laps->n_changes[i] > ordinary)
            ordinary = laps->n_changes[i];
    }
    return ordinary >= STEPS_BETWEEN * further_out;
}

bool seep_laps_stepped(struct seep_laps *laps, const struct seep_lap_loops *loops, uint64_t t_ns,
                       uint32_t period)
{
    const int changed = laps->begun ? change(&laps->last, loops) : -1;
    bool begins = false;

    if (changed < 0) {
        begin_anew(laps, t_ns, period);
    } else {
        laps->n_changes[changed]++;
        begins = changed < SEEP_LAP_STILL &&
                 (loops->loops[changed / 2].path == laps->known || is_around(laps, changed));
    }
    if (begins)
        laps->around = loops->loops[changed / 2];
    laps->last = *loops;
    return begins;
}

uint32_t seep_laps_unseen(const struct seep_laps *laps, const struct seep_pyloop *around,
                          uint32_t n)
{
    for (unsigned i = 0; laps->begun && i < laps->last.n; i++) {
        const struct seep_pyloop *last = &laps->last.loops[i];
        if (last->path != around->path || last->iterator != around->iterator)
            continue;
        const intptr_t unseen = around->place > last->place ? around->place - last->place : 0;
        return unseen < (intptr_t)n ? (uint32_t)unseen : n;
    }
    return n;
}

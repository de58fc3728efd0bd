#include "preload/steps/loops.h"

#include <string.h>

enum {
    PROBES = 8,
    LEAST = 12,
    SILENT_ITERATIONS = 10,
    AROUND = 2,          /* whole iterations of a loop around another, which has … */
    ITERATIONS_EACH = 8, /* … so many in each */
};

static const uint64_t step_ns = 2 * 1000 * 1000;             /* no step is faster */
static const uint64_t patience_ns = 300 * 1000 * 1000;       /* but where none is slower, … */
static const uint64_t settle_ns = 20 * UINT64_C(1000000000); /* … and none shows for so long */
static const uint64_t library_ns = UINT64_C(1000000000);     /* of a library's own time */
static const uint64_t silence_ns = UINT64_C(1000000000);
static const uint64_t look_gap_ns = 50 * 1000 * 1000;
static const uint64_t forget_ns = 20 * UINT64_C(1000000000);
static const double least_share = 0.05; /* less is a detail of what is around it */

/* ---- iterations ---------------------------------------------------------------------------- */

/* The loop's place, or else the one of those it may have that is silent for longest. */
static struct seep_loop *place_of(struct seep_loops *loops, uintptr_t code, intptr_t begin)
{
    uint64_t hash = (code ^ (uint64_t)begin << 20) * UINT64_C(0x9e3779b97f4a7c15);
    struct seep_loop *oldest = NULL;
    for (uint32_t i = 0; i < PROBES; i++) {
        struct seep_loop *loop = &loops->loops[((uint32_t)(hash >> 40) + i) % SEEP_LOOPS];
        if (loop->code == code && loop->begin == begin)
            return loop;
        if (!oldest || loop->last_ns < oldest->last_ns)
            oldest = loop;
    }
    memset(oldest, 0, sizeof(*oldest));
    return oldest;
}

/* Loops inside of the one that has begun an iteration have been left, and begin anew. */
static void leave_inner(struct seep_loops *loops, const struct seep_loop *outer)
{
    for (uint32_t i = 0; i < SEEP_LOOPS; i++) {
        struct seep_loop *loop = &loops->loops[i];
        if (loop->depth > outer->depth || (loop->depth == outer->depth &&
                                           loop->code == outer->code && loop->begin > outer->begin))
            loop->left = true;
    }
}

static void iterated(struct seep_loops *loops, const struct seep_pyframe *outermost, unsigned depth,
                     seep_loop_kind_fn *kind, uint64_t now)
{
    const struct seep_pyframe *frame = outermost - depth;
    struct seep_loop *loop = place_of(loops, frame->code, (intptr_t)frame->position);
    if (!loop->code) {
        *loop = (struct seep_loop){.code = frame->code,
                                   .begin = (intptr_t)frame->position,
                                   .first_ns = now,
                                   .last_ns = now,
                                   .kind = kind(outermost, depth)};
        if (loop->kind != SEEP_LOOP_CALLED && !loops->since_ns)
            loops->since_ns = now;
        if (loop->kind == SEEP_LOOP_USER && !loops->user_since_ns)
            loops->user_since_ns = now;
    } else if (!loop->left) {
        loop->n_on++;
        loop->on_ns += now - loop->last_ns;
    }
    loop->depth = depth;
    loop->left = false;
    loop->n++;
    loop->last_ns = now;
    leave_inner(loops, loop);
}

uint64_t seep_loops_event(struct seep_loops *loops, const struct seep_pyframe *outermost,
                          unsigned n, seep_loop_kind_fn *kind, uint64_t (*now_ns)(void))
{
    unsigned depth = 0;
    n = n < SEEP_LOOP_FRAMES ? n : SEEP_LOOP_FRAMES;
    unsigned common = n < loops->n_last ? n : loops->n_last;
    const struct seep_pyframe *frame = outermost;
    while (depth < common && frame->code == loops->last[depth].code &&
           frame->position == loops->last[depth].position) {
        depth++;
        frame--;
    }
    bool back = depth < common && frame->code == loops->last[depth].code &&
                (intptr_t)frame->position < (intptr_t)loops->last[depth].position;
    loops->n_last = n;
    for (unsigned i = depth; i < n; i++)
        loops->last[i] = outermost[-(int)i];
    if (!back)
        return 0;
    uint64_t now = now_ns();
    iterated(loops, outermost, depth, kind, now);
    return now;
}

/* ---- the main one -------------------------------------------------------------------------- */

static uint64_t mean_ns(const struct seep_loop *loop)
{
    return loop->n_on ? loop->on_ns / loop->n_on : 0;
}

/* A user's loop is held against all that passed since the first of them. What a library does before
 * its main loop, as it traces and compiles a network, repeats much, too: its loop is held against
 * the time since it began. */
static uint64_t watched_ns(const struct seep_loops *loops, const struct seep_loop *loop,
                           uint64_t now_ns)
{
    return now_ns - (loop->kind == SEEP_LOOP_LIBRARY ? loop->first_ns : loops->user_since_ns);
}

/* The loop around it in the same function, as that of epochs is around that of batches; NULL where
 * none is seen. */
static const struct seep_loop *around(const struct seep_loops *loops, const struct seep_loop *inner)
{
    const struct seep_loop *longest = NULL;
    for (uint32_t i = 0; i < SEEP_LOOPS; i++) {
        const struct seep_loop *loop = &loops->loops[i];
        if (loop->code == inner->code && loop->depth == inner->depth &&
            loop->begin < inner->begin && loop->n_on >= AROUND &&
            inner->n / ITERATIONS_EACH >= loop->n && (!longest || loop->on_ns > longest->on_ns))
            longest = loop;
    }
    return longest;
}

/* It takes much of the time itself, or a library's trains in it and evaluates after it, round by
 * round. */
static bool fills(const struct seep_loops *loops, const struct seep_loop *loop, double share,
                  uint64_t now_ns)
{
    const double watched = (double)watched_ns(loops, loop, now_ns);
    if ((double)loop->on_ns >= share * watched)
        return true;
    if (loop->kind != SEEP_LOOP_LIBRARY || (double)loop->on_ns < least_share * watched)
        return false;
    const struct seep_loop *outer = around(loops, loop);
    return outer && (double)outer->on_ns >= share * watched;
}

static bool qualifies(const struct seep_loops *loops, const struct seep_loop *loop,
                      const struct seep_loop_rule *rule, uint64_t now_ns)
{
    const bool library = loop->kind == SEEP_LOOP_LIBRARY;
    uint64_t watch_ns = library && rule->watch_ns < library_ns ? library_ns : rule->watch_ns;
    return loop->code && loop->n >= LEAST && loop->n >= rule->least &&
           watched_ns(loops, loop, now_ns) >= watch_ns && fills(loops, loop, rule->share, now_ns);
}

/* Of the loops that are slow enough to be steps the one that iterates most often; where none is,
 * and that will hardly change, the slowest. */
static const struct seep_loop *best(const struct seep_loops *loops, enum seep_loop_kind kind,
                                    const struct seep_loop_rule *rule, uint64_t now_ns)
{
    const uint64_t since_ns = kind == SEEP_LOOP_USER ? loops->user_since_ns : loops->since_ns;
    const struct seep_loop *often = NULL, *slowest = NULL;
    for (uint32_t i = 0; since_ns && i < SEEP_LOOPS; i++) {
        const struct seep_loop *loop = &loops->loops[i];
        if (loop->kind != kind || !qualifies(loops, loop, rule, now_ns))
            continue;
        if (mean_ns(loop) >= step_ns && (!often || loop->n > often->n))
            often = loop;
        if (!slowest || mean_ns(loop) > mean_ns(slowest))
            slowest = loop;
    }
    return often || now_ns - since_ns < patience_ns ? often : slowest;
}

void seep_loops_main_iterated(struct seep_loops *loops, uint64_t now_ns)
{
    struct seep_loop *main = &loops->main;
    main->n++;
    main->n_on++;
    main->on_ns += now_ns - main->last_ns;
    main->last_ns = now_ns;
}

bool seep_loops_silent(const struct seep_loops *loops, uint64_t now_ns)
{
    uint64_t limit = SILENT_ITERATIONS * mean_ns(&loops->main);
    return loops->main.code &&
           now_ns - loops->main.last_ns > (limit > silence_ns ? limit : silence_ns);
}

bool seep_loops_unsettled(const struct seep_loops *loops, uint64_t now_ns)
{
    const struct seep_loop *main = &loops->main;
    return main->code && mean_ns(main) < step_ns && now_ns - main->first_ns < settle_ns;
}

/* Whether the main loop that is known goes on being it. */
static bool stays(const struct seep_loops *loops, const struct seep_loop *other, uint64_t now_ns)
{
    const struct seep_loop *main = &loops->main;
    if (!main->code)
        return false;
    if (main->code == other->code && main->begin == other->begin)
        return true;
    return !seep_loops_silent(loops, now_ns) &&
           (mean_ns(main) >= step_ns || mean_ns(other) < step_ns);
}

void seep_loops_restart(struct seep_loops *loops)
{
    loops->n_last = 0;
    loops->since_ns = loops->user_since_ns = loops->look_ns = 0;
    memset(loops->loops, 0, sizeof(loops->loops));
}

/* Some loop takes most of the time: it may only be too slow to have shown it. */
static bool any_lasts(const struct seep_loops *loops, const struct seep_loop_rule *rule,
                      uint64_t now_ns)
{
    for (uint32_t i = 0; i < SEEP_LOOPS; i++) {
        const struct seep_loop *loop = &loops->loops[i];
        if (loop->code && loop->kind != SEEP_LOOP_CALLED && loop->n_on &&
            fills(loops, loop, rule->share, now_ns))
            return true;
    }
    return false;
}

bool seep_loops_choose(struct seep_loops *loops, const struct seep_loop_rule *rule, uint64_t now_ns)
{
    if (!loops->since_ns || now_ns < loops->look_ns)
        return false;
    loops->look_ns = now_ns + look_gap_ns;
    const struct seep_loop *found = best(loops, SEEP_LOOP_USER, rule, now_ns);
    if (!found && rule->busy)
        found = best(loops, SEEP_LOOP_LIBRARY, rule, now_ns);
    if (found && stays(loops, found, now_ns))
        return false;
    if (found && found->last_ns != now_ns) {
        loops->look_ns = 0; /* as soon as it iterates */
        return false;
    }
    if (found) {
        loops->main = *found;
        loops->main_last = found->begin;
        seep_loops_restart(loops);
    } else if (now_ns - loops->since_ns > forget_ns && !any_lasts(loops, rule, now_ns)) {
        seep_loops_restart(loops); /* what was at first says little of what is now */
    }
    return found != NULL;
}

/* Which of the loops that were seen is the main one. */
#include <string.h>

#include "preload/steps/loops.h"

enum {
    LEAST = 12,
    SILENT_ITERATIONS = 10,
    AROUND = 2,          /* completed iterations of an outer loop, which has … */
    ITERATIONS_EACH = 8, /* … this many inner iterations in each */
    LAP_ROUNDS = 3,      /* in each lap, as in laps.h */
    RARELY = 8,          /* rounds of a loop for each one in which its place shows it */
};

/* A step lasts at least step_ns, or fast_ns in a user's loop that takes fast_share of a slower
 * loop's time: the slower one is then its epochs. If no loop is slow enough within patience_ns, the
 * slowest is taken, but for settle_ns a slow one may still replace it. A loop known only by its
 * items lasts at least item_ns an iteration: shorter ones only fill a list. */
static const uint64_t step_ns = 2 * 1000 * 1000;
static const uint64_t fast_ns = 500 * 1000;
static const uint64_t item_ns = 100 * 1000;
static const double fast_share = 0.8;
static const uint64_t patience_ns = 300 * 1000 * 1000;
static const uint64_t settle_ns = 20 * UINT64_C(1000000000);
static const uint64_t own_watch_ns = UINT64_C(1000000000); /* at least, if is_by_itself() */
static const uint64_t silence_ns = UINT64_C(1000000000);
static const uint64_t choose_gap_ns = 50 * 1000 * 1000;
static const uint64_t forget_ns = 20 * UINT64_C(1000000000);
static const double least_share = 0.05; /* a smaller share is a detail of the outer loop */

static uint64_t mean_ns(const struct seep_loop *loop)
{
    return loop->n_on ? loop->on_ns / loop->n_on : 0;
}

static bool is_by_itself(const struct seep_loop *loop)
{
    return loop->kind == SEEP_LOOP_LIBRARY || loop->items;
}

/* A user's loop is compared with all time since the first user's loop. A library repeats much
 * before its main loop, too, as it traces and compiles a network: its loop is compared with the
 * time since it began, and so is a loop seen only by its items. */
static uint64_t watched_ns(const struct seep_loops *loops, const struct seep_loop *loop,
                           uint64_t now_ns)
{
    return now_ns - (is_by_itself(loop) ? loop->first_ns : loops->user_since_ns);
}

/* The loop around it in the same function, as an epoch loop is around a batch loop; NULL if none is
 * seen. */
static const struct seep_loop *around(const struct seep_loops *loops, const struct seep_loop *inner)
{
    const struct seep_loop *longest = NULL;
    for (uint32_t i = 0; i < SEEP_LOOPS; i++) {
        const struct seep_loop *loop = &loops->loops[i];
        if (!loop->items && loop->code == inner->code && loop->depth == inner->depth &&
            loop->begin < inner->begin && loop->n_on >= AROUND &&
            inner->n / ITERATIONS_EACH >= loop->n && (!longest || loop->on_ns > longest->on_ns))
            longest = loop;
    }
    return longest;
}

/* Whether the loop takes at least `share` of the time watched. For a library's training loop it is
 * enough if a loop around it does, which evaluates in each round, too. */
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
    uint64_t watch_ns = rule->watch_ns;
    if (is_by_itself(loop) && watch_ns < own_watch_ns)
        watch_ns = own_watch_ns;
    return loop->code && loop->n >= LEAST && loop->n >= rule->least &&
           watched_ns(loops, loop, now_ns) >= watch_ns && fills(loops, loop, rule->share, now_ns);
}

/* Whether it is seen in few of its rounds, and is too fast to be steps: it only fills a list. */
static bool only_fills(const struct seep_loop *loop)
{
    return loop->passed / RARELY >= loop->n && loop->on_ns / loop->passed < item_ns;
}

/* A fast user's loop that does the work of a slower one: batches of a millisecond are the steps,
 * not the epochs around them. */
static bool does_the_work(const struct seep_loop *fast, const struct seep_loop *slow)
{
    return fast->kind == SEEP_LOOP_USER && mean_ns(fast) >= fast_ns && fast->n > slow->n &&
           (double)fast->on_ns >= fast_share * (double)slow->on_ns;
}

/* Whether it has few rounds for each one of an outer loop that is slow enough to be steps itself: a
 * repetition within a step (tries, micro-batches, views of a sample), not batches within an
 * epoch. */
static bool is_detail(const struct seep_loops *loops, const struct seep_loop *inner)
{
    for (uint32_t i = 0; i < SEEP_LOOPS; i++) {
        const struct seep_loop *loop = &loops->loops[i];
        const bool encloses = loop->depth < inner->depth ||
                              (loop->code == inner->code && loop->depth == inner->depth &&
                               loop->begin < inner->begin);
        if (loop->code && !loop->items && loop->kind == inner->kind && encloses &&
            loop->n_on >= AROUND && loop->first_ns <= inner->last_ns &&
            inner->first_ns <= loop->last_ns && mean_ns(loop) >= step_ns &&
            inner->n < ITERATIONS_EACH * loop->n)
            return true;
    }
    return false;
}

/* Of the loops slow enough to be steps, the one that iterates most often, or a fast one that does
 * its work; if none is slow enough, and that will hardly change, the slowest. */
static const struct seep_loop *best_of(const struct seep_loops *loops, enum seep_loop_kind kind,
                                       bool items, const struct seep_loop_rule *rule,
                                       uint64_t now_ns)
{
    const uint64_t since_ns =
        kind == SEEP_LOOP_USER && !items ? loops->user_since_ns : loops->since_ns;
    const struct seep_loop *often = NULL, *fast = NULL, *slowest = NULL;
    for (uint32_t i = 0; since_ns && i < SEEP_LOOPS; i++) {
        const struct seep_loop *loop = &loops->loops[i];
        const uint64_t mean = mean_ns(loop);
        if (loop->kind != kind || loop->items != items || !qualifies(loops, loop, rule, now_ns) ||
            (items ? mean < item_ns : only_fills(loop)) ||
            (kind == SEEP_LOOP_USER && is_detail(loops, loop)))
            continue;
        if (mean >= step_ns && (!often || loop->n > often->n))
            often = loop;
        if (mean < step_ns && mean >= fast_ns && (!fast || loop->n > fast->n))
            fast = loop;
        if (!slowest || mean > mean_ns(slowest))
            slowest = loop;
    }
    if (often && fast && does_the_work(fast, often))
        return fast;
    return often || now_ns - since_ns < patience_ns ? often : slowest;
}

/* The same loop as seen by its items, if these show about as many rounds; NULL if none do. */
static const struct seep_loop *agreeing(const struct seep_loops *loops,
                                        const struct seep_loop *found)
{
    const uint32_t near = found->n / 4;
    for (uint32_t i = 0; i < SEEP_LOOPS; i++) {
        const struct seep_loop *loop = &loops->loops[i];
        if (loop->items && loop->code == found->code && loop->depth == found->depth &&
            loop->n + near >= found->n && loop->n <= found->n + near)
            return loop;
    }
    return NULL;
}

/* The same loop as seen by its items, if that shows more rounds: events may show only some, for
 * example if nothing but a growing list allocates. Item loops that start again in each round are
 * inner loops, not this one. */
static const struct seep_loop *fuller(const struct seep_loops *loops, const struct seep_loop *found)
{
    const uint32_t near = found->n / 4;
    const struct seep_loop *more = NULL;
    if (agreeing(loops, found))
        return found; /* all rounds were seen */
    for (uint32_t i = 0; i < SEEP_LOOPS; i++) {
        const struct seep_loop *loop = &loops->loops[i];
        if (!loop->items || loop->code != found->code || loop->depth != found->depth)
            continue;
        if (mean_ns(loop) >= item_ns && loop->n > found->n + near && loop->n_anew < found->n / 2)
            more = loop;
    }
    return more ? more : found;
}

/* The for loop around it that is still in its rounds, with several of the inner one's in each:
 * those are laps. NULL if none, or if too many have passed to know when. */
static const struct seep_loop *laps_around(const struct seep_loops *loops,
                                           const struct seep_loop *inner)
{
    const struct seep_loop *most = NULL;
    for (uint32_t i = 0; i < SEEP_LOOPS; i++) {
        const struct seep_loop *loop = &loops->loops[i];
        const bool encloses = loop->depth < inner->depth ||
                              (loop->depth == inner->depth && loop->code == inner->code);
        if (loop->code && loop->items && loop->kind == inner->kind && encloses && !loop->n_anew &&
            loop->n <= SEEP_LOOP_MARKS && loop->n <= inner->n / LAP_ROUNDS &&
            (!most || loop->n > most->n))
            most = loop;
    }
    return most;
}

/* Loops seen by their places precede those seen only by their items, which may be a detail. */
static const struct seep_loop *best(const struct seep_loops *loops, enum seep_loop_kind kind,
                                    const struct seep_loop_rule *rule, uint64_t now_ns)
{
    const struct seep_loop *found = best_of(loops, kind, false, rule, now_ns);
    return found ? fuller(loops, found) : best_of(loops, kind, true, rule, now_ns);
}

void seep_loops_main_iterated(struct seep_loops *loops, uint32_t rounds, uint64_t now_ns)
{
    struct seep_loop *main = &loops->main;
    main->n += rounds;
    main->n_on += rounds;
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
    return main->code && (main->kind == SEEP_LOOP_LIBRARY ||
                          (mean_ns(main) < step_ns && now_ns - main->first_ns < settle_ns));
}

static bool is_same(const struct seep_loop *a, const struct seep_loop *b)
{
    return a->code == b->code && a->begin == b->begin;
}

/* The main loop as recorded since the last restart of the search; NULL if it did not iterate. */
static const struct seep_loop *main_since(const struct seep_loops *loops)
{
    for (uint32_t i = 0; i < SEEP_LOOPS; i++)
        if (is_same(&loops->loops[i], &loops->main))
            return &loops->loops[i];
    return NULL;
}

/* Whether the known main loop remains it. A library's gives way to any of the user's. */
static bool stays(const struct seep_loops *loops, const struct seep_loop *other, uint64_t now_ns)
{
    const struct seep_loop *main = &loops->main;
    if (!main->code)
        return false;
    if (is_same(main, other))
        return true;
    if (main->kind != other->kind)
        return main->kind == SEEP_LOOP_USER && !seep_loops_silent(loops, now_ns);
    if (seep_loops_silent(loops, now_ns))
        return false;
    if (mean_ns(main) >= step_ns || mean_ns(other) < step_ns)
        return true;
    const struct seep_loop *since = main_since(loops);
    return since && does_the_work(since, other);
}

void seep_loops_restart(struct seep_loops *loops)
{
    loops->n_last = 0;
    loops->since_ns = loops->user_since_ns = loops->choose_ns = 0;
    memset(loops->loops, 0, sizeof(loops->loops));
}

/* Some loop takes most of the time: it may just be too slow to qualify yet. */
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
    if (!loops->since_ns || now_ns < loops->choose_ns)
        return false;
    loops->choose_ns = now_ns + choose_gap_ns;
    const struct seep_loop *found = best(loops, SEEP_LOOP_USER, rule, now_ns);
    if (!found && rule->busy)
        found = best(loops, SEEP_LOOP_LIBRARY, rule, now_ns);
    if (found && stays(loops, found, now_ns))
        return false;
    if (found && found->last_ns != now_ns) {
        loops->choose_ns = 0; /* choose when it next iterates */
        return false;
    }
    if (found) {
        const struct seep_loop *laps = laps_around(loops, found);
        loops->around = laps ? *laps : (struct seep_loop){0};
        const struct seep_loop *items = found->items ? found : agreeing(loops, found);
        loops->main_path = items ? (uint64_t)items->begin : 0;
        loops->main_end = items ? items->end : 0;
        loops->main = *found;
        loops->main_last = found->begin;
        loops->main_locals = found->depth < loops->n_last ? loops->last[found->depth].locals : 0;
        if (!seep_loops_unsettled(loops, now_ns))
            seep_loops_restart(loops);
    } else if (now_ns - loops->since_ns > forget_ns && !any_lasts(loops, rule, now_ns)) {
        seep_loops_restart(loops); /* early loops say little about the present */
    }
    return found != NULL;
}

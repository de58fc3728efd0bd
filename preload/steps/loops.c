#include "preload/steps/loops.h"

#include <string.h>

enum {
    PROBES = 8,
    LOCALS_FRAMES = 8, /* whose local variables are looked at; a user's loop is not deeper inside */
    MAX_ROUNDS = 1 << 16, /* from one reading to the next */
    TIMES_ANEW = 2,       /* rounds that a loop within another has for each time it begins */
};

/* ---- iterations ---------------------------------------------------------------------------- */

/* The loop's entry; if it has none, the candidate entry unused for longest, cleared. */
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

/* The loops inside the one that has begun an iteration were left, and will start again. What its
 * items show is not compared with places of the same function: they may be its own. */
static void leave_inner(struct seep_loops *loops, const struct seep_loop *outer)
{
    for (uint32_t i = 0; i < SEEP_LOOPS; i++) {
        struct seep_loop *loop = &loops->loops[i];
        if (loop->depth > outer->depth ||
            (!loop->items && !outer->items && loop->depth == outer->depth &&
             loop->code == outer->code && loop->begin > outer->begin))
            loop->left = true;
    }
}

/* A for loop has started again: so have loops in the same function with many rounds each time.
 * Those with about one are around it; so may be any that begins before it, if it is seldom read
 * twice in a row: its rounds are short then, and it began more often than was read. */
static void leave_beside(struct seep_loops *loops, const struct seep_loop *anew)
{
    const bool all_read = anew->n > TIMES_ANEW * anew->n_anew;
    for (uint32_t i = 0; i < SEEP_LOOPS; i++) {
        struct seep_loop *loop = &loops->loops[i];
        if (!loop->items && loop->code == anew->code && loop->depth == anew->depth &&
            loop->n > TIMES_ANEW * anew->n_anew &&
            (all_read || loop->begin >= (intptr_t)anew->start))
            loop->left = true;
    }
}

static struct seep_loop *met(struct seep_loops *loops, uintptr_t code, intptr_t begin,
                             enum seep_loop_kind kind, uint64_t now)
{
    struct seep_loop *loop = place_of(loops, code, begin);
    *loop = (struct seep_loop){.code = code,
                               .begin = begin,
                               .first_ns = now,
                               .last_ns = now,
                               .first_period = loops->period,
                               .left = true,
                               .kind = kind};
    if (kind != SEEP_LOOP_CALLED && !loops->since_ns)
        loops->since_ns = now;
    return loop;
}

/* A function called from elsewhere has left its loop in between. */
static void iterated(struct seep_loop *loop, unsigned depth, uint32_t rounds, uint64_t now)
{
    if (!loop->left && loop->depth == depth) {
        loop->n_on += rounds;
        loop->on_ns += now - loop->last_ns;
    }
    loop->depth = depth;
    loop->left = false;
    loop->n += rounds;
    loop->last_ns = now;
}

/* Of a user's frame; 0 of others: a library's loop may turn for each of the user's rounds, as an
 * event loop does, or many times. */
static uint64_t locals_of(struct seep_loops *loops, const struct seep_pyframe *outermost,
                          unsigned depth, const struct seep_loop_look *look)
{
    struct seep_loop_frame *last = &loops->last[depth];
    if (depth >= LOCALS_FRAMES)
        return 0;
    if (!last->kind_plus_1)
        last->kind_plus_1 = 1 + (uint8_t)look->kind(outermost, depth);
    return last->kind_plus_1 == 1 + SEEP_LOOP_USER ? look->locals(outermost, depth) : 0;
}

/* Keeps the frames from `depth` inwards for the next event. */
static void keep_frames(struct seep_loops *loops, const struct seep_pyframe *outermost,
                        unsigned depth, unsigned n, const struct seep_loop_look *look)
{
    const unsigned n_before = loops->n_last;
    bool other = false;
    for (unsigned i = depth; i < n; i++) {
        struct seep_loop_frame *last = &loops->last[i];
        other = other || i >= n_before || last->frame.code != outermost[-(int)i].code;
        last->kind_plus_1 = other ? 0 : last->kind_plus_1;
        last->frame = outermost[-(int)i];
        last->locals = locals_of(loops, outermost, i, look);
    }
    loops->n_last = n;
}

/* Whether the frame at `depth` with other values at the same place may have been called anew, by a
 * for loop of a module: that has no local variables that would tell. */
static bool may_be_called_anew(const struct seep_loops *loops, unsigned depth)
{
    for (unsigned i = 0; i < loops->n_items && depth && !loops->last[depth - 1].locals; i++)
        if (loops->items[i].depth == depth - 1)
            return true;
    return false;
}

bool seep_loops_event(struct seep_loops *loops, const struct seep_pyframe *outermost, unsigned n,
                      const struct seep_loop_look *look, unsigned *depth)
{
    n = n < SEEP_LOOP_FRAMES ? n : SEEP_LOOP_FRAMES;
    const unsigned common = n < loops->n_last ? n : loops->n_last;
    unsigned i = 0;
    while (i < common && outermost[-(int)i].code == loops->last[i].frame.code &&
           outermost[-(int)i].position == loops->last[i].frame.position &&
           locals_of(loops, outermost, i, look) == loops->last[i].locals)
        i++;
    const struct seep_pyframe *now = outermost - i;
    const intptr_t further = i < common && now->code == loops->last[i].frame.code
                                 ? (intptr_t)(now->position - loops->last[i].frame.position)
                                 : 1;
    const bool back = further < 0 || (!further && !may_be_called_anew(loops, i));
    *depth = i;
    keep_frames(loops, outermost, i, n, look);
    return back;
}

void seep_loops_iterated(struct seep_loops *loops, const struct seep_pyframe *outermost,
                         unsigned depth, seep_loop_kind_fn *kind, uint64_t now_ns)
{
    const struct seep_pyframe *frame = outermost - depth;
    struct seep_loop *loop = place_of(loops, frame->code, (intptr_t)frame->position);
    if (!loop->code)
        loop = met(loops, frame->code, (intptr_t)frame->position, kind(outermost, depth), now_ns);
    if (loop->kind == SEEP_LOOP_USER && !loops->user_since_ns)
        loops->user_since_ns = now_ns;
    iterated(loop, depth, 1, now_ns);
    leave_inner(loops, loop);
}

bool seep_loops_main_event(struct seep_loops *loops, const struct seep_pyframe *outermost,
                           unsigned n, const struct seep_loop_look *look)
{
    const struct seep_pyframe *frame = outermost - loops->main.depth;
    if (loops->main.items || n <= loops->main.depth || frame->code != loops->main.code)
        return false;
    const intptr_t before = loops->main_last, now = (intptr_t)frame->position;
    const uint64_t locals_before = loops->main_locals;
    loops->main_last = now;
    if (now <= loops->main.begin)
        loops->main_locals = look->locals(outermost, loops->main.depth);
    return now <= loops->main.begin &&
           (now < before || (now == before && loops->main_locals != locals_before));
}

/* ---- iterations by items ------------------------------------------------------------------- */

/* The previous reading of the same for loop; NULL if there is none. */
static const struct seep_pyloop *kept(const struct seep_loops *loops,
                                      const struct seep_pyloop *item)
{
    for (unsigned i = 0; i < loops->n_items; i++)
        if (loops->items[i].path == item->path && loops->items[i].code == item->code)
            return &loops->items[i];
    return NULL;
}

/* How many rounds passed from `last` to `item`. A loop that has started again has finished its last
 * round. */
static uint32_t rounds_since(const struct seep_pyloop *last, const struct seep_pyloop *item)
{
    const intptr_t further = item->place - last->place;
    if (item->iterator != last->iterator || further < 0)
        return 1;
    if (!last->place)
        return 0;
    return further < MAX_ROUNDS ? (uint32_t)further : MAX_ROUNDS;
}

uint32_t seep_loops_main_items(struct seep_loops *loops, const struct seep_pyloop *items,
                               unsigned n)
{
    for (unsigned i = 0; loops->main.items && i < n; i++) {
        const struct seep_pyloop *last = kept(loops, &items[i]);
        if (last && items[i].code == loops->main.code &&
            (intptr_t)items[i].path == loops->main.begin)
            return rounds_since(last, &items[i]);
    }
    return 0;
}

/* Most rounds of a for loop may pass between two in which an event shows that it went back. */
static void pass(struct seep_loops *loops, const struct seep_pyloop *outermost, uint32_t rounds,
                 bool anew)
{
    for (uint32_t i = 0; rounds && i < SEEP_LOOPS; i++) {
        struct seep_loop *loop = &loops->loops[i];
        if (loop->items || loop->code != outermost->code || loop->depth != outermost->depth)
            continue;
        loop->passed += anew ? 0 : rounds;
        loop->begun += anew;
    }
}

/* Loops that follow each other in a function have the same path: one that begins anew further on
 * is the next. */
bool seep_loops_items(struct seep_loops *loops, const struct seep_pyframe *outermost,
                      const struct seep_pyloop *items, unsigned n, seep_loop_kind_fn *kind,
                      uint64_t now_ns)
{
    bool any = false;
    for (unsigned i = 0; i < n; i++) {
        const struct seep_pyloop *item = &items[i], *last = kept(loops, item);
        if (!last || !item->place || item->depth >= SEEP_LOOP_FRAMES)
            continue;
        /* A new iterator may have the old one's address. */
        const bool anew = item->iterator != last->iterator || item->place < last->place;
        struct seep_loop *loop = place_of(loops, item->code, (intptr_t)item->path);
        if (!loop->code || (anew && item->position > loop->end))
            loop =
                met(loops, item->code, (intptr_t)item->path, kind(outermost, item->depth), now_ns);
        if (!loop->items || item->position < loop->start)
            loop->start = item->position;
        loop->items = true;
        loop->end = item->position > loop->end ? item->position : loop->end;
        const uint32_t rounds = rounds_since(last, item);
        if (!i || items[i - 1].depth != item->depth)
            pass(loops, item, rounds, anew);
        loop->n_anew += anew;
        loop->left = loop->left || anew;
        if (rounds) {
            if (loop->n < SEEP_LOOP_MARKS)
                loop->marks[loop->n] = (struct seep_loop_mark){now_ns, loops->period};
            iterated(loop, item->depth, rounds, now_ns);
            leave_inner(loops, loop);
        }
        if (anew)
            leave_beside(loops, loop);
        any = any || rounds;
    }
    return any;
}

void seep_loops_keep_items(struct seep_loops *loops, const struct seep_pyloop *items, unsigned n)
{
    loops->n_items = n;
    memcpy(loops->items, items, n * sizeof(*items));
}

/* By places, it is read where its rounds begin: another loop of its function, that follows it or
 * precedes it, has the same path. */
static const struct seep_pyloop *main_of(const struct seep_loops *loops,
                                         const struct seep_pyloop *items, unsigned n)
{
    for (unsigned i = 0; loops->main_path && i < n; i++)
        if (items[i].code == loops->main.code && items[i].path == loops->main_path &&
            (loops->main.items || (intptr_t)items[i].position == loops->main.begin))
            return &items[i];
    return NULL;
}

struct seep_pyloop *seep_loops_main_item(struct seep_loops *loops)
{
    const struct seep_pyloop *item = main_of(loops, loops->items, loops->n_items);
    return item ? &loops->items[item - loops->items] : NULL;
}

bool seep_loops_main_goes_on(struct seep_loops *loops, const struct seep_pyloop *items, unsigned n)
{
    const struct seep_pyloop *last = seep_loops_main_item(loops), *now = main_of(loops, items, n);
    return last && now && now->iterator == last->iterator && now->place >= last->place;
}

uint32_t seep_loops_unseen(const struct seep_loops *loops, intptr_t before, uint32_t n,
                           intptr_t now)
{
    const intptr_t seen = (intptr_t)(loops->main.n - n) + !loops->main.items;
    const intptr_t unseen = now - before - seen;
    if (!before || unseen <= 0)
        return 0;
    return unseen < MAX_ROUNDS ? (uint32_t)unseen : MAX_ROUNDS;
}

/* ---- the main one ---------------------------------------------------------------------------- */

/* Which of the loops that were seen is the main one. */

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

/* Whether it is seen in few of its rounds, and is too fast to be steps: it only fills a list. A for
 * loop that begins anew in each of its rounds is none of it, but within it. */
static bool only_fills(const struct seep_loop *loop)
{
    return loop->passed / RARELY >= loop->n && loop->n > TIMES_ANEW * loop->begun &&
           loop->on_ns / loop->passed < item_ns;
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

/* The same loop as seen by its items, if these show about as many rounds; NULL if none do. A loop
 * within it may show as many, if only some of its rounds are read, but not where this one begins.
 */
static const struct seep_loop *agreeing(const struct seep_loops *loops,
                                        const struct seep_loop *found)
{
    const uint32_t near = found->n / 4;
    for (uint32_t i = 0; i < SEEP_LOOPS; i++) {
        const struct seep_loop *loop = &loops->loops[i];
        if (loop->items && loop->code == found->code && loop->depth == found->depth &&
            (intptr_t)loop->start <= found->begin && loop->n + near >= found->n &&
            loop->n <= found->n + near)
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

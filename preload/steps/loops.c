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
 * Those with about one are around it. */
static void leave_beside(struct seep_loops *loops, const struct seep_loop *anew)
{
    for (uint32_t i = 0; i < SEEP_LOOPS; i++) {
        struct seep_loop *loop = &loops->loops[i];
        if (!loop->items && loop->code == anew->code && loop->depth == anew->depth &&
            loop->n > TIMES_ANEW * anew->n_anew)
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

static void iterated(struct seep_loop *loop, unsigned depth, uint32_t rounds, uint64_t now)
{
    if (!loop->left) {
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
static void pass(struct seep_loops *loops, const struct seep_pyloop *outermost, uint32_t rounds)
{
    for (uint32_t i = 0; rounds && i < SEEP_LOOPS; i++) {
        struct seep_loop *loop = &loops->loops[i];
        if (!loop->items && loop->code == outermost->code && loop->depth == outermost->depth)
            loop->passed += rounds;
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
        loop->items = true;
        loop->end = item->position > loop->end ? item->position : loop->end;
        const uint32_t rounds = rounds_since(last, item);
        if (!anew && (!i || items[i - 1].depth != item->depth))
            pass(loops, item, rounds);
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

/* By places, a loop that follows it in its function, and so has its path, is another. */
static const struct seep_pyloop *main_of(const struct seep_loops *loops,
                                         const struct seep_pyloop *items, unsigned n)
{
    for (unsigned i = 0; loops->main_path && i < n; i++)
        if (items[i].code == loops->main.code && items[i].path == loops->main_path &&
            (loops->main.items || items[i].position <= loops->main_end))
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

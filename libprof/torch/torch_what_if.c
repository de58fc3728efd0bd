#include "libprof/torch/torch_what_if.h"

#include "libprof/words/python_file.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_EACH = 1024, MIN_WORK = 1 << 20, LINES = 3 };

/* What the model may be off by, and what is worth a try: shares of what was reserved. */
static const double NEAR = 0.01, WORTH = 0.05;

static const uint64_t MIN_GROWTH = 1 << 20, LARGEST_ROUNDING = 20 << 20;

/* ---- one trial ------------------------------------------------------------------------------ */

struct trial {
    const struct seep_torch_replay *r;
    uint8_t device;
    struct seep_torch_allocator *allocator;
    struct seep_torch_blocks live; /* `owner`: the allocator's number; `period`: the stack */
    const bool *stacks;            /* whose blocks are given back as their step ends; NULL: none */
    uint64_t *kept;                /* their addresses */
    size_t n_kept, kept_capacity;
    uint32_t period;
    uint64_t hint;       /* where the driver gave a segment for the request that comes next */
    uint64_t reserved;   /* in fact */
    uint64_t room_bytes; /* what the driver could give in fact; 0: not known */
    uint64_t emptied;    /* `reserved` before segments were given back, since when nothing was asked
                          * for; 0: none were */
    bool is_private;
    uint32_t refused;
    uint64_t dropped; /* requests that had found room, and find none */
};

static bool is_private(const struct seep_torch_records *records, unsigned pool)
{
    return pool < records->n_pools && (records->pools[pool].id[0] || records->pools[pool].id[1]);
}

static int keep(struct trial *t, uint64_t address, uint32_t stack)
{
    if (!t->stacks || !t->stacks[stack])
        return 0;
    if (seep_grow(&t->kept, &t->kept_capacity, t->n_kept + 1, sizeof *t->kept))
        return -SEEP_ENOMEM;
    t->kept[t->n_kept++] = address;
    return 0;
}

static void give(struct trial *t, uint64_t address)
{
    struct seep_torch_live block;

    if (seep_torch_blocks_take(&t->live, address, &block))
        seep_torch_allocator_give(t->allocator, block.owner);
}

static int take(struct trial *t, uint64_t address, uint64_t bytes, unsigned pool, uint32_t stack)
{
    struct seep_torch_live block = {.address = address, .bytes = bytes, .period = stack};

    give(t, address); /* its end was lost */
    int rc = seep_torch_allocator_take(t->allocator, pool, bytes, t->hint, &block.owner);
    if (rc == -SEEP_ENODATA) {
        t->dropped++;
        return 0;
    }
    if (!rc)
        rc = seep_torch_blocks_put(&t->live, &block);
    return rc ? rc : keep(t, address, stack);
}

/* A request that had failed. */
static int ask_again(struct trial *t, const struct seep_torch_event *e)
{
    uint32_t block;
    const int rc = seep_torch_allocator_take(t->allocator, e->pool, e->bytes, 0, &block);

    if (!rc)
        seep_torch_allocator_give(t->allocator, block);
    t->refused += rc == -SEEP_ENODATA;
    return rc == -SEEP_ENODATA ? 0 : rc;
}

/* Segments are given back for a request that finds no room, which the model decides for itself, or
 * because the program says so. */
static void end_emptying(struct trial *t, uint64_t asked)
{
    const bool has_no_room = asked && t->room_bytes && t->emptied + asked > t->room_bytes;

    if (t->emptied && !has_no_room)
        seep_torch_allocator_empty(t->allocator, t->is_private);
    t->emptied = 0;
}

static int follow_event(struct trial *t, const struct seep_torch_event *e)
{
    int rc = 0;

    switch (e->action) {
    case SEEP_TORCH_ALLOC:
        end_emptying(t, 0);
        rc = take(t, e->address, e->bytes, e->pool, e->stack);
        t->hint = 0;
        return rc;
    case SEEP_TORCH_FREE:
        end_emptying(t, 0);
        give(t, e->address);
        return 0;
    case SEEP_TORCH_SEGMENT_ALLOC:
    case SEEP_TORCH_SEGMENT_MAP:
        end_emptying(t, e->bytes);
        t->reserved += e->bytes;
        t->hint = e->action == SEEP_TORCH_SEGMENT_ALLOC ? e->address : 0;
        return 0;
    case SEEP_TORCH_SEGMENT_FREE:
    case SEEP_TORCH_SEGMENT_UNMAP:
        t->emptied = t->emptied ? t->emptied : t->reserved;
        t->reserved -= e->bytes;
        t->is_private = is_private(t->r->records, e->pool);
        return 0;
    case SEEP_TORCH_OOM:
        end_emptying(t, e->bytes);
        return ask_again(t, e);
    default:
        return 0;
    }
}

static void turn_to(struct trial *t, uint32_t period)
{
    if (period == t->period)
        return;
    t->period = period;
    for (size_t i = 0; i < t->n_kept; i++) {
        struct seep_torch_live block;
        if (seep_torch_blocks_find(&t->live, t->kept[i], &block) && t->stacks[block.period])
            give(t, t->kept[i]);
    }
    t->n_kept = 0;
}

/* ---- what was there before ---------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    const struct seep_torch_live *p = a, *q = b;

    return (p->address > q->address) - (p->address < q->address);
}

/* In the order of their addresses. */
static int list_before(const struct trial *t, enum seep_torch_tier tier, bool by_pages,
                       struct seep_torch_live **list, size_t *n)
{
    struct seep_torch_blocks blocks = {0};
    int rc = seep_torch_before(t->r->records, t->device, tier, by_pages, &blocks);

    *n = 0;
    *list = malloc((blocks.n + 1) * sizeof **list);
    if (!*list)
        rc = -SEEP_ENOMEM;
    for (size_t i = 0; i < blocks.n_slots && !rc; i++)
        if (blocks.slots[i].address)
            (*list)[(*n)++] = blocks.slots[i];
    seep_torch_blocks_fini(&blocks);
    if (!rc)
        qsort(*list, *n, sizeof **list, by_address);
    return rc;
}

/* Pages that follow each other are one. */
static size_t join_pages(struct seep_torch_live *list, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct seep_torch_live *last = kept ? &list[kept - 1] : NULL;
        if (last && last->is_page && list[i].is_page && last->pool == list[i].pool &&
            last->is_small == list[i].is_small && last->address + last->bytes == list[i].address)
            last->bytes += list[i].bytes;
        else
            list[kept++] = list[i];
    }
    return kept;
}

static int put_where_it_was(struct trial *t, const struct seep_torch_live *segments,
                            size_t n_segments, const struct seep_torch_live *blocks,
                            size_t n_blocks)
{
    size_t k = 0;
    int rc = 0;

    for (size_t i = 0; i < n_segments && !rc; i++) {
        const struct seep_torch_live *s = &segments[i];
        rc = seep_torch_allocator_put_segment(t->allocator, s->pool, s->address, s->bytes,
                                              s->is_small, s->is_page);
        while (k < n_blocks && blocks[k].address < s->address)
            k++;
        for (; k < n_blocks && blocks[k].address - s->address < s->bytes && !rc; k++) {
            struct seep_torch_live block = blocks[k];
            block.period = blocks[k].owner; /* until now its stack */
            rc = seep_torch_allocator_put_block(t->allocator, block.address, block.bytes,
                                                &block.owner);
            if (rc == -SEEP_ENODATA) {
                rc = 0;
                continue;
            }
            if (!rc)
                rc = seep_torch_blocks_put(&t->live, &block);
            if (!rc)
                rc = keep(t, block.address, blocks[k].owner);
        }
    }
    return rc;
}

/* By other rules it would not lie where it did: one after the other. */
static int put_anew(struct trial *t, const struct seep_torch_live *blocks, size_t n)
{
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++)
        rc = take(t, blocks[i].address, blocks[i].bytes, blocks[i].pool, blocks[i].owner);
    return rc;
}

static int begin(struct trial *t, bool where_it_was)
{
    struct seep_torch_live *segments = NULL, *blocks = NULL;
    size_t n_segments = 0, n_blocks = 0;
    const bool by_pages = seep_torch_goes_by_pages(t->r->records);
    int rc = list_before(t, SEEP_TORCH_DRIVER, by_pages, &segments, &n_segments);

    for (unsigned i = 0; i < t->r->records->n_pools; i++)
        if (is_private(t->r->records, i))
            seep_torch_allocator_set_private(t->allocator, i);
    if (!rc)
        rc = list_before(t, SEEP_TORCH_TENSORS, by_pages, &blocks, &n_blocks);
    for (size_t i = 0; i < n_segments; i++)
        t->reserved += segments[i].bytes;
    if (!rc && where_it_was)
        rc = put_where_it_was(t, segments, join_pages(segments, n_segments), blocks, n_blocks);
    else if (!rc)
        rc = put_anew(t, blocks, n_blocks);
    free(segments);
    free(blocks);
    return rc;
}

/* ---- all events --------------------------------------------------------------------------- */

static int follow(struct trial *t)
{
    const struct seep_torch_records *records = t->r->records;
    int rc = 0;

    for (size_t i = 0; i < records->n_events && !rc; i++) {
        const struct seep_torch_event *e = &records->events[i];
        if (e->device != t->device)
            continue;
        if (t->stacks)
            turn_to(t, seep_torch_period(t->r, e->time_us));
        rc = follow_event(t, e);
    }
    return rc;
}

/* What came of one. */
struct outcome {
    struct seep_what_if its;
    uint64_t dropped;
};

/* Takes what it needs of *work. Returns 0; -SEEP_ENOMEM; -SEEP_ELIMIT: it is given up. */
static int carry_out(const struct seep_torch_replay *r, uint8_t device,
                     const struct seep_allocator_rules *rules, bool where_it_was,
                     const bool *stacks, uint64_t *work, struct outcome *result)
{
    struct trial t = {.r = r,
                      .device = device,
                      .stacks = stacks,
                      .period = UINT32_MAX,
                      .room_bytes = rules->capacity_bytes};
    int rc = -SEEP_ENOMEM;

    t.allocator = seep_torch_allocator_new(rules, *work);
    if (t.allocator)
        rc = begin(&t, where_it_was);
    if (!rc)
        rc = follow(&t);
    if (t.allocator)
        *work = seep_torch_allocator_work(t.allocator);
    if (!rc) {
        result->its.peak_bytes = seep_torch_allocator_peak(t.allocator);
        result->its.private_bytes = seep_torch_allocator_private_at_peak(t.allocator);
        result->its.refused = t.refused;
        result->dropped = t.dropped;
    }
    seep_torch_allocator_free(t.allocator);
    seep_torch_blocks_fini(&t.live);
    free(t.kept);
    return rc;
}

/* ---- what the job had --------------------------------------------------------------------- */

/* What was in fact. */
struct fact {
    uint64_t peak_bytes; /* the most that the driver had given */
    uint64_t used_bytes; /* the most that the program had */
    uint64_t room_bytes; /* what the driver could give at most, as far as requests showed */
    uint32_t failed;
};

static uint64_t peak_of(const struct seep_torch_replay *r, uint8_t device,
                        enum seep_torch_tier tier)
{
    for (size_t i = 0; i < r->n_spaces; i++)
        if (r->spaces[i].device == device && r->spaces[i].tier == tier)
            return r->spaces[i].peak_bytes;
    return 0;
}

/* What the driver had given and had left as a request failed. If that would have been enough, the
 * process had been told to take less of the device: about the most that it ever took. */
static struct fact find_fact(const struct seep_torch_replay *r, uint8_t device)
{
    struct fact fact = {.peak_bytes = peak_of(r, device, SEEP_TORCH_DRIVER),
                        .used_bytes = peak_of(r, device, SEEP_TORCH_TENSORS)};

    for (size_t i = 0; i < r->n_ooms && i < SEEP_MAX_OOMS; i++) {
        const struct seep_torch_oom *oom = &r->ooms[i];
        const bool is_told = oom->event->address >= oom->event->bytes + LARGEST_ROUNDING;
        const uint64_t room = is_told ? fact.peak_bytes : oom->driver_bytes + oom->event->address;
        if (oom->event->device != device)
            continue;
        if (!fact.room_bytes || room < fact.room_bytes)
            fact.room_bytes = room;
    }
    for (size_t i = 0; i < r->records->n_events; i++)
        fact.failed += r->records->events[i].device == device &&
                       r->records->events[i].action == SEEP_TORCH_OOM;
    if (fact.room_bytes && fact.room_bytes < fact.peak_bytes)
        fact.room_bytes = fact.peak_bytes;
    return fact;
}

/* ---- lines that keep something ------------------------------------------------------------ */

static uint64_t level_at(const struct seep_torch_site *s, uint32_t period)
{
    uint64_t level = 0;

    if (period >= s->totals.last_period)
        return s->totals.allocated_bytes - s->totals.freed_bytes;
    for (uint32_t i = 0; i < s->n_points && s->points[i].period <= period; i++)
        level = s->points[i].live_bytes;
    return level;
}

/* The innermost frame of the program's own; + 1, 0: none. */
static uint32_t line_of(const struct seep_torch_records *r, uint32_t stack)
{
    for (uint32_t i = 0; i < r->stacks[stack].n; i++) {
        const uint32_t frame = r->frame_ids[r->stacks[stack].first + i];
        if (!seep_python_file_is_library(seep_torch_text(r, r->frames[frame].file)))
            return frame + 1;
    }
    return 0;
}

/* Those of which there is most more at the end than in the middle, by frame + 1. Returns how many.
 */
static size_t find_lines(const struct seep_torch_replay *r, uint8_t device, uint32_t *lines)
{
    const struct seep_torch_records *records = r->records;
    const uint32_t last = seep_torch_period(r, r->end_us);
    int64_t *grown = calloc(records->n_frames + 1, sizeof *grown);
    size_t n = 0;

    for (size_t i = 0; grown && i < r->n_sites; i++) {
        const struct seep_torch_site *s = &r->sites[i];
        const struct seep_torch_space *space = &r->spaces[s->totals.space];
        if (space->device == device && space->tier == SEEP_TORCH_TENSORS)
            grown[line_of(records, s->totals.stack)] +=
                (int64_t)level_at(s, last) - (int64_t)level_at(s, last / 2);
    }
    for (; grown && n < LINES; n++) {
        uint32_t most = 0;
        for (uint32_t i = 1; i <= records->n_frames; i++)
            if (grown[i] > (int64_t)MIN_GROWTH && (!most || grown[i] > grown[most]))
                most = i;
        if (!most)
            break;
        lines[n] = most;
        grown[most] = 0;
    }
    free(grown);
    return n;
}

/* ---- one device --------------------------------------------------------------------------- */

struct trying {
    const struct seep_torch_replay *r;
    struct seep_torch_what_ifs *to;
    struct fact fact;
    uint64_t *work;   /* of all trials that are left */
    uint64_t dropped; /* by the rules that the job had */
    uint8_t device;
};

/* With a change that would have let requests fail which found room, the job would not have come as
 * far: it is left out. */
static int add(struct trying *g, struct seep_what_if what_if,
               const struct seep_allocator_rules *rules, bool where_it_was, const bool *stacks)
{
    struct outcome outcome = {.its = what_if};

    if (g->to->n == SEEP_MAX_WHAT_IFS)
        return 0;
    outcome.its.device = g->device;
    outcome.its.failed = g->fact.failed;
    const int rc = carry_out(g->r, g->device, rules, where_it_was, stacks, g->work, &outcome);
    if (!rc && what_if.change == SEEP_WHAT_IF_NOTHING)
        g->dropped = outcome.dropped;
    if (!rc && outcome.dropped <= g->dropped)
        g->to->list[g->to->n++] = outcome.its;
    return rc == -SEEP_ELIMIT ? 0 : rc;
}

static int try_rules(struct trying *g, const struct seep_allocator_rules *had)
{
    enum { SPLIT_MIB = 128, DIVISIONS = 4 };
    struct seep_allocator_rules rules = *had;
    int rc = 0;

    rules.expandable = true;
    if (!had->expandable)
        rc = add(g, (struct seep_what_if){.change = SEEP_WHAT_IF_EXPANDABLE}, &rules, false, NULL);
    rules = *had;
    rules.max_split_bytes = (uint64_t)SPLIT_MIB << 20;
    if (!rc && !had->max_split_bytes && !had->expandable)
        rc = add(g, (struct seep_what_if){.change = SEEP_WHAT_IF_MAX_SPLIT, .amount = SPLIT_MIB},
                 &rules, false, NULL);
    rules = *had;
    for (int k = 0; k < SEEP_ALLOCATOR_SIZES; k++)
        rules.divisions[k] = DIVISIONS;
    if (!rc && !had->divisions[0])
        rc = add(g, (struct seep_what_if){.change = SEEP_WHAT_IF_ROUNDUP, .amount = DIVISIONS},
                 &rules, false, NULL);
    return rc;
}

static int try_lines(struct trying *g, const struct seep_allocator_rules *had)
{
    const struct seep_torch_records *records = g->r->records;
    bool *stacks = calloc(records->n_stacks, sizeof *stacks);
    uint32_t lines[LINES];
    const size_t n = g->r->steps->source == SEEP_STEP_TIME ? 0 : find_lines(g->r, g->device, lines);
    int rc = stacks ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < n && !rc; i++) {
        for (uint32_t k = 0; k < records->n_stacks; k++)
            stacks[k] = line_of(records, k) == lines[i];
        rc = add(g, (struct seep_what_if){.change = SEEP_WHAT_IF_KEPT, .frame = lines[i]}, had,
                 true, stacks);
    }
    free(stacks);
    return rc;
}

static bool is_near(uint64_t a, uint64_t b)
{
    const uint64_t off = a > b ? a - b : b - a;

    return (double)off <= NEAR * (double)b;
}

/* The model comes to what was in fact: how much was reserved, and which requests failed. */
static bool explains(const struct seep_what_if *its, const struct fact *fact)
{
    return is_near(its->peak_bytes, fact->peak_bytes) && its->refused == fact->failed;
}

/* By the rules that the job had, as its version of PyTorch has them. Nothing is added if the model
 * does not come to what was in fact. */
static int find_rules(struct trying *g, struct seep_allocator_rules *rules)
{
    const size_t first = g->to->n;
    int rc = 0;

    for (int i = 0; i < 2 && !rc; i++) {
        rules->oldest_first = i == 0;
        rc = add(g, (struct seep_what_if){.change = SEEP_WHAT_IF_NOTHING}, rules, true, NULL);
        if (!rc && g->to->n > first && explains(&g->to->list[first], &g->fact))
            return 0;
        g->to->n = first;
    }
    return rc;
}

static int try_device(struct trying *g)
{
    struct seep_allocator_rules rules = g->r->records->rules;
    const struct fact *fact = &g->fact;
    const size_t first = g->to->n;

    if (!fact->failed &&
        (double)(fact->peak_bytes - fact->used_bytes) < WORTH * (double)fact->peak_bytes)
        return 0;
    rules.capacity_bytes = fact->room_bytes;
    int rc = find_rules(g, &rules);
    if (rc || g->to->n == first)
        return rc;
    rc = try_rules(g, &rules);
    return rc ? rc : try_lines(g, &rules);
}

int seep_torch_what_ifs_find(const struct seep_torch_replay *r, struct seep_torch_what_ifs *to)
{
    uint64_t work = MIN_WORK + r->records->n_events * WORK_EACH;
    int rc = 0;

    to->n = 0;
    for (uint8_t device = 0; device < SEEP_TORCH_DEVICES && !rc; device++) {
        struct trying g = {
            .r = r, .to = to, .fact = find_fact(r, device), .work = &work, .device = device};
        if (g.fact.peak_bytes && r->records->n_events)
            rc = try_device(&g);
    }
    return rc;
}

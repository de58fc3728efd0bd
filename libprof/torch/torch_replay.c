#include "libprof/torch/torch_replay.h"

#include "libprof/torch/torch_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE_US = SEEP_TIME_SLICE_MS * 1000 };

enum { MAX_COPIED = 1 << 27 };

/* ---- time -------------------------------------------------------------------------------- */

uint32_t seep_torch_period(const struct seep_torch_replay *r, int64_t time_us)
{
    const struct seep_torch_steps *s = r->steps;
    size_t low = 0, high = s->n;

    if (s->source == SEEP_STEP_TIME) {
        const int64_t slice = (time_us - r->start_us) / SLICE_US;
        return slice < 0 ? 0 : slice < INT32_MAX ? (uint32_t)slice : INT32_MAX;
    }
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (s->ends_us[middle] < time_us)
            low = middle + 1;
        else
            high = middle;
    }
    return r->pace.steps + (uint32_t)low + 1;
}

int64_t seep_torch_row_us(const struct seep_torch_replay *r, uint32_t row)
{
    return r->start_us + (r->end_us - r->start_us) / r->n_rows * (row + 1);
}

static void find_stretch(struct seep_torch_replay *r)
{
    const struct seep_torch_records *records = r->records;

    r->start_us = INT64_MAX;
    for (size_t i = 0; i < records->n_events; i++) {
        const int64_t time_us = records->events[i].time_us;
        r->start_us = time_us < r->start_us ? time_us : r->start_us;
        r->end_us = time_us > r->end_us ? time_us : r->end_us;
    }
    if (!records->n_events)
        r->start_us = 0;
    if (r->end_us < r->start_us + SEEP_TIMELINE_ROWS)
        r->end_us = r->start_us + SEEP_TIMELINE_ROWS;
    r->n_rows = SEEP_TIMELINE_ROWS;
}

/* ---- sites ------------------------------------------------------------------------------- */

static int find_site(struct seep_torch_replay *r, uint32_t stack, size_t space, uint32_t *number)
{
    const uint64_t hash = seep_hash_two(stack, space);
    uint32_t at = seep_hash_begin(&r->site_index, hash), id;

    while ((id = seep_hash_next(&r->site_index, hash, &at)) != SEEP_HASH_NONE) {
        if (r->sites[id].totals.stack == stack && r->sites[id].totals.space == space) {
            *number = id;
            return 0;
        }
    }
    if (seep_grow(&r->sites, &r->sites_capacity, r->n_sites + 1, sizeof *r->sites) ||
        seep_hash_add(&r->site_index, hash, (uint32_t)r->n_sites))
        return -SEEP_ENOMEM;
    r->sites[r->n_sites] = (struct seep_torch_site){
        .totals = {.stack = stack, .space = (uint8_t)space, .slot_plus_1 = 1}};
    *number = (uint32_t)r->n_sites++;
    return 0;
}

static uint64_t live_bytes(const struct seep_torch_site *s)
{
    return s->totals.allocated_bytes - s->totals.freed_bytes;
}

/* Of each window of 2^shift periods the latest point stays. */
static void coarsen(struct seep_torch_site *s)
{
    uint32_t kept = 0;

    s->shift++;
    for (uint32_t i = 0; i < s->n_points; i++) {
        if (kept && s->points[kept - 1].period >> s->shift == s->points[i].period >> s->shift)
            kept--;
        s->points[kept++] = s->points[i];
    }
    s->n_points = kept;
}

/* Before anything happens in a new period: what the site had at the end of the one before. */
static int turn_to(struct seep_torch_site *s, uint32_t period)
{
    const uint32_t last = s->totals.last_period;
    size_t capacity = s->points_capacity;

    if (!s->totals.allocations)
        s->totals.first_period = s->totals.last_period = period;
    else if (last != period) {
        const struct seep_point point = {last, (uint32_t)(s->totals.allocations - s->totals.frees),
                                         live_bytes(s)};
        while (s->n_points == SEEP_SERIES_LARGE)
            coarsen(s);
        if (s->n_points && s->points[s->n_points - 1].period >> s->shift == last >> s->shift)
            s->n_points--;
        if (s->n_points + 1 > capacity) {
            capacity = capacity ? 2 * capacity : 8;
            struct seep_point *points = realloc(s->points, capacity * sizeof *points);
            if (!points)
                return -SEEP_ENOMEM;
            s->points = points;
            s->points_capacity = (uint32_t)capacity;
        }
        s->points[s->n_points++] = point;
        s->totals.last_period = period;
    }
    return 0;
}

static int site_allocates(struct seep_torch_site *s, uint64_t bytes, uint32_t period)
{
    struct seep_detail *d = &s->detail;
    const unsigned power = bytes ? 63u - (unsigned)__builtin_clzll(bytes) : 0;
    const int rc = turn_to(s, period);

    s->totals.allocations++;
    s->totals.allocated_bytes += bytes;
    if (live_bytes(s) > s->totals.peak_bytes) {
        s->totals.peak_bytes = live_bytes(s);
        s->totals.peak_period = period;
    }
    d->min_bytes = !d->min_bytes || bytes < d->min_bytes ? bytes : d->min_bytes;
    d->max_bytes = bytes > d->max_bytes ? bytes : d->max_bytes;
    d->size_marks |= seep_size_mark(bytes);
    d->sizes[power < SEEP_SIZE_BUCKETS ? power : SEEP_SIZE_BUCKETS - 1]++;
    return rc;
}

static int site_frees(struct seep_torch_site *s, const struct seep_torch_live *block,
                      uint32_t period)
{
    const uint32_t age = period - block->period;
    const int rc = turn_to(s, period);

    s->totals.frees++;
    s->totals.freed_bytes += block->bytes;
    s->detail.lifetimes[seep_lifetime_bucket(age)]++;
    s->detail.max_lifetime = age > s->detail.max_lifetime ? age : s->detail.max_lifetime;
    return rc;
}

/* ---- one device -------------------------------------------------------------------------- */

/* While the events of one device are followed. */
struct following {
    struct seep_torch_replay *r;
    uint8_t device;
    struct seep_torch_blocks blocks[SEEP_TORCH_TIERS];
    size_t space_plus_1[SEEP_TORCH_TIERS];
    uint32_t row;          /* the next to be filled */
    uint64_t layout_bytes; /* that the driver had given at the last layout */
    size_t n_copied;
    bool by_pages;
};

static int space_of(struct following *f, enum seep_torch_tier tier, size_t *space)
{
    struct seep_torch_replay *r = f->r;

    if (!f->space_plus_1[tier]) {
        if (r->n_spaces == SEEP_MAX_SPACES - 3)
            return -SEEP_ENODATA;
        struct seep_torch_space *s = &r->spaces[r->n_spaces++];
        s->device = f->device;
        s->tier = tier;
        if (f->device == SEEP_TORCH_HOST)
            snprintf(s->name, sizeof s->name, "pinned");
        else
            snprintf(s->name, sizeof s->name, "%s:%u",
                     tier == SEEP_TORCH_TENSORS ? "tensor" : "device", f->device);
        f->space_plus_1[tier] = r->n_spaces;
    }
    *space = f->space_plus_1[tier] - 1;
    return 0;
}

static int allocate(struct following *f, enum seep_torch_tier tier, uint32_t stack,
                    struct seep_torch_live *block, uint32_t period)
{
    size_t space;
    int rc = space_of(f, tier, &space);

    if (rc)
        return rc == -SEEP_ENODATA ? 0 : rc;
    struct seep_torch_space *s = &f->r->spaces[space];
    s->live_bytes += block->bytes;
    if (s->live_bytes > s->peak_bytes) {
        s->peak_bytes = s->live_bytes;
        s->peak_period = period;
    }
    block->period = period;
    rc = find_site(f->r, stack, space, &block->owner);
    if (!rc)
        rc = site_allocates(&f->r->sites[block->owner], block->bytes, period);
    return rc ? rc : seep_torch_blocks_put(&f->blocks[tier], block);
}

static int release(struct following *f, enum seep_torch_tier tier, uint64_t address,
                   uint32_t period)
{
    struct seep_torch_live block;

    if (!f->space_plus_1[tier] || !seep_torch_blocks_take(&f->blocks[tier], address, &block))
        return 0;
    f->r->spaces[f->space_plus_1[tier] - 1].live_bytes -= block.bytes;
    return site_frees(&f->r->sites[block.owner], &block, period);
}

/* Of pinned memory only what the driver gave counts, as in a job: tensors lie in it. */
static bool has_tier(const struct following *f, enum seep_torch_tier tier)
{
    return f->device != SEEP_TORCH_HOST || tier == SEEP_TORCH_DRIVER;
}

/* In which of the steps before the history a block was made that is the how many-th of its stack.
 */
static uint32_t period_before(const struct seep_torch_pace *pace, uint32_t stack, uint32_t older,
                              uint32_t number)
{
    const uint32_t each = pace->of_stack[stack];

    if (!each || older / each > pace->steps)
        return 0;
    return pace->steps - (older - 1 - number) / each;
}

static int put_before(struct following *f, enum seep_torch_tier tier,
                      const struct seep_torch_blocks *live)
{
    const size_t n_stacks = f->r->records->n_stacks;
    uint32_t *older = calloc(2 * n_stacks, sizeof *older), *number = older + n_stacks;
    int rc = older ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < live->n_slots && !rc; i++)
        if (live->slots[i].address)
            older[live->slots[i].owner]++;
    for (size_t i = 0; i < live->n_slots && !rc; i++) {
        struct seep_torch_live block = live->slots[i];
        const uint32_t stack = block.owner;
        if (!block.address)
            continue;
        if (!stack && tier == SEEP_TORCH_TENSORS)
            f->r->unknown_bytes += block.bytes;
        const uint32_t period =
            tier == SEEP_TORCH_TENSORS
                ? period_before(&f->r->pace, stack, older[stack], number[stack]++)
                : 0;
        rc = allocate(f, tier, stack, &block, period);
    }
    free(older);
    return rc;
}

/* What was there before. */
static int begin(struct following *f, enum seep_torch_tier tier)
{
    struct seep_torch_blocks live = {0};
    int rc = seep_torch_before(f->r->records, f->device, tier, f->by_pages, &live);

    if (!rc)
        rc = put_before(f, tier, &live);
    seep_torch_blocks_fini(&live);
    return rc;
}

/* ---- forwards ---------------------------------------------------------------------------- */

static uint64_t live_in(const struct following *f, enum seep_torch_tier tier)
{
    return f->space_plus_1[tier] ? f->r->spaces[f->space_plus_1[tier] - 1].live_bytes : 0;
}

static void fill_rows(struct following *f, int64_t until_us)
{
    for (; f->row < f->r->n_rows && seep_torch_row_us(f->r, f->row) < until_us; f->row++)
        for (int tier = 0; tier < SEEP_TORCH_TIERS; tier++)
            if (f->space_plus_1[tier])
                f->r->spaces[f->space_plus_1[tier] - 1].rows[f->row] = live_in(f, tier);
}

/* Tensors lie in whole units of the allocator. */
static uint64_t rounded(uint64_t bytes)
{
    enum { UNIT = 512 };

    return (bytes + UNIT - 1) / UNIT * UNIT;
}

static int add_blocks(const struct following *f, enum seep_torch_tier tier,
                      struct seep_torch_layout *to)
{
    const struct seep_torch_blocks *from = &f->blocks[tier];

    if (seep_grow(&to->blocks, &to->capacity, to->n + from->n, sizeof *to->blocks))
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < from->n_slots; i++) {
        const struct seep_torch_live *its = &from->slots[i];
        if (its->address && tier == SEEP_TORCH_TENSORS)
            to->blocks[to->n++] = (struct seep_layout_block){its->address, rounded(its->bytes),
                                                             its->owner, SEEP_LAYOUT_TENSOR};
        else if (its->address)
            to->blocks[to->n++] =
                (struct seep_layout_block){its->address, its->bytes, its->owner,
                                           its->is_page ? SEEP_LAYOUT_MAPPED : SEEP_LAYOUT_SEGMENT};
    }
    return 0;
}

static struct seep_torch_layout *layout_of(struct seep_torch_replay *r, uint8_t device,
                                           enum seep_layout_reason reason)
{
    for (size_t i = 0; i < r->n_layouts; i++)
        if (r->layouts[i].device == device && r->layouts[i].reason == reason)
            return &r->layouts[i];
    struct seep_torch_layout *made = &r->layouts[r->n_layouts++];
    made->device = device;
    made->reason = reason;
    return made;
}

/* The newest is kept. Copies are bounded in all: a hostile trace could have one for each event. */
static int note_layout(struct following *f, enum seep_layout_reason reason,
                       const struct seep_torch_event *e, uint32_t period)
{
    const size_t n = f->blocks[SEEP_TORCH_TENSORS].n_slots + f->blocks[SEEP_TORCH_DRIVER].n_slots;
    int rc = 0;

    if (f->device >= SEEP_TORCH_DEVICES || f->n_copied + n > MAX_COPIED)
        return 0;
    struct seep_torch_layout *layout = layout_of(f->r, f->device, reason);
    f->n_copied += n;
    layout->time_us = e->time_us;
    layout->period = period;
    layout->asked_bytes = reason == SEEP_LAYOUT_FAILED ? e->bytes : 0;
    layout->n = 0;
    for (int tier = SEEP_TORCH_TIERS; tier-- > 0 && !rc;)
        rc = add_blocks(f, tier, layout);
    return rc;
}

static void note_oom(struct following *f, const struct seep_torch_event *e, uint32_t period)
{
    struct seep_torch_replay *r = f->r;

    if (r->n_ooms < SEEP_MAX_OOMS)
        r->ooms[r->n_ooms] = (struct seep_torch_oom){e, period, live_in(f, SEEP_TORCH_TENSORS),
                                                     live_in(f, SEEP_TORCH_DRIVER)};
    r->n_ooms++;
}

static int follow_event(struct following *f, const struct seep_torch_event *e, uint32_t period)
{
    const enum seep_torch_tier tier =
        seep_torch_is_of(e, SEEP_TORCH_TENSORS) ? SEEP_TORCH_TENSORS : SEEP_TORCH_DRIVER;
    struct seep_torch_pieces pieces = seep_torch_pieces_of(e, f->by_pages);
    struct seep_torch_live piece;
    int rc = 0;

    while (!rc && has_tier(f, tier) && seep_torch_next_piece(&pieces, &piece)) {
        rc = release(f, tier, piece.address, period); /* of an allocation: its end was lost */
        if (!rc && seep_torch_allocates(e))
            rc = allocate(f, tier, e->stack, &piece, period);
    }
    return rc;
}

static int follow(struct following *f)
{
    const struct seep_torch_records *records = f->r->records;
    int64_t turn_us = INT64_MIN;
    uint32_t period = 0;
    int rc = 0;

    for (int tier = 0; tier < SEEP_TORCH_TIERS && !rc; tier++)
        if (has_tier(f, tier))
            rc = begin(f, tier);
    for (size_t i = 0; i < records->n_events && !rc; i++) {
        const struct seep_torch_event *e = &records->events[i];
        if (e->device != f->device)
            continue;
        if (e->time_us != turn_us) {
            turn_us = e->time_us;
            period = seep_torch_period(f->r, turn_us);
            fill_rows(f, turn_us);
        }
        if (e->action == SEEP_TORCH_OOM) {
            note_oom(f, e, period);
            rc = note_layout(f, SEEP_LAYOUT_FAILED, e, period);
        } else if (seep_torch_is_of(e, SEEP_TORCH_TENSORS) ||
                   seep_torch_is_of(e, SEEP_TORCH_DRIVER))
            rc = follow_event(f, e, period);
        if (!rc && live_in(f, SEEP_TORCH_DRIVER) > f->layout_bytes) {
            f->layout_bytes = live_in(f, SEEP_TORCH_DRIVER);
            rc = note_layout(f, SEEP_LAYOUT_AT_PEAK, e, period);
        }
    }
    if (!rc && !f->layout_bytes) /* without a history, as the snapshot was written */
        rc =
            note_layout(f, SEEP_LAYOUT_AT_PEAK, &(struct seep_torch_event){.time_us = f->r->end_us},
                        seep_torch_period(f->r, f->r->end_us));
    fill_rows(f, INT64_MAX);
    for (int tier = 0; tier < SEEP_TORCH_TIERS; tier++)
        seep_torch_blocks_fini(&f->blocks[tier]);
    return rc;
}

/* ---- all of them ------------------------------------------------------------------------- */

static bool is_there(const struct seep_torch_records *records, uint8_t device)
{
    for (size_t i = 0; i < records->n_segments; i++)
        if (records->segments[i].device == device)
            return true;
    for (size_t i = 0; i < records->n_events; i++)
        if (records->events[i].device == device)
            return true;
    return false;
}

int seep_torch_replay(struct seep_torch_replay *r, const struct seep_torch_records *records,
                      const struct seep_torch_steps *steps)
{
    const bool by_pages = seep_torch_goes_by_pages(records);
    int rc = 0;

    memset(r, 0, sizeof *r);
    r->records = records;
    r->steps = steps;
    find_stretch(r);
    rc = seep_torch_pace_find(records, steps, &r->pace);
    for (unsigned d = 0; d <= SEEP_TORCH_HOST && !rc; d++) {
        const bool is_device = d < SEEP_TORCH_DEVICES || d == SEEP_TORCH_HOST;
        if (is_device && is_there(records, (uint8_t)d))
            rc = follow(&(struct following){.r = r, .device = (uint8_t)d, .by_pages = by_pages});
    }
    return rc;
}

void seep_torch_replay_fini(struct seep_torch_replay *r)
{
    for (size_t i = 0; i < r->n_sites; i++)
        free(r->sites[i].points);
    free(r->sites);
    for (size_t i = 0; i < r->n_layouts; i++)
        free(r->layouts[i].blocks);
    seep_hash_fini(&r->site_index);
    seep_torch_pace_fini(&r->pace);
    memset(r, 0, sizeof *r);
}

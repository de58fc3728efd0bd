/* Numbers that verdicts hang on, from both sides: one thing is a little less than what is told of,
 * or a little more. Each pair lies within half of the number, so that a number that is moved by as
 * much is noticed. */
#include "tests/verdict/pattern_fixture.h"

#include <math.h>

enum { LINE = 7, BESIDE = 9 };

static uint32_t in_data(void)
{
    return below(main_stack, "/home/user/data.py", "__getitem__", LINE);
}

/* So many blocks that are there before the first step and to the end. */
static void there(unsigned line, unsigned space, uint64_t blocks, uint64_t each)
{
    builder_level(&b, user(line), space, each, LAST, constant, &blocks);
}

/* ---- how much, how many ---------------------------------------------------------------------- */

static void grows_by(double bytes)
{
    builder_level(&b, user(LINE), HOST, (uint64_t)(bytes / STEPS), LAST, one_a_step, NULL);
}

static void items_of(double bytes)
{
    there(LINE, SHM, 16, (uint64_t)(bytes / 16));
}

static void items(double n)
{
    there(LINE, SHM, (uint64_t)n, 128 * 1024);
}

static void items_that_are_so_much(double share)
{
    there(LINE, SHM, 16, 64 * 1024);
    there(BESIDE, SHM, 1, (uint64_t)((1 / share - 1) * MIB));
}

/* Where no limit is known, of a space that has much more. */
static void items_beside_much_else(double bytes)
{
    there(LINE, SHM, 16, (uint64_t)bytes / 16);
    there(BESIDE, SHM, 1, 900 * (uint64_t)MIB);
}

static void pinned_blocks(double n)
{
    there(LINE, PINNED, (uint64_t)n, 2 * MIB);
}

static void pinned_bytes(double bytes)
{
    there(LINE, PINNED, (uint64_t)bytes / (256 * 1024), 256 * 1024);
}

/* ---- peaks ----------------------------------------------------------------------------------- */

enum { USUAL = 256 * 1024, REQUESTS = 200 };

/* Sizes are known to a power of two: the median is taken for 8 MiB. */
static void spike_of(double times)
{
    transient(user(LINE), HOST, 4 * MIB, REQUESTS, (uint64_t)(times * 4 * MIB), 4);
}

static void spikes_that_are(double share)
{
    const uint64_t n = (uint64_t)(REQUESTS * share);

    transient(user(LINE), HOST, USUAL, REQUESTS - n, 48 * MIB, n);
}

/* The library's 40 MiB are the rest. */
static void spike_that_is(double share)
{
    transient(user(LINE), HOST, 64 * 1024, REQUESTS, (uint64_t)(share / (1 - share) * 40 * MIB), 4);
}

static struct seep_detail *flat_copies(uint64_t bytes, double a_step)
{
    return transient(below(user(LINE), "/usr/lib/python3/dist-packages/torch/_utils.py",
                           "_flatten_dense_tensors", 358),
                     HOST, bytes, (uint64_t)(a_step * STEPS), 0, 0);
}

static void large_copies_that_are(double share)
{
    flat_copies(40 * MIB, 1 / share);
}

static void small_copies_that_are(double share)
{
    flat_copies(20 * MIB, 1 / share);
}

static void copies_freed_within_two_steps(double share)
{
    struct seep_detail *d = flat_copies(40 * MIB, 1);

    d->lifetimes[0] = (uint32_t)(share * STEPS);
    d->lifetimes[3] = STEPS - d->lifetimes[0];
}

static void copies_freed_within_their_step(double share)
{
    struct seep_detail *d = flat_copies(40 * MIB, 1);

    d->lifetimes[0] = (uint32_t)(share * STEPS);
    d->lifetimes[1] = STEPS - d->lifetimes[0];
}

/* Blocks of 2 MiB that die in the next step, this share of them beside its own. */
static void carried(uint64_t blocks, double beside)
{
    const uint64_t each = 2 * MIB, n = blocks * STEPS;
    struct seep_point points[] = {{FIRST, (uint32_t)blocks, blocks * each},
                                  {LAST - 1, (uint32_t)blocks, blocks * each}};
    const uint32_t site =
        builder_site(&b, user(LINE), HOST, n, n * each, n - blocks, (n - blocks) * each, FIRST);

    builder_detail(&b, site, points, 2);
    struct seep_site *s = builder_at(&b, site);
    s->last_period = LAST - 1;
    s->peak_bytes = (uint64_t)((1 + beside) * (double)(blocks * each));
    s->peak_period = FIRST + 100;
    struct seep_detail *d = builder_at(&b, s->detail);
    d->min_bytes = d->max_bytes = each;
    d->lifetimes[1] = (uint32_t)(n - blocks);
}

static void carried_beside(double share)
{
    carried(3, share);
}

static void carried_that_is(double share)
{
    there(BESIDE, HOST, 1, (uint64_t)(2 * MIB / share) - 44 * (uint64_t)MIB);
    carried(1, 1);
}

/* ---- stairs and falls ------------------------------------------------------------------------ */

static uint64_t stairs_allocated;

/* Blocks that are replaced by larger ones, `every` so many steps, and one or the other that is
 * added halfway. */
static void stairs(uint32_t blocks, uint32_t added, uint32_t jumps, uint32_t every, double times)
{
    struct seep_point points[SEEP_SERIES_LARGE];
    const uint64_t start = 8 * MIB;
    const double factor = pow(times, 1.0 / jumps);
    uint64_t bytes = start, freed = 0;
    uint32_t n = 0;

    stairs_allocated = start;
    for (uint32_t i = 0; i <= jumps; i++) {
        points[n++] =
            (struct seep_point){FIRST + every * i, blocks + (2 * i >= jumps ? added : 0), bytes};
        if (i == jumps)
            break;
        freed += bytes;
        bytes = (uint64_t)((double)bytes * factor);
        stairs_allocated += bytes;
    }
    points[n] = points[n - 1];
    points[n++].period = LAST - 1;
    const uint32_t site = builder_site(&b, user(LINE), HOST, (jumps + 1) * blocks + added,
                                       stairs_allocated, jumps * blocks, freed, FIRST);
    builder_detail(&b, site, points, n);
    struct seep_site *s = builder_at(&b, site);
    s->last_period = LAST - 1;
}

static void stairs_up_to(double times)
{
    stairs(8, 0, 3, 40, times);
}

static void stairs_with_more_blocks(double added)
{
    stairs(30, (uint32_t)added, 3, 40, 3);
}

static void stairs_of_jumps(double jumps)
{
    stairs(8, 0, (uint32_t)jumps, 3, 6);
}

/* Two blocks: what may as well be a history, unless it has ended. */
static void stairs_that_ended_before_the_end(double steps)
{
    stairs(2, 0, 3, (uint32_t)(STEPS - steps) / 3, 3);
}

/* Teeth of so many steps; in between so much of the level's moves are up by three blocks, the rest
 * down by one. */
struct teeth {
    uint32_t every;
    double rising;
};

static uint64_t teeth(uint32_t period, void *arg)
{
    const struct teeth *t = arg;
    int64_t level = 8;

    for (uint32_t i = 0; period >= FIRST && i < (period - FIRST) % t->every; i++)
        level += (i % 10) / 10.0 < t->rising ? 3 : -1;
    return (uint64_t)level;
}

static void rising_for(double share)
{
    struct teeth t = {20, share};

    builder_level(&b, user(LINE), HOST, MIB / 4, LAST, teeth, &t);
}

static void falls(double n)
{
    struct teeth t = {(uint32_t)(STEPS / (n + 0.5)), 1};

    builder_level(&b, user(LINE), HOST, MIB / 4, LAST, teeth, &t);
}

static void falls_of_the_space(double share)
{
    struct teeth t = {20, 1};

    builder_level(&b, user(LINE), HOST, (uint64_t)(share * 42 * MIB / 57), LAST, teeth, &t);
}

/* ---- lines beside each other ----------------------------------------------------------------- */

static uint64_t losing(uint32_t period, void *arg)
{
    const uint32_t from = *(uint32_t *)arg;

    return period < 3 ? 0 : period < from ? 1000 : 1000 - 4 * (period - from);
}

/* From a step on another line loses what this one gains. */
static void what_another_line_loses_from(double step)
{
    uint32_t from = FIRST + (uint32_t)step;
    struct ramp r = {FIRST, UINT32_MAX, 4, UINT32_MAX};

    builder_level(&b, user(LINE), HOST, 8192, LAST, ramp, &r);
    builder_level(&b, user(BESIDE), HOST, 8192, LAST, losing, &from);
}

/* ---- passes over the data -------------------------------------------------------------------- */

/* A cache that is full after so much of an epoch of a hundred steps. */
static void full_after(double epochs)
{
    struct ramp r = {FIRST, FIRST + (uint32_t)(epochs * 100) - 1, 8, UINT32_MAX};

    add_epochs(2, 100);
    builder_level(&b, in_data(), HOST, 65536, LAST, ramp, &r);
}

/* One of fifty, and new blocks take the place of old ones from then on. */
static void replaced_and_full_after(double epochs)
{
    struct ramp r = {FIRST, FIRST + (uint32_t)(epochs * 50) - 1, 8, UINT32_MAX};

    add_epochs(4, 50);
    struct seep_site *s = builder_at(&b, builder_level(&b, in_data(), HOST, 65536, LAST, ramp, &r));
    s->allocations += 1200;
    s->allocated_bytes += 1200 * 65536;
    s->frees += 1200;
    s->freed_bytes += 1200 * 65536;
    struct seep_detail *d = builder_at(&b, s->detail);
    d->lifetimes[seep_lifetime_bucket(50)] = 1200;
}

/* Each epoch adds so much of what the one before did. */
static uint64_t fading(uint32_t period, void *arg)
{
    double each = 8, blocks = 0;

    for (uint32_t i = FIRST; i <= period; i++) {
        each *= i > FIRST && (i - FIRST) % 50 == 0 ? *(double *)arg : 1;
        blocks += each;
    }
    return (uint64_t)blocks;
}

static void epochs_that_add(double share)
{
    add_epochs(4, 50);
    builder_level(&b, in_data(), HOST, 65536, LAST, fading, &share);
}

/* A cache that fills in the second epoch, and was there in part before. */
static uint64_t second_epoch(uint32_t period, void *arg)
{
    const uint32_t step = period < FIRST ? 0 : period - FIRST + 1;
    const double before = 400 * *(double *)arg, at = step < 51    ? 0
                                                     : step > 100 ? 1
                                                                  : (step - 50) / 50.0;

    return step < 5 ? 0 : (uint64_t)(before + (400 - before) * at);
}

static void begun_with(double share)
{
    add_epochs(4, 50);
    builder_level(&b, in_data(), HOST, 65536, LAST, second_epoch, &share);
}

/* A cache that fills in the first epoch, by a jump in such a part of its eighths. */
static uint64_t in_jumps(uint32_t period, void *arg)
{
    const double step = period < FIRST ? 0 : period - FIRST + 1;
    double blocks = step >= 100 ? 40 : 0;

    for (uint32_t w = 0; w < 8; w++) {
        const bool jumps = floor((w + 1) * *(double *)arg) > floor(w * *(double *)arg);
        blocks += jumps && step > 2 + 12.5 * w ? 40 : 0;
    }
    return (uint64_t)blocks;
}

static void rising_up_to_its_end_in(double share)
{
    add_epochs(2, 100);
    builder_level(&b, in_data(), HOST, 65536, LAST, in_jumps, &share);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct {
    const char *row;
    void (*make)(double);
    double not_told, told;
    const char *pattern, *severity;
} edges[] = {
    {"SHOWN_BYTES", grows_by, 54e3, 80e3, "unbounded-growth", "leak"},
    {"CACHE_BYTES", items_of, 208e3, 320e3, "eager-retention", "retention"},
    {"MANY", items, 7, 9, "eager-retention", "retention"},
    {"LARGE_SHARE", items_that_are_so_much, 0.08, 0.12, "eager-retention", "retention"},
    {"LARGE_BYTES", items_beside_much_else, 13 * MIB, 20 * MIB, "eager-retention", "retention"},
    {"AGAIN", pinned_blocks, 1, 2, "pinned-pool", "pressure"},
    {"PEAK_BYTES", pinned_bytes, 768 * 1024, 1280 * 1024, "pinned-pool", "pressure"},
    {"SPIKE_TIMES", spike_of, 13, 20, "size-spike", "pressure"},
    {"SPIKE_RARE", spikes_that_are, 0.12, 0.08, "size-spike", "pressure"},
    {"PEAK_SHARE", spike_that_is, 0.042, 0.06, "size-spike", "pressure"},
    {"FLAT_COPY", large_copies_that_are, 0.25, 0.334, "collective-buffer", "pressure"},
    {"FLAT_COPY_SMALL", small_copies_that_are, 0.5, 0.7, "collective-buffer", "pressure"},
    {"NEARLY_ALL", copies_freed_within_two_steps, 0.8, 0.95, "collective-buffer", "pressure"},
    {"HALF", copies_freed_within_their_step, 0.4, 0.6, "collective-buffer", "pressure"},
    {"CARRIED_TWICE", carried_beside, 0.5, 0.75, "carry-over", "info"},
    {"CARRIED_SHARE", carried_that_is, 0.025, 0.036, "carry-over", "info"},
    {"STAIR_RISE", stairs_up_to, 1.1, 1.5, "legitimate-growth", "info"},
    {"STAIR_BLOCKS", stairs_with_more_blocks, 4, 3, "legitimate-growth", "info"},
    {"RARE", stairs_of_jumps, 58, 40, "legitimate-growth", "info"},
    {"ENDED", stairs_that_ended_before_the_end, 16, 24, "legitimate-growth", "info"},
    {"RISING", rising_for, 0.5, 0.7, "reference-cycle", "pressure"},
    {"SERIES", falls, 2, 3, "reference-cycle", "pressure"},
    {"NEGLIGIBLE", falls_of_the_space, 0.016, 0.025, "reference-cycle", "pressure"},
    {"EXCHANGE", what_another_line_loses_from, 86, 97, "unbounded-growth", "leak"},
    {"PLATEAU_OFF", full_after, 1.5, 1.36, "first-touch-cache", "retention"},
    {"SLOWING", epochs_that_add, 0.95, 0.65, "first-touch-cache", "retention"},
    {"GRADUAL", rising_up_to_its_end_in, 0.625, 0.75, "first-touch-cache", "retention"},
    {"BEGUN", begun_with, 0.062, 0.042, "first-touch-cache", "retention"},
    {"ALIASED_OFF_EPOCH", replaced_and_full_after, 1.35, 1.25, "aliased-cache", "retention"},
};

/* What is said of the line. */
static bool is_told(const char *pattern, const char *severity)
{
    const json_t *list = findings(), *f;
    size_t i;

    json_array_foreach (list, i, f) {
        if (number(json_object_get(f, "frame"), "line") == LINE &&
            strcmp(text(f, "pattern"), pattern) == 0 && strcmp(text(f, "severity"), severity) == 0)
            return true;
    }
    return false;
}

TEST(what_lies_on_this_side_is_told, .to = N(edges))
{
    edges[_i].make(edges[_i].told);
    ck_assert_msg(is_told(edges[_i].pattern, edges[_i].severity), "%s: %s", edges[_i].row,
                  json_dumps(json_object_get(report, "findings"), 0));
}

TEST(what_lies_on_the_other_is_not, .to = N(edges))
{
    edges[_i].make(edges[_i].not_told);
    ck_assert_msg(!is_told(edges[_i].pattern, edges[_i].severity), "%s", edges[_i].row);
}

SUITE("edges", .setup = setup, .teardown = teardown)

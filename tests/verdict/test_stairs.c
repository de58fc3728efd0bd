/* What is replaced by something larger, now and then or all the time: a level on either side of
 * each threshold for a staircase. */
#include "tests/verdict/levels.h"

enum { LINE = 77 };

/* A level of a number of blocks that stays, and of bytes that are drawn, in KiB: a point every
 * second step, as many as a series holds. */
static void remade(uint32_t blocks, struct bend *kib)
{
    struct seep_point points[STEPS];
    uint64_t allocated = 0, freed = 0, before = 0;
    unsigned n = 0;

    for (uint32_t period = FIRST; period < LAST; period += 2) {
        const uint64_t now = drawn(period, kib) * 1024;
        if (now == before)
            continue;
        allocated += now;
        freed += before;
        before = now;
        points[n++] = (struct seep_point){period, blocks, now};
    }
    uint32_t site = builder_site(&b, below(main_stack, "/home/user/train.py", "densify", LINE),
                                 HOST, blocks * n, allocated, blocks * (n - 1), freed, FIRST);
    const uint32_t detail = builder_detail(&b, site, points, n);
    struct seep_site *s = builder_at(&b, site);
    ((struct seep_detail *)builder_at(&b, detail))->max_lifetime = 3;
    s->last_period = LAST - 1;
    s->peak_bytes = before;
    s->peak_period = LAST - 1;
}

/* ---- a staircase ----------------------------------------------------------------------------- */

static struct bend pruned[][10] = {
    {{1, 4000}, {40, 4000}, {41, 8000}, {80, 8000}, {81, 7440}, {120, 7440}, {121, 11000}},
    {{1, 4000}, {40, 4000}, {41, 8000}, {80, 8000}, {81, 6880}, {120, 6880}, {121, 11000}},
};

TEST(a_model_that_is_pruned_a_little_between_its_jumps_grows_in_stairs)
{
    remade(8, pruned[0]);
    only("legitimate-growth", "info", LINE);
}

TEST(a_buffer_that_shrinks_clearly_between_its_jumps_does_not)
{
    remade(8, pruned[1]);
    nobody();
}

static struct bend crept[][10] = {
    {{1, 4000}, {40, 4000}, {41, 7600}, {174, 8000}, {175, 11600}, {199, 12000}},
    {{1, 4000}, {40, 4000}, {41, 6800}, {174, 8000}, {175, 10800}, {199, 12000}},
};

TEST(a_model_that_creeps_a_little_between_its_jumps_grows_in_stairs)
{
    remade(8, crept[0]);
    only("legitimate-growth", "info", LINE);
}

TEST(a_table_that_grows_between_its_jumps_may_go_on)
{
    remade(8, crept[1]);
    only("undetermined", "pressure", LINE);
}

/* The next jump is due after as many steps as it took to the last. */
static struct bend doubled[][10] = {
    {{1, 500}, {30, 500}, {31, 1000}, {60, 1000}, {61, 2000}, {120, 2000}, {121, 4000}},
    {{1, 500}, {20, 500}, {21, 1000}, {40, 1000}, {41, 2000}, {80, 2000}, {81, 4000}},
};

TEST(an_array_that_doubles_whenever_it_is_full_has_not_ended_at_its_last_jump)
{
    remade(1, doubled[0]);
    nobody();
}

TEST(one_that_had_time_to_double_again_has)
{
    remade(1, doubled[1]);
    only("legitimate-growth", "info", LINE);
}

static struct bend until_the_end[] = {
    {1, 4000},   {40, 4000},  {41, 5000},  {80, 5000},  {81, 6000},  {120, 6000},
    {121, 7000}, {160, 7000}, {161, 8000}, {190, 8000}, {191, 9000}, {0, 0},
};

TEST(parameters_and_their_optimizers_state_may_grow_to_the_end)
{
    remade(5, until_the_end);
    only("legitimate-growth", "info", LINE);
}

TEST(a_history_and_two_copies_of_it_may_not)
{
    remade(3, until_the_end);
    only("undetermined", "pressure", LINE);
}

/* So many rises, spread over the run, each by a part of the level. */
static struct bend *rises(uint32_t n, double by)
{
    static struct bend level[2 * STEPS];
    size_t at = 0;
    double kib = 4000;

    level[at++] = (struct bend){1, kib};
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t step = 30 + i * 160 / n;
        level[at++] = (struct bend){step, kib};
        kib += kib * by;
        level[at++] = (struct bend){step + 1, kib};
    }
    level[at] = (struct bend){0};
    return level;
}

TEST(ten_rises_by_three_per_cent_are_stairs)
{
    remade(8, rises(10, 0.03));
    only("legitimate-growth", "info", LINE);
}

TEST(twenty_by_half_of_that_are_none)
{
    remade(8, rises(20, 0.015));
    only("undetermined", "pressure", LINE);
}

/* ---- a little more in every step ------------------------------------------------------------- */

static struct bend every_step[] = {{1, 4000}, {200, 12000}, {0, 0}};

TEST(a_few_arrays_that_are_remade_larger_may_be_data)
{
    remade(6, every_step);
    only("undetermined", "pressure", LINE);
}

TEST(many_blocks_that_are_remade_larger_keep_their_pace)
{
    remade(12, every_step);
    only("unbounded-growth", "leak", LINE);
}

/* ---- stages of a training -------------------------------------------------------------------- */

enum { STAGE = 28 };

/* Four blocks more in each stage: a layer that is unfrozen, with its optimizer's state. */
static uint64_t staged(uint32_t period, void *arg)
{
    (void)arg;
    return period < FIRST ? 0 : 4 * (1 + (period - FIRST) / STAGE);
}

/* What each stage of the seven before the last made is gone at its end, or half of it only; or was
 * there for longer than two stages. */
static const struct {
    uint64_t gone;
    uint32_t age;
    bool may_end;
} stages[] = {{112, STAGE, true}, {56, STAGE, false}, {112, 3 * STAGE, false}};

TEST(stages_that_bring_all_of_it_anew_may_be_a_models, .to = N(stages))
{
    const uint64_t each = 512 * 1024, gone = stages[_i].gone;
    const uint32_t site = builder_level(&b, below(main_stack, "/home/user/train.py", "train", LINE),
                                        HOST, each, LAST, staged, NULL);
    struct seep_site *s = builder_at(&b, site);
    struct seep_detail *d = builder_at(&b, s->detail);

    add_epochs(7, STAGE);
    s->allocations += gone;
    s->allocated_bytes += gone * each;
    s->frees += gone;
    s->freed_bytes += gone * each;
    d->lifetimes[seep_lifetime_bucket(stages[_i].age)] = (uint32_t)gone;
    d->max_lifetime = stages[_i].age;
    only(stages[_i].may_end ? "undetermined" : "unbounded-growth",
         stages[_i].may_end ? "pressure" : "leak", LINE);
}

/* A queue that cat makes anew: its series has become coarse, and each of its points is higher. */
static uint64_t coarse(uint32_t period, void *arg)
{
    (void)arg;
    return period < FIRST ? 1 : 1 + (period - FIRST) / 4 * 4;
}

static const struct {
    uint64_t made; /* blocks beside those of the level */
    bool is_leak;
} queues[] = {{STEPS, true}, {0, false}};

TEST(a_queue_that_is_joined_in_every_step_is_one_whatever_its_series_shows, .to = N(queues))
{
    const uint32_t concat =
        below(below(main_stack, "/home/user/moco.py", "enqueue", LINE),
              "/usr/lib/python3/dist-packages/numpy/lib/function_base.py", "append", 9);
    struct seep_point points[STEPS / 4];
    uint64_t bytes = 0;
    unsigned n = 0;

    for (uint32_t period = FIRST; n < N(points); period += 4, n++) {
        bytes = coarse(period, NULL) * 65536;
        points[n] = (struct seep_point){period, 1, bytes};
    }
    const uint64_t made = N(points) + queues[_i].made;
    uint32_t site =
        builder_site(&b, concat, HOST, made, made * bytes, made - 1, (made - 1) * bytes, FIRST);
    builder_detail(&b, site, points, n);
    struct seep_site *s = builder_at(&b, site);
    s->last_period = LAST - 1;
    s->peak_bytes = bytes;
    only(queues[_i].is_leak ? "unbounded-growth" : "undetermined",
         queues[_i].is_leak ? "leak" : "pressure", LINE);
}

/* ---- queues ---------------------------------------------------------------------------------- */

/* Eleven items, which all grow: each is there for so many steps; or some are gone sooner; or their
 * number grows, too. */
static const struct {
    uint32_t age, others; /* so many of a hundred items live half as long */
    double more;          /* items at the end */
    bool may_end;
    uint32_t gone; /* of eleven; 0: many times */
} fifos[] = {{11, 0, 0, true, 0},   {11, 20, 0, true, 0}, {11, 40, 0, false, 0},
             {2, 0, 0, false, 0},   {11, 0, 8, false, 0}, {3, 0, 0, true, 0},
             {11, 0, 0, false, 18}, {11, 0, 0, true, 27}};

TEST(items_of_a_full_queue_may_get_larger, .to = N(fifos))
{
    const uint64_t gone = fifos[_i].gone ? fifos[_i].gone : 2 * STEPS,
                   sooner = gone * fifos[_i].others / 100;
    struct seep_point points[STEPS / 2];
    uint64_t bytes = 0;
    unsigned n = 0;
    uint32_t blocks = 0;

    for (uint32_t period = FIRST; period < LAST; period += 2, n++) {
        blocks = 11 + (uint32_t)(fifos[_i].more * n / N(points));
        bytes = (uint64_t)(4000 + 40 * (period - FIRST)) * 1024;
        points[n] = (struct seep_point){period, blocks, bytes};
    }
    const uint32_t site =
        builder_site(&b, below(main_stack, "/home/user/train.py", "remember", LINE), HOST,
                     gone + blocks, 2 * gone * bytes, gone, 2 * gone * bytes - bytes, FIRST);
    builder_detail(&b, site, points, n);
    struct seep_site *s = builder_at(&b, site);
    struct seep_detail *d = builder_at(&b, s->detail);
    s->last_period = LAST - 1;
    s->peak_bytes = bytes;
    d->lifetimes[seep_lifetime_bucket(fifos[_i].age)] = (uint32_t)(gone - sooner);
    d->lifetimes[seep_lifetime_bucket(fifos[_i].age / 2)] += (uint32_t)sooner;
    d->max_lifetime = fifos[_i].age;
    const bool is_open = fifos[_i].may_end;
    only(is_open ? "undetermined" : "unbounded-growth", is_open ? "pressure" : "leak", LINE);
}

/* ---- sizes that follow the input ------------------------------------------------------------- */

/* Twelve blocks that each step makes larger and the next one frees; or half of them are there for
 * longer; or they are a history that is joined to itself. */
static const struct {
    uint32_t age;
    const char *joins; /* a function of NumPy's */
    bool is_leak;
} inputs[] = {
    {1, NULL, false}, {2, NULL, false}, {3, NULL, true}, {4, NULL, true}, {1, "concatenate", true}};

static uint32_t made_of_input(uint32_t age, const char *joins)
{
    uint32_t stack = below(main_stack, "/home/user/train.py", "compute", LINE);
    struct seep_point points[STEPS / 2];
    const uint64_t made = 12 * STEPS;
    uint64_t bytes = 0;
    unsigned n = 0;

    if (joins)
        stack = below(stack, "/usr/lib/python3/dist-packages/numpy/lib/x.py", joins, 9);
    for (uint32_t period = FIRST; period < LAST; period += 2, n++) {
        bytes = (uint64_t)(4000 + 40 * (period - FIRST)) * 1024;
        points[n] = (struct seep_point){period, 12, bytes};
    }
    const uint32_t site = builder_site(&b, stack, HOST, made, made * bytes / 12, made - 12,
                                       (made - 12) * bytes / 12, FIRST);
    builder_detail(&b, site, points, n);
    struct seep_site *s = builder_at(&b, site);
    struct seep_detail *d = builder_at(&b, s->detail);
    s->last_period = LAST - 1;
    s->peak_bytes = bytes;
    d->lifetimes[seep_lifetime_bucket(1)] = (uint32_t)(made - 12) / 2;
    d->lifetimes[seep_lifetime_bucket(age)] += (uint32_t)(made - 12) / 2;
    d->max_lifetime = age;
    return site;
}

TEST(what_each_step_makes_anew_may_follow_the_input, .to = N(inputs))
{
    (void)made_of_input(inputs[_i].age, inputs[_i].joins);
    only(inputs[_i].is_leak ? "unbounded-growth" : "undetermined",
         inputs[_i].is_leak ? "leak" : "pressure", LINE);
}

/* Items that are joined to a batch: as many bytes as that, less, or more; or one for each batch; or
 * made somewhere else; or so much of the largest batch is there at once. */
static const struct {
    uint64_t pieces, percent;
    bool elsewhere;
    unsigned space;
    uint64_t at_once; /* percent */
    uint32_t age;     /* of the oldest */
    bool is_leak;
} items[] = {
    {4, 100, false, HOST, 100, 0, false}, {4, 70, false, HOST, 100, 0, true},
    {4, 150, false, HOST, 100, 0, true},  {1, 100, false, HOST, 100, 0, true},
    {4, 100, true, HOST, 100, 0, true},   {4, 100, false, MMAP, 100, 0, true},
    {4, 100, false, HOST, 85, 0, false},  {4, 100, false, HOST, 75, 0, true},
    {4, 100, false, HOST, 100, 2, false}, {4, 100, false, HOST, 100, 3, true},
};

TEST(a_batch_that_is_joined_of_its_items_is_no_history, .to = N(items))
{
    struct seep_site *batch = builder_at(&b, made_of_input(1, "concatenate"));
    const uint64_t bytes = batch->allocated_bytes * items[_i].percent / 100;
    const uint64_t n = batch->allocations * items[_i].pieces, largest = batch->peak_bytes / 12;
    const uint32_t outer = items[_i].elsewhere ? 0 : main_stack;

    ((struct seep_detail *)builder_at(&b, batch->detail))->max_bytes = largest;
    const uint32_t read = below(outer, "/home/user/train.py", "read", LINE + 9);
    struct seep_detail *d = transient(read, items[_i].space, bytes / n, n, 0, 0);
    d->max_lifetime = items[_i].age;
    struct seep_site *site = builder_at(&b, d->site);
    site->peak_bytes = largest * items[_i].at_once / 100;
    only(items[_i].is_leak ? "unbounded-growth" : "undetermined",
         items[_i].is_leak ? "leak" : "pressure", LINE);
}

/* What the last batches were joined of is there at the end of each step: more each time, or as much
 * as ever, which is somebody's work area. */
TEST(pieces_become_more_as_what_is_joined_of_them, .to = 2)
{
    struct seep_site *batch = builder_at(&b, made_of_input(1, "concatenate"));
    const uint64_t n = 4 * batch->allocations, bytes = batch->allocated_bytes;
    struct seep_point points[STEPS / 2];
    uint64_t held = 0;
    unsigned at = 0;

    ((struct seep_detail *)builder_at(&b, batch->detail))->max_bytes = batch->peak_bytes / 12;
    for (uint32_t period = FIRST; period < LAST; period += 2, at++) {
        held = (uint64_t)(4000 + 40 * (_i ? STEPS / 2 : period - FIRST)) * 1024;
        points[at] = (struct seep_point){period, 48, held};
    }
    const uint32_t read = builder_site(&b, below(main_stack, "/home/user/train.py", "read", 3),
                                       HOST, n, bytes, n, bytes, FIRST);
    builder_detail(&b, read, points, at);
    struct seep_site *site = builder_at(&b, read);
    site->last_period = LAST - 1;
    site->peak_bytes = held;
    struct seep_detail *d = builder_at(&b, site->detail);
    d->lifetimes[1] = (uint32_t)n;
    d->max_lifetime = 1;
    const json_t *list = findings(), *f;
    bool leak = false;
    size_t i;
    json_array_foreach (list, i, f)
        leak |= number(json_object_get(f, "frame"), "line") == LINE &&
                strcmp(text(f, "severity"), "leak") == 0;
    char *all = json_dumps(list, JSON_INDENT(1));
    ck_assert_msg(leak == (_i == 1), "%s", all);
    free(all);
}

/* So much that is kept in each step: a sixth of what the line gains, or a twentieth. */
TEST(what_is_kept_beside_it_is_not_made_anew, .to = 2)
{
    const uint32_t stack = below(main_stack, "/home/user/train.py", "compute", LINE);
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};

    (void)made_of_input(1, NULL);
    builder_level(&b, builder_stack(&b, stack, builder_native(&b, "/usr/lib/libkeep.so", NULL, 64)),
                  HOST, _i ? 2048 : 8192, LAST, ramp, &r);
    only(_i ? "undetermined" : "unbounded-growth", _i ? "pressure" : "leak", LINE);
}

SUITE("stairs", .setup = setup, .teardown = teardown)

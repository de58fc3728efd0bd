/* Where a life without steps ends for the measurements, on levels whose truth is known: what the
 * teardown frees hides no growth, and work that gives back is no teardown. */
#include "libprof/measure/growth.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SLICES = 400, EACH = 64 * 1024, SLICE_NS = SEEP_TIME_SLICE_MS * 1000000 };

static struct seep_model m;
static struct seep_span span;
static struct seep_growth growth;

static void setup(void)
{
    memset(&m, 0, sizeof m);
    m.processes = calloc(3, sizeof *m.processes);
    m.sites = calloc(1, sizeof *m.sites);
    m.slots = calloc(1, sizeof *m.slots);
    m.points = calloc(SLICES + 1, sizeof *m.points);
    m.n_processes = 2;
    m.n_spaces = 1;
    m.n_steps = SLICES;
    m.step_source = SEEP_STEP_TIME;
    m.processes[0].end_step = INT32_MAX;
    seep_span_compute(&m, &span);
    memset(&growth, 0, sizeof growth);
}

static void teardown(void)
{
    seep_growth_fini(&growth);
    free(m.processes);
    free(m.sites);
    free(m.slots);
    free(m.points);
}

/* Grows by EACH a slice up to `top`, falls evenly to kept/100 of that by `bottom`, and stays. */
struct life {
    const char *what;
    bool child; /* forked in slice `start`, gone after slice `end`; else the job's own process */
    int start, top, bottom, kept, end;
    bool growing;
};

static const struct life lives[] = {
    {"a leak that the job's end frees slice by slice", false, 1, 375, 398, 5, 400, true},
    {"a leak that a process's end frees over two slices", true, 50, 298, 300, 20, 300, true},
    {"a leak that a process's end has freed in part", true, 50, 299, 300, 55, 300, true},
    {"a leak that a process's long end frees", true, 50, 280, 300, 0, 300, true},
    {"an index of which a third is dropped and the rest used", false, 1, 330, 331, 65, 400, false},
    {"an index of which most is dropped and the rest used", false, 1, 365, 366, 30, 400, false},
    {"an index that is dropped before the rest of the work", false, 1, 365, 366, 0, 400, false},
    {"a queue that fills and drains, late in the job", true, 250, 325, 390, 30, 390, false},
    {"a queue that fills and drains", true, 50, 200, 300, 0, 300, false},
};

static uint64_t level(const struct life *l, int slice)
{
    double top = (double)EACH * (l->top - l->start + 1), bottom = top * l->kept / 100;

    if (slice <= l->top)
        return (uint64_t)(slice - l->start + 1) * EACH;
    if (slice >= l->bottom)
        return (uint64_t)bottom;
    return (uint64_t)(top - (top - bottom) * (slice - l->top) / (l->bottom - l->top));
}

TEST(growth_is_measured_up_to_where_the_work_ends, .to = N(lives))
{
    const struct life *l = &lives[_i];
    struct seep_model_process *p = &m.processes[l->child];
    const uint32_t site = 0;

    p->start_ns = (uint64_t)(l->start - 1) * SLICE_NS;
    p->parent = l->child;
    p->end_step = l->child ? l->end + 1 : INT32_MAX;
    m.slots[0] = (struct seep_model_slot){.process = (uint32_t)l->child};
    for (int slice = l->start; slice <= l->end; slice++)
        m.points[m.slots[0].n_points++] = (struct seep_model_point){
            .step = slice, .bytes = level(l, slice), .blocks = (uint32_t)(level(l, slice) / EACH)};
    m.n_points = m.slots[0].n_points;
    m.sites[0] = (struct seep_model_site){.n_slots = 1, .slots = 1};
    m.n_sites = m.n_slots = 1;
    ck_assert_int_eq(seep_growth_measure(&m, &span, &site, 1, &growth), 0);
    ck_assert_msg(growth.growing == l->growing, "%s", l->what);
    if (l->growing)
        ck_assert_double_eq_tol(growth.slope.value, EACH, EACH / 20.0);
}

/* Six epochs of 20 steps, of which the first is warm-up to its middle and beyond: a worker that was
 * there from the start has seen that pass, one that came late in it has not. */
TEST(a_worker_of_all_epochs_is_judged_past_the_first, .to = 2)
{
    const struct life l = {.start = _i ? 15 : 1, .top = 119, .end = 119, .bottom = 120};
    struct seep_model_process *p = &m.processes[1];
    const uint32_t site = 0;

    m.step_source = SEEP_STEP_OPTIMIZER;
    m.n_steps = 120;
    span = (struct seep_span){.warm = 12, .judge = 20, .last = 120, .epoch_steps = 20};
    span.epochs_known = span.epoch_passed = true;
    *p = (struct seep_model_process){.parent = 1, .end_step = 120};
    m.slots[0] = (struct seep_model_slot){.process = 1};
    for (int step = l.start; step <= l.end; step++)
        m.points[m.slots[0].n_points++] =
            (struct seep_model_point){.step = step, .bytes = level(&l, step), .blocks = 1};
    m.n_points = m.slots[0].n_points;
    m.sites[0] = (struct seep_model_site){.n_slots = 1, .slots = 1};
    m.n_sites = m.n_slots = 1;
    ck_assert_int_eq(seep_growth_measure(&m, &span, &site, 1, &growth), 0);
    ck_assert(growth.growing && growth.by_process);
    ck_assert_int_eq(growth.past_epoch, _i == 0);
}

/* Rounds that were counted back lie in a few periods: what they kept shows only behind them. */
static const struct {
    uint32_t steps, back;
    int32_t warm;
} counted[] = {{1276, 1, 50}, {1276, 40, 61}, {1276, 248, 269}, {1276, 900, 50}, {60, 20, 21}};

TEST(rounds_that_were_counted_back_warm_up, .to = N(counted))
{
    m.step_source = SEEP_STEP_LOOP;
    m.n_steps = m.processes[1].steps = counted[_i].steps;
    m.processes[1].axis_back = counted[_i].back;
    m.main = 1;
    /* A helper's rounds are on no axis of the job's. */
    m.n_processes = 3;
    m.processes[2] = (struct seep_model_process){.steps = 9000, .axis_back = 1200};
    seep_span_compute(&m, &span);
    ck_assert_int_eq(span.warm, counted[_i].warm);
    ck_assert_int_eq(span.judge, counted[_i].warm);
}

SUITE("growth", .setup = setup, .teardown = teardown)

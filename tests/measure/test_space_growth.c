/* Growth of whole spaces and what sites hold on to, on models whose levels are known. */
#include "libprof/measure/space_growth.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 200, MAX_PARTS = 8 };

static struct seep_model m;
static struct seep_span span;
static struct seep_space_growths growths;

static void setup(void)
{
    memset(&m, 0, sizeof m);
    m.processes = calloc(4, sizeof *m.processes);
    m.sites = calloc(MAX_PARTS, sizeof *m.sites);
    m.slots = calloc(MAX_PARTS, sizeof *m.slots);
    m.points = calloc((STEPS + 1) * MAX_PARTS, sizeof *m.points);
    m.n_processes = 1;
    m.n_spaces = 2;
    m.processes[0].end_step = INT32_MAX;
    span = (struct seep_span){.last = STEPS, .warm = 20, .judge = 20};
    memset(&growths, 0, sizeof growths);
}

static void teardown(void)
{
    seep_space_growths_fini(&growths);
    free(m.processes);
    free(m.sites);
    free(m.slots);
    free(m.points);
}

/* A site of one process with bytes + slope × (step − from) in steps [from, to]; `wiggle` more in
 * every other step. */
static uint32_t add_site(uint32_t process, uint16_t space, int32_t from, int32_t to, double bytes,
                         double slope, uint64_t wiggle)
{
    struct seep_model_slot *part = &m.slots[m.n_slots++];
    struct seep_model_site *site = &m.sites[m.n_sites++];

    *part = (struct seep_model_slot){.process = process, .points_at = m.n_points};
    for (int32_t step = from; step <= to; step++, part->n_points++)
        m.points[m.n_points++] = (struct seep_model_point){
            .step = step,
            .bytes = (uint64_t)(bytes + slope * (step - from)) + (step % 2 ? wiggle : 0)};
    *site = (struct seep_model_site){.space = space, .n_slots = 1, .slots = (uint32_t)m.n_slots};
    return (uint32_t)m.n_sites - 1;
}

static void measure(void)
{
    ck_assert_int_eq(seep_space_growths_measure(&m, &span, &growths), 0);
}

TEST(a_space_grows_by_the_sum_of_its_sites)
{
    add_site(0, 0, 0, STEPS, 0, 5000, 0);
    add_site(0, 0, 0, STEPS, 1e6, -2000, 0);
    add_site(0, 1, 0, STEPS, 1000, 0, 0);
    measure();
    ck_assert(growths.of_space[0].known && growths.of_space[1].known);
    ck_assert_double_eq_tol(growths.of_space[0].slope.value, 3000, 5);
    ck_assert_double_eq_tol(growths.of_space[0].retained_bytes, 1e6 + 3000.0 * STEPS, 1);
    ck_assert_double_eq_tol(growths.of_space[1].slope.value, 0, 1e-9);
    ck_assert_double_eq_tol(growths.of_process[0].slope.value, 3000, 5);
}

/* Its only site stands still, as no stack of what grows could be written any more. */
TEST(a_process_without_room_for_stacks_grows_by_its_timeline)
{
    static uint64_t live[SEEP_MAX_SPACES * STEPS];
    static uint32_t period[STEPS];
    struct seep_model_process *p = &m.processes[0];

    for (uint32_t row = 0; row < STEPS; row++) {
        period[row] = row;
        live[row] = 1000000 + (uint64_t)row * 4096;
    }
    add_site(0, 0, 0, STEPS, 1e6, 0, 0);
    p->n_rows = STEPS;
    p->live = live;
    p->row_period = period;
    p->space_of[0] = 1;
    p->axis_steps = p->axis_last = p->axis_back = STEPS;
    measure();
    ck_assert_double_eq_tol(growths.of_space[0].slope.value, 0, 1e-9);
    seep_space_growths_fini(&growths);
    p->recording.dropped[SEEP_DROP_BOUND] = 5;
    measure();
    ck_assert(growths.of_space[0].known);
    ck_assert_double_eq_tol(growths.of_space[0].slope.value, 4096, 5);
    ck_assert_double_eq_tol(growths.of_process[0].slope.value, 4096, 5);
}

TEST(what_happens_in_the_warm_up_is_no_growth)
{
    add_site(0, 0, 0, 20, 0, 100000, 0);
    measure();
    ck_assert_double_eq_tol(growths.of_space[0].slope.value, 0, 1e-9);
    ck_assert_double_eq_tol(growths.of_space[0].retained_bytes, 2e6, 1);
}

TEST(too_few_steps_are_no_growth)
{
    span = (struct seep_span){.last = 12, .warm = 3, .judge = 3};
    add_site(0, 0, 0, 12, 0, 5000, 0);
    measure();
    ck_assert(growths.of_space[0].touched && !growths.of_space[0].known);
    seep_space_growths_fini(&growths);
    span.last = 13;
    measure();
    ck_assert(growths.of_space[0].known);
}

TEST(a_space_nobody_touched_and_a_model_without_sites)
{
    measure();
    ck_assert(!growths.of_process[0].touched);
    ck_assert_double_eq_tol(growths.of_space[1].slope.value, 0, 1e-9);
}

/* Two generations of a worker that leaks 1000 a step: each gives all back at its end, and still the
 * job grows by what a worker grows by. */
TEST(processes_that_come_and_go_are_judged_by_their_lives)
{
    m.n_processes = 3;
    m.processes[1].end_step = 110;
    m.processes[2].end_step = INT32_MAX;
    add_site(0, 0, 0, STEPS, 1e7, 0, 0);
    add_site(1, 0, 20, 109, 1000, 1000, 0);
    add_site(2, 0, 110, STEPS, 1000, 1000, 0);
    measure();
    ck_assert_double_eq_tol(growths.of_process[1 * 2].slope.value, 1000, 1);
    ck_assert_double_eq_tol(growths.of_process[2 * 2].slope.value, 1000, 1);
    ck_assert_double_eq_tol(growths.of_space[0].slope.value, 1000, 20);
    ck_assert_double_eq_tol(growths.of_space[0].retained_bytes, 1e7 + 91000, 1);
}

TEST(the_interval_holds_the_error_of_sampling)
{
    add_site(0, 0, 0, STEPS, 1e8, 5000, 0);
    m.sites[0].totals = (struct seep_totals){.allocations = 100000, .allocated_bytes = 100000000};
    measure();
    double narrow = growths.of_space[0].slope.high - growths.of_space[0].slope.low;
    seep_space_growths_fini(&growths);
    m.sites[0].sampling_variance = 1e8 * 512 * 1024;
    measure();
    ck_assert_double_gt(growths.of_space[0].slope.high - growths.of_space[0].slope.low,
                        narrow + 1000);
}

TEST(levels_of_any_size_give_finite_numbers)
{
    add_site(0, 0, 0, STEPS, 0, 0, 0);
    for (size_t i = 0; i < m.n_points; i++)
        m.points[i].bytes = i % 3 ? UINT64_MAX : 0;
    span.last = INT32_MAX;
    measure();
    ck_assert(isfinite(growths.of_space[0].slope.value));
    ck_assert(isfinite(growths.of_space[0].retained_bytes));
    seep_space_growths_fini(&growths);
    span = (struct seep_span){.last = -5, .judge = 7};
    measure();
    ck_assert(!growths.of_space[0].known);
    (void)seep_retained_of_site(&m, &span, 0);
}

TEST(a_site_retains_what_no_step_gives_back)
{
    uint32_t steady = add_site(0, 0, 0, STEPS, 5000, 0, 0);
    uint32_t batch = add_site(0, 0, 0, STEPS, 1000, 0, 700000);
    uint32_t leak = add_site(0, 0, 0, STEPS, 0, 1000, 0);
    uint32_t gone = add_site(0, 0, 0, STEPS - 50, 0, 0, 0);

    ck_assert_uint_eq(seep_retained_of_site(&m, &span, steady), 5000);
    ck_assert_uint_eq(seep_retained_of_site(&m, &span, batch), 1000);
    ck_assert_uint_eq(seep_retained_of_site(&m, &span, leak), 1000 * (STEPS - 9));
    ck_assert_uint_eq(seep_retained_of_site(&m, &span, gone), 0);
    m.processes[0].end_step = STEPS - 3;
    ck_assert_uint_eq(seep_retained_of_site(&m, &span, steady), 0);
}

SUITE("space growth", .setup = setup, .teardown = teardown)

/* Laps, found by made-up loops around steps. */
#include <check.h>
#include <string.h>

#include "preload/steps/laps.h"
#include "tests/suite.h"

enum { EPOCHS_LOOP = 0x1000, BATCHES_LOOP = 0x2000, FOLDS_LOOP = 0x3000, HERE = 40, THERE = 80 };

static struct seep_laps laps;
static struct seep_lap_loops around;
static unsigned n_laps;
static uint32_t period;

static void begin(void)
{
    memset(&laps, 0, sizeof(laps));
    n_laps = period = 0;
    around.n = 0;
}

/* The loop inside of those before. */
static void within(uintptr_t iterator, intptr_t place, uintptr_t position)
{
    around.loops[around.n] = (struct seep_pyloop){.path = around.n + 1,
                                                  .code = 7,
                                                  .position = position,
                                                  .iterator = iterator,
                                                  .place = place,
                                                  .depth = around.n};
    around.n++;
}

static void step(void)
{
    n_laps += seep_laps_stepped(&laps, &around, 1000 + period, period);
    period++;
    around.n = 0;
}

TEST(each_iteration_of_a_loop_around_the_steps_is_a_lap)
{
    for (intptr_t epoch = 1; epoch <= 7; epoch++) {
        for (intptr_t batch = 1; batch <= 20; batch++) {
            within(EPOCHS_LOOP, epoch, HERE);
            within(BATCHES_LOOP, batch, HERE);
            step();
        }
    }
    ck_assert_uint_eq(n_laps, 6); /* after the first */
    ck_assert_uint_eq(laps.period, 0);
    ck_assert_uint_eq(laps.around.iterator, EPOCHS_LOOP);
}

/* The loop was noticed in the last step of an epoch. */
TEST(a_lap_that_begins_right_after_the_loop_was_noticed_counts)
{
    laps.known = 1; /* the outer one's path */
    for (intptr_t epoch = 1; epoch <= 7; epoch++) {
        for (intptr_t batch = epoch == 1 ? 20 : 1; batch <= 20; batch++) {
            within(EPOCHS_LOOP, epoch, HERE);
            within(BATCHES_LOOP, batch, HERE);
            step();
        }
    }
    ck_assert_uint_eq(n_laps, 6);
}

TEST(laps_that_a_step_has_shown_are_seen)
{
    const struct seep_pyloop now = {.path = 1, .iterator = EPOCHS_LOOP, .place = 4};
    ck_assert_uint_eq(seep_laps_unseen(&laps, &now, 3), 3);
    within(EPOCHS_LOOP, 2, HERE);
    step();
    ck_assert_uint_eq(seep_laps_unseen(&laps, &now, 3), 2);
    ck_assert_uint_eq(seep_laps_unseen(&laps, &now, 1), 1);
    within(EPOCHS_LOOP, 4, HERE);
    step();
    ck_assert_uint_eq(seep_laps_unseen(&laps, &now, 1), 0);
}

TEST(a_single_loop_has_no_laps)
{
    for (intptr_t i = 1; i <= 300; i++) {
        within(BATCHES_LOOP, i, HERE);
        step();
    }
    ck_assert_uint_eq(n_laps, 0);
}

TEST(steps_in_a_loop_that_cannot_be_seen_have_those_around_it)
{
    for (intptr_t epoch = 1; epoch <= 5; epoch++) {
        for (int batch = 0; batch < 20; batch++) { /* of a generator */
            within(EPOCHS_LOOP, epoch, HERE);
            within(BATCHES_LOOP, 0, HERE);
            step();
        }
    }
    ck_assert_uint_eq(n_laps, 4);
}

/* while epoch < 5: for batch in batches: … */
TEST(a_loop_that_begins_anew_at_its_place_shows_one_around_it)
{
    for (int epoch = 0; epoch < 5; epoch++) {
        for (intptr_t batch = 1; batch <= 20; batch++) {
            within(BATCHES_LOOP, batch, HERE);
            step();
        }
    }
    ck_assert_uint_eq(n_laps, 4);
}

TEST(of_three_loops_the_one_around_that_of_the_steps_has_the_laps)
{
    for (intptr_t fold = 1; fold <= 3; fold++) {
        for (intptr_t epoch = 1; epoch <= 4; epoch++) {
            for (intptr_t batch = 1; batch <= 10; batch++) {
                within(FOLDS_LOOP, fold, HERE);
                within(EPOCHS_LOOP, epoch, HERE);
                within(BATCHES_LOOP, batch, HERE);
                step();
            }
        }
    }
    ck_assert_uint_eq(n_laps, 3 * 4 - 1);
}

TEST(what_warms_up_before_the_loop_is_no_lap)
{
    for (intptr_t i = 1; i <= 5; i++) {
        within(BATCHES_LOOP, i, THERE);
        step();
    }
    for (intptr_t i = 1; i <= 200; i++) {
        within(BATCHES_LOOP, i, HERE);
        step();
    }
    ck_assert_uint_eq(n_laps, 0);
    ck_assert_uint_eq(laps.period, 5);
}

TEST(a_loop_over_few_parameters_within_a_step_makes_no_laps)
{
    for (intptr_t i = 1; i <= 100; i++) {
        within(BATCHES_LOOP, i, HERE);
        within(FOLDS_LOOP, 1, HERE);
        step();
    }
    ck_assert_uint_eq(n_laps, 0);
}

/* Two steps an iteration: it may as well be the steps' own loop. */
TEST(laps_of_two_steps_are_none)
{
    for (intptr_t i = 1; i <= 50; i++) {
        for (intptr_t k = 1; k <= 2; k++) {
            within(EPOCHS_LOOP, i, HERE);
            within(BATCHES_LOOP, k, HERE);
            step();
        }
    }
    ck_assert_uint_eq(n_laps, 0);
}

/* range(n, 0, -1), of which each item looks like a beginning. */
TEST(a_loop_that_counts_down_is_one_loop)
{
    for (intptr_t epoch = 1; epoch <= 5; epoch++) {
        for (intptr_t left = 20; left > 0; left--) {
            within(EPOCHS_LOOP, epoch, HERE);
            within(BATCHES_LOOP, left, HERE);
            step();
        }
    }
    ck_assert_uint_eq(n_laps, 4);
}

SUITE("laps", .setup = begin)

/* Which of the things that a job repeats counts as its step. */
#include <check.h>
#include <string.h>

#include "preload/steps/choice.h"
#include "tests/suite.h"

#define SECOND UINT64_C(1000000000)
#define MS     UINT64_C(1000000)

static struct seep_choice choice;
static uint64_t now_ns;
static unsigned n_steps;

static void forget(void)
{
    memset(&choice, 0, sizeof(choice));
    now_ns = 100 * SECOND;
    n_steps = 0;
}

static void rounds(unsigned n, uint64_t gap_ns)
{
    for (unsigned i = 0; i < n; i++) {
        now_ns += gap_ns;
        n_steps += seep_choice_round(&choice, now_ns);
    }
}

static void batches(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        now_ns += 10 * MS;
        n_steps += seep_choice_batch(&choice, now_ns);
    }
}

static bool wants_loop(void)
{
    bool beside;
    return seep_choice_wants_loop(&choice, now_ns, &beside);
}

TEST(each_round_is_a_step)
{
    for (int i = 0; i < 100; i++) {
        batches(1);
        rounds(1, 10 * MS);
    }
    ck_assert_int_eq(choice.source, SEEP_STEP_OPTIMIZER);
    ck_assert_uint_eq(n_steps, 100);
    ck_assert(!wants_loop());
}

TEST(evaluations_between_regular_rounds_change_nothing)
{
    batches(2); /* a check before the training */
    for (int epoch = 0; epoch < 10; epoch++) {
        for (int i = 0; i < 10; i++) {
            batches(1);
            rounds(1, 10 * MS);
        }
        batches(190); /* within 2 s */
    }
    ck_assert_int_eq(choice.source, SEEP_STEP_OPTIMIZER);
    ck_assert_uint_eq(n_steps, 100);
}

TEST(a_long_evaluation_before_the_training_gives_way_to_it)
{
    batches(50);
    ck_assert_int_eq(choice.source, SEEP_STEP_BATCH);
    n_steps = 0;
    for (int i = 0; i < 100; i++) {
        batches(1);
        rounds(1, 10 * MS);
    }
    ck_assert_int_eq(choice.source, SEEP_STEP_OPTIMIZER);
    ck_assert_int_eq(choice.why, SEEP_WHY_OPTIMIZER);
}

TEST(batches_are_steps_where_no_optimizer_steps)
{
    batches(11);
    ck_assert_int_eq(choice.source, SEEP_STEP_TIME);
    batches(100);
    ck_assert_int_eq(choice.source, SEEP_STEP_BATCH);
    ck_assert_int_eq(choice.why, SEEP_WHY_BATCHES);
    ck_assert_uint_eq(n_steps, 100);
    ck_assert(!wants_loop());
}

TEST(batches_are_steps_where_gradients_are_accumulated)
{
    for (int i = 0; i < 20; i++) {
        batches(6);
        rounds(1, MS);
    }
    ck_assert_int_eq(choice.source, SEEP_STEP_BATCH);
    ck_assert_int_eq(choice.why, SEEP_WHY_BATCHES_BETWEEN);
    ck_assert_uint_eq(n_steps, 2 + 17 * 6); /* two rounds, and all batches after the third */
}

TEST(the_optimizer_is_back_when_it_steps_with_each_batch)
{
    for (int i = 0; i < 5; i++) {
        batches(8);
        rounds(1, MS);
    }
    for (int i = 0; i < 2; i++) {
        batches(1);
        rounds(1, MS);
    }
    ck_assert_int_eq(choice.source, SEEP_STEP_BATCH);
    batches(1);
    rounds(1, MS);
    ck_assert_int_eq(choice.source, SEEP_STEP_OPTIMIZER);
}

TEST(optimizers_that_are_made_anew_leave_the_steps_to_batches)
{
    rounds(1, MS);
    for (int i = 0; i < 30; i++) {
        batches(1);
        seep_choice_joined(&choice);
    }
    ck_assert_int_eq(choice.source, SEEP_STEP_BATCH);
    ck_assert_int_eq(choice.why, SEEP_WHY_BATCHES_ANEW);
}

/* A learner for each task, made and thrown away. */
TEST(without_batches_each_is_a_step)
{
    unsigned n = 0;

    rounds(1, MS);
    for (int i = 0; i < 50; i++) {
        seep_choice_met(&choice, true);
        n += seep_choice_joined(&choice);
    }
    ck_assert_uint_eq(n, 19);
    ck_assert_int_eq(choice.why, SEEP_WHY_OPTIMIZERS_ANEW);
    ck_assert(!wants_loop());
}

/* 200 optimizers side by side are strangers in their first round; from the second on they make one
 * step together, and what was counted before is forgotten. */
TEST(until_they_come_again)
{
    unsigned anew = 0;

    rounds(1, MS);
    for (int i = 0; i < 400; i++) {
        seep_choice_met(&choice, i < 200);
        anew += choice.anew;
        (void)seep_choice_joined(&choice);
    }
    ck_assert_uint_eq(anew, 1);
    ck_assert_int_eq(choice.why, SEEP_WHY_OPTIMIZER);
}

TEST(a_loop_gives_way_to_an_optimizer_that_begins_to_step)
{
    ck_assert(wants_loop());
    seep_choice_loop_found(&choice, now_ns);
    ck_assert(seep_choice_loop(&choice));
    rounds(100, 20 * MS);
    ck_assert_int_eq(choice.source, SEEP_STEP_OPTIMIZER);
    ck_assert_uint_eq(n_steps, 100 - 2); /* the first two are counted back */
}

TEST(a_loop_is_counted_beside_rounds_that_are_seldom)
{
    bool beside = false;
    rounds(3, 2 * SECOND);
    ck_assert(!wants_loop());
    rounds(1, 2 * SECOND);
    ck_assert(seep_choice_wants_loop(&choice, now_ns, &beside));
    ck_assert(beside);
    seep_choice_loop_found(&choice, now_ns);
    ck_assert_int_eq(choice.why, SEEP_WHY_LOOP_BETWEEN);
    for (int episode = 0; episode < 5; episode++) {
        for (int i = 0; i < 50; i++)
            ck_assert(seep_choice_loop(&choice));
        rounds(1, 2 * SECOND);
    }
    ck_assert_int_eq(choice.source, SEEP_STEP_LOOP);
    rounds(3, 20 * MS); /* it is over */
    ck_assert_int_eq(choice.source, SEEP_STEP_OPTIMIZER);
}

/* What goes on after a training, for longer than an evaluation within one would. */
static const struct {
    uint64_t pause_ms;
    bool over;
} pauses[] = {{1900, false}, {2400, false}, {2600, true}};

TEST(after_a_training_its_batches_are_counted, .to = N(pauses))
{
    rounds(51, 100 * MS); /* 5 s */
    now_ns += pauses[_i].pause_ms * MS - 120 * MS;
    batches(12);
    ck_assert_int_eq(choice.source, pauses[_i].over ? SEEP_STEP_BATCH : SEEP_STEP_OPTIMIZER);
    rounds(1, 10 * MS); /* it goes on after all */
    ck_assert_int_eq(choice.source, SEEP_STEP_OPTIMIZER);
    ck_assert_uint_eq(n_steps, 52 + pauses[_i].over);
}

TEST(after_a_training_its_loop_is_counted, .to = N(pauses))
{
    bool beside;

    rounds(51, 100 * MS);
    now_ns += pauses[_i].pause_ms * MS;
    ck_assert(seep_choice_wants_loop(&choice, now_ns, &beside) == pauses[_i].over);
    if (!pauses[_i].over)
        return;
    ck_assert(!beside);
    seep_choice_loop_found(&choice, now_ns);
    ck_assert_int_eq(choice.why, SEEP_WHY_LOOP_AFTER);
    ck_assert(seep_choice_loop(&choice));
    rounds(1, 10 * MS);
    ck_assert_int_eq(choice.source, SEEP_STEP_OPTIMIZER);
}

TEST(a_few_rounds_are_no_training_that_is_over)
{
    rounds(7, 100 * MS);
    now_ns += 3 * SECOND;
    batches(12);
    ck_assert(!wants_loop());
    ck_assert_int_eq(choice.source, SEEP_STEP_OPTIMIZER);
}

TEST(what_the_job_says_is_counted)
{
    rounds(5, MS);
    ck_assert(seep_choice_told(&choice, SEEP_STEP_API));
    n_steps = 0;
    rounds(20, MS);
    batches(100);
    ck_assert_uint_eq(n_steps, 0);
    ck_assert(!wants_loop());
    seep_choice_loop_found(&choice, now_ns);
    ck_assert_int_eq(choice.source, SEEP_STEP_API);
}

TEST(nvtx_marks_are_counted_until_the_job_calls_the_header)
{
    rounds(5, MS);
    ck_assert(seep_choice_told(&choice, SEEP_STEP_NVTX));
    n_steps = 0;
    rounds(20, MS);
    ck_assert_uint_eq(n_steps, 0);
    ck_assert_int_eq(choice.source, SEEP_STEP_NVTX);
    ck_assert(seep_choice_told(&choice, SEEP_STEP_API));
    ck_assert(!seep_choice_told(&choice, SEEP_STEP_NVTX));
    ck_assert_int_eq(choice.source, SEEP_STEP_API);
}

TEST(a_training_whose_loop_was_left_is_over_at_once)
{
    bool beside;

    rounds(51, 100 * MS);
    now_ns += 300 * MS;
    ck_assert(!seep_choice_wants_loop(&choice, now_ns, &beside));
    choice.left = true;
    ck_assert(seep_choice_wants_loop(&choice, now_ns, &beside));
    ck_assert(!beside);
    seep_choice_loop_found(&choice, now_ns);
    ck_assert_int_eq(choice.why, SEEP_WHY_LOOP_AFTER);
    rounds(1, 10 * MS);
    ck_assert(!choice.left);
    ck_assert_int_eq(choice.source, SEEP_STEP_OPTIMIZER);
    rounds(20, 10 * MS); /* it goes on after all: a while loop around it, say */
    now_ns += 300 * MS;
    choice.left = true;
    ck_assert(!seep_choice_wants_loop(&choice, now_ns, &beside));
}

TEST(where_nothing_shows_after_a_training_time_does)
{
    rounds(51, 100 * MS);
    now_ns += 5 * SECOND;
    ck_assert(!seep_choice_time(&choice, now_ns)); /* it is still in its loop */
    rounds(1, 10 * MS);
    choice.left = true;
    now_ns += 1 * SECOND;
    ck_assert(!seep_choice_time(&choice, now_ns));
    now_ns += 2 * SECOND;
    ck_assert(seep_choice_time(&choice, now_ns));
    ck_assert(seep_why_is_after(choice.why));
    ck_assert(wants_loop());
    seep_choice_loop_found(&choice, now_ns);
    ck_assert_int_eq(choice.why, SEEP_WHY_LOOP_AFTER);
    ck_assert(!seep_choice_time(&choice, now_ns));
}

TEST(time_gives_way_to_batches_and_to_a_training_that_goes_on)
{
    rounds(51, 100 * MS);
    choice.left = true;
    now_ns += 3 * SECOND;
    ck_assert(seep_choice_time(&choice, now_ns));
    batches(12);
    ck_assert_int_eq(choice.why, SEEP_WHY_BATCHES_AFTER);
    rounds(1, 10 * MS);
    ck_assert_int_eq(choice.source, SEEP_STEP_OPTIMIZER);
    choice.left = true;
    now_ns += 3 * SECOND;
    ck_assert(!seep_choice_time(&choice, now_ns)); /* a loop that cannot be seen is around it */
    now_ns += 10 * SECOND;
    ck_assert(seep_choice_time(&choice, now_ns));
    rounds(1, 10 * MS);
    ck_assert_int_eq(choice.why, SEEP_WHY_OPTIMIZER);
}

/* As within L-BFGS, whose single call trains. */
TEST(a_loop_within_an_optimizers_only_step_stays_the_step)
{
    seep_choice_loop_found(&choice, now_ns);
    for (int i = 0; i < 200; i++)
        ck_assert(seep_choice_loop(&choice));
    ck_assert(!seep_choice_round(&choice, now_ns));
    ck_assert_int_eq(choice.source, SEEP_STEP_LOOP);
}

TEST(a_training_takes_over_from_the_loop_that_prepared_it)
{
    seep_choice_loop_found(&choice, now_ns);
    for (int i = 0; i < 200; i++)
        ck_assert(seep_choice_loop(&choice));
    for (int round = 0; round < 3; round++)
        ck_assert(!seep_choice_round(&choice, now_ns += MS));
    ck_assert(seep_choice_round(&choice, now_ns += MS));
    ck_assert_int_eq(choice.source, SEEP_STEP_OPTIMIZER);
}

TEST(a_training_takes_over_although_each_of_its_steps_has_many_rounds)
{
    seep_choice_loop_found(&choice, now_ns);
    for (int round = 1; round <= 8; round++) {
        for (int i = 0; i < 20; i++)
            (void)seep_choice_loop(&choice);
        ck_assert(seep_choice_round(&choice, now_ns += MS) == (round == 8));
    }
}

SUITE("the source of steps", .setup = forget)

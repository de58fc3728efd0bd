/* Which passes over datasets are epochs of the training. */
#include <check.h>
#include <string.h>

#include "preload/steps/passes.h"
#include "tests/suite.h"

static struct seep_passes passes;
static unsigned n_epochs, n_batches;
static uintptr_t next_iterator;
static uint32_t period;

enum { TRAIN = 0x100, VALID = 0x200, OTHER = 0x300 };

static void forget(void)
{
    memset(&passes, 0, sizeof(passes));
    n_epochs = n_batches = 0;
    next_iterator = 0x10000;
    period = 1;
}

static uintptr_t iterate(uintptr_t loader)
{
    seep_passes_began(&passes, loader, period, period);
    return next_iterator += 0x1000;
}

static void draw(uintptr_t iterator)
{
    n_batches += seep_passes_asked(&passes, iterator, period, period);
}

static void step(void)
{
    n_epochs += seep_passes_fed(&passes) != NULL;
    period++;
}

/* A pass with a step for each batch; it ends when it is asked in vain. */
static void train(uintptr_t loader, unsigned n)
{
    uintptr_t iterator = iterate(loader);
    for (unsigned i = 0; i < n; i++) {
        draw(iterator);
        step();
    }
    draw(iterator);
}

static void evaluate(uintptr_t loader, unsigned n)
{
    uintptr_t iterator = iterate(loader);
    for (unsigned i = 0; i <= n; i++)
        draw(iterator);
}

TEST(each_pass_is_an_epoch)
{
    for (int epoch = 0; epoch < 5; epoch++)
        train(TRAIN, 20);
    ck_assert_uint_eq(n_epochs, 5);
    ck_assert_uint_eq(n_batches, 100);
}

TEST(a_pass_of_one_batch_is_an_epoch)
{
    for (int epoch = 0; epoch < 5; epoch++)
        train(TRAIN, 1);
    ck_assert_uint_eq(n_epochs, 5);
}

TEST(a_new_loader_each_time_is_an_epoch)
{
    for (uintptr_t epoch = 0; epoch < 4; epoch++)
        train(TRAIN + epoch, 20);
    ck_assert_uint_eq(n_epochs, 4);
}

TEST(evaluations_are_none)
{
    evaluate(VALID, 3); /* before the training, too */
    for (int epoch = 0; epoch < 4; epoch++) {
        train(TRAIN, 20);
        evaluate(VALID, 10);
        evaluate(OTHER, 2);
    }
    ck_assert_uint_eq(n_epochs, 4);
}

TEST(evaluations_within_an_epoch_are_none)
{
    for (int epoch = 0; epoch < 3; epoch++) {
        uintptr_t iterator = iterate(TRAIN);
        for (int i = 0; i < 20; i++) {
            draw(iterator);
            step();
            if (i % 5 == 4)
                evaluate(VALID, 4);
        }
        draw(iterator);
    }
    ck_assert_uint_eq(n_epochs, 3);
}

TEST(a_validation_batch_for_each_step_is_none)
{
    for (int epoch = 0; epoch < 3; epoch++) {
        uintptr_t iterator = iterate(TRAIN);
        for (int i = 0; i < 20; i++) {
            draw(iterator);
            draw(iterate(VALID));
            step();
        }
        draw(iterator);
    }
    ck_assert_uint_eq(n_epochs, 3);
}

TEST(iterators_that_lie_at_one_address_are_several)
{
    for (int epoch = 0; epoch < 3; epoch++) {
        next_iterator = 0x10000;
        train(TRAIN, 10);
        next_iterator = 0x10000;
        evaluate(VALID, 5);
    }
    ck_assert_uint_eq(n_epochs, 3);
}

TEST(gradients_that_are_accumulated_make_no_epochs)
{
    for (int epoch = 0; epoch < 3; epoch++) {
        uintptr_t iterator = iterate(TRAIN);
        for (int i = 0; i < 24; i++) {
            draw(iterator);
            if (i % 6 == 5)
                step();
        }
        draw(iterator);
    }
    ck_assert_uint_eq(n_epochs, 3);
}

TEST(a_sampler_that_begins_anew_is_a_pass)
{
    uintptr_t iterator = iterate(TRAIN);
    for (int batch = 0; batch < 50; batch++) {
        draw(iterator);
        if (batch % 10 == 9) /* the rest of the last order */
            seep_passes_sampled(&passes, iterator, 1, 80, period, period);
        if (batch % 10 == 0)
            for (intptr_t place = 20; place <= 60; place += 20)
                seep_passes_sampled(&passes, iterator, 1, place, period, period);
        step();
    }
    ck_assert_uint_eq(n_epochs, 5);
}

TEST(a_sampler_that_workers_were_fed_by_is_the_same_pass)
{
    for (int epoch = 0; epoch < 3; epoch++) {
        uintptr_t iterator = iterate(TRAIN);
        seep_passes_sampled(&passes, 0, 1, 20, period, period);
        seep_passes_sampled(&passes, 0, 1, 60, period, period);
        for (int batch = 0; batch < 10; batch++) {
            draw(iterator);
            if (batch == 8)
                seep_passes_sampled(&passes, iterator, 1, 80, period, period);
            step();
        }
        draw(iterator);
    }
    ck_assert_uint_eq(n_epochs, 3);
}

TEST(what_is_drawn_once_and_kept_is_one_epoch)
{
    train(TRAIN, 20);
    for (int i = 0; i < 60; i++) /* itertools.cycle */
        step();
    ck_assert_uint_eq(n_epochs, 1);
}

SUITE("passes over datasets", .setup = forget)

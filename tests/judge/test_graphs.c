/* Graphs that are kept, where no symbol says who makes their nodes, and what else of a function is
 * theirs. */
#include "tests/judge/pattern_fixture.h"

enum { NODES = 20, OTHERS = 21 }; /* lines of forward() */

static uint32_t forward(unsigned line)
{
    return below(main_stack, "/home/user/model.py", "forward", line);
}

/* Each operator makes a node of a hundred bytes or so, and its output. */
static void operators(uint64_t n)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};

    for (uint64_t i = 0; i < n; i++)
        builder_level(&b,
                      builder_stack(&b, forward(NODES),
                                    builder_native(&b, "/usr/lib/libtorch_cpu.so", NULL, 64 + i)),
                      0, 1024, LAST, ramp, &r);
}

TEST(many_operators_of_a_model_that_leave_something_in_each_step_are_a_graph, .to = 2)
{
    operators(_i ? 6 : 4);
    only(_i ? "graph-retention" : "unbounded-growth", "leak", NODES);
}

static uint64_t at_pace(uint32_t period, void *arg)
{
    return period < FIRST ? 0 : (uint64_t)(*(double *)arg * (period - FIRST + 1));
}

/* Saved tensors come in whole blocks a step; one that a branch leaves now and then is another
 * matter. */
static struct {
    double a_step;
    size_t findings;
} others[] = {{1, 1}, {2.03, 1}, {2.08, 2}, {0.048, 2}};

TEST(what_grows_by_whole_blocks_beside_a_graph_is_its_own, .to = N(others))
{
    operators(6);
    builder_level(&b, forward(OTHERS), 0, 64 * 1024, LAST, at_pace, &others[_i].a_step);
    ck_assert_uint_eq(json_array_size(findings()), others[_i].findings);
}

/* Until an epoch ends, and until the optimizer steps that the iterations of an episode lead to. */
TEST(the_graph_of_an_episode_is_kept_for_its_optimizer, .to = 2)
{
    uint32_t every = 40;

    add_epochs(5, every);
    job->processes[0].epoch_source = SEEP_EPOCHS_LOOP;
    if (_i) {
        job->processes[0].step_source = SEEP_STEP_LOOP;
        job->processes[0].step_why = SEEP_WHY_LOOP_BETWEEN;
    }
    for (uint64_t i = 0; i < 6; i++)
        builder_level(&b,
                      builder_stack(&b, forward(NODES),
                                    builder_native(&b, "/usr/lib/libtorch_cpu.so", NULL, 64 + i)),
                      0, 16 * 1024, LAST, bursts, &every);
    if (_i)
        nobody();
    else
        only("graph-retention", "retention", NODES);
}

TEST(the_graph_behind_a_sum_of_losses_is_no_cycle)
{
    uint32_t every = 17;

    for (uint64_t i = 0; i < 6; i++)
        builder_level(&b,
                      builder_stack(&b, forward(NODES),
                                    builder_native(&b, "/usr/lib/libtorch_cpu.so", NULL, 64 + i)),
                      0, 128 * 1024, LAST, bursts, &every);
    const json_t *f = only("graph-retention", "pressure", NODES);
    ck_assert_ptr_nonnull(strstr(text(f, "title"), "until it is let go of"));
}

SUITE("graphs", .setup = setup, .teardown = teardown)

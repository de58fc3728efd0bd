/* Graphs that are kept, where no symbol says which code makes their nodes, and what else belongs to
 * a function. */
#include "tests/verdict/pattern_fixture.h"

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

/* A line that calls a trainer makes the graph, and before it the network and much else. */
TEST(what_was_there_before_is_not_of_the_graph)
{
    operators(6);
    for (uint64_t i = 0; i < 60; i++)
        builder_site(&b,
                     builder_stack(&b, forward(NODES),
                                   builder_native(&b, "/usr/lib/libother.so", NULL, 4096 + i)),
                     0, 1000, 1000 * 1024, 0, 0, 3);
    const json_t *f = only("graph-retention", "leak", NODES);
    ck_assert_double_eq_tol(number(f, "live_bytes"), 6 * STEPS * 1024, 3 * 6 * 1024);
}

/* Names as PyTorch's libraries have them: torch::autograd::make_node(); what each parameter is
 * given, ConcreteAutogradMetaFactory::make() of an unnamed namespace; and Engine::execute(), whose
 * lists of work are no nodes. */
__asm__(".text\n"
        ".globl _ZN5torch8autograd9make_nodeEv\n"
        ".type _ZN5torch8autograd9make_nodeEv, @function\n"
        "_ZN5torch8autograd9make_nodeEv:\n"
        ".skip 64, 0x90\n"
        ".size _ZN5torch8autograd9make_nodeEv, 64\n"
        ".type _ZNK5torch8autograd12_GLOBAL__N_127ConcreteAutogradMetaFactory4makeEv, @function\n"
        "_ZNK5torch8autograd12_GLOBAL__N_127ConcreteAutogradMetaFactory4makeEv:\n"
        ".skip 64, 0x90\n"
        ".size _ZNK5torch8autograd12_GLOBAL__N_127ConcreteAutogradMetaFactory4makeEv, 64\n"
        ".type _ZN5torch8autograd6Engine7executeEv, @function\n"
        "_ZN5torch8autograd6Engine7executeEv:\n"
        ".skip 64, 0x90\n"
        ".size _ZN5torch8autograd6Engine7executeEv, 64\n");
extern const char make_node[] __asm__("_ZN5torch8autograd9make_nodeEv");
extern const char __executable_start[];

/* Lines of a script that calls a trainer; blocks that it keeps by way of a native function. */
static void kept_of(const char *path, uint64_t at, uint64_t bytes)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};
    uint32_t run = below(main_stack, "/home/user/run.py", "main", 45);

    builder_level(&b, builder_stack(&b, run, builder_native(&b, path, NULL, at)), 0, bytes, LAST,
                  ramp, &r);
}

TEST(a_graph_is_known_by_its_nodes_whatever_else_the_line_makes, .to = 3)
{
    const uint64_t node = (uint64_t)(make_node - __executable_start) + 8;

    for (uint64_t i = 0; i < 60; i++)
        kept_of("/usr/lib/libother.so", 64 + i, 256);
    kept_of(own_path(), node + 64 * (uint64_t)_i, 1024);
    const json_t *f = json_array_get(findings_with_symbols(), 0);
    ck_assert_str_eq(text(f, "pattern"), _i ? "unbounded-growth" : "graph-retention");
    ck_assert_str_eq(text(f, "severity"), "leak");
}

/* ---- as many at once, no more: a pool that is full ---------------------------------------------
 */

static struct ramp full = {FIRST, FIRST + 79, 1, UINT32_MAX};

/* What stays since step 80 are nodes, or what a parameter is given, or the engine's. */
TEST(a_pool_that_is_full_of_graphs_is_no_bounded_cache, .to = 3)
{
    const uint64_t node = (uint64_t)(make_node - __executable_start) + 8;

    builder_level(&b,
                  builder_stack(&b, forward(NODES),
                                builder_native(&b, own_path(), NULL, node + 64 * (uint64_t)_i)),
                  0, 8 * 1024, LAST, ramp, &full);
    const json_t *f = json_array_get(findings_with_symbols(), 0);
    ck_assert((strcmp(text(f, "pattern"), "graph-retention") == 0) == (_i == 0));
    if (_i)
        return;
    ck_assert_str_eq(text(f, "severity"), "retention");
    ck_assert_ptr_nonnull(
        strstr(text(f, "title"), "80 results are kept, each with its autograd graph"));
    ck_assert_double_eq_tol(number(f, "plateau_step"), 80, 3);
}

/* Layers that one loop calls share a stack: thirteen nodes of it are there with a single graph,
 * from the first steps on. Of a pool of graphs they come as it fills. */
static const struct {
    struct ramp nodes;
    bool is_pool;
} networks[] = {{{FIRST, FIRST, 13, UINT32_MAX}, false},
                {{FIRST + 3, FIRST + 3, 13, UINT32_MAX}, false},
                {{FIRST, FIRST + 79, 1, UINT32_MAX}, true}};

TEST(layers_of_one_graph_are_no_pool_of_graphs, .to = N(networks))
{
    const uint64_t node = (uint64_t)(make_node - __executable_start) + 8;
    struct ramp nodes = networks[_i].nodes;

    builder_level(&b, builder_stack(&b, forward(NODES), builder_native(&b, own_path(), NULL, node)),
                  0, 8 * 1024, LAST, ramp, &nodes);
    builder_level(&b, forward(NODES), 0, 64 * 1024, LAST, ramp, &full);
    char *dump = json_dumps(findings_with_symbols(), 0);
    ck_assert_msg((strstr(dump, "graph-retention") != NULL) == networks[_i].is_pool, "%s", dump);
    free(dump);
}

/* Tensors on a device beside nodes on the host, by whole blocks for a graph, of one function; an
 * operator that a branch runs now and then does not count graphs. */
static const struct {
    uint64_t tensors; /* for a hundred graphs */
    const char *function;
    uint64_t large; /* KiB on the device beside it */
    const char *severity;
} pools[] = {{100, "forward", 0, "retention"}, {200, "forward", 0, "retention"},
             {104, "forward", 0, "retention"}, {150, "forward", 0, NULL},
             {100, "other", 0, NULL},          {100, "forward", 60 * 1024, "info"}};

static uint64_t until_full(uint32_t period, void *arg)
{
    return ramp(period, &full) * *(const uint64_t *)arg / 100;
}

TEST(tensors_of_a_full_pool_are_told_by_nodes_on_the_host, .to = N(pools))
{
    const uint64_t node = (uint64_t)(make_node - __executable_start) + 8;
    uint64_t each = pools[_i].tensors, all = 100, some = 10, one = 1;
    const uint32_t made =
        builder_stack(&b, forward(NODES), builder_native(&b, own_path(), NULL, node));

    builder_level(&b, made, 0, 128, LAST, until_full, &all);
    builder_level(&b, builder_stack(&b, made, builder_native(&b, own_path(), NULL, node + 4)), 0,
                  128, LAST, until_full, &some);
    builder_level(&b, below(main_stack, "/home/user/model.py", pools[_i].function, OTHERS),
                  TENSOR_1, 48 * 1024, LAST, until_full, &each);
    if (pools[_i].large)
        builder_level(&b, user(3), TENSOR_1, pools[_i].large * 1024, LAST, constant, &one);
    const json_t *list = findings_with_symbols(), *f = json_array_get(list, 0);
    char *dump = json_dumps(list, 0);
    const bool is_graph = strcmp(text(f, "pattern"), "graph-retention") == 0;
    ck_assert_msg(is_graph == (pools[_i].severity != NULL), "%s", dump);
    if (is_graph) {
        ck_assert_msg(strcmp(text(f, "severity"), pools[_i].severity) == 0, "%s", dump);
        ck_assert_str_eq(text(f, "space"), "tensor:1");
        ck_assert_msg(strstr(dump, "80 autograd graphs are alive at once") != NULL, "%s", dump);
    }
    free(dump);
}

/* What lines of a function have of one pool is one finding, and so is what host and device have. */
TEST(a_full_pool_is_one_finding_whatever_it_keeps_on_which_line)
{
    const uint64_t node = (uint64_t)(make_node - __executable_start) + 8;
    uint64_t each = 100, twice = 200;
    const uint32_t made =
        builder_stack(&b, forward(NODES), builder_native(&b, own_path(), NULL, node));

    builder_level(&b, made, 0, 4096, LAST, until_full, &each);
    builder_level(&b, forward(NODES), TENSOR_1, 4 * 1024, LAST, until_full, &each);
    builder_level(&b, forward(OTHERS), TENSOR_1, 64 * 1024, LAST, until_full, &twice);
    const json_t *list = findings_with_symbols(), *f = json_array_get(list, 0);
    char *all = json_dumps(list, 0);
    ck_assert_msg(json_array_size(list) == 1, "%s", all);
    ck_assert_str_eq(text(f, "pattern"), "graph-retention");
    ck_assert_str_eq(text(f, "severity"), "retention");
    ck_assert_msg(number(json_object_get(f, "frame"), "line") == OTHERS, "%s", all);
    ck_assert_msg(strstr(all, "of malloc'd memory") != NULL, "%s", all);
    free(all);
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

/* On a device no stack says what a node is: those of the host beside it do. What is more is the
 * finding, and bytes of two memories are not added. */
TEST(tensors_on_a_device_are_kept_by_the_graph_whose_nodes_the_host_has, .to = N(others))
{
    operators(6);
    builder_level(&b, forward(OTHERS), TENSOR_1, 64 * 1024, LAST, at_pace, &others[_i].a_step);
    const json_t *list = findings(), *f = json_array_get(list, 0);
    const bool more = _i != 3;
    char *all = json_dumps(list, 0);
    ck_assert_msg(json_array_size(list) == others[_i].findings, "%s", all);
    ck_assert_msg(strcmp(text(f, "space"), more ? "tensor:1" : "host") == 0, "%s", all);
    if (others[_i].findings == 1) {
        ck_assert_str_eq(text(f, "pattern"), "graph-retention");
        ck_assert_msg(strstr(all, "of malloc'd memory") != NULL, "%s", all);
    }
    free(all);
}

/* A tensor of a device has an object on the host: one list keeps both. */
TEST(a_line_that_keeps_tensors_of_a_device_is_one_finding, .to = 2)
{
    builder_level(&b, user(7), HOST, _i ? 2048 : 1024, LAST, one_a_step, NULL);
    builder_level(&b, user(7), TENSOR_1, _i ? 1024 : 64 * 1024, LAST, one_a_step, NULL);
    ck_assert_str_eq(text(only("unbounded-growth", "leak", 7), "space"), _i ? "host" : "tensor:1");
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
    ck_assert_ptr_nonnull(strstr(text(f, "title"), "until it is released"));
}

SUITE("graphs", .setup = setup, .teardown = teardown)

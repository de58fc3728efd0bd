/* What lies on a device from the start, by the code that made it: data are copied from the host,
 * tables are not; and a checkpoint that is loaded beside the network. */
#include "tests/verdict/pattern_fixture.h"

/* Names as PyTorch's libraries have them. */
__asm__(".text\n"
        ".globl _ZN2at4_ops5zeros4callEv\n"
        ".type _ZN2at4_ops5zeros4callEv, @function\n"
        "_ZN2at4_ops5zeros4callEv:\n"
        ".skip 64, 0x90\n"
        ".size _ZN2at4_ops5zeros4callEv, 64\n"
        ".type _ZN2at4_ops8_to_copy4callEv, @function\n"
        "_ZN2at4_ops8_to_copy4callEv:\n"
        ".skip 64, 0x90\n"
        ".size _ZN2at4_ops8_to_copy4callEv, 64\n"
        ".type _ZN3c104cuda20CUDACachingAllocator9map_blockEv, @function\n"
        "_ZN3c104cuda20CUDACachingAllocator9map_blockEv:\n"
        ".skip 64, 0x90\n"
        ".size _ZN3c104cuda20CUDACachingAllocator9map_blockEv, 64\n"
        ".type _ZN2at4_ops12index_Tensor4callEv, @function\n"
        "_ZN2at4_ops12index_Tensor4callEv:\n"
        ".skip 64, 0x90\n"
        ".size _ZN2at4_ops12index_Tensor4callEv, 64\n"
        ".type _ZN5torch8autograd9make_nodeEv, @function\n"
        "_ZN5torch8autograd9make_nodeEv:\n"
        ".skip 64, 0x90\n"
        ".size _ZN5torch8autograd9make_nodeEv, 64\n");
extern const char zeros[] __asm__("_ZN2at4_ops5zeros4callEv");
extern const char __executable_start[];

static uint64_t sixteen(uint32_t period, void *arg)
{
    (void)arg;
    return period < 3 ? 0 : 16;
}

static uint32_t made_by(const char *path, uint64_t offset)
{
    return builder_stack(&b, user(7), builder_native(&b, path, NULL, offset));
}

static void tensors_of_a_step(void)
{
    transient(user(7), TENSOR_1, 2 * MIB, STEPS, 0, 0);
}

/* ---- made there, or copied ------------------------------------------------------------------- */

TEST(a_table_that_was_made_on_the_device_is_no_data)
{
    const uint64_t at = (uint64_t)(zeros - __executable_start) + 8;

    builder_level(&b, made_by(own_path(), at), TENSOR_1, 8 * MIB, LAST, sixteen, NULL);
    ck_assert_uint_eq(json_array_size(findings_with_symbols()), 0);
}

TEST(what_was_copied_to_the_device_may_be)
{
    const uint64_t at = (uint64_t)(zeros - __executable_start) + 64 + 8;

    builder_level(&b, made_by(own_path(), at), TENSOR_1, 8 * MIB, LAST, sixteen, NULL);
    const json_t *f = json_array_get(findings_with_symbols(), 0);
    ck_assert_str_eq(text(f, "pattern"), "eager-retention");
}

TEST(on_the_host_it_does_not_matter)
{
    const uint64_t at = (uint64_t)(zeros - __executable_start) + 8;

    builder_level(&b, made_by(own_path(), at), HOST, 8 * MIB, LAST, sixteen, NULL);
    const json_t *f = json_array_get(findings_with_symbols(), 0);
    ck_assert_str_eq(text(f, "pattern"), "eager-retention");
}

/* ---- a data set as a whole --------------------------------------------------------------------
 */

enum { COPIED = 64, INDEXED = 192, NODE = 256, DRAW = 30 }; /* functions, from zeros; a line */

/* Two blocks from the start, beside something that has `others` MiB, and what line 30 takes by
 * index in each step; with a node of a graph, that is of an output and not of the set. */
static const struct {
    uint64_t each, others, taken; /* MiB, MiB, KiB */
    bool has_node;
    const char *severity;
} wholes[] = {{50, 10, 800, false, "retention"}, {50, 10, 95, false, "info"},
              {50, 10, 110, false, "retention"}, {50, 10, 5300, false, "retention"},
              {50, 10, 7500, false, "info"},     {50, 10, 12800, false, "info"},
              {50, 10, 800, true, "info"},       {50, 60, 800, false, "info"},
              {50, 1000, 800, false, NULL},      {7, 1, 800, false, NULL}};

static uint32_t native_below(uint32_t stack, uint64_t offset)
{
    return builder_stack(
        &b, stack,
        builder_native(&b, own_path(), NULL, (uint64_t)(zeros - __executable_start) + offset + 8));
}

TEST(a_data_set_on_the_device_as_a_whole, .to = N(wholes))
{
    const uint32_t draw = native_below(user(DRAW), INDEXED);
    uint64_t two = 2, one = 1;

    builder_level(&b, native_below(user(7), COPIED), TENSOR_1, wholes[_i].each * MIB, LAST,
                  constant, &two);
    builder_level(&b, user(3), TENSOR_1, wholes[_i].others * MIB, LAST, constant, &one);
    transient(draw, TENSOR_1, wholes[_i].taken * 1024, STEPS, 0, 0);
    if (wholes[_i].has_node)
        transient(native_below(draw, NODE), HOST, 128, STEPS, 0, 0);
    const json_t *list = findings_with_symbols(), *f = json_array_get(list, 0);
    char *all = json_dumps(list, 0);
    ck_assert_msg(json_array_size(list) == (wholes[_i].severity != NULL), "%s", all);
    if (wholes[_i].severity) {
        ck_assert_str_eq(text(f, "pattern"), "eager-retention");
        ck_assert_msg(strcmp(text(f, "severity"), wholes[_i].severity) == 0, "%s", all);
        ck_assert(number(json_object_get(f, "frame"), "line") == 7);
        ck_assert(number(f, "live_bytes") == 100.0 * MIB);
    }
    if (_i == 0)
        ck_assert_msg(strstr(all, "Each step uses about 800 KiB of it, at "
                                  "/home/user/train.py:30") != NULL,
                      "%s", all);
    free(all);
}

/* ---- on threads that no line is on ----------------------------------------------------------- */

/* Segments that came bit by bit and stay: PyTorch's allocator's own, or a library's that takes
 * memory for itself. */
TEST(what_an_allocator_maps_for_itself_is_nobodys_cache, .to = 2)
{
    const uint64_t at = (uint64_t)(zeros - __executable_start) + 8 + (_i ? 64 : 128);
    struct ramp r = {FIRST, FIRST + 99, 1, UINT32_MAX};

    tensors_of_a_step();
    builder_level(&b, builder_stack(&b, 0, builder_native(&b, own_path(), NULL, at)), DEVICE_1,
                  4 * MIB, LAST, ramp, &r);
    ck_assert_uint_eq(json_array_size(findings_with_symbols()), _i ? 1 : 0);
}

/* ---- a checkpoint ---------------------------------------------------------------------------- */

struct loaded {
    uint32_t from; /* step */
    uint64_t blocks;
};

static uint64_t from_then_on(uint32_t period, void *arg)
{
    const struct loaded *l = arg;

    return period < FIRST + l->from ? 0 : l->blocks;
}

/* Blocks of a file, and of the network that lies there already: eight of 4 MiB. */
static const struct {
    struct loaded loaded;
    uint64_t each; /* KiB */
    bool is_kept;
} files[] = {{{1, 24}, 4096, true},   /* weights and two moments */
             {{20, 24}, 4096, true},  /* loaded later */
             {{1, 24}, 3965, true},   /* rounded otherwise */
             {{1, 24}, 3900, false},  /* another network's */
             {{1, 8}, 4096, false},   /* a teacher, as large as the student */
             {{1, 20}, 4096, false}}; /* not the network's times something */

/* Eight blocks of the host that were there up to a period. */
static void passing(uint32_t stack, uint32_t last_period)
{
    const uint32_t site = builder_site(&b, stack, HOST, 8, 800, 8, 800, FIRST);

    ((struct seep_site *)builder_at(&b, site))->last_period = last_period;
}

static void load(unsigned line, uint64_t each, struct loaded *l)
{
    builder_level(
        &b,
        below(user(line), "/usr/lib/python3/dist-packages/torch/serialization.py", "load", 1000),
        TENSOR_1, each, LAST, from_then_on, l);
}

/* As many blocks as the network has, in modules of modules and so on two stacks: copied into it by
 * load_state_dict(), or a network by itself, and without steps. */
static const struct {
    bool copied, is_module, stepped;
    const char *severity;
} once[] = {{true, false, true, "retention"},
            {true, false, false, "retention"},
            {false, false, true, NULL},
            {true, true, true, NULL}};

TEST(weights_that_were_copied_into_the_network_are_a_second_copy, .to = N(once))
{
    const char *module = "/usr/lib/python3/dist-packages/torch/nn/modules/module.py";
    const uint32_t apply = below(user(3), module, "_apply", 30);
    struct loaded eight = {1, 8};
    uint64_t three = 3, five = 5;

    builder_level(&b, apply, TENSOR_1, 4 * MIB, LAST, constant, &three);
    builder_level(&b, below(apply, module, "_apply", 30), TENSOR_1, 4 * MIB, LAST, constant, &five);
    load(7, 4 * MIB, &eight);
    if (once[_i].copied)
        passing(below(user(8), module, "load_state_dict", 50), FIRST);
    if (once[_i].is_module)
        transient(below(below(user(7), "/usr/lib/python3/dist-packages/torch/serialization.py",
                              "load", 1000),
                        "/usr/lib/python3/dist-packages/torch/_utils.py", "_rebuild_parameter", 40),
                  HOST, 100, STEPS, 0, 0);
    if (!once[_i].stepped)
        job->processes[0].steps = 0;
    const json_t *list = findings(), *f = json_array_get(list, 0);
    char *all = json_dumps(list, 0);
    const bool is_told = strstr(all, "from a file") != NULL;
    ck_assert_msg(is_told == (once[_i].severity != NULL), "%s", all);
    if (is_told) {
        ck_assert_msg(strcmp(text(f, "severity"), once[_i].severity) == 0, "%s", all);
        ck_assert_msg(strstr(all, "this is a second copy") != NULL, "%s", all);
        ck_assert(number(f, "count") == 8);
    }
    free(all);
}

/* A file's weights that were copied into the network, and are in use all the same; or not: what is
 * made is of another size, or the optimizer's. */
static const struct {
    bool is_assigned, is_moments;
    uint64_t
        read; /* KiB of what line 10 makes, as often in each step as there are blocks; 0 nothing */
    uint32_t copied; /* the last period in which a state is copied */
    bool is_told;
} uses[] = {{false, false, 0, FIRST, true},        {true, false, 0, FIRST, false},
            {false, false, 4096, FIRST, false},    {false, false, 1024, FIRST, true},
            {false, false, 0, FIRST + 100, false}, {false, true, 0, FIRST, false}};

TEST(weights_of_a_file_that_are_in_use_are_not_left_over, .to = N(uses))
{
    const char *module = "/usr/lib/python3/dist-packages/torch/nn/modules/module.py";
    const uint32_t state = below(user(8), module, "load_state_dict", 50);
    const uint32_t parameter =
        below(state, "/usr/lib/python3/dist-packages/torch/nn/parameter.py", "__new__", 40);
    const uint32_t moments = below(
        user(9), "/usr/lib/python3/dist-packages/torch/optim/optimizer.py", "load_state_dict", 60);
    struct loaded eight = {1, 8};
    uint64_t network = 8;

    builder_level(&b, below(user(3), module, "_apply", 30), TENSOR_1, 4 * MIB, LAST, constant,
                  &network);
    load(7, 4 * MIB, &eight);
    passing(state, uses[_i].copied);
    if (uses[_i].is_assigned)
        passing(parameter, FIRST);
    if (uses[_i].is_moments)
        passing(moments, FIRST);
    if (uses[_i].read)
        transient(user(10), TENSOR_1, uses[_i].read * 1024, UINT64_C(8) * STEPS, 0, 0);
    const json_t *list = findings();
    char *all = json_dumps(list, 0);
    ck_assert_msg((strstr(all, "from a file") != NULL) == uses[_i].is_told, "%s", all);
    free(all);
}

/* What is there of a file of a network of eight blocks of 4 MiB, half of them parameters', and how
 * much of it no optimizer goes on with. */
static const struct {
    uint64_t weights, moments, steps; /* blocks of 4 MiB, of 4 MiB, of 1 KiB */
    bool is_adam;
    double saved;                                                /* of all; 0 not told */
} resumed[] = {{8, 8, 4, false, 0.5},                            /* momentum, all kept */
               {0, 16, 8, true, 0},                              /* two moments, weights dropped */
               {8, 16, 8, true, 1 / 3.0}, {8, 24, 8, true, 0.5}, /* one moment more */
               {8, 32, 8, true, 0},                              /* more: nobody's */
               {0, 8, 0, false, 0}};

TEST(what_an_optimizer_goes_on_with_was_not_left_over, .to = N(resumed))
{
    const char *optimizer = "/usr/lib/python3/dist-packages/torch/optim/optimizer.py";
    const char *module = "/usr/lib/python3/dist-packages/torch/nn/modules/module.py";
    struct loaded large = {1, resumed[_i].weights + resumed[_i].moments};
    struct loaded small = {1, resumed[_i].steps};
    uint64_t network = 8;

    builder_level(&b, below(user(3), module, "_apply", 30), TENSOR_1, 4 * MIB, LAST, constant,
                  &network);
    load(7, 4 * MIB, &large);
    load(7, 1024, &small);
    passing(below(user(8), module, "load_state_dict", 50), FIRST);
    passing(below(user(9), optimizer, "load_state_dict", 60), FIRST);
    if (resumed[_i].is_adam)
        passing(below(user(9), "/usr/lib/python3/dist-packages/torch/optim/adamw.py", "step", 70),
                LAST - 1);
    const json_t *list = findings(), *f = json_array_get(list, 0);
    char *all = json_dumps(list, 0);
    ck_assert_msg((strstr(all, "from a file") != NULL) == (resumed[_i].saved > 0), "%s", all);
    if (resumed[_i].saved > 0) {
        const double share = number(f, "saving_bytes") / number(f, "live_bytes");
        ck_assert_msg(share > resumed[_i].saved - 0.01 && share < resumed[_i].saved + 0.01, "%s",
                      all);
    }
    free(all);
}

TEST(a_checkpoint_that_stays_beside_the_network, .to = N(files))
{
    struct loaded loaded = files[_i].loaded;
    uint64_t eight = 8;

    builder_level(
        &b,
        below(user(3), "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", "_apply", 30),
        TENSOR_1, 4 * MIB, LAST, constant, &eight);
    load(7, files[_i].each * 1024, &loaded);
    const json_t *list = findings(), *f = json_array_get(list, 0);
    const bool is_told = json_array_size(list) && strstr(text(f, "title"), "from a file");
    ck_assert_msg(is_told == files[_i].is_kept, "%s", json_dumps(list, 0));
    if (!is_told)
        return;
    ck_assert_str_eq(text(f, "pattern"), "eager-retention");
    ck_assert_str_eq(text(f, "severity"), "retention");
    ck_assert(number(json_object_get(f, "frame"), "line") == 7);
    ck_assert_ptr_nonnull(strstr(text(f, "advice"), "map_location"));
    ck_assert(number(f, "count") == 24);
}

SUITE("makers", .setup = setup, .teardown = teardown)

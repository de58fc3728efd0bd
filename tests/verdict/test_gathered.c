/* Outputs of an evaluation that are gathered on a device, between two steps. */
#include "tests/verdict/pattern_fixture.h"

/* A name as PyTorch's libraries have it. */
__asm__(".text\n"
        ".globl _ZN5torch8autograd9make_nodeEv\n"
        ".type _ZN5torch8autograd9make_nodeEv, @function\n"
        "_ZN5torch8autograd9make_nodeEv:\n"
        ".skip 64, 0x90\n"
        ".size _ZN5torch8autograd9make_nodeEv, 64\n");
extern const char make_node[] __asm__("_ZN5torch8autograd9make_nodeEv");
extern const char __executable_start[];

enum { EPOCHS = 5, EACH = 2 * MIB, LINE = 7 };

/* What is made on line 7, below a function: in all, and at once; gone within its step, or the next
 * but four. Beside it `others` MiB are on the device. */
static const struct {
    const char *function;
    unsigned made, most, age, epochs;
    uint64_t others;
    bool has_nodes;
    const char *pattern, *severity;
} jobs[] = {
    {"validate", 100, 20, 0, EPOCHS, 60, false, "unbounded-growth", "retention"},
    {"validate", 100, 20, 0, EPOCHS, 90, false, "unbounded-growth", "retention"},
    {"validate", 100, 20, 0, EPOCHS, 130, false, "unbounded-growth", "info"},
    {"validate", 100, 20, 0, EPOCHS, 500, false, NULL, NULL},
    {"validate", 100, 20, 0, EPOCHS, 100, true, "graph-retention", "retention"},
    {"run_eval", 150, 20, 0, EPOCHS, 60, false, "unbounded-growth",
     "retention"},                                           /* some are gone */
    {"run_eval", 260, 20, 0, EPOCHS, 60, false, NULL, NULL}, /* the layers of each of two batches */
    {"collect", 100, 20, 0, EPOCHS, 60, false, "unbounded-growth", "info"},
    {"collect", 100, 20, 0, EPOCHS, 130, false, NULL, NULL},
    {"collect", 100, 20, 0, EPOCHS, 60, true, NULL, NULL},     /* of rollouts to learn from */
    {"evaluation_time", 100, 20, 0, 0, 60, false, NULL, NULL}, /* epochs are not known */
    {"validate", 100, 5, 0, EPOCHS, 10, false, NULL, NULL},    /* few at once */
    {"validate", 20, 20, 0, EPOCHS, 60, false, NULL, NULL},    /* a last look */
    {"validate", 640, 20, 0, EPOCHS, 60, false, NULL, NULL},   /* keys of each token */
    {"test_step", 4000, 20, 0, EPOCHS, 60, false, NULL, NULL}, /* a step's own layers */
    {"validate", 100, 20, 4, EPOCHS, 60, false, NULL, NULL},   /* outlives steps */
};

static void made(uint32_t stack, unsigned space, unsigned n, unsigned most, uint64_t each,
                 unsigned age)
{
    struct seep_point points[] = {{FIRST, 0, 0}, {LAST - 1, 0, 0}};
    const uint32_t at = builder_site(&b, stack, space, n, n * each, n, n * each, FIRST);

    builder_detail(&b, at, points, 2);
    struct seep_site *site = builder_at(&b, at);
    site->last_period = LAST - 1;
    site->peak_bytes = most * each;
    site->peak_period = FIRST + 40;
    struct seep_detail *detail = builder_at(&b, site->detail);
    detail->min_bytes = detail->max_bytes = each;
    detail->lifetimes[age] = n;
    detail->sizes[63 - __builtin_clzll(each)] = n;
}

TEST(what_an_evaluation_gathers_is_told, .to = N(jobs))
{
    const uint32_t function = below(main_stack, "/home/user/train.py", jobs[_i].function, 40);
    const uint32_t line = below(function, "/home/user/train.py", "forward", LINE);
    const uint32_t node = builder_stack(
        &b, line,
        builder_native(&b, own_path(), NULL, (uint64_t)(make_node - __executable_start) + 8));
    uint64_t one = 1;

    if (jobs[_i].epochs)
        add_epochs(jobs[_i].epochs, STEPS / jobs[_i].epochs);
    builder_level(&b, user(3), TENSOR_1, jobs[_i].others * MIB, LAST, constant, &one);
    made(line, TENSOR_1, jobs[_i].made, jobs[_i].most, EACH, jobs[_i].age);
    if (jobs[_i].has_nodes)
        made(node, HOST, jobs[_i].made, jobs[_i].most, 128, 0);
    const json_t *list = findings_with_symbols(), *f = json_array_get(list, 0);
    char *all = json_dumps(list, 0);
    ck_assert_msg(json_array_size(list) == (jobs[_i].pattern != NULL), "%s", all);
    if (jobs[_i].pattern) {
        ck_assert_msg(strcmp(text(f, "pattern"), jobs[_i].pattern) == 0, "%s", all);
        ck_assert_msg(strcmp(text(f, "severity"), jobs[_i].severity) == 0, "%s", all);
        ck_assert(number(json_object_get(f, "frame"), "line") == LINE);
        ck_assert_ptr_nonnull(strstr(text(f, "advice"), ".cpu()"));
        ck_assert(number(f, "saving_bytes") == (double)jobs[_i].most * EACH);
    }
    free(all);
}

/* As many blocks of a stack are there in each training step: layers, of one large batch each time.
 */
TEST(what_a_training_step_has_at_once_is_not_gathered, .to = 2)
{
    const unsigned layers[] = {5, 6};
    uint64_t one = 1;

    add_epochs(EPOCHS, STEPS / EPOCHS);
    builder_level(&b, user(3), TENSOR_1, UINT64_C(60) * MIB, LAST, constant, &one);
    made(below(below(main_stack, "/home/user/train.py", "validate", 40), "/home/user/train.py",
               "forward", LINE),
         TENSOR_1, 100, 20, EACH, 0);
    made(below(main_stack, "/home/user/train.py", "forward", LINE), TENSOR_1, layers[_i] * STEPS,
         layers[_i], MIB, 0);
    ck_assert_uint_eq(json_array_size(findings()), _i ? 0 : 1);
}

/* Where the optimizer steps: below an outer function, or another one; and what the outer one is. */
static const struct {
    const char *outer, *inner; /* of what is gathered */
    const char *trains;        /* the function that steps, below the outer one */
    unsigned steps;
    const char *severity;
} enclosing[] = {
    {"test_training", "collect", "fit", STEPS, "info"},
    {"test_training", "fit", "fit", STEPS, "info"},
    {"test_training", "validate", "fit", STEPS, "retention"},
    {"run", "validate", "fit", STEPS, "retention"},
    {"test_training", "collect", "fit", EPOCHS, "retention"}, /* it is made, not stepped */
    {"test_training", "collect", NULL, 0, "retention"},
};

TEST(an_evaluation_lies_below_what_training_steps_are_made_in, .to = N(enclosing))
{
    const uint32_t outer = below(main_stack, "/home/user/test_train.py", enclosing[_i].outer, 20);
    const uint32_t inner = below(below(outer, "/home/user/test_train.py", enclosing[_i].inner, 40),
                                 "/home/user/train.py", "forward", LINE);
    uint64_t one = 1;

    add_epochs(EPOCHS, STEPS / EPOCHS);
    builder_level(&b, user(3), TENSOR_1, UINT64_C(60) * MIB, LAST, constant, &one);
    made(inner, TENSOR_1, 100, 20, EACH, 0);
    if (enclosing[_i].trains) {
        /* At another line of the outer function. */
        const uint32_t other =
            below(main_stack, "/home/user/test_train.py", enclosing[_i].outer, 21);
        const uint32_t trains = below(other, "/home/user/test_train.py", enclosing[_i].trains, 50);
        made(below(below(trains, "/usr/lib/python3/dist-packages/torch/optim/adam.py", "step", 9),
                   "/usr/lib/python3/dist-packages/torch/optim/adam.py", "_multi", 99),
             HOST, enclosing[_i].steps, 1, 64, 0);
        made(below(below(trains, "/usr/lib/python3/dist-packages/torch/_tensor.py", "backward", 9),
                   "/usr/lib/python3/dist-packages/torch/autograd/__init__.py", "backward", 99),
             HOST, enclosing[_i].steps, 1, 64, 0);
    }
    const json_t *list = findings(), *f = json_array_get(list, 0);
    char *all = json_dumps(list, 0);
    ck_assert_msg(json_array_size(list) == 1 &&
                      strcmp(text(f, "severity"), enclosing[_i].severity) == 0,
                  "%s", all);
    free(all);
}

SUITE("gathered", .setup = setup, .teardown = teardown)

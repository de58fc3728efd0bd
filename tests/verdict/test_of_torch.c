/* What is said where only PyTorch's own snapshot is known: Python's frames alone, and only of calls
 * that allocate. */
#include "tests/verdict/pattern_fixture.h"

static uint64_t once = 1;

static void begin(void)
{
    setup();
    builder_header(&b)->origin = SEEP_ORIGIN_TORCH;
    builder_level(&b, user(3), TENSOR_1, 20 * MIB, LAST, constant, &once);
}

#define TORCH "/venv/lib/python3/site-packages/torch/"

/* Below a layer that a line of the network's forward calls. */
static uint32_t layer(const char *function, unsigned line, unsigned number)
{
    const uint32_t call = below(below(main_stack, "/home/user/train.py", function, 20),
                                TORCH "nn/modules/module.py", "_call_impl", 1700);
    const uint32_t forward = below(call, "/home/user/model.py", "forward", line);

    return number ? below(below(forward, TORCH "nn/modules/module.py", "_call_impl", 1700),
                          TORCH "nn/modules/linear.py", "forward", 100 + number)
                  : forward;
}

static const char *pattern_of(const json_t *list, unsigned line)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *f = json_array_get(list, i);
        if ((unsigned)number(json_object_get(f, "frame"), "line") == line)
            return text(f, "pattern");
    }
    return "";
}

/* ---- graphs ------------------------------------------------------------------------------- */

static const struct {
    bool has_layer, has_second, goes_backward;
    unsigned freed; /* layers of which nothing is kept */
    const char *pattern;
} kept[] = {
    {false, false, true, 0, "unbounded-growth"}, /* a result, detached or not */
    {true, false, true, 0, "graph-retention"},   /* and what led to it */
    {true, false, true, 2, "graph-retention"},
    {true, false, true, 3, "unbounded-growth"},  /* two of five: kept on purpose */
    {false, true, true, 0, "unbounded-growth"},  /* another call's */
    {true, false, false, 0, "unbounded-growth"}, /* keys and values, for serving */
};

TEST(what_led_to_a_result_is_kept_by_a_graph, .to = N(kept))
{
    builder_level(&b, layer("step", 8, 0), TENSOR_1, MIB, LAST, one_a_step, NULL);
    if (kept[_i].has_layer)
        builder_level(&b, layer("step", 8, 1), TENSOR_1, MIB, LAST, one_a_step, NULL);
    if (kept[_i].has_second)
        builder_level(&b, layer("again", 9, 0), TENSOR_1, MIB, LAST, one_a_step, NULL);
    for (unsigned i = 0; i < kept[_i].freed; i++)
        transient(layer("step", 8, 2 + i), TENSOR_1, MIB, STEPS, 0, 0);
    if (!kept[_i].goes_backward) {
        job->processes[0].step_source = SEEP_STEP_LOOP;
        job->processes[0].step_why = SEEP_WHY_REPEATS;
    }
    ck_assert_str_eq(pattern_of(findings(), 8), kept[_i].pattern);
}

/* ---- evaluations -------------------------------------------------------------------------- */

static void gathers(uint32_t stack, unsigned most)
{
    const unsigned n = 5 * most;
    struct seep_point points[] = {{FIRST, 0, 0}, {LAST - 1, 0, 0}};
    const uint32_t at =
        builder_site(&b, stack, TENSOR_1, n, n * 2ull * MIB, n, n * 2ull * MIB, FIRST);

    builder_detail(&b, at, points, 2);
    struct seep_site *site = builder_at(&b, at);
    site->last_period = LAST - 1;
    site->peak_bytes = most * 2ull * MIB;
    site->peak_period = FIRST + 40;
    struct seep_detail *detail = builder_at(&b, site->detail);
    detail->min_bytes = detail->max_bytes = 2 * MIB;
    detail->lifetimes[0] = n;
    detail->sizes[21] = n;
}

/* Epochs are not known. */
TEST(what_an_evaluation_gathers_is_told_with_its_graph, .to = 2)
{
    gathers(layer("validate", 8, 0), 20);
    if (_i)
        gathers(layer("validate", 8, 1), 20);
    const json_t *list = findings();
    char *all = json_dumps(list, 0);
    ck_assert_str_eq(pattern_of(list, 8), _i ? "graph-retention" : "unbounded-growth");
    ck_assert_ptr_null(strstr(all, "nan"));
    free(all);
}

/* ---- from the start ----------------------------------------------------------------------- */

static const json_t *of_line(const json_t *list, unsigned line)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if ((unsigned)number(json_object_get(json_array_get(list, i), "frame"), "line") == line)
            return json_array_get(list, i);
    return NULL;
}

TEST(most_of_a_gpu_from_the_start_is_told_and_not_accused)
{
    builder_level(&b, user(7), TENSOR_1, 300 * MIB, LAST, constant, &once);
    const json_t *f = of_line(findings(), 7);
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(text(f, "pattern"), "eager-retention");
    ck_assert_str_eq(text(f, "severity"), "info");
}

static uint64_t eight(uint32_t period, void *arg)
{
    (void)period;
    (void)arg;
    return 8;
}

/* Three times what the network holds: weights and two moments. With a few bytes for each, it may be
 * an optimizer's, and whether one goes on with them is not seen. */
TEST(a_file_that_stays_is_accused_if_no_optimizer_may_use_it, .to = 2)
{
    uint64_t copies = 24;

    builder_level(&b, layer("build", 5, 0), TENSOR_1, 4 * MIB, LAST, eight, NULL);
    const uint32_t at = builder_level(&b, below(user(7), TORCH "serialization.py", "load", 1400),
                                      TENSOR_1, 4 * MIB, LAST, constant, &copies);
    struct seep_point points[] = {{0, 24, 96 * MIB}};
    builder_detail(&b, at, points, 1);
    struct seep_site *site = builder_at(&b, at);
    struct seep_detail *detail = builder_at(&b, site->detail);
    detail->min_bytes = MIB; /* weights of many sizes */
    detail->max_bytes = 9 * MIB;
    if (_i)
        builder_level(&b, below(user(7), TORCH "serialization.py", "load", 1401), TENSOR_1, 4, LAST,
                      eight, NULL);
    const json_t *f = of_line(findings(), 7);
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(text(f, "pattern"), "eager-retention");
    ck_assert_str_eq(text(f, "severity"), _i ? "info" : "retention");
}

SUITE("of PyTorch's snapshots", .setup = begin, .teardown = teardown)

/* Refused host memory: whether memory ran out, which limit refused it, and why. */
#include "tests/verdict/pattern_fixture.h"

enum { ASKED = 64 * MIB, GIB = 1 << 30 };

static struct seep_host_oom *refused(unsigned step)
{
    const uint32_t stack = user(30);
    struct seep_host_ooms *table = &builder_header(&b)->host_ooms;
    struct seep_host_oom *its = &table->list[table->n++];

    *its = (struct seep_host_oom){.t_ns = START + step,
                                  .asked_bytes = ASKED,
                                  .live_bytes = 500 * MIB,
                                  .address_bytes = 1000 * MIB,
                                  .data_bytes = 600 * MIB,
                                  .period = FIRST + step - 1,
                                  .stack = stack,
                                  .requests = 1};
    return its;
}

static const json_t *ran_out(void)
{
    const json_t *list = findings();

    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(text(json_array_get(list, i), "pattern"), "out-of-memory") == 0)
            return json_array_get(list, i);
    }
    return NULL;
}

static bool says(const json_t *f, const char *words)
{
    char *all = json_dumps(f, 0);
    const bool found = strstr(all, words) != NULL;

    if (!found)
        fprintf(stderr, "%s\n", all);
    free(all);
    return found;
}

TEST(a_leak_that_fills_host_memory_is_what_the_error_comes_of)
{
    builder_header(&b)->exit_value = 1;
    builder_level(&b, user(7), HOST, 2 * MIB, LAST, one_a_step, NULL);
    refused(STEPS + 1)->limit_address_bytes = GIB;
    const json_t *f = ran_out();
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(text(f, "severity"), "pressure");
    ck_assert_str_eq(text(f, "space"), "host");
    ck_assert_str_eq(text(f, "title"), "Out of host memory: 64.0 MiB requested; 24.0 MiB free");
    ck_assert(says(f, "500 MiB of host memory was allocated by then"));
    ck_assert(says(f, "F1, unbounded-growth, holds"));
    ck_assert(says(f, "ended with exit status 1"));
    ck_assert(says(f, "Fix F1 first: it fills the memory"));
    ck_assert_int_eq((int)number(json_object_get(f, "frame"), "line"), 30);
}

static const struct {
    uint64_t address, data;
    const char *evidence, *advice;
} bounds[] = {
    {GIB, 0, "RLIMIT_AS (ulimit -v) allows 1.0 GiB of address space; 1000 MiB", "(ulimit -v)"},
    {0, 640 * MIB, "RLIMIT_DATA (ulimit -d) allows 640 MiB of data; 600 MiB", "(ulimit -d)"},
    {4 * (uint64_t)GIB, 0, "the kernel refused the request (overcommit)", "Check the size"},
};

TEST(what_refused_it_is_named, .to = N(bounds))
{
    struct seep_host_oom *its = refused(20);
    its->limit_address_bytes = bounds[_i].address;
    its->limit_data_bytes = bounds[_i].data;
    const json_t *f = ran_out();
    ck_assert_ptr_nonnull(f);
    ck_assert(says(f, bounds[_i].evidence));
    ck_assert(says(f, bounds[_i].advice));
    ck_assert(says(f, "The job caught the error and continued, to step 200"));
}

static const struct {
    uint64_t met;
    unsigned met_step;
    bool by_same, is_probe;
} retries[] = {
    {0, 20, false, false},          /* nothing came at that place */
    {ASKED / 13, 20, false, true},  /* less, at the same line */
    {ASKED / 20, 20, false, false}, /* what an exception takes */
    {ASKED / 4096, 20, true, true}, /* the same call halved it many times */
    {ASKED, 21, true, false},       /* the next step's: this one's was lost */
};

TEST(a_probe_is_no_oom, .to = N(retries))
{
    struct seep_host_oom *its = refused(20);
    its->met_bytes = retries[_i].met;
    its->met_period = FIRST + retries[_i].met_step - 1;
    its->met_by_same = retries[_i].by_same;
    ck_assert_int_eq(ran_out() == NULL, retries[_i].is_probe);
    const json_t *noted = json_array_get(json_object_get(report, "out_of_memory"), 0);
    ck_assert_str_eq(text(noted, "source"), "host");
    ck_assert_int_eq(json_is_true(json_object_get(noted, "retried")), retries[_i].is_probe);
}

TEST(requests_in_a_row_and_those_without_a_place_are_counted)
{
    refused(20)->requests = 3;
    refused(30);
    builder_header(&b)->host_ooms.n = SEEP_MAX_HOST_OOMS + 5;
    ck_assert(says(ran_out(), "4 requests failed in steps 20 to 30, and then 5 more"));
}

SUITE("host_oom", .setup = setup, .teardown = teardown)

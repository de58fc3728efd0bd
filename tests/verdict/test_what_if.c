/* What the recorded requests say would have helped: beside whom it is said, and when. */
#include "libprof/format/what_if_format.h"
#include "tests/verdict/pattern_fixture.h"

static const uint64_t once = 1;

static unsigned n_what_ifs;

static void begin(void)
{
    setup();
    n_what_ifs = 0;
}

static struct seep_what_if *what_if(enum seep_what_if_change change, uint64_t mib)
{
    struct seep_what_if *its = &builder_header(&b)->what_ifs[n_what_ifs++];

    *its = (struct seep_what_if){.peak_bytes = mib * MIB, .change = change, .device = 1};
    return its;
}

/* 500 MiB of GPU 1 are in use as 20 MiB more are asked for, in vain. */
static void fails(void)
{
    const uint32_t stack = user(30);
    struct seep_device_notes *notes = &builder_header(&b)->devices;

    builder_level(&b, user(3), TENSOR_1, 400 * MIB, LAST + 1, constant, (void *)&once);
    notes->tensors[1].reports = 1000;
    notes->ooms[notes->n_ooms++] = (struct seep_device_oom){.t_ns = START + STEPS,
                                                            .asked_bytes = 20 * MIB,
                                                            .allocated_bytes = 500 * MIB,
                                                            .reserved_bytes = 560 * MIB,
                                                            .period = LAST,
                                                            .stack = stack,
                                                            .device = 1};
}

static bool says(const char *words)
{
    char *all = json_dumps(report ? json_object_get(report, "findings") : findings(), 0);
    const bool found = strstr(all, words) != NULL;

    free(all);
    return found;
}

TEST(a_setting_with_which_the_request_fits_is_named)
{
    fails();
    what_if(SEEP_WHAT_IF_NOTHING, 560)->failed = 1;
    builder_header(&b)->what_ifs[0].refused = 1;
    what_if(SEEP_WHAT_IF_ROUNDUP, 555)->amount = 8;
    builder_header(&b)->what_ifs[1].refused = builder_header(&b)->what_ifs[1].failed = 1;
    what_if(SEEP_WHAT_IF_EXPANDABLE, 558)->failed = 1;
    ck_assert(
        says("Its requests replayed: with expandable_segments:True PyTorch would have reserved "
             "at most 558 MiB, not 560 MiB; the request would have fitted"));
    ck_assert(says("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True would have made room this "
                   "time."));
    const json_t *list = json_object_get(report, "what_if"), *best = json_array_get(list, 2);
    ck_assert_uint_eq(json_array_size(list), 3);
    ck_assert_str_eq(text(json_array_get(list, 0), "change"), "");
    ck_assert_str_eq(text(json_array_get(list, 1), "change"), "roundup_power2_divisions:8");
    ck_assert_str_eq(text(best, "change"), "expandable_segments:True");
    ck_assert(number(best, "peak_bytes") == 558 * MIB && number(best, "failed") == 1 &&
              number(best, "refused") == 0 && number(best, "device") == 1);
}

static const struct {
    uint64_t mib, was;
    bool helps;
} shares[] = {{950, 1000, true}, {951, 1000, false}, {1000, 1000, false}, {1100, 1000, false}};

TEST(a_setting_that_leaves_nearly_as_much_does_not_help, .to = N(shares))
{
    fails();
    what_if(SEEP_WHAT_IF_NOTHING, shares[_i].was);
    what_if(SEEP_WHAT_IF_MAX_SPLIT, shares[_i].mib)->amount = 64;
    ck_assert(says(shares[_i].helps
                       ? "with max_split_size_mb:64 PyTorch would have reserved at most"
                       : "none of the settings that were tried would have reserved much less than"));
}

/* The driver gave 500 MiB, of which 50 were ever in use. */
static void is_idle(void)
{
    builder_header(&b)->devices.tensors[1] = (struct seep_tensor_books){
        .reports = 200, .allocated_bytes = 20 * MIB, .reserved_bytes = 600 * MIB};
    builder_level(&b, user(3), TENSOR_1, 20 * MIB, LAST, constant, (void *)&once);
    builder_level(&b, user(7), DEVICE_1, 600 * MIB, LAST, constant, (void *)&once);
}

TEST(a_cache_is_advised_what_helps_it, .to = 2)
{
    is_idle();
    what_if(SEEP_WHAT_IF_NOTHING, 600);
    what_if(SEEP_WHAT_IF_EXPANDABLE, _i ? 590 : 100);
    what_if(SEEP_WHAT_IF_ROUNDUP, _i ? 595 : 300)->amount = 4;
    ck_assert(says(_i ? "or reuse one buffer: none of the allocator's settings that were tried helps."
                      : "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True. Let sizes repeat"));
}

TEST(what_private_pools_have_is_told)
{
    is_idle();
    what_if(SEEP_WHAT_IF_NOTHING, 600)->private_bytes = 450 * MIB;
    what_if(SEEP_WHAT_IF_EXPANDABLE, 590);
    ck_assert(says("450 MiB of the 600 MiB that were reserved at most are private pools"));
}

TEST(a_line_that_keeps_memory_is_told_what_that_costs, .to = 2)
{
    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    what_if(SEEP_WHAT_IF_NOTHING, 500);
    what_if(SEEP_WHAT_IF_KEPT, 80)->frame =
        builder_python(&b, "/home/user/train.py", "work", _i ? 8 : 7);
    ck_assert(says(_i ? "unbounded-growth"
                      : "had this line kept nothing beyond its step, at most 80.0 MiB would have "
                        "been reserved, not 500 MiB"));
    ck_assert_uint_eq(json_array_size(json_object_get(report, "what_if")), 2);
    ck_assert_int_eq(says("replayed"), !_i);
}

TEST(what_makes_no_sense_is_left_out)
{
    fails();
    what_if(SEEP_WHAT_IF_EXPANDABLE, 100); /* of what? */
    what_if(SEEP_WHAT_IF_NOTHING, 500)->device = SEEP_MAX_DEVICES;
    what_if(SEEP_WHAT_IF_EXPANDABLE, 100)->device = SEEP_MAX_DEVICES;
    what_if(SEEP_WHAT_IF_NOTHING, 500);
    what_if(SEEP_N_WHAT_IFS, 100);
    what_if(SEEP_WHAT_IF_KEPT, 100); /* what line? */
    what_if(SEEP_WHAT_IF_KEPT, 100)->frame = UINT32_MAX;
    what_if(SEEP_WHAT_IF_ROUNDUP, 100)->device = 0; /* before what was there in fact */
    findings();
    ck_assert_uint_eq(json_array_size(json_object_get(report, "what_if")), 1);
}

SUITE("what would have helped", .setup = begin, .teardown = teardown)

/* A device that refused a request: why, from what it held at that moment. */
#include "libprof/words/patterns.h"
#include "tests/verdict/pattern_fixture.h"

enum { ASKED = 20 * MIB, GIB = 1 << 30 };

static struct seep_device_oom *fails(unsigned step, uint64_t asked, uint64_t allocated,
                                     uint64_t reserved)
{
    const uint32_t stack = user(30);
    struct seep_device_notes *notes = &builder_header(&b)->devices;
    struct seep_device_oom *its = &notes->ooms[notes->n_ooms++];

    *its = (struct seep_device_oom){.t_ns = START + step,
                                    .asked_bytes = asked,
                                    .allocated_bytes = allocated,
                                    .reserved_bytes = reserved,
                                    .period = FIRST + step - 1,
                                    .stack = stack,
                                    .device = 1};
    notes->tensors[1].reports = 1000;
    return its;
}

/* The last step of the job, which does not finish. */
static struct seep_device_oom *fails_at_end(uint64_t asked, uint64_t allocated, uint64_t reserved)
{
    builder_header(&b)->exit_value = 1;
    return fails(STEPS + 1, asked, allocated, reserved);
}

static void has_capacity(uint64_t capacity, uint64_t used, uint64_t all_used)
{
    builder_header(&b)->devices.use[1] = (struct seep_device_use){
        .capacity_bytes = capacity, .used_bytes = used, .all_used_bytes = all_used, .looks = 5};
}

static const json_t *of_pattern(const json_t *list, const char *pattern)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(text(json_array_get(list, i), "pattern"), pattern) == 0)
            return json_array_get(list, i);
    }
    return NULL;
}

static const json_t *explained(void)
{
    const json_t *list = findings(), *f = of_pattern(list, "out-of-memory");
    char *all = json_dumps(list, JSON_INDENT(1));

    ck_assert_msg(f != NULL, "%s", all);
    free(all);
    return f;
}

static bool says(const json_t *f, const char *words)
{
    char *evidence = json_dumps(json_object_get(f, "evidence"), 0);
    const bool found = strstr(evidence, words) != NULL || strstr(text(f, "advice"), words) != NULL;

    if (!found)
        fprintf(stderr, "%s\n%s\n", evidence, text(f, "advice"));
    free(evidence);
    return found;
}

static const uint64_t once = 1;

static void parameters(uint64_t bytes)
{
    builder_level(&b, user(3), TENSOR_1, bytes, LAST + 1, constant, (void *)&once);
}

/* ---- a leak fills it ------------------------------------------------------------------------- */

TEST(a_leak_that_fills_the_device_is_what_the_error_comes_of)
{
    parameters(100 * MIB);
    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    fails_at_end(ASKED, 500 * MIB, 520 * (uint64_t)MIB);
    const json_t *f = explained();
    ck_assert_str_eq(text(json_array_get(json_object_get(report, "findings"), 0), "pattern"),
                     "unbounded-growth");
    ck_assert_str_eq(text(f, "id"), "F2");
    ck_assert_str_eq(text(f, "severity"), "pressure");
    ck_assert_str_eq(text(f, "title"), "CUDA out of memory on GPU 1: 20.0 MiB requested");
    ck_assert_int_eq((int)number(json_object_get(f, "frame"), "line"), 30);
    ck_assert(says(f, "Tried to allocate 20.0 MiB in step 201: PyTorch had 500 MiB allocated, "
                      "20.0 MiB reserved but unallocated"));
    ck_assert(says(f, "Kept from before, 500 MiB: /home/user/train.py:7 400 MiB (80 %), "
                      "/home/user/train.py:3 100 MiB (20 %)"));
    ck_assert(says(f, "F1, unbounded-growth, holds 400 MiB of it: without it the request would "
                      "have fitted"));
    ck_assert(says(f, "The process then ended with exit status 1"));
    ck_assert(says(f, "Fix F1 first"));
}

/* The same as figures, for who reads reports by program. */
TEST(what_is_said_of_the_memory_is_there_as_figures, .to = 2)
{
    parameters(100 * MIB);
    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    fails_at_end(ASKED, 500 * MIB, 520 * (uint64_t)MIB);
    if (_i)
        has_capacity(GIB, 530 * MIB, 600 * MIB);
    builder_header(&b)->devices.tensors[1].reserved_bytes = 520 * MIB;
    const json_t *s = json_object_get(explained(), "shortage"),
                 *lines = json_object_get(s, "lines");
    const json_t *line = json_array_get(lines, 0), *filler = json_object_get(s, "filler");
    ck_assert_str_eq(text(s, "cause"), "filled");
    ck_assert_str_eq(text(filler, "finding"), "F1");
    ck_assert(number(filler, "bytes") == 400 * MIB);
    ck_assert(number(s, "requests") == 1 && number(s, "step") == STEPS + 1);
    ck_assert(number(s, "asked_bytes") == ASKED && number(s, "allocated_bytes") == 500 * MIB);
    ck_assert(number(s, "unallocated_bytes") == 20 * MIB);
    ck_assert_int_eq(json_is_null(json_object_get(s, "others_bytes")), !_i);
    ck_assert(number(s, "others_bytes") == (_i ? 70 * MIB : 0));
    ck_assert(number(s, "fits_bytes") == (_i ? GIB - 600 * MIB : 0));
    ck_assert_uint_eq(json_array_size(lines), 2);
    ck_assert_int_eq((int)number(json_object_get(line, "frame"), "line"), 7);
    ck_assert(number(line, "kept_bytes") == 400 * MIB);
    ck_assert_msg(number(line, "step_bytes") == 2 * MIB, "%f", number(line, "step_bytes"));
    ck_assert(json_is_null(
        json_object_get(json_array_get(json_object_get(report, "findings"), 0), "shortage")));
}

/* A leak that has less than was asked for, or hardly any of the device, is not why. */
TEST(a_leak_that_is_too_small_is_named_and_not_accused, .to = 2)
{
    parameters(4000 * (uint64_t)MIB);
    builder_level(&b, user(7), TENSOR_1, MIB, LAST, one_a_step, NULL);
    fails_at_end(_i ? ASKED : 300 * MIB, 4200 * (uint64_t)MIB, 4200 * (uint64_t)MIB);
    const json_t *f = explained();
    ck_assert(says(f, "F1, unbounded-growth, holds 200 MiB of it"));
    ck_assert(says(f, "Use a smaller batch (with"));
}

/* What is kept for good fills a device as well; and what may still have an end, behind whose
 * finding the explanation comes first. */
TEST(whatever_fills_the_device_is_named, .to = 2)
{
    uint64_t pictures = 16;
    uint32_t camera = below(user(5), "/home/user/scene/cameras.py", "__init__", 9);

    parameters(100 * MIB);
    if (_i) {
        add_epochs(1, 1000);
        builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    } else {
        builder_level(&b, camera, TENSOR_1, 25 * MIB, LAST, constant, &pictures);
    }
    fails_at_end(ASKED, 500 * MIB, 500 * MIB);
    const json_t *f = explained();
    ck_assert_str_eq(text(f, "id"), _i ? "F1" : "F2");
    ck_assert(says(f, _i ? "F2, undetermined, holds 400 MiB of it: without it"
                         : "F1, eager-retention, holds 400 MiB of it: without it"));
    ck_assert(says(f, _i ? "Fix F2 first" : "Fix F1 first"));
}

/* ---- fragments ------------------------------------------------------------------------------- */

static const struct {
    unsigned settings;
    const char *advice;
} settings[] = {{0, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
                {SEEP_ALLOCATOR_MAX_SPLIT, "instead of max_split_size_mb"},
                {SEEP_ALLOCATOR_COLLECTS, "in addition to garbage_collection_threshold"},
                {SEEP_ALLOCATOR_EXPANDABLE, "already set to keep little"}};

TEST(what_is_reserved_in_pieces_is_cured_by_what_is_not_set_yet, .to = N(settings))
{
    parameters(400 * MIB);
    fails_at_end(ASKED, 400 * MIB, 700 * (uint64_t)MIB);
    builder_header(&b)->devices.allocator_settings = settings[_i].settings;
    const json_t *f = explained();
    ck_assert(says(f, "300 MiB is reserved but unallocated, in pieces that are too small"));
    ck_assert(says(f, settings[_i].advice));
    ck_assert(number(f, "saving_bytes") == 300 * MIB);
}

TEST(a_cache_that_rises_up_to_the_error_is_how_it_came_about)
{
    parameters(100 * MIB);
    transient(user(7), TENSOR_1, 2 * MIB, STEPS, 0, 0)->size_marks = UINT64_C(0xffffffff);
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    fails_at_end(ASKED, 100 * MIB, 500 * MIB);
    ck_assert(says(explained(), "F2, allocator-cache, explains how this came about"));
}

/* ---- others, and what is too large ----------------------------------------------------------- */

TEST(who_else_is_on_the_device_is_named, .to = 2)
{
    parameters(400 * MIB);
    fails_at_end(ASKED, 400 * MIB, 402 * MIB);
    has_capacity(GIB, 502 * MIB, (_i ? 502 : 1014) * (uint64_t)MIB);
    builder_header(&b)->devices.tensors[1].reserved_bytes = 402 * MIB;
    const json_t *f = explained();
    ck_assert(says(f, "the GPU has 1.0 GiB"));
    ck_assert(number(f, "limit_bytes") == GIB);
    ck_assert(says(f, _i ? "Use a smaller batch" : "nvidia-smi"));
    if (!_i) {
        ck_assert(says(f, "Processes outside this job use 512 MiB of the GPU"));
        ck_assert(says(f, "A request of up to 10.0 MiB would have fitted"));
    }
}

TEST(what_the_step_itself_made_is_told_by_its_lines)
{
    parameters(100 * MIB);
    struct seep_site *s;
    uint32_t site = builder_site(&b, user(12), TENSOR_1, 2 * STEPS, 2 * STEPS * 300 * (uint64_t)MIB,
                                 2 * STEPS, 2 * STEPS * 300 * (uint64_t)MIB, FIRST);
    s = builder_at(&b, site);
    s->peak_bytes = 300 * MIB;
    s->last_period = LAST;
    fails_at_end(ASKED, 400 * MIB, 402 * MIB);
    const json_t *f = explained();
    ck_assert(says(f,
                   "Allocated in the step itself, 300 MiB: at most /home/user/train.py:12 300 MiB "
                   "(75 %)"));
    ck_assert_str_eq(text(f, "advice"), seep_pattern_row(SEEP_PATTERN_OUT_OF_MEMORY)->advice);
}

TEST(what_a_loader_keeps_on_the_device_may_wait_on_the_host)
{
    uint32_t item = below(user(5), "/home/user/dataset.py", "__getitem__", 9);

    builder_level(&b, item, TENSOR_1, 400 * MIB, LAST, constant, (void *)&once);
    fails_at_end(ASKED, 400 * MIB, 402 * MIB);
    ck_assert(says(explained(), "in host memory, and move one batch at a time"));
}

/* ---- when, and who said so ------------------------------------------------------------------- */

TEST(requests_that_are_caught_are_one_finding)
{
    parameters(100 * MIB);
    fails(20, ASKED, 100 * MIB, 100 * MIB);
    fails(90, ASKED, 100 * MIB, 100 * MIB);
    const json_t *f = explained();
    ck_assert(says(f, "2 requests failed, in steps 20 to 90"));
    ck_assert(says(f, "The job caught the error and continued, to step 200"));
    ck_assert_int_eq((int)number(f, "first_step"), 20);
}

TEST(a_request_before_the_first_step_is_explained, .to = 2)
{
    struct seep_device_oom *its = fails(0, GIB, 0, 0);

    if (_i)
        its->stack = 0;
    const json_t *f = explained(), *frame = json_object_get(f, "frame");
    ck_assert(says(f, "Tried to allocate 1.0 GiB before step 1"));
    if (_i)
        ck_assert(json_is_null(frame));
    else
        ck_assert_int_eq((int)number(frame, "line"), 30);
}

/* PyTorch's allocator asks the runtime, empties its cache, asks again, and only then says no. */
TEST(tries_of_the_allocator_are_not_told_beside_its_no)
{
    parameters(100 * MIB);
    builder_level(&b, user(30), TENSOR_1, MIB, LAST, four, NULL);
    builder_level(&b, user(30), DEVICE_1, 2 * MIB, LAST, four, NULL);
    fails(20, ASKED, 0, 0)->source = SEEP_OOM_BY_RUNTIME; /* met when it tried again */
    fails(90, ASKED, 0, 0)->source = SEEP_OOM_BY_RUNTIME;
    fails(90, ASKED, 100 * MIB, 100 * MIB);
    const json_t *f = explained();
    ck_assert_uint_eq(json_array_size(json_object_get(report, "out_of_memory")), 2);
    ck_assert_str_eq(text(f, "space"), "tensor:1");
    ck_assert_int_eq((int)number(f, "first_step"), 90);
    ck_assert_uint_eq(json_array_size(json_object_get(report, "findings")), 1);
}

TEST(a_runtime_without_pytorch_says_it_itself)
{
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    fails_at_end(ASKED, 0, 0)->source = SEEP_OOM_BY_RUNTIME;
    builder_header(&b)->devices.tensors[1].reports = 0;
    const json_t *f = explained();
    ck_assert_str_eq(text(f, "space"), "device:1");
    ck_assert(says(f, "400 MiB of GPU 1 was allocated by then"));
    ck_assert(says(f, "Fix F1 first"));
}

/* ---- allocators of the program's own -----------------------------------------------------------
 */

/* Of a space by its place in the header. */
static struct seep_device_oom *announces(unsigned space, uint64_t allocated, uint64_t reserved)
{
    struct seep_device_oom *its = fails_at_end(ASKED, allocated, reserved);

    builder_header(&b)->devices.tensors[1].reports = 0;
    its->source = SEEP_OOM_BY_PROGRAM;
    its->space = (uint16_t)space;
    builder_header(&b)->spaces[space].capacity_bytes = 120 * MIB;
    return its;
}

TEST(what_an_announced_allocator_reserves_is_told_apart)
{
    parameters(100 * MIB);
    announces(TENSOR_1, 90 * MIB, 112 * MIB);
    const json_t *f = explained(), *its = json_object_get(f, "shortage");
    ck_assert_str_eq(text(f, "space"), "tensor:1");
    ck_assert_str_eq(text(its, "cause"), "fragmented");
    ck_assert(number(its, "unallocated_bytes") == 22 * MIB);
    ck_assert(number(its, "fits_bytes") == 8 * MIB);
    ck_assert(number(f, "limit_bytes") == 120 * MIB);
    ck_assert(says(f, "the job's own allocator had 90.0 MiB allocated, 22.0 MiB reserved"));
    ck_assert(says(f, "the GPU has 120 MiB"));
}

/* A space that the header does not have, or that only hooks fill. */
TEST(an_announced_refusal_of_no_space_is_none, .to = 4)
{
    static const uint16_t spaces[] = {SEEP_MAX_SPACES, UINT16_MAX, SEEP_SPACE_HOST,
                                      SEEP_SPACE_MMAP};

    parameters(100 * MIB);
    announces(TENSOR_1, 90 * MIB, 112 * MIB)->space = spaces[_i];
    ck_assert_ptr_null(of_pattern(findings(), "out-of-memory"));
}

/* ---- what cannot be pinned ------------------------------------------------------------------- */

static void is_pinned(struct seep_device_oom *its, uint16_t source)
{
    its->source = source;
    its->device = SEEP_DEVICE_PINNED;
}

/* The host's memory is no device's: no batch is too large for it, and no setting of the device's
 * allocator helps, even where the device itself is nearly full. */
static void says_nothing_of_devices(const json_t *f)
{
    static const char *const words[] = {"accumulation", "expandable", "nvidia-smi",
                                        "checkpoint",   "the device", "unallocated"};
    char *evidence = json_dumps(json_object_get(f, "evidence"), 0);

    for (size_t i = 0; i < N(words); i++) {
        ck_assert_msg(!strstr(text(f, "advice"), words[i]), "%s", text(f, "advice"));
        ck_assert_msg(!strstr(evidence, words[i]), "%s", evidence);
    }
    free(evidence);
}

static const struct {
    uint64_t asked, registered;
    uint16_t source;
    const char *evidence, *advice;
} pins[] = {
    {ASKED, 0, SEEP_OOM_BY_RUNTIME,
     "Tried to allocate 20.0 MiB in step 201: 16.0 MiB of pinned memory",
     "Pin less: reuse one buffer"},
    {32 * MIB, 0, SEEP_OOM_BY_RUNTIME, "little more than 16.0 MiB may be needed",
     "just below a power of two"},
    {ASKED, 5 * MIB, SEEP_OOM_BY_RUNTIME, "was allocated and 5.0 MiB registered by then",
     "RLIMIT_MEMLOCK"},
    {32 * MIB, 5 * MIB, SEEP_OOM_BY_REGISTER,
     "Tried to register 32.0 MiB in step 201: 16.0 MiB of pinned memory", "(cudaHostUnregister)"},
    {ASKED, 0, SEEP_OOM_BY_REGISTER, "of which there is 1.0 GiB (RAM)",
     "the machine's free memory, a cgroup"},
};

TEST(what_cannot_be_pinned_is_advised_by_how_it_was_asked_for, .to = N(pins))
{
    parameters(400 * MIB);
    has_capacity(GIB, 502 * MIB, 1014 * (uint64_t)MIB);
    builder_header(&b)->limit_ram_bytes = GIB;
    builder_level(&b, user(7), PINNED, 4 * MIB, LAST, four, NULL);
    is_pinned(fails_at_end(pins[_i].asked, pins[_i].registered, 900 * MIB), pins[_i].source);
    const json_t *f = explained(),
                 *its = json_array_get(json_object_get(report, "out_of_memory"), 0);
    ck_assert_str_eq(text(f, "space"), "pinned");
    ck_assert(says(f, pins[_i].evidence));
    ck_assert(says(f, pins[_i].advice));
    says_nothing_of_devices(f);
    ck_assert(number(f, "limit_bytes") == GIB);
    ck_assert(number(its, "registered_bytes") == (double)pins[_i].registered);
    ck_assert_int_eq(json_is_true(json_object_get(its, "registers")),
                     pins[_i].source == SEEP_OOM_BY_REGISTER);
}

TEST(a_leak_of_pinned_memory_is_what_cannot_be_pinned_comes_of)
{
    builder_level(&b, user(7), PINNED, 3 * MIB, LAST, one_a_step, NULL);
    is_pinned(fails_at_end(ASKED, 0, 0), SEEP_OOM_BY_RUNTIME);
    const json_t *f = explained();
    ck_assert_str_eq(text(f, "title"), "Out of pinned memory: 20.0 MiB requested");
    ck_assert(says(f, "600 MiB of pinned memory was allocated by then"));
    ck_assert(says(f, "Fix F1 first: it keeps pinned memory"));
    says_nothing_of_devices(f);
}

TEST(a_pool_of_pinned_memory_is_named_where_no_more_can_be_pinned)
{
    uint64_t many = 40;

    builder_level(&b, user(7), PINNED, 4 * MIB, LAST, constant, &many);
    is_pinned(fails_at_end(32 * MIB, 0, 0), SEEP_OOM_BY_RUNTIME);
    const json_t *f = explained();
    ck_assert_ptr_nonnull(of_pattern(json_object_get(report, "findings"), "pinned-pool"));
    ck_assert(says(f, "See F2 first"));
    says_nothing_of_devices(f);
}

TEST(a_device_with_room_is_no_finding)
{
    parameters(400 * MIB);
    has_capacity(GIB, 502 * MIB, 502 * MIB);
    nobody();
}

SUITE("shortage", .setup = setup, .teardown = teardown)

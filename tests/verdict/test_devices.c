/* What is told of memory on devices: how far it is from the end of the device, what each step
 * leaves to the next, which graph keeps it, whose it is. */
#include "tests/verdict/pattern_fixture.h"

/* ---- limits ---------------------------------------------------------------------------------- */

/* What the allocator has in reserve is free for what grows. */
TEST(growth_on_a_device_says_how_many_steps_are_left)
{
    struct seep_device_notes *notes = &builder_header(&b)->devices;

    notes->use[1] = (struct seep_device_use){.capacity_bytes = 2000 * (uint64_t)MIB,
                                             .used_bytes = 700 * (uint64_t)MIB,
                                             .all_used_bytes = 900 * (uint64_t)MIB,
                                             .looks = 3};
    notes->tensors[1] = (struct seep_tensor_books){
        .reports = 200, .allocated_bytes = 400 * MIB, .reserved_bytes = 500 * MIB};
    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    const json_t *f = only("unbounded-growth", "leak", 7);
    ck_assert(number(f, "limit_bytes") == 2000.0 * MIB);
    ck_assert(number(f, "steps_to_limit") == (2000 - 900 + 100) / 2);
    const json_t *device = json_array_get(json_object_get(report, "devices"), 0);
    ck_assert(number(device, "device") == 1);
    ck_assert(number(device, "capacity_bytes") == 2000.0 * MIB);
    ck_assert(number(device, "others_bytes") == 200.0 * MIB);
    ck_assert(number(device, "tensors_peak_bytes") == 402.0 * MIB);
    ck_assert(number(device, "reserved_bytes") == 500.0 * MIB);
}

TEST(of_a_device_that_nobody_looked_at_no_limit_is_known)
{
    builder_header(&b)->devices.tensors[1].reports = 200;
    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    const json_t *f = only("unbounded-growth", "leak", 7);
    ck_assert(json_is_null(json_object_get(f, "limit_bytes")));
    const json_t *device = json_array_get(json_object_get(report, "devices"), 0);
    ck_assert(json_is_null(json_object_get(device, "capacity_bytes")));
}

/* ---- the other patterns ---------------------------------------------------------------------- */

TEST(what_a_device_keeps_is_told_where_else_it_can_be, .to = 2)
{
    builder_level(&b, user(7), _i ? TENSOR_1 : HOST, 2 * MIB, LAST, one_a_step, NULL);
    const json_t *f = only("unbounded-growth", "leak", 7);
    ck_assert((strstr(text(f, "advice"), ".detach().cpu()") != NULL) == (_i == 1));
}

static uint64_t sixteen(uint32_t period, void *arg)
{
    (void)arg;
    return period < 3 ? 0 : 16;
}

/* Sixteen blocks of one size that stay from the start: cameras' pictures; but not a network's
 * parameters, a copy of them, nor what the optimizer makes of them in its first step. */
static const struct {
    const char *file, *function;
    bool is_data;
} makers[] = {{"/home/user/scene/cameras.py", "__init__", true},
              {"/usr/lib/python3/dist-packages/torch/nn/modules/module.py", "_apply", false},
              {"/usr/lib/python3/dist-packages/torch/nn/parameter.py", "__deepcopy__", false},
              {"/usr/lib/python3/dist-packages/torch/optim/adam.py", "_init_group", false}};

TEST(items_on_a_device_are_told_from_networks, .to = N(makers))
{
    builder_level(&b, below(user(7), makers[_i].file, makers[_i].function, 30), TENSOR_1, 8 * MIB,
                  LAST, sixteen, NULL);
    if (!makers[_i].is_data) {
        nobody();
        return;
    }
    const json_t *f = only("eager-retention", "retention", 30);
    ck_assert_ptr_nonnull(strstr(text(f, "advice"), "move one batch at a time"));
}

/* What a loader's thread pins comes from a pool; what the user pins at once and keeps does not. */
TEST(a_pool_of_pinned_batches_is_nobodys_items, .to = 2)
{
    const uint32_t thread =
        below(0, "/usr/lib/python3/dist-packages/torch/utils/data/_utils/pin_memory.py",
              "pin_memory", 59);

    builder_level(&b, _i ? user(7) : thread, PINNED, 600 * 1024, LAST, sixteen, NULL);
    if (_i)
        only("eager-retention", "retention", 7);
    else
        nobody();
}

TEST(a_request_far_above_the_others_is_told_on_a_device)
{
    transient(user(7), TENSOR_1, 4 * MIB, STEPS - 3, 300 * MIB, 3);
    const json_t *f = only("size-spike", "pressure", 7);
    ck_assert_str_eq(text(f, "space"), "tensor:1");
}

/* ---- without steps ----------------------------------------------------------------------------
 */

/* A service has none. What its device says needs none; what the host does at a start may look
 * alike.
 */
TEST(what_a_device_says_needs_no_steps, .to = 2)
{
    job->processes[0].steps = 0;
    transient(user(7), _i ? HOST : TENSOR_1, 4 * MIB, STEPS - 3, 300 * MIB, 3);
    if (_i)
        nobody();
    else
        only("size-spike", "pressure", 7);
}

/* Where graphs are captured, pools of theirs are what is reserved. */
/* Beside 40 MiB of tensors, on a device whose size nobody knows. */
TEST(a_cache_on_a_device_is_told_where_it_is_large, .to = 2)
{
    uint64_t many = _i ? 170 : 120;

    builder_header(&b)->devices.tensors[1] = (struct seep_tensor_books){
        .reports = 200, .allocated_bytes = 20 * MIB, .reserved_bytes = many * 2 * MIB};
    transient(user(7), TENSOR_1, 30 * MIB, STEPS, 0, 0);
    builder_header(&b)->spaces[TENSOR_1].peak_bytes = 40 * (uint64_t)MIB;
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, constant, &many);
    if (_i)
        only("allocator-cache", "pressure", 7);
    else
        nobody();
}

TEST(a_cache_on_a_device_is_told_without_steps, .to = 3)
{
    uint64_t many = _i == 1 ? 25 : 325; /* of 2 MiB, beside at most 40 MiB of tensors */

    job->processes[0].steps = 0;
    builder_header(&b)->devices.tensors[1] = (struct seep_tensor_books){
        .reports = 200, .allocated_bytes = 20 * MIB, .reserved_bytes = many * 2 * MIB};
    transient(user(7), TENSOR_1, 30 * MIB, STEPS, 0, 0);
    builder_header(&b)->spaces[TENSOR_1].peak_bytes = 40 * (uint64_t)MIB;
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, constant, &many);
    if (_i == 2)
        transient(below(user(9), "/usr/lib/python3/dist-packages/torch/cuda/graphs.py",
                        "capture_begin", 72),
                  HOST, 100, STEPS, 0, 0);
    if (_i == 1) {
        nobody();
        return;
    }
    const json_t *f = only("allocator-cache", "pressure", 7);
    ck_assert((strstr(text(f, "advice"), "share a pool") != NULL) == (_i == 2));
    ck_assert(number(f, "saving_bytes") == (650.0 - 40) * MIB);
}

/* A pool of pinned memory comes to an end; who keeps each batch does not. */
TEST(pinned_memory_that_grows_without_an_end_is_somebodys, .to = 2)
{
    struct ramp r = {FIRST, _i ? UINT32_MAX : FIRST + 5, 1, UINT32_MAX};

    builder_level(&b, user(7), PINNED, 512 * 1024, LAST, ramp, &r);
    only(_i ? "unbounded-growth" : "pinned-pool", _i ? "leak" : "pressure", 7);
}

/* ---- wrong-device ---------------------------------------------------------------------------- */

static uint32_t line_of(struct builder *its, unsigned line)
{
    return builder_stack(its, 0, builder_python(its, "/home/user/train.py", "main", line));
}

/* Ranks of a second machine have numbers that no device has. What its rank has on the device that
 * it works on, and on one where no rank works, is its own matter. */
static const struct {
    unsigned space; /* of 20 MiB */
    uint64_t context;
    bool is_wrong;
} others[] = {{TENSOR_0, 0, true},
              {TENSOR_0, 450 * MIB, true},
              {HOST, 450 * MIB, true},
              {TENSOR_1, 0, false},
              {HOST, 0, false}};

TEST(a_rank_on_the_device_that_another_one_works_on, .to = N(others))
{
    struct builder rank;
    uint64_t once = 1;

    builder_header(&b)->rank = 8;
    builder_level(&b, user(3), TENSOR_0, 400 * MIB, LAST, constant, &once);
    builder_init(&rank, 200, START + 1000);
    struct seep_header *h = builder_header(&rank);
    h->rank = 9;
    memcpy(h->spaces, builder_header(&b)->spaces, sizeof h->spaces);
    h->devices.use[0] = (struct seep_device_use){.used_bytes = others[_i].context, .looks = 3};
    builder_level(&rank, line_of(&rank, 3), TENSOR_1, 400 * MIB, LAST, constant, &once);
    builder_level(&rank, line_of(&rank, 7), others[_i].space, 20 * MIB, LAST, constant, &once);
    const json_t *list = findings_with(&rank, LAST, 0), *f = json_array_get(list, 0);
    char *all = json_dumps(list, 0);
    ck_assert_msg(json_array_size(list) == others[_i].is_wrong, "%s", all);
    if (others[_i].is_wrong) {
        ck_assert_str_eq(text(f, "pattern"), "wrong-device");
        ck_assert_str_eq(text(f, "severity"), "retention");
        ck_assert(json_is_null(json_object_get(f, "frame")) == (others[_i].space == HOST));
        ck_assert_int_eq(
            (int)json_integer_value(json_array_get(json_object_get(f, "processes"), 0)), 200);
        ck_assert((strstr(all, "450 MiB") != NULL) == (others[_i].context > 0));
    }
    free(all);
}

/* Children of one process that train side by side are ranks, too, though no launcher has numbered
 * them, and so are those that compute side by side where none has steps; what one keeps on the
 * other's device may be more than it has on its own. */
static const struct {
    uint32_t ppid, own_steps, steps;
    bool is_wrong;
} children[] = {{99, STEPS, STEPS, true},
                {98, STEPS, STEPS, false},
                {99, STEPS, 0, false},
                {99, 0, 0, true},
                {98, 0, 0, false}};

TEST(a_training_beside_another_on_whose_device_it_keeps_things, .to = N(children))
{
    struct builder other;
    uint64_t once = 1;

    builder_header(&b)->ppid = 99;
    builder_level(&b, user(3), TENSOR_0, 40 * MIB, LAST, one_in_flight, NULL);
    builder_level(&b, user(7), TENSOR_0, 20 * MIB, LAST, constant, &once);
    builder_init(&other, 200, START + 1000);
    struct seep_header *h = builder_header(&other);
    h->ppid = children[_i].ppid;
    memcpy(h->spaces, builder_header(&b)->spaces, sizeof h->spaces);
    builder_level(&other, line_of(&other, 3), TENSOR_1, 4 * MIB, LAST, one_in_flight, NULL);
    builder_level(&other, line_of(&other, 7), TENSOR_0, 20 * MIB, LAST, constant, &once);
    job->processes[0].steps = children[_i].own_steps;
    struct seep_process entry = job->processes[0];
    entry.pid = 200;
    entry.steps = children[_i].steps;
    const json_t *list = findings_beside(&other, entry, LAST, 0), *f = json_array_get(list, 0);
    char *all = json_dumps(list, 0);
    ck_assert_msg(json_array_size(list) == children[_i].is_wrong, "%s", all);
    if (children[_i].is_wrong) {
        ck_assert_str_eq(text(f, "pattern"), "wrong-device");
        ck_assert_msg(strstr(all, "process 200 works on GPU 1") != NULL, "%s", all);
        ck_assert(number(f, "live_bytes") == 20.0 * MIB); /* the other's is at home */
    }
    free(all);
}

/* ---- allocator-cache by its level ------------------------------------------------------------ */

static const struct {
    uint64_t reserved, used, all_used; /* MiB, of a thousand; 600 were live at once */
    unsigned settings;
    bool is_cache;
} caches[] = {
    {850, 900, 900, 0, true},
    {850, 900, 900, SEEP_ALLOCATOR_COLLECTS, true},
    {850, 900, 900, SEEP_ALLOCATOR_EXPANDABLE, false},
    {850, 900, 900, SEEP_ALLOCATOR_NO_CACHE, false},
    {680, 730, 900, 0, false}, /* the other processes' */
    {720, 770, 770, 0, false}, /* room to spare */
    {720, 770, 900, 0, true},
};

/* With the driver's own blocks and without; which of the two decides nothing. */
TEST(what_lies_idle_of_a_full_device_is_an_allocators, .to = 2 * N(caches))
{
    const int at = _i / 2;
    struct seep_device_notes *notes = &builder_header(&b)->devices;
    uint64_t once = 1;

    notes->use[1] = (struct seep_device_use){.capacity_bytes = 1000 * (uint64_t)MIB,
                                             .used_bytes = caches[at].used * MIB,
                                             .used_peak_bytes = caches[at].used * MIB,
                                             .all_used_bytes = caches[at].all_used * MIB,
                                             .looks = 3};
    notes->tensors[1] = (struct seep_tensor_books){
        .reports = 200, .allocated_bytes = 100 * MIB, .reserved_bytes = caches[at].reserved * MIB};
    notes->allocator_settings = caches[at].settings;
    builder_level(&b, user(3), TENSOR_1, 100 * MIB, LAST, constant, &once);
    transient(user(7), TENSOR_1, 500 * MIB, STEPS, 0, 0)->size_marks = UINT64_C(0xffffffff);
    strcpy(builder_header(&b)->spaces[TENSOR_1].name, "tensor:1");
    builder_header(&b)->spaces[TENSOR_1].peak_bytes = 600 * (uint64_t)MIB;
    if (_i % 2)
        builder_level(&b, user(7), DEVICE_1, caches[at].reserved * MIB, LAST, constant, &once);
    if (!caches[at].is_cache) {
        nobody();
        return;
    }
    const json_t *f = only("allocator-cache", "pressure", 7);
    ck_assert_str_eq(text(f, "space"), _i % 2 ? "device:1" : "tensor:1");
    ck_assert(number(f, "saving_bytes") == (double)(caches[at].reserved - 600) * MIB);
    ck_assert_ptr_nonnull(strstr(text(f, "advice"), "expandable_segments:True"));
}

/* A device has room; what is reserved of it is many times what ever was live, or less, or little.
 */
static const struct {
    uint64_t live, reserved; /* MiB */
    uint64_t capacity;
    bool is_cache;
} idle[] = {{200, 650, 80000, true},
            {200, 650, 0, true},
            {200, 550, 80000, false},
            {50, 280, 80000, false}};

TEST(what_is_reserved_many_times_over_is_an_allocators_too, .to = N(idle))
{
    struct seep_device_notes *notes = &builder_header(&b)->devices;
    uint64_t once = 1;

    notes->use[1] = (struct seep_device_use){.capacity_bytes = idle[_i].capacity * MIB,
                                             .used_bytes = idle[_i].reserved * MIB,
                                             .used_peak_bytes = idle[_i].reserved * MIB,
                                             .all_used_bytes = idle[_i].reserved * MIB,
                                             .looks = idle[_i].capacity ? 3 : 0};
    notes->tensors[1] = (struct seep_tensor_books){
        .reports = 200, .allocated_bytes = 20 * MIB, .reserved_bytes = idle[_i].reserved * MIB};
    transient(user(7), TENSOR_1, 10 * MIB, STEPS, 0, 0)->size_marks = UINT64_C(0xffffffff);
    transient(user(9), TENSOR_1, 30 * MIB, STEPS, 0, 0)->size_marks = UINT64_C(0xffffffff);
    builder_header(&b)->spaces[TENSOR_1].peak_bytes = idle[_i].live * MIB;
    builder_level(&b, user(7), DEVICE_1, (idle[_i].reserved - 100) * MIB, LAST, constant, &once);
    builder_level(&b, user(9), DEVICE_1, 100 * MIB, LAST, constant, &once);
    if (!idle[_i].is_cache) {
        nobody();
        return;
    }
    /* Line 9 asks for more at once, for line 7 the allocator took more. */
    const json_t *f = only("allocator-cache", "pressure", 7);
    char *all = json_dumps(f, 0);
    ck_assert_msg((strstr(all, "GPU 1 has") != NULL) == (idle[_i].capacity > 0), "%s", all);
    free(all);
}

/* What it has given back since counts: at its most, without what is none of the allocator's. A
 * request that failed only once is told; one that failed for good is another finding's. */
static const struct {
    uint64_t live, reserved; /* MiB, at last; 700 at most, and 200 of tensors */
    bool failed_for_good, is_cache;
} highest[] = {{300, 300, false, true}, {450, 300, false, false}, {300, 300, true, false}};

static uint64_t until_the_oom(uint32_t period, void *arg)
{
    return period < FIRST + 40 ? 700 : *(uint64_t *)arg;
}

TEST(what_an_allocator_gave_back_at_a_oom_counts, .to = N(highest))
{
    struct seep_device_notes *notes = &builder_header(&b)->devices;
    uint64_t live = highest[_i].live;

    notes->tensors[1] = (struct seep_tensor_books){
        .reports = 200, .allocated_bytes = 20 * MIB, .reserved_bytes = highest[_i].reserved * MIB};
    notes->ooms[notes->n_ooms++] = (struct seep_device_oom){
        .t_ns = START + 40,
        .asked_bytes = 28 * MIB,
        .period = FIRST + 39,
        .device = 1,
        .source = highest[_i].failed_for_good ? SEEP_OOM_BY_ALLOCATOR : SEEP_OOM_BY_RUNTIME};
    transient(user(7), TENSOR_1, 10 * MIB, STEPS, 0, 0)->size_marks = UINT64_C(0xffffffff);
    builder_header(&b)->spaces[TENSOR_1].peak_bytes = 200 * (uint64_t)MIB;
    builder_level(&b, user(7), DEVICE_1, MIB, LAST, until_the_oom, &live);
    builder_header(&b)->spaces[DEVICE_1].peak_bytes = 700 * (uint64_t)MIB;
    const json_t *list = findings();
    char *all = json_dumps(list, 0);
    ck_assert_msg((strstr(all, "allocator-cache") != NULL) == highest[_i].is_cache, "%s", all);
    ck_assert_msg((strstr(all, "In step 40 GPU 1 could not serve a request of 28.0 MiB") != NULL) ==
                      highest[_i].is_cache,
                  "%s", all);
    free(all);
}

SUITE("devices", .setup = setup, .teardown = teardown)

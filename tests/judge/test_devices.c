/* What is told of memory on devices: how far it is from the end of the device, what each step
 * leaves to the next, which graph keeps it, whose it is. */
#include "tests/judge/pattern_fixture.h"

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

SUITE("devices", .setup = setup, .teardown = teardown)

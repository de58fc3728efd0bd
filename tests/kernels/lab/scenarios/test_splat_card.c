/* Gaussians that become more on a caching allocator: what each way of making room for them comes
 * to, for several seeds. */
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/cached_gpu.h"
#include "kernels/lab/scenarios/splat_card.h"
#include "kernels/lab/scenarios/splat_tensors.h"
#include "tests/suite.h"

#include <string.h>

/* ---- tensors --------------------------------------------------------------------------------- */

static struct seep_cached_gpu gpu;

static void make_gpu(void)
{
    const struct seep_cached_gpu_kind kind = {.device = SEEP_DEVICE_CPU, .is_silent = true};
    struct seep_error err = {0};

    ck_assert_int_eq(seep_cached_gpu_init(&gpu, &kind, &err), 0);
}

static void free_gpu(void)
{
    seep_cached_gpu_fini(&gpu);
}

static size_t live(void)
{
    return seep_caching_counts(gpu.allocator).live_bytes;
}

/* A multiple of 128: tensors have no padding. */
enum { FEW = 128 * 100, MORE = 128 * 30 };

TEST(a_gaussian_is_three_times_its_parameters_and_its_statistics)
{
    struct seep_splat_tensors t;
    size_t parameters = 0;

    for (unsigned g = 0; g < SEEP_SPLAT_GROUPS; g++)
        parameters += seep_splat_group_bytes(g);
    ck_assert_uint_eq(parameters, 59 * sizeof(float));
    ck_assert_int_eq(seep_splat_tensors_init(&t, gpu.allocator, FEW), 0);
    size_t kept = FEW * (3 * parameters + SEEP_SPLAT_STATISTICS * sizeof(float));
    ck_assert_uint_eq(live(), kept);
    ck_assert_int_eq(seep_splat_tensors_make_gradients(&t), 0);
    ck_assert_uint_eq(live(), kept + FEW * parameters);
    seep_splat_tensors_drop_gradients(&t);
    ck_assert_uint_eq(live(), kept);
    ck_assert_int_eq(seep_splat_tensors_reset_opacity(&t), 0);
    ck_assert_uint_eq(live(), kept);
    seep_splat_tensors_fini(&t);
    ck_assert_uint_eq(live(), 0);
}

TEST(joined_and_indexed_tensors_replace_the_old_ones_and_their_gradients)
{
    struct seep_splat_tensors t;

    ck_assert_int_eq(seep_splat_tensors_init(&t, gpu.allocator, FEW), 0);
    size_t each = live() / FEW;
    ck_assert_int_eq(seep_splat_tensors_make_gradients(&t), 0);
    seep_caching_reset_peak(gpu.allocator);
    ck_assert_int_eq(seep_splat_tensors_cat(&t, MORE), 0);
    ck_assert_uint_eq(t.n, FEW + MORE);
    ck_assert_uint_eq(live(), (FEW + MORE) * each);
    /* Old parameters, their gradients and the chosen rows were alive beside the new ones. */
    ck_assert_uint_ge(seep_caching_counts(gpu.allocator).peak_bytes,
                      (FEW + MORE) * (each - 12) + 2 * FEW * 59 * sizeof(float));
    ck_assert_int_eq(seep_splat_tensors_prune(&t, FEW), 0);
    ck_assert_uint_eq(t.n, FEW);
    ck_assert_uint_eq(live(), FEW * each);
    seep_splat_tensors_fini(&t);
    ck_assert_uint_eq(live(), 0);
}

/* ---- the card -------------------------------------------------------------------------------- */

static int run_card(const struct seep_splat_card *card, struct seep_error *err, double *reserved)
{
    json_t *measured = json_object();
    int rc = seep_splat_card_run(card, measured, err);

    *reserved = json_number_value(json_object_get(measured, "reserved_peak_bytes"));
    json_decref(measured);
    return rc;
}

TEST(what_is_joined_and_indexed_dies_of_its_remains_for_each_seed, .from = 1, .to = 9)
{
    struct seep_splat_card cat = {.seed = (uint64_t)_i}, emptied = cat, grown = cat, made = cat;
    struct seep_error err = {0};
    double reserved;

    emptied.empties = true;
    grown.expandable = true;
    made.preallocated = true;
    ck_assert_int_eq(run_card(&cat, &err, &reserved), -SEEP_EVARIANT);
    ck_assert_ptr_nonnull(strstr(err.text, "CUDA out of memory"));
    ck_assert_int_eq(run_card(&emptied, &err, &reserved), -SEEP_EVARIANT);
    ck_assert_int_eq(run_card(&grown, &err, &reserved), 0);
    ck_assert_int_eq(run_card(&made, &err, &reserved), 0);
}

/* Where there is no end of memory the cache takes many times what is live, and emptying helps. */
TEST(with_room_the_cache_takes_ten_times_as_much)
{
    struct seep_splat_card cat = {.seed = 1, .capacity_bytes = (size_t)200 << 30}, emptied = cat;
    struct seep_error err = {0};
    double kept, few;

    emptied.empties = true;
    ck_assert_int_eq(run_card(&cat, &err, &kept), 0);
    ck_assert_int_eq(run_card(&emptied, &err, &few), 0);
    ck_assert_double_ge(kept, 10 * few);
}

SUITE("splat card", .setup = make_gpu, .teardown = free_gpu)

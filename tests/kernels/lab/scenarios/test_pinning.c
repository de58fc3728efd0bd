/* Pinned memory: the cache of it, and the thread of a loader that copies batches into it. */
#include "kernels/lab/scenarios/pinned_pool.h"
#include "kernels/lab/scenarios/pointgroup_pinning.h"
#include "tests/suite.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 3, DEPTH = 2, TASKS = 40, FAILS_AT = 17 };

static struct seep_pinned_pool *pool;

static void setup(void)
{
    ck_assert_int_eq(seep_pinned_pool_create(&pool), 0);
}

static void teardown(void)
{
    seep_pinned_pool_destroy(pool);
}

TEST(sizes_are_rounded_up_and_blocks_are_kept)
{
    char *first = seep_pinned_take(pool, 5000), *second = seep_pinned_take(pool, 5000);

    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(second);
    ck_assert_ptr_ne(first, second);
    memset(first, 1, 8192);
    memset(second, 2, 8192);
    ck_assert_int_eq(first[8191], 1);
    ck_assert_uint_eq(seep_pinned_pool_counts(pool).reserved_bytes, 2 * 8192);
    ck_assert_uint_eq(seep_pinned_pool_counts(pool).peak_asked_bytes, 2 * 5000);
    seep_pinned_give(pool, first);
    seep_pinned_give(pool, NULL);
    /* The smallest that is large enough serves; a larger one is not cut. */
    ck_assert_ptr_eq(seep_pinned_take(pool, 100), first);
    ck_assert_ptr_ne(seep_pinned_take(pool, 100), NULL);
    ck_assert_uint_eq(seep_pinned_pool_counts(pool).reserved_bytes, 2 * 8192 + 4096);
    ck_assert_ptr_null(seep_pinned_take(pool, SIZE_MAX));
}

/* ---- the thread -------------------------------------------------------------------------------
 */

static void number_points(struct seep_pointgroup_batch *b)
{
    for (size_t i = 0; i < b->n_points; i++)
        b->points.labels[i] = (int64_t)(1000 * b->task + i);
    for (size_t v = 0; v < b->n_voxels; v++)
        b->voxel_points[v * b->row] = (int32_t)(b->task + v);
}

static int make(void *arg, uint64_t task, struct seep_parcel *out, struct seep_error *err)
{
    const uint64_t *fails_at = arg;
    struct seep_pointgroup_batch b = {
        .task = task, .n_points = 10 + (size_t)task % 7, .n_voxels = 3, .row = 2};

    if (task == *fails_at)
        return seep_error_set(err, SEEP_EFORMAT, "scene.ply", 12, "no vertices");
    b.blocks[0] = calloc(b.n_points, SEEP_POINTGROUP_POINT_BYTES);
    b.voxel_locs = b.blocks[1] = calloc(b.n_voxels, sizeof *b.voxel_locs);
    b.voxel_points = b.blocks[2] = calloc(b.n_voxels * b.row, sizeof *b.voxel_points);
    seep_pointgroup_place_points(&b.points, b.blocks[0], b.n_points);
    number_points(&b);
    int rc = seep_pointgroup_batch_pack(&b, out);
    seep_pointgroup_batch_fini(&b);
    return rc;
}

static struct seep_worker_queue *start(uint64_t *fails_at, struct seep_pointgroup_pinning **pinning)
{
    struct seep_worker_job job = {.arg = fails_at, .first = 5, .end = 5 + TASKS, .make = make};
    struct seep_worker_queue *queue;

    ck_assert_int_eq(seep_worker_queue_create(&job, WORKERS, DEPTH, &queue, NULL), 0);
    ck_assert_int_eq(
        seep_pointgroup_pinning_start(queue, pool, TASKS, (size_t)WORKERS * DEPTH, pinning, NULL),
        0);
    return queue;
}

/* Takes all there are; how many. */
static unsigned take_all(struct seep_pointgroup_pinning *pinning, unsigned most, int *rc,
                         struct seep_error *err)
{
    struct seep_pointgroup_batch batch;
    unsigned n = 0;

    *rc = 0;
    while (n < most && !(*rc = seep_pointgroup_pinning_next(pinning, &batch, err))) {
        uint64_t task = 5 + n++;
        ck_assert_uint_eq(batch.task, task);
        ck_assert_uint_eq(batch.n_points, 10 + task % 7);
        for (size_t i = 0; i < batch.n_points; i++)
            ck_assert_int_eq(batch.points.labels[i], (int64_t)(1000 * task + i));
        for (size_t v = 0; v < batch.n_voxels; v++)
            ck_assert_int_eq(batch.voxel_points[v * batch.row], (int32_t)(task + v));
        seep_pointgroup_pinning_release(pinning, &batch);
    }
    return n;
}

TEST(batches_come_whole_and_in_order_out_of_pinned_memory)
{
    struct seep_pointgroup_pinning *pinning;
    uint64_t fails_at = UINT64_MAX;
    struct seep_worker_queue *queue = start(&fails_at, &pinning);
    int rc;

    ck_assert_uint_eq(take_all(pinning, TASKS, &rc, NULL), TASKS);
    seep_pointgroup_pinning_stop(pinning);
    seep_worker_queue_destroy(queue);
    /* No more than what was ahead, and one in use: nine arrays of a page each. */
    struct seep_pinned_counts counts = seep_pinned_pool_counts(pool);
    ck_assert_uint_ge(counts.reserved_bytes, (size_t)9 * 4096);
    ck_assert_uint_le(counts.reserved_bytes, (size_t)(WORKERS * DEPTH + 1) * 9 * 4096);
}

TEST(an_error_in_a_worker_reaches_the_trainer)
{
    struct seep_pointgroup_pinning *pinning;
    uint64_t fails_at = FAILS_AT;
    struct seep_worker_queue *queue = start(&fails_at, &pinning);
    struct seep_error err = {0};
    int rc;

    ck_assert_uint_eq(take_all(pinning, TASKS, &rc, &err), FAILS_AT - 5);
    ck_assert_int_eq(rc, -SEEP_EFORMAT);
    ck_assert_str_eq(err.text, "no vertices");
    seep_pointgroup_pinning_stop(pinning);
    seep_worker_queue_destroy(queue);
}

TEST(it_can_be_stopped_before_the_end, .to = 3)
{
    struct seep_pointgroup_pinning *pinning;
    uint64_t fails_at = UINT64_MAX;
    struct seep_worker_queue *queue = start(&fails_at, &pinning);
    unsigned most = (unsigned)_i * 11;
    int rc;

    ck_assert_uint_eq(take_all(pinning, most, &rc, NULL), most);
    seep_pointgroup_pinning_stop(pinning);
    seep_worker_queue_destroy(queue);
    seep_pointgroup_pinning_stop(NULL);
}

SUITE("pinning", .setup = setup, .teardown = teardown)

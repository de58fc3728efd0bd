#include "kernels/lab/scenarios/pointgroup_pinning.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = SEEP_POINTGROUP_ARRAYS };

struct ready {
    struct seep_pointgroup_batch batch;
    int rc;
    struct seep_error err;
};

struct seep_pointgroup_pinning {
    struct seep_worker_queue *queue;
    struct seep_pinned_pool *pool;
    size_t n;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    size_t n_ready, n_taken; /* of all batches */
    size_t capacity;
    struct ready ready[]; /* [capacity], a ring: no more batches are ahead than it holds */
};

/* ---- a batch's arrays --------------------------------------------------------------------------
 */

struct array {
    void *at;
    size_t bytes;
};

static void list_arrays(const struct seep_pointgroup_batch *b, struct array arrays[ARRAYS])
{
    const struct seep_pointgroup_points *p = &b->points;
    const struct array all[ARRAYS] = {
        {p->locs, b->n_points * sizeof *p->locs},
        {p->labels, b->n_points * sizeof *p->labels},
        {p->instances, b->n_points * sizeof *p->instances},
        {p->xyz, b->n_points * sizeof *p->xyz},
        {p->feats, b->n_points * sizeof *p->feats},
        {p->info, b->n_points * sizeof *p->info},
        {p->voxel, b->n_points * sizeof *p->voxel},
        {b->voxel_locs, b->n_voxels * sizeof *b->voxel_locs},
        {b->voxel_points, b->n_voxels * b->row * sizeof *b->voxel_points},
    };

    memcpy(arrays, all, sizeof all);
}

/* In the order of the list. */
static void set_arrays(struct seep_pointgroup_batch *b, void *const arrays[ARRAYS])
{
    b->points.locs = arrays[0];
    b->points.labels = arrays[1];
    b->points.instances = arrays[2];
    b->points.xyz = arrays[3];
    b->points.feats = arrays[4];
    b->points.info = arrays[5];
    b->points.voxel = arrays[6];
    b->voxel_locs = arrays[7];
    b->voxel_points = arrays[8];
}

static void give_arrays(struct seep_pinned_pool *pool, const struct seep_pointgroup_batch *batch)
{
    struct array arrays[ARRAYS];

    list_arrays(batch, arrays);
    for (size_t i = 0; i < ARRAYS; i++)
        seep_pinned_give(pool, arrays[i].at);
}

/* pin_memory(): a batch whose arrays are pinned copies. */
static int pin_batch(struct seep_pinned_pool *pool, const struct seep_pointgroup_batch *from,
                     struct seep_pointgroup_batch *out)
{
    struct array arrays[ARRAYS];
    void *copies[ARRAYS] = {NULL};
    bool lacks = false;

    list_arrays(from, arrays);
    for (size_t i = 0; i < ARRAYS && !lacks; i++) {
        copies[i] = seep_pinned_take(pool, arrays[i].bytes);
        lacks = !copies[i];
        if (!lacks && arrays[i].bytes)
            memcpy(copies[i], arrays[i].at, arrays[i].bytes);
    }
    for (size_t i = 0; i < ARRAYS && lacks; i++)
        seep_pinned_give(pool, copies[i]);
    *out = *from;
    set_arrays(out, copies);
    return lacks ? -SEEP_ENOMEM : 0;
}

/* ---- the thread --------------------------------------------------------------------------------
 */

static void receive_one(struct seep_pointgroup_pinning *p, struct ready *out)
{
    struct seep_pointgroup_batch shared;
    struct seep_parcel parcel;

    *out = (struct ready){0};
    out->rc = seep_worker_queue_receive(p->queue, &parcel, &out->err);
    if (out->rc)
        return;
    out->rc = seep_pointgroup_batch_unpack(&parcel, &shared);
    if (!out->rc)
        out->rc = pin_batch(p->pool, &shared, &out->batch);
    seep_worker_queue_release(p->queue, &parcel);
}

static void *pin_memory_loop(void *arg)
{
    struct seep_pointgroup_pinning *p = arg;
    bool failed = false;

    for (size_t i = 0; i < p->n && !failed; i++) {
        struct ready one;
        receive_one(p, &one);
        failed = one.rc != 0;
        pthread_mutex_lock(&p->lock);
        p->ready[i % p->capacity] = one;
        p->n_ready++;
        pthread_cond_signal(&p->more);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

int seep_pointgroup_pinning_start(struct seep_worker_queue *queue, struct seep_pinned_pool *pool,
                                  size_t n, size_t ahead, struct seep_pointgroup_pinning **out,
                                  struct seep_error *err)
{
    struct seep_pointgroup_pinning *p = calloc(1, sizeof *p + (ahead + 1) * sizeof p->ready[0]);

    *out = NULL;
    if (!p)
        return -SEEP_ENOMEM;
    p->queue = queue;
    p->pool = pool;
    p->n = n;
    p->capacity = ahead + 1;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->more, NULL);
    if (pthread_create(&p->thread, NULL, pin_memory_loop, p)) {
        pthread_cond_destroy(&p->more);
        pthread_mutex_destroy(&p->lock);
        free(p);
        return seep_error_set(err, SEEP_EIO, "", 0, "cannot start the thread that pins batches");
    }
    *out = p;
    return 0;
}

int seep_pointgroup_pinning_next(struct seep_pointgroup_pinning *p,
                                 struct seep_pointgroup_batch *out, struct seep_error *err)
{
    pthread_mutex_lock(&p->lock);
    while (p->n_ready == p->n_taken)
        pthread_cond_wait(&p->more, &p->lock);
    struct ready one = p->ready[p->n_taken % p->capacity];
    p->n_taken += one.rc == 0; /* a failure stays the answer */
    pthread_mutex_unlock(&p->lock);
    *out = one.batch;
    if (one.rc) {
        if (err)
            *err = one.err;
        return one.rc;
    }
    seep_worker_queue_refill(p->queue);
    return 0;
}

void seep_pointgroup_pinning_release(struct seep_pointgroup_pinning *p,
                                     const struct seep_pointgroup_batch *batch)
{
    give_arrays(p->pool, batch);
}

void seep_pointgroup_pinning_stop(struct seep_pointgroup_pinning *p)
{
    if (!p)
        return;
    if (p->n_taken < p->n)
        seep_worker_queue_stop(p->queue);
    pthread_join(p->thread, NULL);
    for (; p->n_taken < p->n_ready; p->n_taken++) {
        struct ready *one = &p->ready[p->n_taken % p->capacity];
        if (!one->rc)
            give_arrays(p->pool, &one->batch);
    }
    pthread_cond_destroy(&p->more);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

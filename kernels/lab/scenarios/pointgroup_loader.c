#include "kernels/lab/scenarios/pointgroup_loader.h"

#include "kernels/lab/scenarios/pointgroup_pinning.h"
#include "kernels/lab/scenarios/worker_queue.h"

#include <stdlib.h>
#include <string.h>

enum { WORKERS = SEEP_POINTGROUP_WORKERS, PREFETCH = SEEP_POINTGROUP_PREFETCH };

struct seep_pointgroup_pass {
    const struct seep_pointgroup_loader *loader;
    bool validates;
    struct seep_worker_queue *queue;
    struct seep_pointgroup_pinning *pinning; /* NULL: nothing is pinned */
    struct seep_parcel parcel;               /* that is out */
    struct seep_pointgroup_batch batch;      /* that is out */
};

/* ---- in a worker -------------------------------------------------------------------------------
 */

static int begin_worker(void *arg, unsigned worker, struct seep_error *err)
{
    const struct seep_pointgroup_pass *pass = arg;

    (void)worker, (void)err;
    seep_pointgroup_become_worker(pass->loader->trainer, pass->loader->scale,
                                  !pass->loader->ids_only);
    return 0;
}

static int make_batch(const struct seep_pointgroup_pass *pass, uint64_t task,
                      struct seep_pointgroup_batch *out, struct seep_error *err)
{
    return pass->validates ? seep_pointgroup_validation_batch(pass->loader->maker, task, out, err)
                           : seep_pointgroup_make_batch(pass->loader->maker, task, out, err);
}

static int make_parcel(void *arg, uint64_t task, struct seep_parcel *out, struct seep_error *err)
{
    struct seep_pointgroup_batch batch;
    int rc = make_batch(arg, task, &batch, err);

    if (rc)
        return rc;
    rc = seep_pointgroup_batch_pack(&batch, out);
    seep_pointgroup_batch_fini(&batch);
    return rc;
}

/* Validation goes through its scenes in order: their ids follow from the task. */
static int make_ids(void *arg, uint64_t task, struct seep_parcel *out, struct seep_error *err)
{
    const struct seep_pointgroup_pass *pass = arg;
    int rc = seep_parcel_alloc(SEEP_POINTGROUP_BATCH * sizeof(uint32_t), out);

    (void)err;
    if (!rc && !pass->validates)
        seep_pointgroup_batch_ids(pass->loader->maker, task, out->bytes);
    return rc;
}

/* ---- in the trainer ----------------------------------------------------------------------------
 */

int seep_pointgroup_pass_begin(const struct seep_pointgroup_loader *loader, bool validates,
                               uint64_t first, uint64_t end, struct seep_pointgroup_pass **out,
                               struct seep_error *err)
{
    struct seep_pointgroup_pass *pass = calloc(1, sizeof *pass);
    struct seep_worker_job job = {.arg = pass,
                                  .first = first,
                                  .end = end,
                                  .begin = begin_worker,
                                  .make = loader->ids_only ? make_ids : make_parcel};

    *out = pass;
    if (!pass)
        return -SEEP_ENOMEM;
    pass->loader = loader;
    pass->validates = validates;
    pass->parcel.fd = -1;
    int rc = seep_worker_queue_create(&job, WORKERS, PREFETCH, &pass->queue, err);
    if (!rc && loader->pool)
        rc = seep_pointgroup_pinning_start(pass->queue, loader->pool, (size_t)(end - first),
                                           (size_t)WORKERS * PREFETCH, &pass->pinning, err);
    if (rc) {
        seep_pointgroup_pass_end(pass);
        *out = NULL;
    }
    return rc;
}

/* The document's first patch: trainMerge() in the training thread, of the ids that came. */
static int collate_ids(struct seep_pointgroup_pass *pass, struct seep_error *err)
{
    const struct seep_pointgroup_loader *loader = pass->loader;
    uint64_t task = pass->parcel.task;
    uint32_t ids[SEEP_POINTGROUP_BATCH];

    if (pass->validates)
        return seep_pointgroup_validation_batch(loader->maker, task, &pass->batch, err);
    if (pass->parcel.n != sizeof ids)
        return -SEEP_EFORMAT;
    memcpy(ids, pass->parcel.bytes, sizeof ids);
    return seep_pointgroup_train_merge(loader->maker, task, ids, &pass->batch, err);
}

int seep_pointgroup_pass_next(struct seep_pointgroup_pass *pass, struct seep_pointgroup_batch **out,
                              struct seep_error *err)
{
    int rc;

    *out = &pass->batch;
    pass->batch = (struct seep_pointgroup_batch){0};
    if (pass->pinning)
        return seep_pointgroup_pinning_next(pass->pinning, &pass->batch, err);
    rc = seep_worker_queue_take(pass->queue, &pass->parcel, err);
    if (rc)
        return rc;
    return pass->loader->ids_only ? collate_ids(pass, err)
                                  : seep_pointgroup_batch_unpack(&pass->parcel, &pass->batch);
}

void seep_pointgroup_pass_release(struct seep_pointgroup_pass *pass)
{
    if (pass->pinning) {
        seep_pointgroup_pinning_release(pass->pinning, &pass->batch);
    } else {
        seep_pointgroup_batch_fini(&pass->batch);
        seep_worker_queue_release(pass->queue, &pass->parcel);
    }
    pass->batch = (struct seep_pointgroup_batch){0};
}

void seep_pointgroup_pass_end(struct seep_pointgroup_pass *pass)
{
    if (!pass)
        return;
    seep_pointgroup_pinning_stop(pass->pinning);
    seep_worker_queue_destroy(pass->queue);
    free(pass);
}

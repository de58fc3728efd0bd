#include "kernels/lab/scenarios/sparse_training.h"

#include <math.h>
#include <stdlib.h>

struct training {
    const struct seep_sparse_plan *plan;
    struct seep_sparse_outcome *outcome;
    struct seep_cached_gpu gpu;
    struct seep_sparse_network *net;
    uint32_t *train_ids, *validation_ids;
    struct seep_sparse_size size; /* of the batch at work */
    bool trains;                  /* with it */
};

size_t seep_sparse_steps_per_epoch(const struct seep_sparse_plan *plan)
{
    size_t share = seep_sparse_sampler_share(&plan->train);

    return (share + SEEP_SPARSE_BATCH - 1) / SEEP_SPARSE_BATCH; /* drop_last is False */
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* training_step() clears the cache once it has made the sparse tensor. */
static int train_step(struct training *t)
{
    const unsigned every = t->plan->cure.empty_every;
    size_t step = t->outcome->steps;
    int rc = seep_sparse_network_load(t->net, t->size);

    if (!rc && every && step % every == 0)
        seep_caching_empty(t->gpu.allocator);
    return rc ? rc : seep_sparse_network_train(t->net);
}

static int validation_step(struct training *t)
{
    int rc = seep_sparse_network_load(t->net, t->size);

    return rc ? rc : seep_sparse_network_validate(t->net);
}

static void note_step(struct training *t, size_t n_scenes)
{
    struct seep_sparse_outcome *o = t->outcome;

    o->counts = seep_caching_counts(t->gpu.allocator);
    o->live_bytes += (double)o->counts.peak_bytes;
    o->largest_bytes = fmax(o->largest_bytes, (double)o->counts.peak_bytes);
    o->scenes += n_scenes;
    o->voxels += t->size.voxels;
    o->voxels_squared += t->size.voxels * t->size.voxels;
    o->coarse += t->size.coarse;
    o->shares += t->size.coarse / t->size.voxels;
    o->shares_squared += pow(t->size.coarse / t->size.voxels, 2);
    if (t->plan->stepped)
        t->plan->stepped(t->plan->context);
    o->steps++;
}

static int run_batch(struct training *t, const uint32_t *ids, size_t n, bool trains,
                     struct seep_error *err)
{
    int rc = t->plan->load(t->plan->context, ids, n, &t->size, err);

    if (rc)
        return rc;
    t->trains = trains;
    seep_caching_reset_peak(t->gpu.allocator);
    rc = trains ? train_step(t) : validation_step(t);
    if (!rc && trains)
        note_step(t, n);
    else if (!rc)
        t->outcome->validation_steps++;
    return rc;
}

/* The batches of these scenes, the last one smaller. */
static int run_batches(struct training *t, const uint32_t *ids, size_t n, bool trains,
                       struct seep_error *err)
{
    size_t most = trains ? SEEP_SPARSE_BATCH : SEEP_SPARSE_VAL_BATCH;
    int rc = 0;

    for (size_t at = 0; at < n && !rc; at += most) {
        if (trains && t->outcome->steps == t->plan->n_steps)
            break;
        rc = run_batch(t, ids + at, n - at < most ? n - at : most, trains, err);
    }
    return rc;
}

static int run_epoch(struct training *t, uint64_t epoch, struct seep_error *err)
{
    const struct seep_sparse_plan *plan = t->plan;
    int rc = seep_sparse_sampler_fill(&plan->train, epoch, t->train_ids);

    if (!rc)
        rc = seep_sparse_sampler_fill(&plan->validation, epoch, t->validation_ids);
    if (!rc)
        rc = run_batches(t, t->train_ids, seep_sparse_sampler_share(&plan->train), true, err);
    if (rc || t->outcome->steps % t->outcome->steps_per_epoch)
        return rc; /* the run ends within this epoch */
    rc =
        run_batches(t, t->validation_ids, seep_sparse_sampler_share(&plan->validation), false, err);
    if (!rc && plan->passed)
        plan->passed(plan->context);
    return rc;
}

/* ---- the whole of it ------------------------------------------------------------------------- */

static struct seep_cached_gpu_kind kind_of(const struct seep_sparse_plan *plan)
{
    struct seep_cached_gpu_kind kind = plan->gpu;

    kind.expandable = plan->cure.expandable;
    return kind;
}

int seep_sparse_step_alone(const struct seep_sparse_plan *plan, struct seep_sparse_size size,
                           bool trains, struct seep_sparse_outcome *out, struct seep_error *err)
{
    struct seep_sparse_outcome scratch = {0};
    struct seep_cached_gpu_kind kind = kind_of(plan);
    struct training alone = {.plan = plan, .outcome = &scratch, .size = size};

    kind.is_silent = true;
    kind.device = SEEP_DEVICE_CPU; /* that of the job still has what it has */
    int rc = seep_cached_gpu_init(&alone.gpu, &kind, err);
    if (!rc)
        rc = seep_sparse_network_create(alone.gpu.allocator, plan->cure.padded, &alone.net);
    if (!rc)
        rc = trains ? train_step(&alone) : validation_step(&alone);
    out->fits_alone = !rc;
    if (alone.gpu.allocator) {
        struct seep_caching_counts counts = seep_caching_counts(alone.gpu.allocator);
        out->need_bytes = (double)counts.peak_bytes;
        if (counts.refused.bytes)
            rc = 0;
    }
    seep_sparse_network_destroy(alone.net);
    seep_cached_gpu_fini(&alone.gpu);
    return rc;
}

static int prepare(struct training *t, struct seep_error *err)
{
    const struct seep_sparse_plan *plan = t->plan;
    struct seep_cached_gpu_kind kind = kind_of(plan);

    t->train_ids = malloc((seep_sparse_sampler_share(&plan->train) + 1) * sizeof *t->train_ids);
    t->validation_ids =
        malloc((seep_sparse_sampler_share(&plan->validation) + 1) * sizeof *t->validation_ids);
    if (!t->train_ids || !t->validation_ids)
        return -SEEP_ENOMEM;
    int rc = seep_cached_gpu_init(&t->gpu, &kind, err);
    if (!rc)
        rc = seep_sparse_network_create(t->gpu.allocator, plan->cure.padded, &t->net);
    if (!rc)
        t->outcome->weight_bytes = (double)seep_caching_counts(t->gpu.allocator).live_bytes;
    return rc;
}

static int take_first(struct training *t)
{
    t->size = t->plan->first;
    t->trains = true;
    return t->size.voxels > 0 ? train_step(t) : 0;
}

int seep_sparse_training_run(const struct seep_sparse_plan *plan,
                             struct seep_sparse_outcome *outcome, struct seep_error *err)
{
    struct training t = {.plan = plan, .outcome = outcome};

    *outcome = (struct seep_sparse_outcome){.steps_per_epoch = seep_sparse_steps_per_epoch(plan)};
    int rc = prepare(&t, err);
    if (!rc)
        rc = take_first(&t);
    for (uint64_t epoch = 0; outcome->steps < plan->n_steps && !rc; epoch++)
        rc = run_epoch(&t, epoch, err);
    if (t.gpu.allocator)
        outcome->counts = seep_caching_counts(t.gpu.allocator);
    if (rc && outcome->counts.refused.bytes) {
        outcome->is_full = true;
        (void)seep_cached_gpu_complain(&t.gpu, SEEP_ENOMEM, err);
        /* Was it just too large? */
        rc = seep_sparse_step_alone(plan, t.size, t.trains, outcome, err);
    }
    seep_sparse_network_destroy(t.net);
    seep_cached_gpu_fini(&t.gpu);
    free(t.train_ids);
    free(t.validation_ids);
    return rc;
}

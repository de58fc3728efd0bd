/* Scenario minkowski: the document's training of a small sparse network on scenes of ever other
 * sizes, through a caching allocator, on a GPU that can be full. Each step would fit; what earlier
 * steps left behind, cut to their sizes, does not fit together with it. Scenes are read, quantised
 * and collated; the network's memory is modelled (sparse_network.h), on a GPU that is, or is not
 * (cached_gpu.h). */
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/coordinate_manager.h"
#include "kernels/lab/scenarios/minkowski_judge.h"
#include "kernels/lab/scenarios/ranks.h"
#include "kernels/lab/scenarios/sparse_least_gpu.h"
#include "kernels/lab/scenarios/sparse_loader.h"
#include "kernels/lab/scenarios/sparse_survey.h"
#include "preload/seep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct seep_variant variants[] = {
    [SEEP_MINKOWSKI_NONE] =
        {.name = "none",
         .summary = "the unchanged allocator: out of memory in a step that would have fitted",
         .pattern = "out-of-memory",
         .severity = "pressure",
         .function = "out_of_memory",
         .fails = true},
    [SEEP_MINKOWSKI_EMPTY_EVERY_10] =
        {.name = "empty-every-10",
         .summary = "the cache is emptied every 10 steps (the document's fix)",
         .may_fail = true},
    [SEEP_MINKOWSKI_EMPTY_EVERY_STEP] = {.name = "empty-every-step",
                                         .summary = "the cache is emptied in every step",
                                         .may_fail = true},
    [SEEP_MINKOWSKI_EXPANDABLE] = {.name = "expandable",
                                   .summary =
                                       "each pool is one segment that grows (expandable_segments)"},
    [SEEP_MINKOWSKI_PADDED] = {.name = "padded",
                               .summary =
                                   "sizes are padded to powers of two: soon a step is too large",
                               .pattern = "out-of-memory",
                               .severity = "pressure",
                               .function = "out_of_memory",
                               .fails = true},
    [SEEP_MINKOWSKI_DDP] =
        {.name = "ddp",
         .summary = "as expandable, by two ranks with a GPU each: each has half of the scenes"},
    [SEEP_MINKOWSKI_ROOMY] =
        {.name = "roomy",
         .summary = "as none, on a GPU half as large again: seep warns before it is full",
         .pattern = "allocator-cache",
         .severity = "pressure"},
    [SEEP_MINKOWSKI_ROOMY_EXPANDABLE] = {.name = "roomy-expandable",
                                         .summary = "as expandable, on the same GPU"},
    [SEEP_MINKOWSKI_ROOMY_LARGEST_FIRST] = {.name = "roomy-largest-first",
                                            .summary =
                                                "as roomy, after a step with the largest batch",
                                            .cured = "allocator-cache"},
    [SEEP_MINKOWSKI_COORDINATES_KEPT] = {.name = "coordinates-kept",
                                         .summary = "as roomy-largest-first; a coordinate manager "
                                                    "keeps the maps of all batches, on the host",
                                         .pattern = "unbounded-growth",
                                         .severity = "leak",
                                         .function = "seep_coordinate_manager_insert"},
    [SEEP_MINKOWSKI_COORDINATES_CLEARED] = {.name = "coordinates-cleared",
                                            .summary = "the manager is cleared before each batch"},
    {0},
};

static const struct way {
    struct seep_sparse_cure cure;
    unsigned ranks;
    double room;        /* its GPU, as a share of the one of the others */
    bool largest_first; /* PyTorch's advice for inputs of ever other lengths */
    bool maps, clears;  /* maps of coordinates are made on the host; and thrown away */
} ways[SEEP_MINKOWSKI_VARIANTS] = {
    [SEEP_MINKOWSKI_NONE] = {.ranks = 1, .room = 1},
    [SEEP_MINKOWSKI_EMPTY_EVERY_10] = {{.empty_every = 10}, 1, 1},
    [SEEP_MINKOWSKI_EMPTY_EVERY_STEP] = {{.empty_every = 1}, 1, 1},
    [SEEP_MINKOWSKI_EXPANDABLE] = {{.expandable = true}, 1, 1},
    [SEEP_MINKOWSKI_PADDED] = {{.padded = true}, 1, 1},
    [SEEP_MINKOWSKI_DDP] = {{.expandable = true}, 2, 1},
    [SEEP_MINKOWSKI_ROOMY] = {.ranks = 1, .room = 1.5},
    [SEEP_MINKOWSKI_ROOMY_EXPANDABLE] = {{.expandable = true}, 1, 1.5},
    [SEEP_MINKOWSKI_ROOMY_LARGEST_FIRST] = {.ranks = 1, .room = 1.5, .largest_first = true},
    [SEEP_MINKOWSKI_COORDINATES_KEPT] = {.ranks = 1,
                                         .room = 1.5,
                                         .largest_first = true,
                                         .maps = true},
    [SEEP_MINKOWSKI_COORDINATES_CLEARED] =
        {.ranks = 1, .room = 1.5, .largest_first = true, .maps = true, .clears = true},
};
enum { MAX_RANKS = 2, FEWER = 10 /* steps show what the host keeps */ };

/* `seep verify` compares runs of about as many steps: what died cannot be compared with what did
 * not. */
static const struct seep_fix fixes[] = {
    {.before = "none", .after = "expandable", .vanishes = "out-of-memory", .least_scale = 0.01},
    {.before = "roomy", .after = "roomy-largest-first", .vanishes = "allocator-cache"},
    {.before = "coordinates-kept", .after = "coordinates-cleared", .vanishes = "unbounded-growth"},
    {0},
};

struct job {
    const struct seep_scenario_options *options;
    const struct way *way;
    unsigned rank;
    struct seep_ranks *ranks; /* NULL: it is alone */
    size_t capacity_bytes;
    const struct seep_sparse_size *sizes; /* of scenes, while the GPU is chosen */
    struct seep_sparse_size largest;      /* batch */
    struct seep_sparse_loader loader;
    struct seep_sparse_batch batch;
    struct seep_coordinate_manager coordinates;
    double map_bytes, trained_map_bytes; /* of the batch's map; of all that were trained on */
};

/* ---- training -------------------------------------------------------------------------------- */

static int load(void *context, const uint32_t *ids, size_t n, struct seep_sparse_size *size,
                struct seep_error *err)
{
    struct job *job = context;
    struct seep_sparse_batch batch;
    int rc = seep_sparse_loader_batch(&job->loader, ids, n, &batch, err);

    if (rc)
        return rc;
    seep_sparse_batch_fini(&job->batch); /* the loop has its next one */
    job->batch = batch;
    *size = batch.size;
    if (job->way->clears)
        seep_coordinate_manager_clear(&job->coordinates);
    if (!job->way->maps)
        return 0;
    job->map_bytes = -(double)job->coordinates.bytes;
    rc = seep_coordinate_manager_insert(&job->coordinates, batch.coordinates, batch.n);
    job->map_bytes += (double)job->coordinates.bytes;
    return rc;
}

static void stepped(void *context)
{
    struct job *job = context;
    float gradient = 0; /* none is computed, but here ranks wait for each other */

    if (job->ranks)
        seep_ranks_mean(job->ranks, job->rank, &gradient, 1);
    job->trained_map_bytes += job->map_bytes;
    seep_step();
}

static void passed(void *context)
{
    (void)context;
    seep_epoch();
}

static struct seep_sparse_plan plan_of(struct job *job)
{
    const struct seep_scenario_options *o = job->options;
    const struct seep_pointgroup_scenes *scenes = &job->loader.scenes;
    const struct seep_sparse_cure *cure = &job->way->cure;
    /* A segment from cudaMalloc cannot grow, and a machine may have one GPU only: what needs more
     * uses the stand-in. */
    bool is_real = !cure->expandable && !job->ranks;
    struct seep_sparse_plan plan = {.cure = *cure,
                                    .gpu = {.device = is_real ? o->device : SEEP_DEVICE_CPU,
                                            .capacity_bytes = job->capacity_bytes,
                                            .number = job->rank},
                                    .train = {.n = scenes->n_train,
                                              .shuffles = true,
                                              .seed = o->seed,
                                              .rank = job->rank,
                                              .ranks = job->way->ranks},
                                    .validation = {.first = (uint32_t)scenes->n_train,
                                                   .n = scenes->n - scenes->n_train,
                                                   .rank = job->rank,
                                                   .ranks = job->way->ranks},
                                    .load = load,
                                    .stepped = stepped,
                                    .passed = passed,
                                    .context = job};

    if (job->way->largest_first)
        plan.first = job->largest;
    plan.n_steps = o->epochs ? o->epochs * seep_sparse_steps_per_epoch(&plan)
                             : SEEP_SPARSE_STEPS / job->way->ranks / (job->way->maps ? FEWER : 1);
    return plan;
}

/* ---- the GPU --------------------------------------------------------------------------------- */

static int load_size(void *context, const uint32_t *ids, size_t n, struct seep_sparse_size *size,
                     struct seep_error *err)
{
    const struct job *job = context;

    (void)err;
    *size = seep_sparse_loader_sum(&job->loader, job->sizes, ids, n);
    return 0;
}

/* People choose a batch for their GPU; here it is the other way round. --epochs does not change the
 * GPU, as long as it shortens the training. */
static int find_least(struct job *job, struct seep_error *err)
{
    struct seep_sparse_plan plans[MAX_RANKS];
    const unsigned ranks = job->way->ranks;

    for (unsigned r = 0; r < ranks; r++) {
        job->rank = r;
        plans[r] = plan_of(job);
        plans[r].load = load_size;
        if (plans[r].n_steps < SEEP_SPARSE_STEPS / ranks)
            plans[r].n_steps = SEEP_SPARSE_STEPS / ranks;
    }
    job->rank = 0;
    return seep_sparse_least_gpu(plans, ranks, &job->capacity_bytes, &job->largest, err);
}

static int choose_gpu(struct job *job, struct seep_error *err)
{
    struct seep_sparse_size *sizes = NULL;
    int rc = seep_sparse_loader_init(&job->loader, job->options->data, job->options->scale, err);

    if (!rc && !(sizes = malloc(job->loader.scenes.n * sizeof *sizes)))
        rc = -SEEP_ENOMEM;
    if (!rc)
        rc = seep_sparse_loader_sizes(&job->loader, sizes, err);
    job->sizes = sizes;
    if (!rc)
        rc = find_least(job, err);
    free(sizes);
    seep_sparse_loader_fini(&job->loader);
    if (job->options->capacity_bytes)
        job->capacity_bytes = (size_t)job->options->capacity_bytes;
    job->capacity_bytes = (size_t)((double)job->capacity_bytes * job->way->room);
    return rc;
}

/* ---- the job --------------------------------------------------------------------------------- */

/* The whole training of one process. */
static int train(struct job *job, struct seep_sparse_outcome *outcome, struct seep_error *err)
{
    int rc = seep_sparse_loader_init(&job->loader, job->options->data, job->options->scale, err);

    if (!rc) {
        struct seep_sparse_plan plan = plan_of(job);
        rc = seep_sparse_training_run(&plan, outcome, err);
    }
    seep_coordinate_manager_clear(&job->coordinates);
    seep_sparse_batch_fini(&job->batch);
    seep_sparse_loader_fini(&job->loader);
    return rc ? rc : outcome->is_full ? -SEEP_EVARIANT : 0;
}

static int work(struct seep_ranks *ranks, unsigned rank, void *arg, void *result,
                struct seep_error *err)
{
    struct job *job = arg; /* a copy: ranks are forks */

    job->ranks = ranks;
    job->rank = rank;
    return train(job, result, err);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void set(json_t *measured, const char *key, double value)
{
    json_object_set_new(measured, key, json_real(value));
}

static void measure(const struct seep_sparse_outcome *o, json_t *measured)
{
    double n = (double)(o->steps ? o->steps : 1), mean = o->voxels / n, share = o->shares / n;

    set(measured, "steps", (double)o->steps);
    set(measured, "steps_per_epoch", (double)o->steps_per_epoch);
    set(measured, "validation_steps", (double)o->validation_steps);
    set(measured, "scenes", (double)o->scenes);
    set(measured, "voxels_per_scene", o->voxels / (double)(o->scenes ? o->scenes : 1));
    set(measured, "batch_spread", sqrt(fmax(0, o->voxels_squared / n - mean * mean)) / mean);
    set(measured, "coarse_share", o->coarse / o->voxels);
    set(measured, "coarse_spread", sqrt(fmax(0, o->shares_squared / n - share * share)) / share);
    set(measured, "weight_bytes", o->weight_bytes);
    set(measured, "live_bytes_per_voxel", (o->live_bytes - n * o->weight_bytes) / o->voxels);
    set(measured, "live_bytes", o->live_bytes / n);
    set(measured, "reserved_bytes", (double)o->counts.reserved_bytes);
    set(measured, "driver_calls_per_step", (double)o->counts.driver_calls / n);
    set(measured, "out_of_memory", o->is_full);
    if (!o->is_full)
        return;
    set(measured, "fits_alone", o->fits_alone);
    set(measured, "need_bytes", o->need_bytes);
    set(measured, "refused_bytes", (double)o->counts.refused.bytes);
    set(measured, "refused_live_bytes", (double)o->counts.refused.live_bytes);
    set(measured, "refused_reserved_bytes", (double)o->counts.refused.reserved_bytes);
}

/* The rank that ended the job, or else the first. */
static const struct seep_sparse_outcome *first_full(const struct seep_sparse_outcome *outcomes,
                                                    unsigned ranks)
{
    for (unsigned r = 0; r < ranks; r++) {
        if (outcomes[r].is_full)
            return &outcomes[r];
    }
    return outcomes;
}

static int run(const struct seep_scenario_options *o, json_t *measured, struct seep_error *err)
{
    struct seep_sparse_outcome outcomes[MAX_RANKS] = {{0}};
    struct job job = {.options = o};
    int rc;

    for (unsigned v = 0; v < SEEP_MINKOWSKI_VARIANTS; v++) {
        if (strcmp(variants[v].name, o->variant) == 0)
            job.way = &ways[v];
    }
    rc = choose_gpu(&job, err);
    if (rc)
        return rc;
    if (job.way->ranks > 1)
        rc = seep_ranks_run(job.way->ranks, work, &job, outcomes, sizeof *outcomes, err);
    else
        rc = train(&job, outcomes, err);
    set(measured, "trained_map_bytes", job.trained_map_bytes);
    set(measured, "capacity_bytes", (double)job.capacity_bytes);
    measure(first_full(outcomes, job.way->ranks), measured);
    return rc;
}

const struct seep_scenario seep_minkowski = {
    .name = "minkowski",
    .summary = "MinkowskiEngine: sparse tensors of ever new sizes on a GPU that can be full",
    .variants = variants,
    .fixes = fixes,
    .uses_device = true,
    .has_capacity = true,
    .make_data = seep_pointgroup_make_rooms,
    .run = run,
    .judge = seep_minkowski_judge,
    .survey = seep_sparse_survey_judge,
};

#include "kernels/lab/scenarios/sparse_survey.h"

#include "kernels/compute/chance.h"
#include "kernels/lab/scenarios/pointgroup_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const size_t seep_sparse_capacity_bytes = 975000000;

const struct seep_sparse_scenes seep_sparse_made_up = {
    .voxels = 40600, .spread = 0.488, .coarse = 0.243, .coarse_scatter = 0.133};

/* ---- a data set without files ---------------------------------------------------------------- */

struct data_set {
    struct seep_sparse_size scenes[SEEP_POINTGROUP_SCENES];
};

static void draw(struct data_set *set, uint64_t seed)
{
    const struct seep_sparse_scenes *made = &seep_sparse_made_up;
    struct seep_chance chance = seep_chance_of(seed, UINT64_MAX);
    double sum = 0;

    for (size_t i = 0; i < SEEP_POINTGROUP_SCENES; i++) {
        set->scenes[i].voxels = exp(made->spread * seep_chance_normal(&chance));
        set->scenes[i].coarse = exp(made->coarse_scatter * seep_chance_normal(&chance));
        sum += set->scenes[i].voxels;
    }
    for (size_t i = 0; i < SEEP_POINTGROUP_SCENES; i++) {
        set->scenes[i].voxels *= made->voxels * SEEP_POINTGROUP_SCENES / sum;
        set->scenes[i].coarse *= made->coarse * set->scenes[i].voxels;
    }
}

static int load(void *context, const uint32_t *ids, size_t n, struct seep_sparse_size *size,
                struct seep_error *err)
{
    const struct data_set *set = context;

    (void)err;
    *size = (struct seep_sparse_size){0};
    for (size_t i = 0; i < n; i++) {
        size->voxels += set->scenes[ids[i]].voxels;
        size->coarse += set->scenes[ids[i]].coarse;
    }
    return 0;
}

/* ---- all seeds ------------------------------------------------------------------------------- */

static int run_seed(const struct seep_sparse_cure *cure, size_t capacity_bytes, uint64_t seed,
                    struct seep_sparse_outcome *outcome, struct seep_error *err)
{
    struct data_set *set = malloc(sizeof *set);
    struct seep_error full = {0};
    struct seep_sparse_plan plan = {
        .cure = *cure,
        .gpu = {.capacity_bytes = capacity_bytes, .is_silent = true},
        .train = {.n = SEEP_POINTGROUP_TRAIN, .shuffles = true, .seed = seed, .ranks = 1},
        .validation = {.first = SEEP_POINTGROUP_TRAIN,
                       .n = SEEP_POINTGROUP_SCENES - SEEP_POINTGROUP_TRAIN,
                       .ranks = 1},
        .n_steps = SEEP_SPARSE_STEPS,
        .load = load,
        .context = set};

    if (!set)
        return -SEEP_ENOMEM;
    draw(set, seed);
    int rc = seep_sparse_training_run(&plan, outcome, &full);
    free(set);
    if (rc)
        *err = full;
    return rc;
}

static int ascending(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

int seep_sparse_survey_run(const struct seep_sparse_cure *cure, size_t capacity_bytes,
                           struct seep_sparse_survey *out, struct seep_error *err)
{
    double steps_bytes = 0, n_steps = 0;
    size_t steps[SEEP_SPARSE_SEEDS];
    int rc = 0;

    *out = (struct seep_sparse_survey){0};
    for (unsigned i = 0; i < SEEP_SPARSE_SEEDS && !rc; i++) {
        struct seep_sparse_outcome o;
        rc = run_seed(cure, capacity_bytes, i + 1, &o, err);
        if (rc)
            break;
        steps[i] = o.steps;
        out->full += o.is_full;
        out->fit_alone += o.is_full && o.fits_alone;
        out->need_bytes += o.is_full ? o.need_bytes : 0;
        out->reserved_bytes += (double)o.counts.reserved_bytes / SEEP_SPARSE_SEEDS;
        steps_bytes += o.live_bytes;
        n_steps += (double)o.steps;
        out->largest_bytes = fmax(out->largest_bytes, o.largest_bytes);
        out->driver_calls_per_step +=
            (double)o.counts.driver_calls / (double)(o.steps + 1) / SEEP_SPARSE_SEEDS;
    }
    if (rc)
        return rc;
    qsort(steps, SEEP_SPARSE_SEEDS, sizeof *steps, ascending);
    out->fewest = steps[0];
    out->median = (steps[SEEP_SPARSE_SEEDS / 2 - 1] + steps[SEEP_SPARSE_SEEDS / 2]) / 2;
    out->most = steps[SEEP_SPARSE_SEEDS - 1];
    out->live_bytes = steps_bytes / (n_steps > 0 ? n_steps : 1);
    out->need_bytes /= out->full ? out->full : 1;
    return 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    struct seep_sparse_cure cure;
} cures[] = {
    {"none", {0}},
    {"empty-every-10", {.empty_every = 10}},
    {"empty-every-step", {.empty_every = 1}},
    {"expandable", {.expandable = true}},
    {"padded", {.padded = true}},
};

/* Sizes around the default, in percent of it. */
static const unsigned around[] = {90, 95, 100, 110, 150};

static int survey_size(json_t *results, size_t capacity_bytes, struct seep_error *err)
{
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++) {
        struct seep_sparse_survey s;
        int rc = seep_sparse_survey_run(&cures[i].cure, capacity_bytes, &s, err);
        if (rc)
            return rc;
        json_t *row = json_pack(
            "{s:f, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "gpu_mb",
            (double)capacity_bytes / 1e6, "cure", cures[i].name, "seeds", (int)SEEP_SPARSE_SEEDS,
            "out_of_memory", (int)s.full, "fit_alone", (int)s.fit_alone, "median_steps",
            (json_int_t)s.median, "fewest", (json_int_t)s.fewest, "most", (json_int_t)s.most,
            "need_mb", s.need_bytes / 1e6, "reserved_mb", s.reserved_bytes / 1e6, "live_mb",
            s.live_bytes / 1e6, "largest_mb", s.largest_bytes / 1e6, "driver_calls_per_step",
            s.driver_calls_per_step);
        if (!row || json_array_append_new(results, row))
            return -SEEP_ENOMEM;
    }
    return 0;
}

int seep_sparse_survey_bench(json_t *results, uint64_t capacity_bytes, struct seep_error *err)
{
    int rc = 0;

    if (capacity_bytes)
        return survey_size(results, capacity_bytes, err);
    for (size_t i = 0; i < sizeof around / sizeof *around && !rc; i++)
        rc = survey_size(results, seep_sparse_capacity_bytes / 100 * around[i], err);
    return rc;
}

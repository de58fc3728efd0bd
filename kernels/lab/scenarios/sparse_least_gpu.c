#include "kernels/lab/scenarios/sparse_least_gpu.h"

#include <math.h>

/* Hundredths above what the largest step has live: the first guess, and where there is no more. */
enum { HUNDREDTHS = 100, GUESS = 32, MOST = 256 };

/* Only batches of about the largest's size can be too large. */
static const double about = 0.75;

struct trial {
    const struct seep_sparse_plan *plan;
    size_t bytes;
    struct seep_sparse_size largest; /* batch */
    bool all_fit;
};

static int measure(void *context, const uint32_t *ids, size_t n, struct seep_sparse_size *size,
                   struct seep_error *err)
{
    struct trial *t = context;
    int rc = t->plan->load(t->plan->context, ids, n, size, err);

    if (!rc && size->voxels > t->largest.voxels)
        t->largest = *size;
    return rc;
}

static struct seep_cached_gpu_kind gpu_of(size_t bytes)
{
    return (struct seep_cached_gpu_kind){
        .device = SEEP_DEVICE_CPU, .capacity_bytes = bytes, .is_silent = true};
}

static int try_alone(void *context, const uint32_t *ids, size_t n, struct seep_sparse_size *size,
                     struct seep_error *err)
{
    struct trial *t = context;
    const struct seep_sparse_plan alone = {.gpu = gpu_of(t->bytes)};
    struct seep_sparse_outcome o = {.fits_alone = true};
    int rc = t->plan->load(t->plan->context, ids, n, size, err);

    if (!rc && t->all_fit && size->voxels > about * t->largest.voxels)
        rc = seep_sparse_step_alone(&alone, *size, true, &o, err);
    t->all_fit &= o.fits_alone;
    return rc;
}

/* The training with segments that grow, on a GPU of t->bytes; 0: on a large one. */
static int run(struct trial *t, struct seep_sparse_outcome *o, struct seep_error *err)
{
    struct seep_error full = {0};
    const struct seep_sparse_plan plan = {.cure = {.expandable = true},
                                          .gpu = gpu_of(t->bytes),
                                          .train = t->plan->train,
                                          .validation = t->plan->validation,
                                          .n_steps = t->plan->n_steps,
                                          .load = t->bytes ? try_alone : measure,
                                          .context = t};
    int rc = seep_sparse_training_run(&plan, o, &full);

    if (rc && err)
        *err = full;
    return rc;
}

/* Whether that is enough for all. */
static int is_enough(const struct seep_sparse_plan *plans, unsigned n_plans,
                     struct seep_sparse_size largest, size_t bytes, bool *enough,
                     struct seep_error *err)
{
    int rc = 0;

    *enough = true;
    for (unsigned i = 0; i < n_plans && *enough && !rc; i++) {
        struct trial t = {&plans[i], bytes, largest, true};
        struct seep_sparse_outcome o;
        rc = run(&t, &o, err);
        *enough = !rc && !o.is_full && t.all_fit;
    }
    return rc;
}

int seep_sparse_least_gpu(const struct seep_sparse_plan *plans, unsigned n_plans, size_t *bytes,
                          struct seep_sparse_size *largest, struct seep_error *err)
{
    double live = 0;
    unsigned low = 0, high = GUESS;
    bool enough = false;
    int rc = 0;

    *largest = (struct seep_sparse_size){0};
    for (unsigned i = 0; i < n_plans && !rc; i++) {
        struct trial t = {.plan = &plans[i], .largest = *largest};
        struct seep_sparse_outcome o = {0};
        rc = run(&t, &o, err);
        *largest = t.largest;
        live = fmax(live, o.largest_bytes);
    }
    const size_t least = (size_t)live, part = least / HUNDREDTHS;
    while (!rc && !enough && high < MOST) { /* one that is */
        rc = is_enough(plans, n_plans, *largest, least + high * part, &enough, err);
        low = enough ? low : high;
        high = enough ? high : 2 * high;
    }
    while (!rc && high - low > 1) {
        const unsigned middle = (low + high) / 2;
        rc = is_enough(plans, n_plans, *largest, least + middle * part, &enough, err);
        low = enough ? low : middle;
        high = enough ? middle : high;
    }
    *bytes = least + high * part;
    return rc;
}

#include "kernels/lab/scenarios/splat_card.h"

#include "kernels/compute/chance.h"
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/cached_gpu.h"
#include "kernels/lab/scenarios/splat_tensors.h"
#include "preload/seep.h"

#include <math.h>

/* Kerbl et al.: from step 500 to 15,000 every 100 steps, and opacities are reset every 3,000. Of
 * the 100 steps between two densifications, which differ in their pairs alone, a few are taken. */
enum { DENSIFICATIONS = 145, RESET_EVERY = 30, STEPS_BETWEEN = 8 };

/* As many as a card of 8 GB has room for: 7.9 GB are live at once at the end. */
static const size_t first_gaussians = 200000, last_gaussians = 4400000;
static const size_t card_bytes = 8000000000;
static const size_t picture_bytes = (size_t)1600 * 1066 * 3 * sizeof(float); /* the document's */

/* Rows that a pass makes for each Gaussian, in bytes.
 * returned: what the renderer hands out, alive until the next step has its own: places in the
 *   picture, their gradient, radii, which are seen.
 * forward: scales, rotations and opacities after their functions, joined coefficients, what the
 *   rasteriser keeps for the way back.
 * backward: gradients by the rasteriser's inputs, which become those of the parameters. */
static const size_t returned_bytes[] = {12, 12, 4, 1};
static const size_t forward_bytes[] = {12, 16, 4, 192, 96};
static const size_t backward_bytes[] = {16, 4, 12, 12, 24, 192, 12, 16};
enum { RETURNED = 4, FORWARD = 5, BACKWARD = 8 };

/* A pair of Gaussian and tile: two keys of 64 bits, two indices of 32, and the sort's own. */
static const size_t pair_bytes = 28;
static const double pairs_a_gaussian = 3, pairs_spread = 0.1;

/* Float pictures at the loss: the rendered and the true one, which stay until the next step has its
 * own, and what L1 and D-SSIM keep for their gradients. */
enum { STAYING_PICTURES = 2, LOSS_PICTURES = 10 };

/* Of the Gaussians that densification makes half are cloned and half are split, and a fifth as many
 * as it adds are transparent and go. How many it adds varies by a third. */
static const double pruned_share = 0.2, growth_spread = 0.33;

struct returned {
    struct seep_caching_block *rows[RETURNED], *pictures[STAYING_PICTURES];
};

struct pass {
    struct seep_caching_block *forward[FORWARD], *backward[BACKWARD], *pairs, *loss[LOSS_PICTURES];
};

struct run {
    const struct seep_splat_card *card;
    struct seep_cached_gpu gpu;
    struct seep_splat_tensors tensors;
    struct returned returned; /* by the last step */
    struct seep_chance chance;
    size_t n, n_last; /* Gaussians that are trained */
    unsigned steps, densifications;
    double pair_bytes;                      /* a Gaussian, summed over steps */
    double reserved_peak, reserved_at_half; /* the latter when half of all Gaussians are there */
};

/* ---- densification --------------------------------------------------------------------------- */

static int make_anew(struct run *r, size_t cloned, size_t split, size_t pruned)
{
    struct seep_splat_tensors *t = &r->tensors;
    int rc = seep_splat_tensors_cat(t, cloned);

    if (!rc)
        rc = seep_splat_tensors_cat(t, 2 * split);
    if (!rc)
        rc = seep_splat_tensors_prune(t, t->n - split);
    if (!rc)
        rc = seep_splat_tensors_prune(t, t->n - pruned);
    return rc;
}

/* The number of Gaussians grows by about the same factor each time. */
static int densify(struct run *r)
{
    double left = DENSIFICATIONS - r->densifications++;
    double grown = (double)r->n * (pow((double)r->n_last / (double)r->n, 1 / left) - 1);
    int rc = 0;

    if (left > 1)
        grown *= fmax(0, 1 + growth_spread * seep_chance_normal(&r->chance));
    size_t net = (size_t)grown, pruned = (size_t)(grown * pruned_share);
    size_t cloned = (net + pruned) / 2;
    if (!r->card->preallocated)
        rc = make_anew(r, cloned, net + pruned - cloned, pruned);
    r->n += net;
    if (!rc && !r->card->preallocated && r->densifications % RESET_EVERY == 0)
        rc = seep_splat_tensors_reset_opacity(&r->tensors);
    if (!rc && r->card->empties)
        seep_caching_empty(r->gpu.allocator);
    if (!r->reserved_at_half && 2 * r->n >= r->n_last)
        r->reserved_at_half = (double)seep_caching_counts(r->gpu.allocator).reserved_bytes;
    return rc;
}

/* ---- one step -------------------------------------------------------------------------------- */

static int make_rows(struct run *r, const size_t *bytes, int n, struct seep_caching_block **list)
{
    int rc = 0;

    for (int i = 0; i < n && !rc; i++)
        rc = seep_splat_tensor(&r->tensors, r->tensors.n, bytes[i], &list[i]);
    return rc;
}

static int make_pictures(struct run *r, int n, struct seep_caching_block **list)
{
    int rc = 0;

    for (int i = 0; i < n && !rc; i++)
        rc = seep_splat_tensor(&r->tensors, 1, picture_bytes, &list[i]);
    return rc;
}

static void free_list(struct run *r, struct seep_caching_block **list, int n)
{
    for (int i = 0; i < n; i++)
        seep_splat_tensor_free(&r->tensors, &list[i]);
}

static void free_returned(struct run *r, struct returned *old)
{
    free_list(r, old->rows, RETURNED);
    free_list(r, old->pictures, STAYING_PICTURES);
}

/* Names of the last step's results are bound anew once there are new ones. */
static int render(struct run *r, struct pass *p)
{
    double pairs =
        (double)r->n * pairs_a_gaussian * exp(pairs_spread * seep_chance_normal(&r->chance));
    struct returned old = r->returned;
    int rc;

    r->returned = (struct returned){{NULL}, {NULL}};
    rc = make_rows(r, returned_bytes, RETURNED, r->returned.rows);
    if (!rc)
        rc = make_pictures(r, STAYING_PICTURES, r->returned.pictures);
    if (!rc)
        rc = make_rows(r, forward_bytes, FORWARD, p->forward);
    if (!rc)
        rc = seep_splat_tensor(&r->tensors, (size_t)pairs, pair_bytes, &p->pairs);
    if (!rc)
        r->pair_bytes += floor(pairs) * (double)pair_bytes / (double)r->n;
    free_returned(r, &old);
    return rc;
}

static int go_back(struct run *r, struct pass *p)
{
    int rc = make_pictures(r, LOSS_PICTURES, p->loss);

    if (!rc)
        rc = make_rows(r, backward_bytes, BACKWARD, p->backward);
    return rc ? rc : seep_splat_tensors_make_gradients(&r->tensors);
}

/* Gradients are alive while Gaussians become more: the optimizer steps afterwards. */
static int take_step(struct run *r, bool densifies)
{
    struct pass p = {.pairs = NULL};
    int rc = render(r, &p);

    if (!rc)
        rc = go_back(r, &p);
    free_list(r, p.forward, FORWARD);
    free_list(r, p.backward, BACKWARD);
    free_list(r, p.loss, LOSS_PICTURES);
    free_list(r, &p.pairs, 1);
    double reserved = (double)seep_caching_counts(r->gpu.allocator).reserved_bytes;
    r->reserved_peak = fmax(r->reserved_peak, reserved);
    if (!rc && densifies)
        rc = densify(r);
    seep_splat_tensors_drop_gradients(&r->tensors);
    if (rc)
        return rc;
    r->steps++;
    seep_step();
    return 0;
}

static int train(struct run *r)
{
    int rc = 0;

    for (unsigned step = 1; step <= 2 * DENSIFICATIONS * STEPS_BETWEEN && !rc; step++)
        rc = take_step(r, step % STEPS_BETWEEN == 0 && r->densifications < DENSIFICATIONS);
    return rc;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void measure(const struct run *r, json_t *measured)
{
    struct seep_caching_counts counts = seep_caching_counts(r->gpu.allocator);
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"steps", r->steps},
        {"densifications", r->densifications},
        {"pair_bytes_a_gaussian", r->pair_bytes / fmax(r->steps, 1)},
        {"gaussians_last", (double)r->n},
        {"gaussians_wanted", (double)r->n_last},
        {"capacity_bytes", (double)r->gpu.capacity_bytes},
        {"live_peak_bytes", (double)counts.peak_bytes},
        {"reserved_bytes", (double)counts.reserved_bytes},
        {"reserved_peak_bytes", r->reserved_peak},
        {"reserved_at_half_bytes", r->reserved_at_half},
        {"refused_bytes", (double)counts.refused.bytes},
        {"refused_live_bytes", (double)counts.refused.live_bytes},
        {"refused_reserved_bytes", (double)counts.refused.reserved_bytes},
    };

    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        json_object_set_new(measured, figures[i].name, json_real(figures[i].value));
}

static int start(struct run *r, struct seep_error *err)
{
    const struct seep_splat_card *card = r->card;
    /* A segment from cudaMalloc cannot grow: that variant uses the stand-in on every device. */
    const struct seep_cached_gpu_kind kind = {
        .device = card->expandable ? SEEP_DEVICE_CPU : card->device,
        .expandable = card->expandable,
        .capacity_bytes = card->capacity_bytes ? card->capacity_bytes : card_bytes};

    return seep_cached_gpu_init(&r->gpu, &kind, err);
}

int seep_splat_card_run(const struct seep_splat_card *card, json_t *measured,
                        struct seep_error *err)
{
    struct run r = {.card = card,
                    .chance.state = card->seed,
                    .n = first_gaussians,
                    .n_last = card->n_last ? card->n_last : last_gaussians};
    int rc = start(&r, err);

    if (!rc) {
        rc = seep_splat_tensors_init(&r.tensors, r.gpu.allocator,
                                     card->preallocated ? r.n_last : r.n);
        if (!rc)
            rc = train(&r);
        measure(&r, measured);
        free_returned(&r, &r.returned);
        seep_splat_tensors_fini(&r.tensors);
        if (rc == -SEEP_ENOMEM && seep_caching_counts(r.gpu.allocator).refused.bytes)
            rc = seep_cached_gpu_complain(&r.gpu, SEEP_EVARIANT, err);
    }
    seep_cached_gpu_fini(&r.gpu);
    return rc;
}

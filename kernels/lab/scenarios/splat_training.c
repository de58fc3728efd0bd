#include "kernels/lab/scenarios/splat_training.h"

#include "kernels/compute/chance.h"
#include "kernels/compute/stopwatch.h"
#include "kernels/lab/scenarios/splat_pass.h"
#include "kernels/lab/scenarios/splat_save.h"
#include "preload/seep.h"

#include <math.h>
#include <stdio.h>

enum {
    WATCHED_STEPS = 10,       /* before a densification: whose gradients choose what is divided */
    STEPS_A_SH_DEGREE = 1000, /* Kerbl et al., section 7.1 */
    RESET_PERCENT = 24,       /* of all steps: between two densifications */
    CHECKPOINT_PERCENT = 75,
    STEPS_BLOWN_UP = 2, /* what is left of the job then: a rare event in its life */
    PICTURES = 4,
    MAX_STEPS = 1 << 30,
};

static const float least_opacity = 0.005f; /* of those that stay */

struct training {
    const struct seep_splat_job *job;
    struct seep_splat_result *result;
    struct seep_gaussians gaussians;
    struct seep_splat_rates rates;
    float largest_scale; /* of the points' Gaussians */
    struct seep_cameras *cameras, *further[SEEP_SPLAT_FURTHER];
    unsigned step;               /* 1 … result->steps */
    struct seep_splat_loss loss; /* of the last step */
    /* Of the step before, where the job lets it live on. */
    struct seep_camera *carried_camera;
    struct seep_splat_pass carried_pass;
};

/* Done with before half of the job is: 12, 20, 28, 36 and 44 % of its steps. */
unsigned seep_splat_densification_step(unsigned which, unsigned n_steps)
{
    unsigned step = (unsigned)(n_steps * (0.12 + 0.08 * which));

    return step ? step : 1;
}

size_t seep_splat_densified(unsigned which, size_t n_first, size_t n_last)
{
    double factor = (double)n_last / (double)n_first;

    if (which + 1 >= SEEP_SPLAT_DENSIFICATIONS)
        return n_last;
    return (size_t)((double)n_first * pow(factor, (which + 1.0) / SEEP_SPLAT_DENSIFICATIONS) + 0.5);
}

static int sh_degree_at(unsigned step)
{
    unsigned degree = step ? (step - 1) / STEPS_A_SH_DEGREE : 0;

    return degree < SEEP_SPLAT_MAX_SH_DEGREE ? (int)degree : SEEP_SPLAT_MAX_SH_DEGREE;
}

/* ---- one step -------------------------------------------------------------------------------- */

static void free_step(struct training *t, struct seep_camera *camera, struct seep_splat_pass *pass)
{
    seep_splat_pass_fini(pass);
    if (camera)
        seep_cameras_give_back(t->cameras, camera);
}

static void free_carried(struct training *t)
{
    free_step(t, t->carried_camera, &t->carried_pass);
    t->carried_camera = NULL;
}

static unsigned blow_up_step(const struct training *t)
{
    return t->result->steps > STEPS_BLOWN_UP ? t->result->steps - STEPS_BLOWN_UP : 1;
}

static int step_adam(struct training *t, const uint32_t *offsets)
{
    struct seep_gaussians *g = &t->gaussians;

    if (!t->job->steps_seen)
        return seep_splat_adam(g->n, SEEP_GAUSSIAN_SH_STRIDE, &g->gradients, &t->rates, t->step,
                               &g->trained, t->job->stream);
    if (t->step == t->result->steps)
        return seep_gaussians_check_seen(g, &t->rates, t->step, offsets, &t->result->check);
    return seep_splat_adam_seen(g->n, SEEP_GAUSSIAN_SH_STRIDE, &g->gradients, &t->rates, t->step,
                                offsets, &g->trained, t->job->stream);
}

static int step_parameters(struct training *t, const struct seep_splat_pass *pass)
{
    int rc = step_adam(t, pass->projected.offsets);

    if (!rc && t->job->blows_up && t->step == blow_up_step(t))
        rc = seep_gaussians_mistake_scales(&t->gaussians);
    if (!rc && t->job->clamps)
        rc = seep_gaussians_clamp_scales(&t->gaussians, t->largest_scale);
    return rc;
}

static int improve(struct training *t, struct seep_splat_pass *pass, const float *target)
{
    struct seep_splat_model model = seep_gaussians_model(&t->gaussians, sh_degree_at(t->step));
    int rc = seep_splat_pass_loss(pass, target, true, &t->loss);

    if (!rc)
        rc = seep_splat_pass_backward(pass, &model, &t->gaussians.gradients);
    return rc ? rc : step_parameters(t, pass);
}

/* Watches the steps before a densification, once each, and makes more Gaussians in those that are
 * one: their gradients are new then, and say nothing. */
static int densify(struct training *t)
{
    const struct seep_splat_job *job = t->job;
    size_t n = t->gaussians.n;
    bool watched = false;

    for (unsigned i = 0; i < SEEP_SPLAT_DENSIFICATIONS; i++) {
        unsigned at = seep_splat_densification_step(i, t->result->steps);
        watched |= t->step <= at && t->step + WATCHED_STEPS > at;
        if (t->step == at)
            n = seep_splat_densified(i, t->result->n_first, job->n_last);
    }
    int rc = watched ? seep_gaussians_watch(&t->gaussians) : 0;
    /* In a very short job several coincide: at most twice as many Gaussians at a time. */
    while (!rc && n > t->gaussians.n) {
        size_t most = 2 * t->gaussians.n;
        rc = seep_gaussians_densify(&t->gaussians, n < most ? n : most, job->views->extent,
                                    seep_chance_of(job->seed, t->step).state);
    }
    return rc;
}

static void raise_to(size_t *most, size_t value)
{
    if (value > *most)
        *most = value;
}

static void note_sizes(struct training *t, const struct seep_splat_pass *pass)
{
    struct seep_splat_result *r = t->result;

    r->seen += (double)pass->projected.n_seen / (double)t->gaussians.n / r->steps;
    raise_to(&r->pass_bytes, pass->gaussian_bytes);
    raise_to(&r->scratch_bytes, pass->scratch_bytes);
    raise_to(&r->ssim_bytes, pass->ssim_bytes);
    raise_to(&r->pairs_largest, pass->projected.n_pairs);
    if (t->step <= blow_up_step(t))
        raise_to(&r->pairs_usual, pass->projected.n_pairs);
}

static int save_and_load(struct training *t)
{
    struct seep_gaussians loaded;
    FILE *file = tmpfile();
    int rc = file ? seep_gaussians_checkpoint(&t->gaussians, file) : -SEEP_EIO;

    if (!rc) {
        t->result->checkpoint_bytes = (size_t)ftell(file);
        rewind(file);
        rc = seep_gaussians_restore(file, t->job->stream, &loaded);
    }
    if (!rc) {
        seep_gaussians_fini(&t->gaussians);
        t->gaussians = loaded;
    }
    if (file)
        (void)fclose(file);
    return rc;
}

/* What else the original does between steps. */
static int tidy_up(struct training *t, bool has_densified)
{
    unsigned n = t->result->steps, reset = n * RESET_PERCENT / 100;
    size_t pruned = 0;
    int rc = has_densified ? seep_gaussians_prune(&t->gaussians, least_opacity, &pruned) : 0;

    t->result->n_pruned += pruned;
    if (!rc && t->step == reset)
        rc = seep_gaussians_reset_opacities(&t->gaussians);
    if (!rc && t->step == n * CHECKPOINT_PERCENT / 100)
        rc = save_and_load(t);
    return rc;
}

static int take_step(struct training *t, struct seep_error *err)
{
    struct seep_splat_model model = seep_gaussians_model(&t->gaussians, sh_degree_at(t->step));
    struct seep_splat_pass pass = {0};
    struct seep_camera *camera;
    int rc = seep_cameras_pop(t->cameras, &camera, err);

    if (rc)
        return rc;
    rc = seep_splat_pass_forward(&camera->view->camera, &model, t->job->stream, &pass);
    free_carried(t);
    if (!rc)
        rc = improve(t, &pass, camera->original);
    note_sizes(t, &pass);
    if (t->job->carries) {
        t->carried_camera = camera;
        t->carried_pass = pass;
    } else {
        free_step(t, camera, &pass);
    }
    size_t before = t->gaussians.n;
    if (!rc)
        rc = densify(t);
    if (!rc && t->job->is_whole)
        rc = tidy_up(t, t->gaussians.n > before);
    return rc ? seep_error_set(err, -rc, "", 0, "step %u: %s", t->step, seep_error_name(rc)) : 0;
}

/* ---- the job --------------------------------------------------------------------------------- */

static void show_progress(const struct training *t, double *shown)
{
    double time = seep_clock_s(CLOCK_MONOTONIC);
    bool last = t->step == t->result->steps;

    if (!t->job->progress || (!last && time - *shown < 0.2))
        return;
    *shown = time;
    (void)fprintf(stderr, "\rstep %u of %u, %zu Gaussians, loss %.4f%s", t->step, t->result->steps,
                  t->gaussians.n, t->loss.l1, last ? "\n" : "");
}

static int train(struct training *t, struct seep_error *err)
{
    const unsigned n = t->result->steps;
    double shown = 0;
    int rc = 0;

    for (t->step = 1; t->step <= n && !rc; t->step++) {
        if (seep_cameras_begin_epoch(t->cameras))
            seep_epoch();
        rc = take_step(t, err);
        if (rc)
            break;
        show_progress(t, &shown);
        if (t->job->pictures && t->step < n && t->step % ((n + PICTURES - 1) / PICTURES) == 0) {
            struct seep_splat_loss mean;
            double ssim;
            rc = seep_splat_evaluate(t->job->views, &t->gaussians, sh_degree_at(t->step),
                                     t->job->pictures, t->step, &mean, &ssim, err);
        }
        seep_step();
    }
    free_carried(t);
    return rc;
}

static int make(struct training *t, struct seep_error *err)
{
    const struct seep_splat_job *job = t->job;
    int rc = seep_gaussians_init(job->views, job->stream, &t->gaussians);

    if (rc)
        return seep_error_set(err, -rc, "", 0, "%zu Gaussians: %s", job->views->n_points,
                              seep_error_name(rc));
    rc = seep_gaussians_largest_scale(&t->gaussians, &t->largest_scale);
    if (!rc)
        rc = seep_splat_evaluate(job->views, &t->gaussians, 0, job->pictures, 0, &t->result->first,
                                 &t->result->ssim_first, err);
    if (rc)
        return rc;
    double start = seep_clock_s(CLOCK_MONOTONIC);
    rc = seep_cameras_create(job->policy, job->views, job->seed, job->stream, &t->cameras, err);
    for (size_t i = 0; i < job->n_further && !rc; i++)
        rc = seep_cameras_create(job->policy, &job->further[i], job->seed, job->stream,
                                 &t->further[i], err);
    t->result->load_seconds = seep_clock_s(CLOCK_MONOTONIC) - start;
    return rc;
}

static int evaluate(const struct training *t, struct seep_error *err)
{
    const struct seep_splat_job *job = t->job;
    struct seep_splat_result *r = t->result;
    double ssim;
    int rc = seep_splat_evaluate(job->views, &t->gaussians, sh_degree_at(r->steps), job->pictures,
                                 r->steps, &r->last, &r->ssim_last, err);

    if (!rc && job->n_further)
        rc = seep_splat_evaluate(&job->further[0], &t->gaussians, sh_degree_at(r->steps), NULL,
                                 r->steps, &r->tested, &ssim, err);
    return rc;
}

int seep_splat_train(const struct seep_splat_job *job, struct seep_splat_result *result,
                     struct seep_error *err)
{
    struct training t = {.job = job, .result = result};
    size_t n_points = job->views->n_points;

    *result = (struct seep_splat_result){.n_first = n_points,
                                         .steps = job->epochs * (unsigned)job->views->n};
    if (job->n_last < n_points || job->n_last > 16 * n_points)
        return seep_error_set(
            err, SEEP_EINVAL, "", 0,
            "the number of Gaussians is not between 1 and 16 times that of points");
    if (!job->epochs || job->views->n > MAX_STEPS / job->epochs)
        return seep_error_set(err, SEEP_EINVAL, "", 0, "no epochs, or too many");
    t.rates = seep_splat_rates_of_paper(job->views->extent);
    int rc = make(&t, err);
    double start = seep_clock_s(CLOCK_MONOTONIC);
    if (!rc)
        rc = train(&t, err);
    result->train_seconds = seep_clock_s(CLOCK_MONOTONIC) - start;
    seep_cameras_destroy(t.cameras);
    for (size_t i = 0; i < job->n_further; i++)
        seep_cameras_destroy(t.further[i]);
    if (!rc)
        rc = evaluate(&t, err);
    if (!rc && job->save)
        rc = seep_gaussians_save(&t.gaussians, job->save, err);
    result->n_last = t.gaussians.n;
    seep_gaussians_fini(&t.gaussians);
    return rc;
}

/* The seed's 3D Gaussian Splatting job: its cameras as they were written, after the document's
 * first and second patch, with what a step leaves to the next, and with the pictures on the host.
 */
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/caching_judge.h"
#include "kernels/lab/scenarios/splat_card.h"
#include "kernels/lab/scenarios/splat_figures.h"
#include "kernels/lab/scenarios/splat_made_up.h"
#include "kernels/lab/scenarios/splat_pass.h"
#include "kernels/lab/scenarios/splat_save.h"
#include "kernels/lab/scenarios/splat_training.h"

#include <math.h>
#include <string.h>

/* In the order of enum seep_splat_variant. */
static const struct seep_variant variants[] = {
    {.name = "eager",
     .summary = "every photo is decoded onto the device before step 1 and stays there",
     .pattern = "eager-retention",
     .severity = "retention",
     .function = "load_camera"},
    {.name = "lazy-cached",
     .summary = "first patch: a photo is loaded at its first use and stays in the scene's list",
     .pattern = "first-touch-cache",
     .severity = "retention",
     .function = "load_camera"},
    {.name = "lazy-evicting",
     .summary = "second patch: each epoch makes a new list, and used photos are freed"},
    /* Its carry-over is an observation, not a leak: see the figures. */
    {.name = "lazy-carrying",
     .summary =
         "as lazy-evicting, but a step's picture stays alive until the next step has its own"},
    {.name = "host-resident",
     .summary = "photos stay on the host as bytes; each step converts its photo for the device",
     .pattern = "eager-retention",
     .severity = "retention",
     .function = "seep_photo_read"},
    {.name = "host-floats",
     .summary = "as host-resident, but as floats: four times the bytes",
     .pattern = "eager-retention",
     .severity = "retention",
     .function = "keep_as_floats"},
    {.name = "lazy-decoded",
     .summary = "second patch as it was: the scene's description keeps each photo that was decoded",
     .pattern = "first-touch-cache",
     .severity = "retention",
     .function = "seep_photo_read"},
    {.name = "eager-eval",
     .summary = "as eager, with test cameras and a second, smaller resolution: all on the device",
     .pattern = "eager-retention",
     .severity = "retention",
     .function = "load_camera"},
    {.name = "pair-spike",
     .summary = "scales are taken for their logarithms: each Gaussian covers all tiles, and there "
                "are 40 times as many pairs",
     .pattern = "size-spike",
     .severity = "pressure"},
    {.name = "clamped",
     .summary = "the same mistake, but no scale may exceed the largest of the first ones",
     .cured = "size-spike"},
    {.name = "cat",
     .summary = "4.4 million Gaussians on a card of 8 GB: densification joins and indexes tensors, "
                "and what they leave behind fits no more",
     .pattern = "out-of-memory",
     .severity = "pressure",
     .function = "out_of_memory",
     .fails = true},
    {.name = "cat-emptied",
     .summary =
         "the cache is emptied after each densification: other programs gain, this one fails",
     .pattern = "out-of-memory",
     .severity = "pressure",
     .function = "out_of_memory",
     .others = "unbounded-growth", /* it fails before growth ends */
     .fails = true},
    {.name = "cat-expandable",
     .summary = "each pool is one segment that grows (expandable_segments)",
     .cured = "out-of-memory"},
    {.name = "preallocated",
     .summary = "tensors have rows for all Gaussians from the first step on",
     .cured = "out-of-memory"},
    {.name = "sparse-adam",
     .summary = "as lazy-evicting, but Adam steps the Gaussians of the picture alone"},
    {0},
};

/* `seep verify` compares runs of about as many steps: cat, which dies, has no line here. */
static const struct seep_fix fixes[] = {
    {.before = "eager", .after = "lazy-evicting", .as_predicted = true},
    {.before = "lazy-cached", .after = "lazy-evicting", .as_predicted = true},
    {.before = "eager",
     .after = "lazy-cached",
     .leaves = "first-touch-cache"}, /* the first patch saves nothing */
    {.before = "eager",
     .after = "host-resident",
     .vanishes = "eager-retention",
     .leaves = "eager-retention"},
    {.before = "host-floats",
     .after = "host-resident",
     .vanishes = "eager-retention",
     .leaves = "eager-retention"},
    {.before = "lazy-decoded",
     .after = "lazy-evicting",
     .vanishes = "first-touch-cache",
     .as_predicted = true},
    {.before = "lazy-carrying",
     .after = "lazy-evicting",
     .vanishes = "carry-over",
     .least_scale = 0.01,
     .on_host = true},
    {.before = "pair-spike", .after = "clamped", .vanishes = "size-spike"},
    {.before = "cat", .after = "cat-expandable", .vanishes = "out-of-memory"},
    {.before = "cat", .after = "preallocated", .vanishes = "out-of-memory"},
    {0},
};

/* How a variant trains. */
struct plan {
    enum seep_camera_policy policy;
    bool carries, blows_up, clamps, steps_seen;
    bool evaluates;      /* test cameras and a second resolution */
    bool at_spikes_size; /* see below */
    bool on_card;        /* nothing is trained: see splat_card.h */
    bool empties, expandable, preallocated;
    unsigned epochs; /* 0: as many as pictures need */
};

/* Pairs go with Gaussians times tiles, and at 1:500 a Gaussian of usual size covers a good part of
 * the picture. So pair-spike and its fix have pictures of this width (176 tiles) and begin with so
 * many Gaussians, or more, at any scale; their number stays. */
static const double spike_width = 256;
static const size_t spike_gaussians = 5000;

static const struct plan plans[] = {
    [SEEP_SPLAT_EAGER] = {.policy = SEEP_CAMERAS_EAGER},
    [SEEP_SPLAT_LAZY_CACHED] = {.policy = SEEP_CAMERAS_CACHED},
    [SEEP_SPLAT_LAZY_EVICTING] = {.policy = SEEP_CAMERAS_EVICTING},
    [SEEP_SPLAT_LAZY_CARRYING] = {.policy = SEEP_CAMERAS_EVICTING, .carries = true},
    [SEEP_SPLAT_HOST_RESIDENT] = {.policy = SEEP_CAMERAS_ON_HOST},
    [SEEP_SPLAT_HOST_FLOATS] = {.policy = SEEP_CAMERAS_FLOATS_ON_HOST},
    [SEEP_SPLAT_LAZY_DECODED] = {.policy = SEEP_CAMERAS_DECODED},
    [SEEP_SPLAT_EAGER_EVAL] = {.policy = SEEP_CAMERAS_EAGER, .evaluates = true, .epochs = 1},
    [SEEP_SPLAT_PAIR_SPIKE] = {.policy = SEEP_CAMERAS_EVICTING,
                               .blows_up = true,
                               .at_spikes_size = true,
                               .epochs = 1},
    [SEEP_SPLAT_CLAMPED] = {.policy = SEEP_CAMERAS_EVICTING,
                            .blows_up = true,
                            .clamps = true,
                            .at_spikes_size = true,
                            .epochs = 1},
    [SEEP_SPLAT_CAT] = {.on_card = true},
    [SEEP_SPLAT_CAT_EMPTIED] = {.on_card = true, .empties = true},
    [SEEP_SPLAT_CAT_EXPANDABLE] = {.on_card = true, .expandable = true},
    [SEEP_SPLAT_PREALLOCATED] = {.on_card = true, .preallocated = true},
    [SEEP_SPLAT_SPARSE_ADAM] = {.policy = SEEP_CAMERAS_EVICTING, .steps_seen = true},
};

/* Two epochs show what the second adds; with few photos each is seen more often, so that pictures
 * are good. */
enum { MIN_EPOCHS = 2, MIN_STEPS = 300 };

static int make_data(const char *folder, double scale, uint64_t seed, struct seep_error *err)
{
    const struct seep_made_up size = seep_made_up_size(scale);

    return seep_made_up_write(folder, &size, seed, err);
}

static unsigned epochs_for(size_t n_photos)
{
    unsigned epochs = (unsigned)((MIN_STEPS + n_photos - 1) / n_photos);

    return epochs < MIN_EPOCHS ? MIN_EPOCHS : epochs;
}

/* Bytes of all pictures on the device, and of the largest. */
static double picture_bytes(const struct seep_views *views, double *largest)
{
    double sum = 0;

    *largest = 0;
    for (size_t i = 0; i < views->n; i++) {
        const struct seep_splat_camera *c = &views->list[i].camera;
        double bytes = (double)c->width * c->height * 3 * (double)sizeof(float);
        sum += bytes;
        *largest = fmax(*largest, bytes);
    }
    return sum;
}

static int write_densifications(const struct seep_splat_job *job, const struct seep_splat_result *r,
                                json_t *measured)
{
    json_t *counts = json_array();

    for (unsigned i = 0; i < SEEP_SPLAT_DENSIFICATIONS; i++) {
        json_int_t step = seep_splat_densification_step(i, r->steps);
        json_int_t n = (json_int_t)seep_splat_densified(i, r->n_first, job->n_last);
        if (json_array_append_new(counts, json_pack("[I, I]", step, n)))
            return -SEEP_ENOMEM;
    }
    return json_object_set_new(measured, "densifications", counts) ? -SEEP_ENOMEM : 0;
}

static int write_seen(const struct seep_splat_result *r, json_t *measured)
{
    json_t *seen = json_pack("{s:f, s:I, s:I, s:I}", "seen_share", r->seen, "seen_checked",
                             (json_int_t)r->check.n_seen, "seen_apart", (json_int_t)r->check.apart,
                             "unseen_moved", (json_int_t)r->check.moved);
    int rc = seen && json_object_update(measured, seen) == 0 ? 0 : -SEEP_ENOMEM;

    json_decref(seen);
    return rc;
}

static int write_measured(const struct seep_splat_job *job, const struct seep_splat_result *r,
                          json_t *measured)
{
    double largest, smaller, sum = picture_bytes(job->views, &largest),
                             cameras = (double)job->views->n;

    for (size_t i = 0; i < job->n_further; i++) {
        sum += picture_bytes(&job->further[i], &smaller);
        cameras += (double)job->further[i].n;
    }
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"photos", (double)job->views->n},
        {"cameras", cameras},
        {"photo_bytes", largest},
        {"photos_bytes", sum},
        {"epochs", job->epochs},
        {"steps", r->steps},
        {"last_densification",
         seep_splat_densification_step(SEEP_SPLAT_DENSIFICATIONS - 1, r->steps)},
        {"gaussians_first", (double)r->n_first},
        {"gaussians_last", (double)r->n_last},
        {"gaussians_pruned", (double)r->n_pruned},
        {"checkpoint_bytes", (double)r->checkpoint_bytes},
        {"gaussian_kept_bytes", (double)seep_gaussian_bytes()},
        {"gaussian_pass_bytes", (double)r->pass_bytes / (double)r->n_last},
        {"gaussian_scratch_bytes", (double)r->scratch_bytes / (double)r->n_last},
        {"pass_bytes", (double)r->pass_bytes},
        {"tiles", (double)seep_splat_tiles(&job->views->list[0].camera)},
        {"pairs_usual", (double)r->pairs_usual},
        {"pairs_largest", (double)r->pairs_largest},
        {"scratch_bytes", (double)r->scratch_bytes},
        {"ssim_bytes", (double)r->ssim_bytes},
        {"loss_first", r->first.l1},
        {"loss_last", r->last.l1},
        {"psnr_first", r->first.psnr_db},
        {"psnr_last", r->last.psnr_db},
        {"ssim_first", r->ssim_first},
        {"ssim_last", r->ssim_last},
        {"psnr_tested", r->tested.psnr_db},
        {"load_seconds", r->load_seconds},
        {"step_seconds", r->train_seconds / r->steps},
    };
    bool cuda = seep_stream_device(job->stream) == SEEP_DEVICE_CUDA;

    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        /* JSON has no infinity, the value for a picture without any error. */
        double value = isfinite(figures[i].value) ? figures[i].value : 999;
        if (isnan(figures[i].value)) /* was not computed */
            continue;
        if (json_object_set_new(measured, figures[i].name, json_real(value)))
            return -SEEP_ENOMEM;
    }
    if (json_object_set_new(measured, "space", json_string(cuda ? "device:0" : "host")) ||
        write_seen(r, measured))
        return -SEEP_ENOMEM;
    return write_densifications(job, r, measured);
}

static int which_variant(const char *name)
{
    for (int i = 0; variants[i].name; i++) {
        if (strcmp(variants[i].name, name) == 0)
            return i;
    }
    return -1;
}

static int set_spikes_size(struct seep_splat_job *job, struct seep_views *views)
{
    int rc = seep_views_thicken(views, spike_gaussians, job->seed);

    if (views->list[0].camera.width < spike_width)
        seep_views_resize(views, views->list[0].camera.width / spike_width);
    job->n_last = views->n_points;
    return rc;
}

/* The views of a job: those trained on, and those that only have pictures. */
struct scene {
    struct seep_views views, further[SEEP_SPLAT_FURTHER];
    size_t n_further;
};

/* What `train.py --eval` with resolution_scales [1, 2] loads: each eighth photo is for test
 * cameras, and each camera is there a second time at half the width. */
static int take_all_cameras(struct scene *s)
{
    enum { HELD_OUT = 8 };
    int rc = seep_views_hold_out(&s->views, HELD_OUT, &s->further[0]);

    if (!rc)
        rc = seep_views_copy(&s->further[0], &s->further[1]);
    if (!rc)
        rc = seep_views_copy(&s->views, &s->further[2]);
    seep_views_resize(&s->further[1], 2);
    seep_views_resize(&s->further[2], 2);
    s->n_further = SEEP_SPLAT_FURTHER;
    return rc;
}

static int read_scene(const struct seep_scenario_options *o, const struct plan *plan,
                      struct scene *s, struct seep_error *err)
{
    const struct seep_made_up size = seep_made_up_size(o->scale);
    int rc = seep_views_read(o->data, o->images, (double)size.width * size.height, size.n_points,
                             o->seed, &s->views, err);

    if (!rc && o->save)
        rc = seep_gaussians_can_save(o->save, err);
    return rc || !plan->evaluates ? rc : take_all_cameras(s);
}

static void free_scene(struct scene *s)
{
    seep_views_fini(&s->views);
    for (size_t i = 0; i < SEEP_SPLAT_FURTHER; i++)
        seep_views_fini(&s->further[i]);
}

static int train(const struct seep_scenario_options *options, const struct plan *plan,
                 struct scene *scene, struct seep_stream *stream, json_t *measured,
                 struct seep_error *err)
{
    struct seep_splat_result result;
    struct seep_splat_job job = {.views = &scene->views,
                                 .policy = plan->policy,
                                 .carries = plan->carries,
                                 .blows_up = plan->blows_up,
                                 .clamps = plan->clamps,
                                 .steps_seen = plan->steps_seen,
                                 .is_whole = plan->evaluates,
                                 .further = scene->further,
                                 .n_further = scene->n_further,
                                 .epochs = options->epochs ? options->epochs : plan->epochs,
                                 .n_last = SEEP_SPLAT_GROWTH * scene->views.n_points,
                                 .seed = options->seed,
                                 .pictures = options->out,
                                 .save = options->save,
                                 .progress = options->progress,
                                 .stream = stream};
    int rc = plan->at_spikes_size ? set_spikes_size(&job, &scene->views) : 0;

    if (!job.epochs)
        job.epochs = epochs_for(scene->views.n);
    if (!rc)
        rc = seep_splat_train(&job, &result, err);
    return rc ? rc : write_measured(&job, &result, measured);
}

static int run_on_card(const struct seep_scenario_options *o, const struct plan *plan,
                       json_t *measured, struct seep_error *err)
{
    const struct seep_splat_card card = {.device = o->device,
                                         .empties = plan->empties,
                                         .expandable = plan->expandable,
                                         .preallocated = plan->preallocated,
                                         .seed = o->seed,
                                         .capacity_bytes = o->capacity_bytes};

    return seep_splat_card_run(&card, measured, err);
}

static int run(const struct seep_scenario_options *options, json_t *measured,
               struct seep_error *err)
{
    const int variant = which_variant(options->variant);
    struct seep_stream *stream = NULL;
    struct scene scene = {.n_further = 0};

    if (variant < 0)
        return seep_error_set(err, SEEP_EINVAL, "", 0, "%s: no such variant", options->variant);
    const struct plan *plan = &plans[variant];
    if (plan->on_card)
        return run_on_card(options, plan, measured, err);
    int rc = options->device == SEEP_DEVICE_CUDA ? seep_stream_create_cuda(0, &stream, err)
                                                 : seep_stream_create_cpu(0, &stream);
    if (!rc)
        rc = read_scene(options, plan, &scene, err);
    if (!rc)
        rc = train(options, plan, &scene, stream, measured, err);
    free_scene(&scene);
    seep_stream_destroy(stream);
    return rc ? seep_error_set(err, -rc, "", 0, "%s", seep_error_name(rc)) : 0;
}

const struct seep_scenario seep_splat = {
    .name = "splat",
    .summary = "3D Gaussian Splatting: a list of cameras that owns every picture",
    .variants = variants,
    .fixes = fixes,
    .uses_device = true,
    .trains_gaussians = true,
    .has_capacity = true,
    .make_data = make_data,
    .run = run,
    .judge = seep_splat_judge,
    .survey = seep_caching_judge,
};

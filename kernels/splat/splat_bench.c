#include "kernels/splat/splat_bench.h"

#include "kernels/compute/chance.h"
#include "kernels/compute/stopwatch.h"
#include "kernels/splat/splat_bench_room.h"
#include "kernels/splat/splat_garden.h"
#include "kernels/splat/splat_host.h"
#include "kernels/splat/splat_reference.h"
#include "libprof/base/statistics.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The stages that are timed, each on what the one before it left. */
enum stage { PROJECT, BIN, RENDER, BACKWARD, STAGES };
enum { REPEATS = 11, REFERENCE_REPEATS = 3 };

static const char *const names[STAGES] = {"project", "bin", "render", "backward"};

struct timing {
    struct seep_splat_room room;
    double stages[STAGES][REPEATS], forward[REPEATS]; /* ms */
};

static int run_stage(struct seep_splat_room *room, enum stage stage)
{
    int rc = stage == PROJECT  ? seep_splat_room_project(room)
             : stage == BIN    ? seep_splat_room_bin(room)
             : stage == RENDER ? seep_splat_room_render(room)
                               : seep_splat_room_backward(room, NULL);

    return rc ? rc : seep_stream_wait(room->stream);
}

/* All stages in turn, once to warm up and grow what must grow. */
static int time_stages(struct timing *t)
{
    size_t values = (size_t)t->room.camera.width * (size_t)t->room.camera.height * 3;
    float *grad = malloc(values * sizeof *grad);
    int rc = grad ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < values && rc == 0; i++)
        grad[i] = (float)(i % 7) / 7 - 0.4f;
    if (rc == 0)
        rc = seep_stream_upload(t->room.stream, t->room.image_grad, grad, values * sizeof *grad);
    free(grad);
    for (int turn = -1; turn < REPEATS && rc == 0; turn++) {
        double forward = 0;
        for (int stage = 0; stage < STAGES && rc == 0; stage++) {
            double start = seep_clock_ms();
            rc = run_stage(&t->room, (enum stage)stage);
            double ms = seep_clock_ms() - start;
            if (turn >= 0)
                t->stages[stage][turn] = ms;
            forward += stage == BACKWARD ? 0 : ms;
        }
        if (turn >= 0)
            t->forward[turn] = forward;
    }
    return rc;
}

typedef int reference_render(const struct seep_splat_camera *camera,
                             const struct seep_reference_model *model, double *image,
                             double *transmittance, size_t *n_pairs);

/* The reference's forward time, and over how many pairs. */
static int time_reference(const struct seep_splat_camera *camera,
                          const struct seep_splat_model *model, reference_render *render,
                          double *ms, size_t *n_pairs)
{
    struct seep_reference_model m;
    size_t values = (size_t)camera->width * (size_t)camera->height * 3;
    double *image = malloc(values * sizeof *image), times[REFERENCE_REPEATS];
    int rc = seep_reference_model_from(&m, model);

    if (!image)
        rc = -SEEP_ENOMEM;
    for (int i = 0; i < REFERENCE_REPEATS && rc == 0; i++) {
        double start = seep_clock_ms();
        rc = render(camera, &m, image, NULL, n_pairs);
        times[i] = seep_clock_ms() - start;
    }
    if (rc == 0)
        *ms = seep_median(times, REFERENCE_REPEATS);
    seep_reference_model_free(&m);
    free(image);
    return rc;
}

/* What a stage cannot do without reading and writing once, in bytes. */
static double bytes_moved(const struct seep_splat_room *r, enum stage stage)
{
    double n = (double)r->model.n, pairs = (double)r->projected.n_pairs;
    double pixels = (double)r->camera.width * r->camera.height;
    double model = 44 + 12 * (double)r->model.sh_stride, projected = 8 + 12 + 12 + 4 + 8 + 4;

    switch (stage) {
    case PROJECT:
        return n * (model + projected);
    case BIN:
        return n * (4 + 8 + 4) + pairs * 4;
    case RENDER:
        return pairs * (4 + 36) + pixels * (12 + 4 + 4);
    default:
        return pairs * (4 + 36) + pixels * (12 + 12 + 4 + 4) + n * (2 * model + projected + 8);
    }
}

/* A copy on the device that reads and writes `bytes` in all. */
static int time_copy(struct seep_stream *stream, double bytes, double *ms)
{
    void *from = NULL, *to = NULL;
    size_t half = (size_t)(bytes / 2);
    double times[REPEATS];
    int rc = seep_stream_alloc(stream, half, &from);

    if (rc == 0)
        rc = seep_stream_alloc(stream, half, &to);
    for (int i = -1; i < REPEATS && rc == 0; i++) {
        double start = seep_clock_ms();
        rc = seep_stream_upload(stream, to, from, half);
        if (i >= 0)
            times[i] = seep_clock_ms() - start;
    }
    if (rc == 0)
        *ms = seep_median(times, REPEATS);
    if (from)
        seep_stream_free(stream, from);
    if (to)
        seep_stream_free(stream, to);
    return rc;
}

static json_t *row_of(const struct timing *t, const char *kernel, const char *input,
                      const double *times)
{
    return json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:f, s:I}", "kernel", kernel, "input", input, "gaussians",
        (json_int_t)t->room.model.n, "seen", (json_int_t)t->room.projected.n_seen, "pairs",
        (json_int_t)t->room.projected.n_pairs, "median_ms", seep_median((double *)times, REPEATS),
        "bytes_held", (json_int_t)t->room.bytes);
}

static int add_stages(json_t *results, struct timing *t, const char *input)
{
    bool cuda = seep_stream_device(t->room.stream) == SEEP_DEVICE_CUDA;

    for (int stage = 0; stage < STAGES; stage++) {
        json_t *row = row_of(t, names[stage], input, t->stages[stage]);
        double bytes = bytes_moved(&t->room, (enum stage)stage), ms = 0;
        int rc = cuda ? time_copy(t->room.stream, bytes, &ms) : 0;
        if (cuda && rc == 0 && row) {
            json_object_set_new(row, "bytes_moved", json_integer((json_int_t)bytes));
            json_object_set_new(row, "copy_ms", json_real(ms));
        }
        if (json_array_append_new(results, row) && rc == 0)
            rc = -SEEP_ENOMEM;
        if (rc)
            return rc;
    }
    return 0;
}

/* Forward again by the tile rules beside the default: their pairs and times under its own. */
static int add_rules(json_t *results, struct timing *t, const char *input)
{
    static const char *const names_of[SEEP_SPLAT_TILE_RULES] = {
        [SEEP_SPLAT_TILES_REACHED] = "forward, tiles reached",
        [SEEP_SPLAT_TILES_SQUARE] = "forward, tiles of 3DGS"};
    int rc = 0;

    for (int rule = SEEP_SPLAT_TILES_BOX + 1; rule < SEEP_SPLAT_TILE_RULES && rc == 0; rule++) {
        t->room.projected.rule = (enum seep_splat_tile_rule)rule;
        for (int turn = -1; turn < REPEATS && rc == 0; turn++) {
            double start = seep_clock_ms();
            for (int stage = PROJECT; stage <= RENDER && rc == 0; stage++)
                rc = run_stage(&t->room, (enum stage)stage);
            if (turn >= 0)
                t->forward[turn] = seep_clock_ms() - start;
        }
        if (rc == 0 && json_array_append_new(results, row_of(t, names_of[rule], input, t->forward)))
            rc = -SEEP_ENOMEM;
    }
    return rc;
}

/* Beside the forward time: the reference over its own lists, of the whole 3 sigma square, and over
 * those of the kernel. */
static int add_baselines(json_t *row, const struct seep_splat_camera *camera,
                         const struct seep_splat_model *model)
{
    double forward = json_number_value(json_object_get(row, "median_ms")), ms = 0, tight_ms = 0;
    size_t n_pairs = 0, n_tight = 0;
    int rc = time_reference(camera, model, seep_reference_render, &ms, &n_pairs);

    if (rc == 0)
        rc = time_reference(camera, model, seep_reference_render_tight, &tight_ms, &n_tight);
    if (rc)
        return rc;
    json_t *more = json_pack(
        "{s:s, s:f, s:I, s:f, s:f, s:I, s:f}", "baseline",
        "double-precision reference, one thread, tiles of the whole 3 sigma square", "baseline_ms",
        ms, "baseline_pairs", (json_int_t)n_pairs, "speedup", ms / forward, "tight_baseline_ms",
        tight_ms, "tight_baseline_pairs", (json_int_t)n_tight, "tight_speedup", tight_ms / forward);
    rc = more && json_object_update(row, more) == 0 ? 0 : -SEEP_ENOMEM;
    json_decref(more);
    return rc;
}

static int bench_scene(json_t *results, const char *input, const struct seep_splat_camera *camera,
                       const struct seep_splat_model *model, struct seep_stream *stream)
{
    struct timing *t = calloc(1, sizeof *t);

    if (!t)
        return -SEEP_ENOMEM;
    int rc = seep_splat_room_init(&t->room, stream, camera, model);
    if (rc == 0)
        rc = time_stages(t);
    if (rc == 0) {
        json_t *row = row_of(t, "forward", input, t->forward);
        if (row && seep_stream_device(stream) == SEEP_DEVICE_CPU)
            rc = add_baselines(row, camera, model);
        if (json_array_append_new(results, row) && rc == 0)
            rc = -SEEP_ENOMEM;
    }
    if (rc == 0)
        rc = add_stages(results, t, input);
    if (rc == 0)
        rc = add_rules(results, t, input);
    seep_splat_room_fini(&t->room);
    free(t);
    return rc;
}

static float next_random(struct seep_chance *chance)
{
    return (float)seep_chance_uniform(chance);
}

/* Gaussians strewn over the view between 2 and 22 away; their size in the picture falls with their
 * number, so that some 20 lie behind each pixel. */
static int make_scene(struct seep_splat_host *h, struct seep_splat_camera *c, size_t n, int width,
                      int height)
{
    struct seep_chance chance = {1};
    int rc = seep_splat_host_init(h, n, 3);
    float size = 1.2f * sqrtf((float)width * (float)height / (float)n) / (float)width;

    *c = (struct seep_splat_camera){.width = width,
                                    .height = height,
                                    .fx = (float)width,
                                    .fy = (float)width,
                                    .cx = (float)width / 2,
                                    .cy = (float)height / 2,
                                    .rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (size_t i = 0; i < n && rc == 0; i++) {
        float z = 2 + 20 * next_random(&chance);
        h->means[i][0] = z * 1.1f * (next_random(&chance) - 0.5f);
        h->means[i][1] = z * 1.1f * (next_random(&chance) - 0.5f) * (float)height / (float)width;
        h->means[i][2] = z;
        for (int k = 0; k < 3; k++)
            h->scales[i][k] = z * size * exp2f(3 * next_random(&chance) - 1.5f);
        for (int k = 0; k < 4; k++)
            h->rotations[i][k] = next_random(&chance) - 0.5f + (float)(k == 0);
        h->opacities[i] = 0.05f + 0.9f * next_random(&chance);
        for (size_t k = 0; k < 48; k++)
            h->sh[48 * i + k] = (k < 3 ? 2.0f : 0.2f) * (next_random(&chance) - 0.5f);
    }
    return rc;
}

static int bench_made_up(json_t *results, struct seep_stream *stream)
{
    bool cuda = seep_stream_device(stream) == SEEP_DEVICE_CUDA;
    struct seep_splat_camera camera;
    struct seep_splat_host host;
    int rc = cuda ? make_scene(&host, &camera, 2800000, 1920, 1080)
                  : make_scene(&host, &camera, 100000, 640, 360);

    if (rc == 0)
        rc = bench_scene(results, cuda ? "2.8 M at 1920x1080" : "100,000 at 640x360", &camera,
                         &host.model, stream);
    seep_splat_host_fini(&host);
    return rc;
}

int seep_splat_bench(json_t *results, const char *data_folder, struct seep_stream *stream,
                     struct seep_error *err)
{
    char path[PATH_MAX];
    struct seep_garden garden;
    int rc;

    if (data_folder) {
        if (snprintf(path, sizeof path, "%s/" SEEP_SPLAT_BENCH_FILE, data_folder) >=
            (int)sizeof path)
            return seep_error_set(err, SEEP_EINVAL, data_folder, 0, "the path is too long");
        rc = seep_garden_read(path, 3, 1, &garden, err);
        if (rc)
            return rc;
        rc = bench_scene(results, SEEP_SPLAT_BENCH_FILE, &garden.cameras[0], &garden.host.model,
                         stream);
        seep_garden_free(&garden);
        if (rc)
            return rc;
    }
    return bench_made_up(results, stream);
}

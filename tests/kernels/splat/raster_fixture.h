/* Scenes for the tests of the splatting rasteriser, and the streams they run on. */
#ifndef SEEP_TESTS_KERNELS_SPLAT_RASTER_FIXTURE_H
#define SEEP_TESTS_KERNELS_SPLAT_RASTER_FIXTURE_H

#include "kernels/compute/chance.h"
#include "kernels/splat/splat_bench_room.h"
#include "kernels/splat/splat_garden.h"
#include "kernels/splat/splat_host.h"
#include "kernels/splat/splat_reference.h"
#include "tests/cuda_device.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPU_1, CPU_3, CUDA_0 };

/* How many of these there are on this machine. */
static inline int n_streams(void)
{
    return has_cuda() ? CUDA_0 + 1 : CUDA_0;
}

static inline struct seep_stream *make_stream(int kind)
{
    struct seep_stream *stream = NULL;
    struct seep_error err = {0};

    if (kind == CUDA_0)
        ck_assert_msg(seep_stream_create_cuda(0, &stream, &err) == 0, "%s", err.text);
    else
        ck_assert_int_eq(seep_stream_create_cpu(kind == CPU_1 ? 1 : 3, &stream), 0);
    return stream;
}

/* Between −1 and 1. */
static inline double next_number(uint64_t *state)
{
    struct seep_chance chance = {*state};
    double number = 2 * seep_chance_uniform(&chance) - 1;

    *state = chance.state;
    return number;
}

/* A camera turned and moved a little off the axes, with an off-centre principal point. */
static inline struct seep_splat_camera make_camera(int width, int height)
{
    struct seep_splat_camera c = {.width = width,
                                  .height = height,
                                  .fx = 0.9f * (float)width,
                                  .fy = 1.1f * (float)width,
                                  .cx = 0.5f * (float)width + 1.25f,
                                  .cy = 0.5f * (float)height - 0.75f,
                                  .translation = {0.1f, -0.2f, 0.3f},
                                  .background = {0.2f, 0.1f, 0.4f}};
    const float a = 0.3f, b = -0.2f; /* about y, then x */
    const float r[3][3] = {{cosf(a), 0, sinf(a)},
                           {sinf(b) * sinf(a), cosf(b), -sinf(b) * cosf(a)},
                           {-cosf(b) * sinf(a), sinf(b), cosf(b) * cosf(a)}};

    memcpy(c.rotation, r, sizeof r);
    return c;
}

/* Along the z axis. */
static const struct seep_splat_camera straight = {.width = 41,
                                                  .height = 35,
                                                  .fx = 40,
                                                  .fy = 40,
                                                  .cx = 20.5f,
                                                  .cy = 17.5f,
                                                  .rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                                  .background = {0.25f, 0.5f, 0.75f}};

/* n Gaussians in front of make_camera()'s camera, a few of them behind it or out of sight;
 * `stretch` is how much longer a Gaussian may be one way than another, as a power of two. */
static inline void make_scene(struct seep_splat_host *h, size_t n, int sh_degree, double stretch,
                              uint64_t seed)
{
    ck_assert_int_eq(seep_splat_host_init(h, n, sh_degree), 0);
    for (size_t i = 0; i < n; i++) {
        double z = 4 + 4.5 * next_number(&seed);
        double x = 0.7 * z * next_number(&seed), y = 0.7 * z * next_number(&seed);
        h->means[i][0] = (float)(x - 0.3 * z);
        h->means[i][1] = (float)(y - 0.2 * z);
        h->means[i][2] = (float)z;
        for (int k = 0; k < 3; k++)
            h->scales[i][k] = (float)(0.15 * exp2(stretch * next_number(&seed)));
        for (int k = 0; k < 4; k++)
            h->rotations[i][k] = (float)(2 * next_number(&seed));
        h->opacities[i] = (float)(0.5 + 0.499 * next_number(&seed));
        for (int k = 0; k < 3 * h->model.sh_stride; k++)
            h->sh[3 * (size_t)h->model.sh_stride * i + (size_t)k] =
                (float)((k < 3 ? 1.5 : 0.4) * next_number(&seed));
    }
}

/* garden.npz of the folder in SEEP_DATA; NULL without, and in sanitized builds, where CUDA's
 * kernels on the CPU would take minutes over it. */
static inline const char *garden_path(void)
{
    static char path[4096];
    const char *folder = getenv("SEEP_DATA");

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    folder = NULL;
#endif
    if (!folder || !*folder)
        return NULL;
    snprintf(path, sizeof path, "%s/garden.npz", folder);
    return path;
}

/* Root of summed squared differences over that of the reference's. */
static inline double relative_error(const float *got, const double *expected, size_t n)
{
    double difference = 0, whole = 0;

    for (size_t i = 0; i < n; i++) {
        double d = (double)got[i] - expected[i];
        difference += d * d;
        whole += expected[i] * expected[i];
    }
    return whole > 0 ? sqrt(difference / whole) : sqrt(difference);
}

/* Share of numbers off by more than `bound` × (their size + the largest's hundredth). NaN is off.
 */
static inline double share_off(const float *got, const double *expected, size_t n, double bound)
{
    double largest = 0;
    size_t off = 0;

    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (size_t i = 0; i < n; i++)
        off += !(fabs((double)got[i] - expected[i]) <= bound * (fabs(expected[i]) + largest / 100));
    return n ? (double)off / (double)n : 0;
}

static inline void alloc_gradients(struct seep_splat_gradients *g, const struct seep_splat_model *m)
{
    size_t room = m->n ? m->n : 1;

    g->means = calloc(room, sizeof *g->means);
    g->scales = calloc(room, sizeof *g->scales);
    g->rotations = calloc(room, sizeof *g->rotations);
    g->opacities = calloc(room, sizeof *g->opacities);
    g->sh = calloc(room * (size_t)m->sh_stride, 3 * sizeof *g->sh);
    g->means2d = calloc(room, sizeof *g->means2d);
    ck_assert(g->means && g->scales && g->rotations && g->opacities && g->sh && g->means2d);
}

static inline void free_gradients(struct seep_splat_gradients *g)
{
    free(g->means);
    free(g->scales);
    free(g->rotations);
    free(g->opacities);
    free(g->sh);
    free(g->means2d);
}

#endif

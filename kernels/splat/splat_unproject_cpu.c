/* From the pairs' sums to the gradients of the Gaussians' parameters, sixteen at a time. */
#pragma GCC optimize("fp-contract=fast")

#include "kernels/splat/splat_backward_parts.h"
#include "kernels/splat/splat_lanes.h"

#include <stdatomic.h>
#include <string.h>

enum { BATCH = 32 * LANES };

struct unproject {
    const struct seep_splat_camera *camera;
    const struct seep_splat_model *model;
    const struct seep_splat_projected *projected;
    const float (*sums)[PAIR_SUMS];
    struct seep_splat_gradients *out;
    atomic_size_t next;
    enum seep_cpu_level level;
};

/* Gradients by … */
struct slopes {
    float sums[PAIR_SUMS][LANES];
    float mean2d[2][LANES], cov[3][LANES]; /* cov: 2 C by det, by B, 2 by C where det stays */
    float rows[6][LANES], n[6][LANES], rotation[9][LANES], project[6][LANES];
    float dir[3][LANES], sh[MAX_SH][LANES];
    float mean[3][LANES], scale[3][LANES], q[4][LANES];
    float y[MAX_SH][LANES]; /* the harmonics themselves */
};

SEEP_INLINE void add_pairs(const struct unproject *p, size_t first, size_t n, struct slopes *s)
{
    memset(s->sums, 0, sizeof s->sums);
    for (size_t l = 0; l < n; l++) {
        float sum[PAIR_SUMS] = {0};
        for (size_t k = p->projected->offsets[first + l]; k < p->projected->offsets[first + l + 1];
             k++)
            for (int e = 0; e < PAIR_SUMS; e++)
                sum[e] += p->sums[k][e];
        for (int e = 0; e < PAIR_SUMS; e++)
            s->sums[e][l] = sum[e];
        for (int e = 0; e < 3; e++)
            if (!(p->projected->prints[first + l].color[e] > 0))
                s->sums[SUM_COLOR + e][l] = 0;
    }
}

/* The mean in the picture, and through the roots a, b, c to the rows m of N diag(scale): a = k S^−½
 * with S = det / C, b = −a B/C, c = k C^−½. det is taken in its form without cancellation (Cauchy
 * and Binet, splat_twins.h): through A − B²/C a needle's gradients would be lost. */
SEEP_INLINE void root_backward(const struct lanes *b, struct slopes *s)
{
    const float k = 2 * (float)SEEP_LN2;

    EACH_LANE (l) {
        float ra = b->root[0][l], rb = b->root[1][l], rc = b->root[2][l];
        float by_a = -k * s->sums[SUM_WUX][l], by_b = -k * s->sums[SUM_WUY][l];
        float by_c = -k * rc * s->sums[SUM_WYY][l];
        float inverse = 1 / b->cov[2][l];
        s->mean2d[0][l] = k * ra * s->sums[SUM_WU][l];
        s->mean2d[1][l] = k * (rb * s->sums[SUM_WU][l] + rc * rc * s->sums[SUM_WY][l]);
        by_a -= by_b * b->cov[1][l] * inverse;
        s->cov[0][l] = -by_a * ra / b->schur[l];
        s->cov[1][l] = -by_b * ra * inverse;
        s->cov[2][l] = (by_a * ra - 2 * by_b * rb - by_c * rc) * inverse;
    }
    EACH_LANE (l) {
        float s0 = b->scale[0][l], s1 = b->scale[1][l], s2 = b->scale[2][l];
        float u0 = b->n[0][l] * s0, u1 = b->n[1][l] * s1, u2 = b->n[2][l] * s2;
        float v0 = b->n[3][l] * s0, v1 = b->n[4][l] * s1, v2 = b->n[5][l] * s2;
        float inverse = 1 / b->cov[2][l], low = SEEP_SPLAT_LOW_PASS * inverse;
        float h0 = (u1 * v2 - u2 * v1) * inverse, h1 = (u2 * v0 - u0 * v2) * inverse;
        float h2 = (u0 * v1 - u1 * v0) * inverse;
        float by_s = s->cov[0][l], by_uv = s->cov[1][l], by_vv = s->cov[2][l];
        s->rows[0][l] = by_uv * v0 + by_s * (v1 * h2 - v2 * h1 + low * u0);
        s->rows[1][l] = by_uv * v1 + by_s * (v2 * h0 - v0 * h2 + low * u1);
        s->rows[2][l] = by_uv * v2 + by_s * (v0 * h1 - v1 * h0 + low * u2);
        s->rows[3][l] = by_uv * u0 + by_vv * v0 + by_s * (h1 * u2 - h2 * u1 + low * v0);
        s->rows[4][l] = by_uv * u1 + by_vv * v1 + by_s * (h2 * u0 - h0 * u2 + low * v1);
        s->rows[5][l] = by_uv * u2 + by_vv * v2 + by_s * (h0 * u1 - h1 * u0 + low * v2);
    }
}

/* Through the rows m of N diag(scale), and N = (J W) R. */
SEEP_INLINE void shape_backward(const struct lanes *b, struct slopes *s)
{
    for (int j = 0; j < 3; j++)
        EACH_LANE (l) {
            float scale = b->scale[j][l], by_0 = s->rows[j][l], by_1 = s->rows[3 + j][l];
            s->scale[j][l] = by_0 * b->n[j][l] + by_1 * b->n[3 + j][l];
            s->n[j][l] = by_0 * scale;
            s->n[3 + j][l] = by_1 * scale;
        }
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            EACH_LANE (l)
                s->rotation[3 * k + j][l] =
                    b->project[k][l] * s->n[j][l] + b->project[3 + k][l] * s->n[3 + j][l];
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < 3; k++)
            EACH_LANE (l)
                s->project[3 * r + k][l] = s->n[3 * r][l] * b->rotation[3 * k][l] +
                                           s->n[3 * r + 1][l] * b->rotation[3 * k + 1][l] +
                                           s->n[3 * r + 2][l] * b->rotation[3 * k + 2][l];
}

/* Through R(q / |q|). */
SEEP_INLINE void rotation_backward(const struct lanes *b, struct slopes *s)
{
    EACH_LANE (l) {
        float w = b->q[0][l], x = b->q[1][l], y = b->q[2][l], z = b->q[3][l];
        float xy = s->rotation[1][l] + s->rotation[3][l],
              xz = s->rotation[2][l] + s->rotation[6][l];
        float yz = s->rotation[5][l] + s->rotation[7][l],
              wx = s->rotation[7][l] - s->rotation[5][l];
        float wy = s->rotation[2][l] - s->rotation[6][l],
              wz = s->rotation[3][l] - s->rotation[1][l];
        float xx = s->rotation[0][l], yy = s->rotation[4][l], zz = s->rotation[8][l];
        float dw = 2 * (x * wx + y * wy + z * wz);
        float dx = 2 * (w * wx + y * xy + z * xz - 2 * x * (yy + zz));
        float dy = 2 * (w * wy + x * xy + z * yz - 2 * y * (xx + zz));
        float dz = 2 * (w * wz + x * xz + y * yz - 2 * z * (xx + yy));
        float along = w * dw + x * dx + y * dy + z * dz, inverse = b->q_inverse[l];
        s->q[0][l] = (dw - w * along) * inverse;
        s->q[1][l] = (dx - x * along) * inverse;
        s->q[2][l] = (dy - y * along) * inverse;
        s->q[3][l] = (dz - z * along) * inverse;
    }
}

/* Through the harmonics up to `degree` to the direction, given s->sh, by each harmonic's value. */
SEEP_INLINE void harmonics_backward(int degree, const struct lanes *b, struct slopes *s)
{
    const float c1 = (float)SEEP_SH_1, c20 = (float)SEEP_SH_2_0, c21 = (float)SEEP_SH_2_1;
    const float c22 = (float)SEEP_SH_2_2, c30 = (float)SEEP_SH_3_0, c31 = (float)SEEP_SH_3_1;
    const float c32 = (float)SEEP_SH_3_2, c33 = (float)SEEP_SH_3_3, c34 = (float)SEEP_SH_3_4;
    float(*g)[LANES] = s->sh;

    memset(s->dir, 0, sizeof s->dir);
    if (degree >= 1)
        EACH_LANE (l) {
            s->dir[0][l] = -c1 * g[3][l];
            s->dir[1][l] = -c1 * g[1][l];
            s->dir[2][l] = c1 * g[2][l];
        }
    if (degree >= 2)
        EACH_LANE (l) {
            float x = b->dir[0][l], y = b->dir[1][l], z = b->dir[2][l];
            s->dir[0][l] +=
                c20 * (y * g[4][l] - z * g[7][l]) + 2 * x * (c22 * g[8][l] - c21 * g[6][l]);
            s->dir[1][l] +=
                c20 * (x * g[4][l] - z * g[5][l]) - 2 * y * (c22 * g[8][l] + c21 * g[6][l]);
            s->dir[2][l] += 4 * c21 * z * g[6][l] - c20 * (y * g[5][l] + x * g[7][l]);
        }
    if (degree >= 3)
        EACH_LANE (l) {
            float x = b->dir[0][l], y = b->dir[1][l], z = b->dir[2][l];
            float xx = x * x, yy = y * y, zz = z * z, xy = x * y, xz = x * z, yz = y * z;
            s->dir[0][l] += c31 * yz * g[10][l] - 6 * c30 * xy * g[9][l] + 2 * c32 * xy * g[11][l] -
                            6 * c33 * xz * g[12][l] - c32 * (4 * zz - 3 * xx - yy) * g[13][l] +
                            2 * c34 * xz * g[14][l] - 3 * c30 * (xx - yy) * g[15][l];
            s->dir[1][l] += c31 * xz * g[10][l] - 3 * c30 * (xx - yy) * g[9][l] -
                            c32 * (4 * zz - xx - 3 * yy) * g[11][l] - 6 * c33 * yz * g[12][l] +
                            2 * c32 * xy * g[13][l] - 2 * c34 * yz * g[14][l] +
                            6 * c30 * xy * g[15][l];
            s->dir[2][l] += c31 * xy * g[10][l] - 8 * c32 * yz * g[11][l] +
                            3 * c33 * (2 * zz - xx - yy) * g[12][l] - 8 * c32 * xz * g[13][l] +
                            c34 * (xx - yy) * g[14][l];
        }
}

SEEP_INLINE void color_backward(const struct seep_splat_model *m, size_t first, struct lanes *b,
                                struct slopes *s)
{
    uint32_t gaussians[LANES];

    EACH_LANE (l)
        gaussians[l] = (uint32_t)(first + (size_t)l < m->n ? first + (size_t)l : m->n - 1);
    lanes_load_sh(m, gaussians, b);
    lanes_harmonics(m->sh_degree, b, s->y);
    for (int k = 0; k < (m->sh_degree + 1) * (m->sh_degree + 1); k++)
        EACH_LANE (l)
            s->sh[k][l] = s->sums[SUM_COLOR][l] * b->sh[3 * k][l] +
                          s->sums[SUM_COLOR + 1][l] * b->sh[3 * k + 1][l] +
                          s->sums[SUM_COLOR + 2][l] * b->sh[3 * k + 2][l];
    harmonics_backward(m->sh_degree, b, s);
}

/* Through J, the mean in the picture and the direction to the mean in the world. */
SEEP_INLINE void mean_backward(const struct seep_splat_camera *c, const struct lanes *b,
                               struct slopes *s)
{
    const float f[2] = {c->fx, c->fy};
    float by_p[3][LANES] = {{0}};

    for (int r = 0; r < 2; r++)
        EACH_LANE (l) {
            float near = 0, far = 0, z = b->z_inverse[l], slope = b->slope[r][l];
            for (int k = 0; k < 3; k++) {
                near += s->project[3 * r + k][l] * c->rotation[r][k];
                far += s->project[3 * r + k][l] * c->rotation[2][k];
            }
            float by_ratio = b->ratio[r][l] != slope ? 0 : -z * far;
            float by_slope = f[r] * (by_ratio + s->mean2d[r][l]);
            by_p[r][l] = by_slope * z;
            by_p[2][l] += z * (f[r] * z * (b->ratio[r][l] * far - near) - by_slope * slope);
        }
    EACH_LANE (l) {
        float along =
            s->dir[0][l] * b->dir[0][l] + s->dir[1][l] * b->dir[1][l] + s->dir[2][l] * b->dir[2][l];
        for (int j = 0; j < 3; j++)
            s->mean[j][l] = c->rotation[0][j] * by_p[0][l] + c->rotation[1][j] * by_p[1][l] +
                            c->rotation[2][j] * by_p[2][l] +
                            (s->dir[j][l] - b->dir[j][l] * along) * b->dir_inverse[l];
    }
}

static inline void store(const struct unproject *p, size_t i, int l, const struct slopes *s)
{
    struct seep_splat_gradients *out = p->out;
    int used = (p->model->sh_degree + 1) * (p->model->sh_degree + 1);
    float *sh = out->sh + i * (size_t)p->model->sh_stride * 3;

    for (int k = 0; k < 3; k++) {
        out->means[i][k] = s->mean[k][l];
        out->scales[i][k] = s->scale[k][l];
    }
    for (int k = 0; k < 4; k++)
        out->rotations[i][k] = s->q[k][l];
    out->opacities[i] = s->sums[SUM_W][l] / p->model->opacities[i];
    for (int k = 0; k < used; k++)
        for (int e = 0; e < 3; e++)
            sh[3 * k + e] = s->y[k][l] * s->sums[SUM_COLOR + e][l];
    memset(sh + 3 * used, 0, (size_t)(p->model->sh_stride - used) * 3 * sizeof *sh);
    for (int k = 0; out->means2d && k < 2; k++)
        out->means2d[i][k] = s->mean2d[k][l];
}

static inline void store_zeros(const struct unproject *p, size_t i)
{
    size_t stride = (size_t)p->model->sh_stride * 3;

    memset(p->out->means[i], 0, sizeof p->out->means[i]);
    memset(p->out->scales[i], 0, sizeof p->out->scales[i]);
    memset(p->out->rotations[i], 0, sizeof p->out->rotations[i]);
    p->out->opacities[i] = 0;
    memset(p->out->sh + i * stride, 0, stride * sizeof(float));
    if (p->out->means2d)
        memset(p->out->means2d[i], 0, sizeof p->out->means2d[i]);
}

SEEP_INLINE void unproject_lanes(const struct unproject *p, size_t first, size_t n)
{
    struct lanes b;
    struct slopes s;
    bool any = false;

    for (size_t l = 0; l < n; l++)
        any |= p->projected->prints[first + l].tiles[2] != 0;
    if (any) {
        lanes_load(p->model, first, &b);
        lanes_geometry(p->camera, &b);
        add_pairs(p, first, n, &s);
        root_backward(&b, &s);
        shape_backward(&b, &s);
        rotation_backward(&b, &s);
        color_backward(p->model, first, &b, &s);
        mean_backward(p->camera, &b, &s);
    }
    for (size_t l = 0; l < n; l++) {
        if (p->projected->prints[first + l].tiles[2])
            store(p, first + l, (int)l, &s);
        else
            store_zeros(p, first + l);
    }
}

SEEP_INLINE void unproject_batch(const struct unproject *p, size_t first, size_t end)
{
    for (size_t i = first; i < end; i += LANES)
        unproject_lanes(p, i, end - i < LANES ? end - i : LANES);
}

SEEP_LEVELS(unproject, unproject_batch, (const struct unproject *p, size_t first, size_t end),
            (p, first, end));

static void unproject_work(void *arg, unsigned thread, unsigned n_threads)
{
    struct unproject *p = arg;
    size_t n = p->model->n, first;

    (void)thread, (void)n_threads;
    while ((first = atomic_fetch_add(&p->next, BATCH)) < n)
        unproject_levels[p->level](p, first, n - first < BATCH ? n : first + BATCH);
}

void seep_splat_unproject(const struct seep_splat_camera *camera,
                          const struct seep_splat_model *model,
                          const struct seep_splat_projected *projected,
                          const float (*sums)[PAIR_SUMS], struct seep_splat_gradients *out,
                          struct seep_stream *stream)
{
    struct unproject p = {.camera = camera,
                          .model = model,
                          .projected = projected,
                          .sums = sums,
                          .out = out,
                          .level = seep_cpu_level()};

    seep_stream_run(stream, unproject_work, &p);
}

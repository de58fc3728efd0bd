#include "kernels/splat/splat_reference_view.h"

#include "kernels/splat/splat_math.h"

#include <math.h>
#include <string.h>

/* Everything between a Gaussian's parameters and its covariance in the picture. */
struct geometry {
    double p[3];     /* before the camera */
    double ratio[2]; /* x/z, y/z, clamped */
    bool clamped[2];
    double q[4], q_length;
    double rotation[3][3], l[3][3]; /* of q; L = R diag(scale) */
    double sigma[3][3];             /* L Lᵀ */
    double project[2][3];           /* J W */
    double cov[3];                  /* xx, xy, yy with the low-pass */
};

static void rotation_of(const double q[4], double r[3][3])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double m[3][3] = {
        {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
        {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
        {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)},
    };

    memcpy(r, m, sizeof m);
}

/* Its transposed derivative: of q, given that of R. */
static void rotation_backward(const double q[4], double d[3][3], double dq[4])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];

    dq[0] = 2 * (x * (d[2][1] - d[1][2]) + y * (d[0][2] - d[2][0]) + z * (d[1][0] - d[0][1]));
    dq[1] = 2 * (y * (d[0][1] + d[1][0]) + z * (d[0][2] + d[2][0]) + w * (d[2][1] - d[1][2]) -
                 2 * x * (d[1][1] + d[2][2]));
    dq[2] = 2 * (x * (d[0][1] + d[1][0]) + z * (d[1][2] + d[2][1]) + w * (d[0][2] - d[2][0]) -
                 2 * y * (d[0][0] + d[2][2]));
    dq[3] = 2 * (x * (d[0][2] + d[2][0]) + y * (d[1][2] + d[2][1]) + w * (d[1][0] - d[0][1]) -
                 2 * z * (d[0][0] + d[1][1]));
}

/* Values y[k] and derivatives dy[k] by direction of the spherical harmonics up to degree 3. */
static void harmonics(int degree, const double dir[3], double y[16], double dy[16][3])
{
    double x = dir[0], b = dir[1], z = dir[2];
    double xx = x * x, bb = b * b, zz = z * z;
    const double value[16] = {
        SEEP_SH_0,
        -SEEP_SH_1 * b,
        SEEP_SH_1 * z,
        -SEEP_SH_1 * x,
        SEEP_SH_2_0 * x * b,
        -SEEP_SH_2_0 * b * z,
        SEEP_SH_2_1 * (2 * zz - xx - bb),
        -SEEP_SH_2_0 * x * z,
        SEEP_SH_2_2 * (xx - bb),
        -SEEP_SH_3_0 * b * (3 * xx - bb),
        SEEP_SH_3_1 * x * b * z,
        -SEEP_SH_3_2 * b * (4 * zz - xx - bb),
        SEEP_SH_3_3 * z * (2 * zz - 3 * xx - 3 * bb),
        -SEEP_SH_3_2 * x * (4 * zz - xx - bb),
        SEEP_SH_3_4 * z * (xx - bb),
        -SEEP_SH_3_0 * x * (xx - 3 * bb),
    };
    const double slope[16][3] = {
        {0, 0, 0},
        {0, -SEEP_SH_1, 0},
        {0, 0, SEEP_SH_1},
        {-SEEP_SH_1, 0, 0},
        {SEEP_SH_2_0 * b, SEEP_SH_2_0 * x, 0},
        {0, -SEEP_SH_2_0 * z, -SEEP_SH_2_0 * b},
        {-2 * SEEP_SH_2_1 * x, -2 * SEEP_SH_2_1 * b, 4 * SEEP_SH_2_1 * z},
        {-SEEP_SH_2_0 * z, 0, -SEEP_SH_2_0 * x},
        {2 * SEEP_SH_2_2 * x, -2 * SEEP_SH_2_2 * b, 0},
        {-6 * SEEP_SH_3_0 * x * b, -3 * SEEP_SH_3_0 * (xx - bb), 0},
        {SEEP_SH_3_1 * b * z, SEEP_SH_3_1 * x * z, SEEP_SH_3_1 * x * b},
        {2 * SEEP_SH_3_2 * x * b, -SEEP_SH_3_2 * (4 * zz - xx - 3 * bb), -8 * SEEP_SH_3_2 * b * z},
        {-6 * SEEP_SH_3_3 * x * z, -6 * SEEP_SH_3_3 * b * z,
         SEEP_SH_3_3 * (6 * zz - 3 * xx - 3 * bb)},
        {-SEEP_SH_3_2 * (4 * zz - 3 * xx - bb), 2 * SEEP_SH_3_2 * x * b, -8 * SEEP_SH_3_2 * x * z},
        {2 * SEEP_SH_3_4 * x * z, -2 * SEEP_SH_3_4 * b * z, SEEP_SH_3_4 * (xx - bb)},
        {-3 * SEEP_SH_3_0 * (xx - bb), 6 * SEEP_SH_3_0 * x * b, 0},
    };
    size_t used = (size_t)((degree + 1) * (degree + 1));

    memcpy(y, value, used * sizeof *y);
    memcpy(dy, slope, used * sizeof *dy);
}

/* From the camera's centre, −Rᵀt, to the mean; its length. */
static double direction_to(const struct seep_splat_camera *c, const double mean[3], double dir[3])
{
    for (int k = 0; k < 3; k++) {
        dir[k] = mean[k];
        for (int l = 0; l < 3; l++)
            dir[k] += (double)c->rotation[l][k] * (double)c->translation[l];
    }
    double length = sqrt(dir[0] * dir[0] + dir[1] * dir[1] + dir[2] * dir[2]);
    for (int k = 0; k < 3; k++)
        dir[k] = length > 0 ? dir[k] / length : (double)(k == 2);
    return length;
}

/* False where the Gaussian lies before the near plane, or has no rotation. */
static bool geometry_of(const struct seep_splat_camera *c, const struct seep_reference_model *m,
                        size_t i, struct geometry *g)
{
    const double *mean = m->means[i], *scale = m->scales[i], *q = m->rotations[i];
    const double f[2] = {(double)c->fx, (double)c->fy};
    const double size[2] = {c->width, c->height};

    for (int k = 0; k < 3; k++)
        g->p[k] = (double)c->rotation[k][0] * mean[0] + (double)c->rotation[k][1] * mean[1] +
                  (double)c->rotation[k][2] * mean[2] + (double)c->translation[k];
    g->q_length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!((float)g->p[2] > SEEP_SPLAT_NEAR) || !(g->q_length > 0))
        return false;
    for (int k = 0; k < 4; k++)
        g->q[k] = q[k] / g->q_length;
    rotation_of(g->q, g->rotation);
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            g->l[k][j] = g->rotation[k][j] * scale[j];
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            g->sigma[k][j] =
                g->l[k][0] * g->l[j][0] + g->l[k][1] * g->l[j][1] + g->l[k][2] * g->l[j][2];
    for (int r = 0; r < 2; r++) {
        double limit = (double)SEEP_SPLAT_FOV_LIMIT * size[r] / (2 * f[r]);
        g->ratio[r] = g->p[r] / g->p[2];
        g->clamped[r] = fabs(g->ratio[r]) > limit;
        if (g->clamped[r])
            g->ratio[r] = copysign(limit, g->ratio[r]);
        for (int k = 0; k < 3; k++)
            g->project[r][k] = f[r] / g->p[2] * (double)c->rotation[r][k] -
                               f[r] * g->ratio[r] / g->p[2] * (double)c->rotation[2][k];
    }
    for (int e = 0; e < 3; e++) {
        const double *left = g->project[e / 2], *right = g->project[(e + 1) / 2];
        g->cov[e] = e == 1 ? 0 : (double)SEEP_SPLAT_LOW_PASS;
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++)
                g->cov[e] += left[k] * g->sigma[k][j] * right[j];
    }
    return true;
}

/* The tiles that hold a pixel centre within `half` of the mean. */
static void tiles_of(const struct seep_splat_camera *c, const double mean[2], const double half[2],
                     int tiles[4])
{
    const int size[2] = {c->width, c->height};

    for (int r = 0; r < 2; r++) {
        double first = fmax(ceil(mean[r] - half[r] - 0.5), 0);
        double last = fmin(floor(mean[r] + half[r] - 0.5), size[r] - 1);
        if (!(first <= last)) {
            memset(tiles, 0, 4 * sizeof *tiles);
            return;
        }
        tiles[r] = (int)first / SEEP_SPLAT_TILE;
        tiles[2 + r] = (int)last / SEEP_SPLAT_TILE + 1;
    }
}

void seep_reference_see(const struct seep_splat_camera *c, const struct seep_reference_model *m,
                        size_t i, bool tight, struct seep_reference_view *out)
{
    struct geometry g;
    double dir[3], y[16], dy[16][3], sum = 0;
    const double *sh = m->sh + i * (size_t)m->sh_stride * 3;

    memset(out, 0, sizeof *out);
    if (!geometry_of(c, m, i, &g))
        return;
    double xx = g.cov[0], xy = g.cov[1], yy = g.cov[2], det = xx * yy - xy * xy;
    out->depth = (float)g.p[2];
    out->mean2d[0] = (double)c->fx * g.p[0] / g.p[2] + (double)c->cx;
    out->mean2d[1] = (double)c->fy * g.p[1] / g.p[2] + (double)c->cy;
    out->conic[0] = yy / det;
    out->conic[1] = -xy / det;
    out->conic[2] = xx / det;
    direction_to(c, m->means[i], dir);
    harmonics(m->sh_degree, dir, y, dy);
    for (int e = 0; e < 3; e++) {
        double color = 0.5;
        for (int k = 0; k < (m->sh_degree + 1) * (m->sh_degree + 1); k++)
            color += y[k] * sh[3 * k + e];
        sum += color;
        out->color[e] = color > 0 ? color : 0;
    }
    sum += (double)out->depth + m->opacities[i] + out->mean2d[0] + out->mean2d[1] + out->conic[0] +
           out->conic[1] + out->conic[2];
    if (!isfinite(sum))
        return;
    double larger = (xx + yy) / 2 + sqrt((xx - yy) * (xx - yy) / 4 + xy * xy);
    double r = (double)SEEP_SPLAT_SIGMAS * sqrt(larger);
    double half[2] = {r, r}, reach = 2 * log(255 * m->opacities[i]);
    if (tight && !(reach > 0))
        return;
    if (tight) {
        half[0] = fmin(r, sqrt(reach * xx));
        half[1] = fmin(r, sqrt(reach * yy));
    }
    tiles_of(c, out->mean2d, half, out->tiles);
}

/* Through color = max(0, 0.5 + sum sh · Y(direction)). */
static void color_backward(const struct seep_splat_camera *c, const struct seep_reference_model *m,
                           size_t i, const struct seep_reference_view *view,
                           const double color_grad[3], struct seep_reference_model *out)
{
    double dir[3], y[16], dy[16][3], by_dir[3] = {0};
    const double *sh = m->sh + i * (size_t)m->sh_stride * 3;
    double *dsh = out->sh + i * (size_t)m->sh_stride * 3;
    double length = direction_to(c, m->means[i], dir);

    harmonics(m->sh_degree, dir, y, dy);
    for (int e = 0; e < 3; e++) {
        if (!(view->color[e] > 0))
            continue;
        for (int k = 0; k < (m->sh_degree + 1) * (m->sh_degree + 1); k++) {
            dsh[3 * k + e] = y[k] * color_grad[e];
            for (int j = 0; j < 3; j++)
                by_dir[j] += color_grad[e] * sh[3 * k + e] * dy[k][j];
        }
    }
    double along = dir[0] * by_dir[0] + dir[1] * by_dir[1] + dir[2] * by_dir[2];
    for (int j = 0; j < 3 && length > 0; j++)
        out->means[i][j] += (by_dir[j] - dir[j] * along) / length;
}

/* Through L = R(q / |q|) diag(scale). */
static void shape_backward(const struct seep_reference_model *m, size_t i, const struct geometry *g,
                           double sigma_grad[3][3], struct seep_reference_model *out)
{
    double by_rotation[3][3], dq[4], along = 0;

    for (int j = 0; j < 3; j++) {
        out->scales[i][j] = 0;
        for (int k = 0; k < 3; k++) {
            double dl = 0; /* of L: (dΣ + dΣᵀ) L */
            for (int e = 0; e < 3; e++)
                dl += (sigma_grad[k][e] + sigma_grad[e][k]) * g->l[e][j];
            by_rotation[k][j] = dl * m->scales[i][j];
            out->scales[i][j] += dl * g->rotation[k][j];
        }
    }
    rotation_backward(g->q, by_rotation, dq);
    for (int k = 0; k < 4; k++)
        along += dq[k] * g->q[k];
    for (int k = 0; k < 4; k++)
        out->rotations[i][k] = (dq[k] - g->q[k] * along) / g->q_length;
}

/* Through cov = P Σ Pᵀ, P = J W, and the mean in the picture: writes by_p, returns by_sigma. */
static void projection_backward(const struct seep_splat_camera *c, const struct geometry *g,
                                const double cov_grad[2][2], const double mean2d_grad[2],
                                double by_sigma[3][3], double by_p[3])
{
    const double f[2] = {(double)c->fx, (double)c->fy};
    double z = g->p[2];

    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++) {
            by_sigma[k][j] = 0;
            for (int r = 0; r < 2; r++)
                for (int s = 0; s < 2; s++)
                    by_sigma[k][j] += g->project[r][k] * cov_grad[r][s] * g->project[s][j];
        }
    memset(by_p, 0, 3 * sizeof *by_p);
    for (int r = 0; r < 2; r++) {
        double by_near = 0, by_far = 0; /* the two entries of J's row: f/z, −f ratio/z */
        for (int k = 0; k < 3; k++) {
            double by_project = 0; /* 2 dCov P Σ */
            for (int s = 0; s < 2; s++)
                for (int j = 0; j < 3; j++)
                    by_project += 2 * cov_grad[r][s] * g->project[s][j] * g->sigma[j][k];
            by_near += by_project * (double)c->rotation[r][k];
            by_far += by_project * (double)c->rotation[2][k];
        }
        double by_ratio = g->clamped[r] ? 0 : -f[r] / z * by_far;
        double by_point = by_ratio + f[r] * mean2d_grad[r]; /* of x/z */
        by_p[r] += by_point / z;
        by_p[2] -= by_point * g->p[r] / (z * z);
        by_p[2] += (f[r] * g->ratio[r] * by_far - f[r] * by_near) / (z * z);
    }
}

void seep_reference_see_backward(const struct seep_splat_camera *c,
                                 const struct seep_reference_model *m, size_t i,
                                 const struct seep_reference_view *view,
                                 const struct seep_reference_view_grad *grad,
                                 struct seep_reference_model *out)
{
    struct geometry g;
    double by_sigma[3][3], by_p[3];

    if (view->tiles[2] == 0 || !geometry_of(c, m, i, &g))
        return;
    /* Of an inverse: −K dK K, K symmetric. */
    const double k[2][2] = {{view->conic[0], view->conic[1]}, {view->conic[1], view->conic[2]}};
    const double d[2][2] = {{grad->conic[0], grad->conic[1] / 2},
                            {grad->conic[1] / 2, grad->conic[2]}};
    double cov_grad[2][2] = {{0}};
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            for (int a = 0; a < 2; a++)
                for (int b = 0; b < 2; b++)
                    cov_grad[r][s] -= k[r][a] * d[a][b] * k[b][s];
    projection_backward(c, &g, cov_grad, grad->mean2d, by_sigma, by_p);
    shape_backward(m, i, &g, by_sigma, out);
    for (int j = 0; j < 3; j++) {
        out->means[i][j] = 0;
        for (int l = 0; l < 3; l++)
            out->means[i][j] += (double)c->rotation[l][j] * by_p[l];
    }
    color_backward(c, m, i, view, grad->color, out);
    out->opacities[i] = grad->opacity;
}

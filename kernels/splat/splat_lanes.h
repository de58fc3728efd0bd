/* Sixteen Gaussians side by side, from their parameters to what the picture needs, and what the way
 * back needs of that. Included by the two CPU files that walk over Gaussians; loops over lanes
 * become vector code. The formulas are those of splat_twins.h. */
#ifndef SEEP_KERNELS_SPLAT_LANES_H
#define SEEP_KERNELS_SPLAT_LANES_H

#include "kernels/compute/cpu_levels.h"
#include "kernels/splat/splat.h"
#include "kernels/splat/splat_math.h"

#include <math.h>

enum { LANES = 16, MAX_SH = 16 };

/* The body is a loop over lanes that becomes vector code. */
#define EACH_LANE(l) for (int l = 0; l < LANES; l++)

struct lanes {
    float mean[3][LANES], scale[3][LANES], q[4][LANES]; /* q: normalised by _geometry() */
    float q_inverse[LANES];                             /* 1 / its length before that */
    float depth[LANES], z_inverse[LANES];
    float slope[2][LANES], ratio[2][LANES]; /* x/z, y/z; the same, clamped */
    float mean2d[2][LANES];
    float rotation[9][LANES], project[6][LANES];       /* of q; J W */
    float n[6][LANES];                                 /* J W R */
    float cov[3][LANES], schur[LANES], root[3][LANES]; /* schur: A − B²/C */
    float dir[3][LANES], dir_inverse[LANES];           /* 1 / distance; 0 at the camera's centre */
    float sh[3 * MAX_SH][LANES];
};

/* The camera's centre, −Rᵀt. */
SEEP_INLINE void camera_centre(const struct seep_splat_camera *c, double centre[3])
{
    for (int k = 0; k < 3; k++)
        centre[k] = -((double)c->rotation[0][k] * (double)c->translation[0] +
                      (double)c->rotation[1][k] * (double)c->translation[1] +
                      (double)c->rotation[2][k] * (double)c->translation[2]);
}

/* Gaussians first …, the last one repeated where fewer than LANES are left. */
SEEP_INLINE void lanes_load(const struct seep_splat_model *m, size_t first, struct lanes *b)
{
    EACH_LANE (l) {
        size_t i = first + (size_t)l < m->n ? first + (size_t)l : m->n - 1;
        for (int k = 0; k < 3; k++) {
            b->mean[k][l] = m->means[i][k];
            b->scale[k][l] = m->scales[i][k];
        }
        for (int k = 0; k < 4; k++)
            b->q[k][l] = m->rotations[i][k];
    }
}

SEEP_INLINE void lanes_load_sh(const struct seep_splat_model *m, const uint32_t gaussians[LANES],
                               struct lanes *b)
{
    int used = 3 * (m->sh_degree + 1) * (m->sh_degree + 1);

    EACH_LANE (l) {
        const float *sh = m->sh + (size_t)gaussians[l] * (size_t)m->sh_stride * 3;
        for (int k = 0; k < used; k++)
            b->sh[k][l] = sh[k];
    }
}

/* In double: the depth by contract; the mean in the picture because half a unit in its last place,
 * as a float, is already 3e-5 pixels; the direction because mean and centre may be far from the
 * origin. */
SEEP_INLINE void lanes_place(const struct seep_splat_camera *c, struct lanes *b)
{
    double r[3][3], t[3], o[3], fx = (double)c->fx, fy = (double)c->fy;

    camera_centre(c, o);
    for (int k = 0; k < 3; k++) {
        t[k] = (double)c->translation[k];
        for (int j = 0; j < 3; j++)
            r[k][j] = (double)c->rotation[k][j];
    }
    double cx = (double)c->cx, cy = (double)c->cy;
    EACH_LANE (l) {
        double x = (double)b->mean[0][l], y = (double)b->mean[1][l], z = (double)b->mean[2][l];
        double pz = r[2][0] * x + r[2][1] * y + r[2][2] * z + t[2];
        double inverse = 1 / pz;
        double sx = (r[0][0] * x + r[0][1] * y + r[0][2] * z + t[0]) * inverse;
        double sy = (r[1][0] * x + r[1][1] * y + r[1][2] * z + t[1]) * inverse;
        b->depth[l] = (float)pz;
        b->z_inverse[l] = (float)inverse;
        b->slope[0][l] = (float)sx;
        b->slope[1][l] = (float)sy;
        b->mean2d[0][l] = (float)(fx * sx + cx);
        b->mean2d[1][l] = (float)(fy * sy + cy);
        double dx = x - o[0], dy = y - o[1], dz = z - o[2];
        double length = sqrt(dx * dx + dy * dy + dz * dz);
        double by = length > 0 ? 1 / length : 0;
        b->dir_inverse[l] = (float)by;
        b->dir[0][l] = (float)(dx * by);
        b->dir[1][l] = (float)(dy * by);
        b->dir[2][l] = length > 0 ? (float)(dz * by) : 1;
    }
}

/* q normalised, by its largest entry first so that no square overflows, and R(q). */
SEEP_INLINE void lanes_rotate(struct lanes *b)
{
    EACH_LANE (l) {
        float w = b->q[0][l], x = b->q[1][l], y = b->q[2][l], z = b->q[3][l];
        float wx = fabsf(w) > fabsf(x) ? fabsf(w) : fabsf(x);
        float yz = fabsf(y) > fabsf(z) ? fabsf(y) : fabsf(z);
        float largest = 1 / (wx > yz ? wx : yz);
        w *= largest, x *= largest, y *= largest, z *= largest;
        float inverse = 1 / sqrtf(w * w + x * x + y * y + z * z);
        w *= inverse, x *= inverse, y *= inverse, z *= inverse;
        b->q_inverse[l] = largest * inverse;
        b->q[0][l] = w;
        b->q[1][l] = x;
        b->q[2][l] = y;
        b->q[3][l] = z;
        b->rotation[0][l] = 1 - 2 * (y * y + z * z);
        b->rotation[1][l] = 2 * (x * y - w * z);
        b->rotation[2][l] = 2 * (x * z + w * y);
        b->rotation[3][l] = 2 * (x * y + w * z);
        b->rotation[4][l] = 1 - 2 * (x * x + z * z);
        b->rotation[5][l] = 2 * (y * z - w * x);
        b->rotation[6][l] = 2 * (x * z - w * y);
        b->rotation[7][l] = 2 * (y * z + w * x);
        b->rotation[8][l] = 1 - 2 * (x * x + y * y);
    }
}

/* J W, clamped, and N = J W R. */
SEEP_INLINE void lanes_turn(const struct seep_splat_camera *c, struct lanes *b)
{
    const float f[2] = {c->fx, c->fy}, size[2] = {(float)c->width, (float)c->height};

    for (int r = 0; r < 2; r++) {
        float limit = SEEP_SPLAT_FOV_LIMIT * size[r] / (2 * f[r]), focal = f[r];
        float n0 = c->rotation[r][0], n1 = c->rotation[r][1], n2 = c->rotation[r][2];
        float f0 = c->rotation[2][0], f1 = c->rotation[2][1], f2 = c->rotation[2][2];
        EACH_LANE (l) {
            float s = b->slope[r][l];
            s = s > limit ? limit : s;
            s = s < -limit ? -limit : s;
            b->ratio[r][l] = s;
            float by_z = focal * b->z_inverse[l];
            float p0 = by_z * (n0 - s * f0), p1 = by_z * (n1 - s * f1), p2 = by_z * (n2 - s * f2);
            b->project[3 * r][l] = p0;
            b->project[3 * r + 1][l] = p1;
            b->project[3 * r + 2][l] = p2;
            for (int j = 0; j < 3; j++)
                b->n[3 * r + j][l] = p0 * b->rotation[j][l] + p1 * b->rotation[3 + j][l] +
                                     p2 * b->rotation[6 + j][l];
        }
    }
}

SEEP_INLINE void lanes_root(struct lanes *b)
{
    const float low = SEEP_SPLAT_LOW_PASS, k = (float)SEEP_ROOT;

    EACH_LANE (l) {
        float s0 = b->scale[0][l], s1 = b->scale[1][l], s2 = b->scale[2][l];
        float u0 = b->n[0][l] * s0, u1 = b->n[1][l] * s1, u2 = b->n[2][l] * s2;
        float v0 = b->n[3][l] * s0, v1 = b->n[4][l] * s1, v2 = b->n[5][l] * s2;
        float uu = u0 * u0 + u1 * u1 + u2 * u2, vv = v0 * v0 + v1 * v1 + v2 * v2;
        float uv = u0 * v0 + u1 * v1 + u2 * v2;
        float yy = vv + low, y_inverse = 1 / yy, y_root = sqrtf(y_inverse);
        float c0 = (u1 * v2 - u2 * v1) * y_root, c1 = (u2 * v0 - u0 * v2) * y_root;
        float c2 = (u0 * v1 - u1 * v0) * y_root;
        /* det / C, each term divided first: the determinant itself may overflow */
        float schur = c0 * c0 + c1 * c1 + c2 * c2 + low * ((uu + low) * y_inverse + vv * y_inverse);
        float a = k / sqrtf(schur);
        b->cov[0][l] = uu + low;
        b->cov[1][l] = uv;
        b->cov[2][l] = yy;
        b->schur[l] = schur;
        b->root[0][l] = a;
        b->root[1][l] = -a * uv * y_inverse;
        b->root[2][l] = k * y_root;
    }
}

SEEP_INLINE void lanes_geometry(const struct seep_splat_camera *c, struct lanes *b)
{
    lanes_place(c, b);
    lanes_rotate(b);
    lanes_turn(c, b);
    lanes_root(b);
}

/* The spherical harmonics of the lanes' directions, (degree + 1)² of them. */
SEEP_INLINE void lanes_harmonics(int degree, const struct lanes *b, float y[MAX_SH][LANES])
{
    EACH_LANE (l)
        y[0][l] = (float)SEEP_SH_0;
    if (degree < 1)
        return;
    EACH_LANE (l) {
        y[1][l] = -(float)SEEP_SH_1 * b->dir[1][l];
        y[2][l] = (float)SEEP_SH_1 * b->dir[2][l];
        y[3][l] = -(float)SEEP_SH_1 * b->dir[0][l];
    }
    if (degree < 2)
        return;
    EACH_LANE (l) {
        float dx = b->dir[0][l], dy = b->dir[1][l], dz = b->dir[2][l];
        y[4][l] = (float)SEEP_SH_2_0 * dx * dy;
        y[5][l] = -(float)SEEP_SH_2_0 * dy * dz;
        y[6][l] = (float)SEEP_SH_2_1 * (2 * dz * dz - dx * dx - dy * dy);
        y[7][l] = -(float)SEEP_SH_2_0 * dx * dz;
        y[8][l] = (float)SEEP_SH_2_2 * (dx * dx - dy * dy);
    }
    if (degree < 3)
        return;
    EACH_LANE (l) {
        float dx = b->dir[0][l], dy = b->dir[1][l], dz = b->dir[2][l];
        float xx = dx * dx, yy = dy * dy, zz = dz * dz;
        y[9][l] = -(float)SEEP_SH_3_0 * dy * (3 * xx - yy);
        y[10][l] = (float)SEEP_SH_3_1 * dx * dy * dz;
        y[11][l] = -(float)SEEP_SH_3_2 * dy * (4 * zz - xx - yy);
        y[12][l] = (float)SEEP_SH_3_3 * dz * (2 * zz - 3 * xx - 3 * yy);
        y[13][l] = -(float)SEEP_SH_3_2 * dx * (4 * zz - xx - yy);
        y[14][l] = (float)SEEP_SH_3_4 * dz * (xx - yy);
        y[15][l] = -(float)SEEP_SH_3_0 * dx * (xx - 3 * yy);
    }
}

#endif

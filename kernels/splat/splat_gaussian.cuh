/* The arithmetic of one Gaussian, as splat_twins.h states it, forward. Single precision except for
 * the mean in camera space. For host and device, so that the GPU's results can be compared with the
 * other twin without a GPU. */
#ifndef SEEP_KERNELS_SPLAT_GAUSSIAN_CUH
#define SEEP_KERNELS_SPLAT_GAUSSIAN_CUH

#include "kernels/splat/splat.h"
#include "kernels/splat/splat_math.h"
#include "kernels/splat/splat_tiles.h"

#include <cuda_runtime.h>

#define SEEP_HD __host__ __device__ __forceinline__

/* The camera as kernels take it: by value, in constant memory. */
struct splat_view {
    struct seep_splat_camera camera;
    double centre[3]; /* what is left of mean − centre far from the origin, floats would not tell */
    int tiles_x, tiles_y;
};

static inline struct splat_view splat_view_of(const struct seep_splat_camera *camera)
{
    struct splat_view view;

    for (int k = 0; k < 3; k++) {
        view.centre[k] = 0;
        for (int i = 0; i < 3; i++)
            view.centre[k] -= (double)camera->rotation[i][k] * (double)camera->translation[i];
    }
    view.camera = *camera;
    view.tiles_x = (camera->width + SEEP_SPLAT_TILE - 1) / SEEP_SPLAT_TILE;
    view.tiles_y = (camera->height + SEEP_SPLAT_TILE - 1) / SEEP_SPLAT_TILE;
    return view;
}

SEEP_HD float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

SEEP_HD float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

SEEP_HD float3 operator*(float s, float3 a)
{
    return make_float3(s * a.x, s * a.y, s * a.z);
}

SEEP_HD float3 operator*(float3 a, float3 b)
{
    return make_float3(a.x * b.x, a.y * b.y, a.z * b.z);
}

SEEP_HD float3 operator+(float3 a, float3 b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}

SEEP_HD float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

SEEP_HD bool is_finite(float3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

SEEP_HD float3 load3(const float *from)
{
    return make_float3(from[0], from[1], from[2]);
}

SEEP_HD void store3(float *to, float3 a)
{
    to[0] = a.x;
    to[1] = a.y;
    to[2] = a.z;
}

/* Row i of a 3 × 3. */
struct splat_rows {
    float3 row[3];
};

SEEP_HD float3 transposed_times(const struct splat_rows &m, float3 v)
{
    return v.x * m.row[0] + v.y * m.row[1] + v.z * m.row[2];
}

SEEP_HD float3 times(const struct splat_rows &m, float3 v)
{
    return make_float3(dot(m.row[0], v), dot(m.row[1], v), dot(m.row[2], v));
}

SEEP_HD float largest_of(const float q[4])
{
    return fmaxf(fmaxf(fabsf(q[0]), fabsf(q[1])), fmaxf(fabsf(q[2]), fabsf(q[3])));
}

SEEP_HD bool is_rotation(const float q[4])
{
    return isfinite(q[0]) && isfinite(q[1]) && isfinite(q[2]) && isfinite(q[3]) &&
           largest_of(q) > 0;
}

/* A rotation of any length but 0 becomes one of length 1. The largest entry goes first, so that
 * no square over- or underflows. */
SEEP_HD void normalize(const float q[4], float unit[4], float *length)
{
    float most = largest_of(q), squares = 0;

    for (int k = 0; k < 4; k++) {
        unit[k] = q[k] / most;
        squares += unit[k] * unit[k];
    }
    float root = sqrtf(squares);
    for (int k = 0; k < 4; k++)
        unit[k] /= root;
    *length = most * root;
}

SEEP_HD struct splat_rows rotation_of(const float q[4])
{
    float w = q[0], x = q[1], y = q[2], z = q[3];
    struct splat_rows r;

    r.row[0] = make_float3(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y));
    r.row[1] = make_float3(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x));
    r.row[2] = make_float3(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y));
    return r;
}

/* A Gaussian before the camera: its mean there, and the two rows m1, m2 whose products are the
 * covariance in the picture, with what they were made of. */
struct splat_frame {
    float3 p;
    float2 mean;            /* in the picture */
    float slope_x, slope_y; /* tx/z, ty/z: x/z and y/z within the clamp */
    bool free_x, free_y;    /* the clamp does not hold */
    float unit[4], length;  /* the rotation's direction and length */
    struct splat_rows turn;
    float3 j1, j2; /* rows of J */
    float3 y1, y2; /* rows of J · rotation */
    float3 m1, m2;
    float a, b, c, det; /* A, B, C of the covariance */
};

/* p and the mean in the picture, in double: half a unit in a float's last place is 3e-5 pixels. */
SEEP_HD void place_of(const struct seep_splat_camera &camera, const float *mean,
                      struct splat_frame *f)
{
    double m[3] = {mean[0], mean[1], mean[2]}, p[3];

    for (int i = 0; i < 3; i++)
        p[i] = camera.rotation[i][0] * m[0] + camera.rotation[i][1] * m[1] +
               camera.rotation[i][2] * m[2] + camera.translation[i];
    f->p = make_float3((float)p[0], (float)p[1], (float)p[2]);
    f->mean = make_float2((float)(camera.fx * (p[0] / p[2]) + camera.cx),
                          (float)(camera.fy * (p[1] / p[2]) + camera.cy));
}

/* The rows of J, from p and the slopes. */
SEEP_HD void jacobian_of(const struct seep_splat_camera &camera, float z, float slope_x,
                         float slope_y, float3 *j1, float3 *j2)
{
    float3 axis_z = load3(camera.rotation[2]);

    *j1 = (camera.fx / z) * (load3(camera.rotation[0]) - slope_x * axis_z);
    *j2 = (camera.fy / z) * (load3(camera.rotation[1]) - slope_y * axis_z);
}

/* All of the frame but its place, of a Gaussian that is not culled. */
SEEP_HD void shape_of(const struct seep_splat_camera &camera, float3 s, const float *rotation,
                      struct splat_frame *f)
{
    normalize(rotation, f->unit, &f->length);
    float x = f->p.x / f->p.z, y = f->p.y / f->p.z;
    float limit_x = SEEP_SPLAT_FOV_LIMIT * 0.5f * (float)camera.width / camera.fx;
    float limit_y = SEEP_SPLAT_FOV_LIMIT * 0.5f * (float)camera.height / camera.fy;
    f->slope_x = fminf(fmaxf(x, -limit_x), limit_x);
    f->slope_y = fminf(fmaxf(y, -limit_y), limit_y);
    f->free_x = f->slope_x == x;
    f->free_y = f->slope_y == y;
    f->turn = rotation_of(f->unit);
    jacobian_of(camera, f->p.z, f->slope_x, f->slope_y, &f->j1, &f->j2);
    f->y1 = transposed_times(f->turn, f->j1);
    f->y2 = transposed_times(f->turn, f->j2);
    f->m1 = s * f->y1;
    f->m2 = s * f->y2;

    float n1 = dot(f->m1, f->m1), n2 = dot(f->m2, f->m2);
    float3 normal = cross(f->m1, f->m2);
    f->a = n1 + SEEP_SPLAT_LOW_PASS;
    f->b = dot(f->m1, f->m2);
    f->c = n2 + SEEP_SPLAT_LOW_PASS;
    f->det = dot(normal, normal) + SEEP_SPLAT_LOW_PASS * (n1 + n2) +
             SEEP_SPLAT_LOW_PASS * SEEP_SPLAT_LOW_PASS;
}

/* False: culled, by the near plane or for what is not finite in the parameters. */
SEEP_HD bool frame_of(const struct seep_splat_camera &camera, const float *mean, const float *scale,
                      const float *rotation, struct splat_frame *f)
{
    float3 s = load3(scale);

    place_of(camera, mean, f);
    if (!(f->p.z > SEEP_SPLAT_NEAR) || !is_finite(f->p) || !is_finite(s) || !is_rotation(rotation))
        return false;
    shape_of(camera, s, rotation, f);
    return true;
}

/* What is left of a Gaussian on the screen. */
struct splat_print {
    float2 mean;
    float3 roots;
    float depth;
    uint16_t tiles[4];
};

/* First and last pixel whose centre lies within mean ± half, as tiles. False: none of the
 * picture's. */
SEEP_HD bool tiles_within(float mean, float half, int size, uint16_t *first, uint16_t *end)
{
    float low = fmaxf(ceilf(mean - half - 0.5f), 0);
    float high = fminf(floorf(mean + half - 0.5f), (float)(size - 1));

    if (!(low <= high))
        return false;
    *first = (uint16_t)((int)low / SEEP_SPLAT_TILE);
    *end = (uint16_t)((int)high / SEEP_SPLAT_TILE + 1);
    return true;
}

/* False: culled. REACHED: `tiles` is the box all the same. */
SEEP_HD bool print_of(const struct seep_splat_camera &camera, const struct splat_frame &f,
                      float opacity, enum seep_splat_tile_rule rule, struct splat_print *out)
{
    const float k = (float)SEEP_ROOT;
    float a = k * sqrtf(f.c / f.det), b = -a * f.b / f.c, c = k / sqrtf(f.c);
    float half_difference = 0.5f * (f.a - f.c);
    float eigenvalue = 0.5f * (f.a + f.c) + sqrtf(half_difference * half_difference + f.b * f.b);
    float radius = SEEP_SPLAT_SIGMAS * sqrtf(eigenvalue);
    float reach = 2 * logf(255 * opacity);

    out->mean = f.mean;
    out->roots = make_float3(a, b, c);
    out->depth = f.p.z;
    if (!isfinite(opacity) || !isfinite(out->mean.x) || !isfinite(out->mean.y) ||
        !is_finite(out->roots))
        return false;
    if (rule == SEEP_SPLAT_TILES_SQUARE)
        return opacity > 0 &&
               splat_square(&out->mean.x, f.a, f.b, f.c, camera.width, camera.height, out->tiles);
    if (!(reach > 0))
        return false;
    return tiles_within(out->mean.x, fminf(radius, sqrtf(reach * f.a)), camera.width,
                        &out->tiles[0], &out->tiles[2]) &&
           tiles_within(out->mean.y, fminf(radius, sqrtf(reach * f.c)), camera.height,
                        &out->tiles[1], &out->tiles[3]);
}

/* Where a Gaussian's alpha reaches 1/255: u² + v² <= most. */
struct splat_reach {
    float a, b, c, most;
    float y_of_x, x_of_y; /* along x, the y of the least u² + v², over x; and the other way round */
};

SEEP_HD struct splat_reach reach_of(const float *roots, float log2_opacity)
{
    float a = roots[0], b = roots[1], c = roots[2];
    struct splat_reach reach = {a, b, c, 0, -a * b / (b * b + c * c), -b / a};

    reach.most = log2_opacity - log2f(SEEP_SPLAT_MIN_ALPHA);
    return reach;
}

/* Whether a pixel centre within [x0, x1] × [y0, y1] (relative to the mean) can be reached. The
 * least u² + v² of a rectangle that does not hold the mean lies on an edge that faces it. Errs on
 * the side of yes, by more than alpha's rounding. */
SEEP_HD bool may_touch(const struct splat_reach &r, float x0, float x1, float y0, float y1)
{
    float x = fminf(fmaxf(0, x0), x1), y = fminf(fmaxf(0, y0), y1);
    float y_at_x = fminf(fmaxf(r.y_of_x * x, y0), y1);
    float x_at_y = fminf(fmaxf(r.x_of_y * y, x0), x1);
    float ux = r.a * x, uy = r.b * y_at_x, wx = r.a * x_at_y, wy = r.b * y;
    float u = fmaxf(fabsf(ux + uy) - 1e-6f * (fabsf(ux) + fabsf(uy)), 0), v = r.c * y_at_x;
    float w = fmaxf(fabsf(wx + wy) - 1e-6f * (fabsf(wx) + fabsf(wy)), 0), z = r.c * y;

    return fminf(u * u + v * v, w * w + z * z) * (1 - 1e-5f) <= r.most + 0.01f;
}

#endif

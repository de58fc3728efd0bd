#include "kernels/lab/scenarios/pointgroup_piece.h"

#include "kernels/lab/scenarios/pointgroup_elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINT_BYTES = SEEP_POINTGROUP_POINT_BYTES,
    NO_INSTANCE = -100,
    INFO = 9,
    MAX_VOXELS = 1 << 20
};

/* PointGroup's: granularity and magnitude, in voxels. */
static const double elastic[][2] = {{6, 40}, {20, 160}};
static const double colour_noise = 0.1;

/* ---- one scene ---------------------------------------------------------------------------------
 */

void seep_pointgroup_place_points(struct seep_pointgroup_points *p, void *block, size_t n)
{
    char *at = block;

    p->locs = (void *)at;
    p->labels = (void *)(at += n * sizeof *p->locs);
    p->instances = (void *)(at += n * sizeof *p->labels);
    p->xyz = (void *)(at += n * sizeof *p->instances);
    p->feats = (void *)(at += n * sizeof *p->xyz);
    p->info = (void *)(at += n * sizeof *p->feats);
    p->voxel = (void *)(at + n * sizeof *p->info);
}

/* Jitter (in training), a flip, and a turn about the vertical axis. */
static void augment(const struct seep_pointgroup_scene *scene, bool jitters,
                    struct seep_chance *chance, float (*moved)[3])
{
    double turn = 2 * M_PI * seep_chance_uniform(chance),
           flip = seep_chance_uniform(chance) < 0.5 ? -1 : 1;
    double jitter[3][3];

    for (int i = 0; i < 9; i++)
        jitter[i / 3][i % 3] =
            (i % 4 == 0) + (jitters ? 0.1 * (seep_chance_uniform(chance) - 0.5) : 0);
    for (size_t i = 0; i < scene->n; i++) {
        const float *from = scene->points[i].xyz;
        double at[3];
        for (int k = 0; k < 3; k++)
            at[k] = from[0] * jitter[0][k] + from[1] * jitter[1][k] + from[2] * jitter[2][k];
        at[0] *= flip;
        moved[i][0] = (float)(cos(turn) * at[0] + sin(turn) * at[1]);
        moved[i][1] = (float)(cos(turn) * at[1] - sin(turn) * at[0]);
        moved[i][2] = (float)at[2];
    }
}

/* Where the points lie in voxels, which the distortion (in training) moves; `moved` stay.
 *   out  [n] */
static int distort(const float (*moved)[3], size_t n, const struct seep_pointgroup_cut *cut,
                   struct seep_chance *chance, float (*out)[3])
{
    int rc = 0;

    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            out[i][k] = (float)((double)moved[i][k] / cut->voxel);
    }
    for (size_t i = 0; i < sizeof elastic / sizeof *elastic && !rc && !cut->validates; i++)
        rc = seep_pointgroup_distort(out, n, elastic[i][0], elastic[i][1], chance);
    return rc;
}

/* Keeps the points up to a plane across the scene, which moves until few enough are left. Returns
 * how many; `kept` are their indices. */
static size_t crop(const float (*at)[3], size_t n, size_t most, uint32_t *kept)
{
    float low = INFINITY, high = -INFINITY;
    size_t n_kept = 0;

    for (size_t i = 0; i < n; i++) {
        low = fminf(low, at[i][0]);
        high = fmaxf(high, at[i][0]);
    }
    for (float share = 1; n > most && share > 0.01f; share -= 0.02f) {
        size_t below = 0;
        for (size_t i = 0; i < n; i++)
            below += at[i][0] <= low + share * (high - low);
        high = low + share * (high - low);
        if (below <= most)
            break;
    }
    for (size_t i = 0; i < n && n_kept < most; i++) {
        if (at[i][0] <= high)
            kept[n_kept++] = (uint32_t)i;
    }
    return n_kept;
}

static int64_t instance_of(const struct seep_scannet_point *point, size_t n)
{
    return point->instance >= 0 && point->instance < (double)n ? (int64_t)point->instance
                                                               : NO_INSTANCE;
}

static void fill_piece(struct seep_pointgroup_piece *piece,
                       const struct seep_pointgroup_scene *scene, const float (*moved)[3],
                       const float (*distorted)[3], const uint32_t *kept, const float colour[3])
{
    float low[3] = {INFINITY, INFINITY, INFINITY};

    for (size_t i = 0; i < piece->n; i++) {
        for (int k = 0; k < 3; k++)
            low[k] = fminf(low[k], distorted[kept[i]][k]);
    }
    for (size_t i = 0; i < piece->n; i++) {
        const struct seep_scannet_point *from = &scene->points[kept[i]];
        piece->p.locs[i][0] = (int64_t)piece->index;
        for (int k = 0; k < 3; k++) {
            double at = (double)distorted[kept[i]][k] - low[k];
            piece->p.locs[i][1 + k] = at < MAX_VOXELS ? (int64_t)at : MAX_VOXELS - 1;
            piece->p.xyz[i][k] = moved[kept[i]][k];
            piece->p.feats[i][k] = from->rgb[k] + colour[k];
        }
        piece->p.labels[i] = from->label >= 0 && from->label < 20 ? (int64_t)from->label : -100;
        int64_t instance = instance_of(from, scene->n);
        piece->p.instances[i] = instance;
        if (instance >= 0 && (size_t)instance >= piece->n_instances)
            piece->n_instances = (size_t)instance + 1;
    }
}

/* Each point gets its instance's mean, least and greatest coordinates. */
static int fill_info(struct seep_pointgroup_piece *piece)
{
    float(*sums)[INFO + 1] = calloc(piece->n_instances + 1, sizeof *sums);

    if (!sums)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < piece->n; i++) {
        int64_t of = piece->p.instances[i];
        float *s = of < 0 ? NULL : sums[of];
        for (int k = 0; k < 3 && s; k++) {
            float at = piece->p.xyz[i][k];
            s[k] += at;
            s[3 + k] = s[INFO] > 0 ? fminf(s[3 + k], at) : at;
            s[6 + k] = s[INFO] > 0 ? fmaxf(s[6 + k], at) : at;
        }
        if (s)
            s[INFO]++;
    }
    for (size_t i = 0; i < piece->n; i++) {
        int64_t of = piece->p.instances[i];
        for (int k = 0; k < INFO; k++)
            piece->p.info[i][k] = of < 0  ? NO_INSTANCE
                                  : k < 3 ? sums[of][k] / sums[of][INFO]
                                          : sums[of][k];
    }
    free(sums);
    return 0;
}

int seep_pointgroup_collate_scene(const struct seep_pointgroup_scene *scene, size_t index,
                                  const struct seep_pointgroup_cut *cut, struct seep_chance *chance,
                                  struct seep_pointgroup_piece *out)
{
    float colour[3] = {0};
    float(*moved)[3] = malloc((scene->n + 1) * sizeof *moved);
    float(*distorted)[3] = malloc((scene->n + 1) * sizeof *distorted);
    uint32_t *kept = malloc((scene->n + 1) * sizeof *kept);
    int rc = moved && distorted && kept ? 0 : -SEEP_ENOMEM;

    *out = (struct seep_pointgroup_piece){.index = index};
    if (!rc) {
        augment(scene, !cut->validates, chance, moved);
        rc = distort(moved, scene->n, cut, chance, distorted);
    }
    if (!rc) {
        out->n = crop(distorted, scene->n, cut->max_points, kept);
        out->block = malloc(out->n * POINT_BYTES + 1);
        rc = out->block ? 0 : -SEEP_ENOMEM;
    }
    if (!rc) {
        seep_pointgroup_place_points(&out->p, out->block, out->n);
        for (int k = 0; k < 3 && !cut->validates; k++)
            colour[k] = (float)(colour_noise * seep_chance_normal(chance));
        fill_piece(out, scene, moved, distorted, kept, colour);
        rc = fill_info(out);
    }
    free(moved);
    free(distorted);
    free(kept);
    return rc;
}

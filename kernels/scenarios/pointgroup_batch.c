#include "kernels/scenarios/pointgroup_batch.h"

#include "kernels/voxels/voxelize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINT_BYTES = 112, CROP_POINTS = 250000, NO_INSTANCE = -100, INFO = 9 };

/* PointGroup's scale is 50: voxels of 2 cm. */
static const double voxel_metres = 0.02;

struct header { /* of a parcel; the arrays follow */
    uint64_t task, n_points, n_voxels, row;
};

/* One scene of the batch, before it is merged with the others. */
struct piece {
    size_t n;
    size_t n_instances;
    void *block;
    struct seep_pointgroup_points p;
};

int seep_pointgroup_maker_init(struct seep_pointgroup_maker *m,
                               const struct seep_pointgroup_scenes *scenes, double scale,
                               uint64_t seed)
{
    double points = seep_pointgroup_size(scale).points;

    /* A room is as large as ever, with fewer points: its voxels are as full with longer edges. */
    *m = (struct seep_pointgroup_maker){.scenes = scenes,
                                        .max_points = (size_t)(CROP_POINTS * points),
                                        .voxel = voxel_metres / sqrt(points),
                                        .seed = seed,
                                        .steps_per_epoch = scenes->n_train / SEEP_POINTGROUP_BATCH,
                                        .order_epoch = UINT64_MAX};
    m->order = malloc(scenes->n_train * sizeof *m->order);
    return m->order ? seep_stream_create_cpu(1, &m->stream) : -SEEP_ENOMEM;
}

void seep_pointgroup_maker_fini(struct seep_pointgroup_maker *m)
{
    seep_stream_destroy(m->stream);
    free(m->order);
    *m = (struct seep_pointgroup_maker){0};
}

static void seed_state(unsigned short state[3], uint64_t seed, uint64_t n)
{
    uint64_t mixed = (seed + n + 1) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 ÷ golden ratio */

    state[0] = (unsigned short)(mixed >> 48);
    state[1] = (unsigned short)(mixed >> 32);
    state[2] = (unsigned short)(mixed >> 16);
}

static void shuffle(struct seep_pointgroup_maker *m, uint64_t epoch)
{
    unsigned short state[3];

    if (m->order_epoch == epoch)
        return;
    m->order_epoch = epoch;
    seed_state(state, m->seed, epoch);
    for (size_t i = 0; i < m->scenes->n_train; i++) {
        size_t k = (size_t)((double)(i + 1) * erand48(state));
        m->order[i] = m->order[k];
        m->order[k] = (uint32_t)i;
    }
}

/* ---- one scene ---------------------------------------------------------------------------------
 */

static void place_points(struct seep_pointgroup_points *p, void *block, size_t n)
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

/* Jitter, a flip, and a turn about the vertical axis. */
static void augment(const struct seep_pointgroup_scene *scene, unsigned short state[3],
                    float (*moved)[3])
{
    double turn = 2 * M_PI * erand48(state), flip = erand48(state) < 0.5 ? -1 : 1;
    double jitter[3][3];

    for (int i = 0; i < 9; i++)
        jitter[i / 3][i % 3] = (i % 4 == 0) + 0.1 * (erand48(state) - 0.5);
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

/* Keeps the points up to a plane across the scene, which moves until few enough are left. Returns
 * how many; `kept` are their indices. */
static size_t crop(const float (*moved)[3], size_t n, size_t most, uint32_t *kept)
{
    float low = INFINITY, high = -INFINITY;
    size_t n_kept = 0;

    for (size_t i = 0; i < n; i++) {
        low = fminf(low, moved[i][0]);
        high = fmaxf(high, moved[i][0]);
    }
    for (float share = 1; n > most && share > 0.01f; share -= 0.02f) {
        size_t below = 0;
        for (size_t i = 0; i < n; i++)
            below += moved[i][0] <= low + share * (high - low);
        high = low + share * (high - low);
        if (below <= most)
            break;
    }
    for (size_t i = 0; i < n && n_kept < most; i++) {
        if (moved[i][0] <= high)
            kept[n_kept++] = (uint32_t)i;
    }
    return n_kept;
}

static int64_t instance_of(const struct seep_scannet_point *point, size_t n)
{
    return point->instance >= 0 && point->instance < (double)n ? (int64_t)point->instance
                                                               : NO_INSTANCE;
}

static void fill_piece(struct piece *piece, const struct seep_pointgroup_scene *scene,
                       const float (*moved)[3], const uint32_t *kept, double voxel, size_t index)
{
    float low[3] = {INFINITY, INFINITY, INFINITY};

    for (size_t i = 0; i < piece->n; i++) {
        for (int k = 0; k < 3; k++)
            low[k] = fminf(low[k], moved[kept[i]][k]);
    }
    for (size_t i = 0; i < piece->n; i++) {
        const struct seep_scannet_point *from = &scene->points[kept[i]];
        piece->p.locs[i][0] = (int64_t)index;
        for (int k = 0; k < 3; k++) {
            double at = ((double)moved[kept[i]][k] - low[k]) / voxel;
            piece->p.locs[i][1 + k] = at < 1 << 20 ? (int64_t)at : 1 << 20;
            piece->p.xyz[i][k] = moved[kept[i]][k];
            piece->p.feats[i][k] = from->rgb[k];
        }
        piece->p.labels[i] = from->label >= 0 && from->label < 20 ? (int64_t)from->label : -100;
        int64_t instance = instance_of(from, scene->n);
        piece->p.instances[i] = instance;
        if (instance >= 0 && (size_t)instance >= piece->n_instances)
            piece->n_instances = (size_t)instance + 1;
    }
}

/* Each point gets its instance's mean, least and greatest coordinates. */
static int fill_info(struct piece *piece)
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

static int collate_scene(const struct seep_pointgroup_maker *m,
                         const struct seep_pointgroup_scene *scene, size_t index,
                         unsigned short state[3], struct piece *out)
{
    float(*moved)[3] = malloc((scene->n + 1) * sizeof *moved);
    uint32_t *kept = malloc((scene->n + 1) * sizeof *kept);
    int rc = moved && kept ? 0 : -SEEP_ENOMEM;

    *out = (struct piece){0};
    if (!rc) {
        augment(scene, state, moved);
        out->n = crop(moved, scene->n, m->max_points, kept);
        out->block = malloc(out->n * POINT_BYTES + 1);
        rc = out->block ? 0 : -SEEP_ENOMEM;
    }
    if (!rc) {
        place_points(&out->p, out->block, out->n);
        fill_piece(out, scene, moved, kept, m->voxel, index);
        rc = fill_info(out);
    }
    free(moved);
    free(kept);
    return rc;
}

/* ---- the batch ---------------------------------------------------------------------------------
 */

static int collate_merge(const struct piece pieces[SEEP_POINTGROUP_BATCH],
                         struct seep_pointgroup_batch *out)
{
    size_t at = 0, instances = 0;

    for (size_t s = 0; s < SEEP_POINTGROUP_BATCH; s++)
        out->n_points += pieces[s].n;
    out->blocks[0] = malloc(out->n_points * POINT_BYTES + 1);
    if (!out->blocks[0])
        return -SEEP_ENOMEM;
    place_points(&out->points, out->blocks[0], out->n_points);
    for (size_t s = 0; s < SEEP_POINTGROUP_BATCH; s++) {
        const struct piece *from = &pieces[s];
        memcpy(out->points.locs + at, from->p.locs, from->n * sizeof *from->p.locs);
        memcpy(out->points.labels + at, from->p.labels, from->n * sizeof *from->p.labels);
        memcpy(out->points.xyz + at, from->p.xyz, from->n * sizeof *from->p.xyz);
        memcpy(out->points.feats + at, from->p.feats, from->n * sizeof *from->p.feats);
        memcpy(out->points.info + at, from->p.info, from->n * sizeof *from->p.info);
        for (size_t i = 0; i < from->n; i++) {
            int64_t instance = from->p.instances[i];
            out->points.instances[at + i] = instance < 0 ? instance : instance + (int64_t)instances;
        }
        at += from->n;
        instances += from->n_instances;
    }
    return 0;
}

/* v2p_map: as wide as the densest voxel of the whole batch. */
static __attribute__((noinline)) int collate_voxel_map(const struct seep_voxel_maps *maps,
                                                       struct seep_pointgroup_batch *out)
{
    size_t densest = 0;

    for (size_t v = 0; v < maps->n_voxels; v++) {
        size_t n = (size_t)(maps->voxel_start[v + 1] - maps->voxel_start[v]);
        densest = n > densest ? n : densest;
    }
    out->row = 1 + densest;
    out->voxel_points = calloc(out->n_voxels * out->row + 1, sizeof *out->voxel_points);
    out->blocks[2] = out->voxel_points;
    if (!out->voxel_points)
        return -SEEP_ENOMEM;
    for (size_t v = 0; v < maps->n_voxels; v++) {
        int32_t n = maps->voxel_start[v + 1] - maps->voxel_start[v];
        int32_t *row = out->voxel_points + v * out->row;
        row[0] = n;
        memcpy(row + 1, maps->voxel_points + maps->voxel_start[v], (size_t)n * sizeof *row);
    }
    return 0;
}

static int collate_voxels(const struct seep_pointgroup_maker *m, struct seep_pointgroup_batch *out)
{
    size_t n = out->n_points, scratch_bytes = 0;
    int32_t(*coords)[4] = malloc((n + 1) * sizeof *coords);
    struct seep_voxel_maps maps = {.point_to_voxel = out->points.voxel,
                                   .voxel_coords = malloc((n + 1) * sizeof *maps.voxel_coords),
                                   .voxel_start = malloc((n + 1) * sizeof *maps.voxel_start),
                                   .voxel_points = malloc((n + 1) * sizeof *maps.voxel_points)};
    void *scratch = NULL;
    int rc =
        coords && maps.voxel_coords && maps.voxel_start && maps.voxel_points ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < 4 * n && !rc; i++)
        coords[i / 4][i % 4] = (int32_t)out->points.locs[i / 4][i % 4];
    if (!rc)
        rc = seep_voxelize(coords, n, &maps, NULL, &scratch_bytes, m->stream);
    if (!rc)
        rc = seep_stream_alloc(m->stream, scratch_bytes, &scratch);
    if (!rc)
        rc = seep_voxelize(coords, n, &maps, scratch, &scratch_bytes, m->stream);
    if (!rc) {
        out->n_voxels = maps.n_voxels;
        out->voxel_locs = malloc(maps.n_voxels * sizeof *out->voxel_locs + 1);
        out->blocks[1] = out->voxel_locs;
        rc = out->voxel_locs ? 0 : -SEEP_ENOMEM;
    }
    for (size_t i = 0; i < 4 * out->n_voxels && !rc; i++)
        out->voxel_locs[i / 4][i % 4] = maps.voxel_coords[i / 4][i % 4];
    if (!rc)
        rc = collate_voxel_map(&maps, out);
    seep_stream_free(m->stream, scratch);
    free(coords);
    free(maps.voxel_coords);
    free(maps.voxel_start);
    free(maps.voxel_points);
    return rc;
}

int seep_pointgroup_make_batch(struct seep_pointgroup_maker *m, uint64_t task,
                               struct seep_pointgroup_batch *out, struct seep_error *err)
{
    struct piece pieces[SEEP_POINTGROUP_BATCH] = {{0}};
    unsigned short state[3];
    int rc = 0;

    *out = (struct seep_pointgroup_batch){.task = task};
    shuffle(m, task / m->steps_per_epoch);
    seed_state(state, ~m->seed, task);
    for (size_t i = 0; i < SEEP_POINTGROUP_BATCH && !rc; i++) {
        size_t which = m->order[task % m->steps_per_epoch * SEEP_POINTGROUP_BATCH + i];
        struct seep_pointgroup_scene read = {0}, *scene = &read;
        if (m->scenes->loaded)
            scene = &m->scenes->loaded[which];
        else
            rc = seep_pointgroup_read_scene(m->scenes, which, &read, err);
        if (!rc)
            rc = collate_scene(m, scene, i, state, &pieces[i]);
        free(read.points);
    }
    if (!rc)
        rc = collate_merge(pieces, out);
    for (size_t i = 0; i < SEEP_POINTGROUP_BATCH; i++)
        free(pieces[i].block);
    if (!rc)
        rc = collate_voxels(m, out);
    if (rc)
        seep_pointgroup_batch_fini(out);
    return rc;
}

void seep_pointgroup_batch_fini(struct seep_pointgroup_batch *batch)
{
    for (size_t i = 0; i < 3; i++)
        free(batch->blocks[i]);
    *batch = (struct seep_pointgroup_batch){0};
}

/* ---- in shared memory ---------------------------------------------------------------------------
 */

/* POINT_BYTES is a multiple of 8, so that all arrays are aligned one after the other. */
size_t seep_pointgroup_batch_bytes(const struct seep_pointgroup_batch *b)
{
    return b->n_points * POINT_BYTES +
           b->n_voxels * (sizeof *b->voxel_locs + b->row * sizeof *b->voxel_points);
}

int seep_pointgroup_batch_pack(const struct seep_pointgroup_batch *b, struct seep_parcel *out)
{
    struct header header = {b->task, b->n_points, b->n_voxels, b->row};
    int rc = seep_parcel_make(sizeof header + seep_pointgroup_batch_bytes(b), out);

    if (rc)
        return rc;
    char *at = out->bytes;
    memcpy(at, &header, sizeof header);
    memcpy(at += sizeof header, b->blocks[0], b->n_points * POINT_BYTES);
    memcpy(at += b->n_points * POINT_BYTES, b->voxel_locs, b->n_voxels * sizeof *b->voxel_locs);
    memcpy(at + b->n_voxels * sizeof *b->voxel_locs, b->voxel_points,
           b->n_voxels * b->row * sizeof *b->voxel_points);
    return 0;
}

int seep_pointgroup_batch_unpack(const struct seep_parcel *parcel, struct seep_pointgroup_batch *b)
{
    const struct header *header = parcel->bytes;
    char *at = (char *)parcel->bytes + sizeof *header;

    if (parcel->n < sizeof *header)
        return -SEEP_EFORMAT;
    *b = (struct seep_pointgroup_batch){.task = header->task,
                                        .n_points = header->n_points,
                                        .n_voxels = header->n_voxels,
                                        .row = header->row};
    if (parcel->n != sizeof *header + seep_pointgroup_batch_bytes(b))
        return -SEEP_EFORMAT;
    place_points(&b->points, at, b->n_points);
    b->voxel_locs = (void *)(at += b->n_points * POINT_BYTES);
    b->voxel_points = (void *)(at + b->n_voxels * sizeof *b->voxel_locs);
    return 0;
}

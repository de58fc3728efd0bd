#include "kernels/lab/scenarios/pointgroup_batch.h"

#include "kernels/lab/scenarios/pointgroup_piece.h"
#include "kernels/voxels/voxelize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINT_BYTES = SEEP_POINTGROUP_POINT_BYTES, CROP_POINTS = 250000 };

/* PointGroup's scale is 50: voxels of 2 cm. */
static const double voxel_metres = 0.02;

struct header { /* of a parcel; the arrays follow */
    uint64_t task, n_points, n_voxels, row;
};

int seep_pointgroup_maker_init(struct seep_pointgroup_maker *m,
                               const struct seep_pointgroup_scenes *scenes, double scale,
                               uint64_t seed)
{
    double points = seep_pointgroup_size(scale).points;

    /* A room keeps its size with fewer points: larger voxels keep the same number of points
     * each. */
    *m = (struct seep_pointgroup_maker){
        .scenes = scenes,
        .cut = {.max_points = (size_t)(CROP_POINTS * points), .voxel = voxel_metres / sqrt(points)},
        .seed = seed,
        .steps_per_epoch = scenes->n_train / SEEP_POINTGROUP_BATCH,
        .validation_steps =
            (scenes->n - scenes->n_train + SEEP_POINTGROUP_BATCH - 1) / SEEP_POINTGROUP_BATCH,
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

static void shuffle(struct seep_pointgroup_maker *m, uint64_t epoch)
{
    struct seep_chance chance = seep_chance_of(m->seed, epoch);

    if (m->order_epoch == epoch)
        return;
    m->order_epoch = epoch;
    seep_chance_shuffle(&chance, m->order, m->scenes->n_train);
}

/* ---- the batch ---------------------------------------------------------------------------------
 */

static int collate_merge(const struct seep_pointgroup_piece pieces[SEEP_POINTGROUP_BATCH],
                         struct seep_pointgroup_batch *out)
{
    size_t at = 0, instances = 0;

    for (size_t s = 0; s < SEEP_POINTGROUP_BATCH; s++)
        out->n_points += pieces[s].n;
    out->blocks[0] = malloc(out->n_points * POINT_BYTES + 1);
    if (!out->blocks[0])
        return -SEEP_ENOMEM;
    seep_pointgroup_place_points(&out->points, out->blocks[0], out->n_points);
    for (size_t s = 0; s < SEEP_POINTGROUP_BATCH; s++) {
        const struct seep_pointgroup_piece *from = &pieces[s];
        if (!from->n)
            continue; /* the last batch of a pass is smaller */
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

/* The batch of n scenes. */
static int merge(struct seep_pointgroup_maker *m, const uint32_t *ids, size_t n,
                 const struct seep_pointgroup_cut *cut, struct seep_chance chance,
                 struct seep_pointgroup_batch *out, struct seep_error *err)
{
    struct seep_pointgroup_piece pieces[SEEP_POINTGROUP_BATCH] = {{0}};
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        struct seep_pointgroup_scene read = {0}, *scene = &read;
        if (m->scenes->loaded)
            scene = &m->scenes->loaded[ids[i]];
        else
            rc = seep_pointgroup_read_scene(m->scenes, ids[i], &read, err);
        if (!rc)
            rc = seep_pointgroup_collate_scene(scene, i, cut, &chance, &pieces[i]);
        free(read.points);
    }
    if (!rc)
        rc = collate_merge(pieces, out);
    for (size_t i = 0; i < n; i++)
        free(pieces[i].block);
    if (!rc)
        rc = collate_voxels(m, out);
    if (rc)
        seep_pointgroup_batch_fini(out);
    return rc;
}

void seep_pointgroup_batch_ids(struct seep_pointgroup_maker *m, uint64_t task,
                               uint32_t ids[SEEP_POINTGROUP_BATCH])
{
    shuffle(m, task / m->steps_per_epoch);
    memcpy(ids, m->order + task % m->steps_per_epoch * SEEP_POINTGROUP_BATCH,
           SEEP_POINTGROUP_BATCH * sizeof *ids);
}

int seep_pointgroup_train_merge(struct seep_pointgroup_maker *m, uint64_t task,
                                const uint32_t ids[SEEP_POINTGROUP_BATCH],
                                struct seep_pointgroup_batch *out, struct seep_error *err)
{
    *out = (struct seep_pointgroup_batch){.task = task};
    return merge(m, ids, SEEP_POINTGROUP_BATCH, &m->cut, seep_chance_of(~m->seed, task), out, err);
}

int seep_pointgroup_make_batch(struct seep_pointgroup_maker *m, uint64_t task,
                               struct seep_pointgroup_batch *out, struct seep_error *err)
{
    uint32_t ids[SEEP_POINTGROUP_BATCH];

    seep_pointgroup_batch_ids(m, task, ids);
    return seep_pointgroup_train_merge(m, task, ids, out, err);
}

int seep_pointgroup_validation_batch(struct seep_pointgroup_maker *m, uint64_t task,
                                     struct seep_pointgroup_batch *out, struct seep_error *err)
{
    struct seep_pointgroup_cut cut = m->cut;
    size_t first = m->scenes->n_train + task * SEEP_POINTGROUP_BATCH, n = 0;
    uint32_t ids[SEEP_POINTGROUP_BATCH];

    cut.validates = true;
    *out = (struct seep_pointgroup_batch){.task = task};
    for (; n < SEEP_POINTGROUP_BATCH && first + n < m->scenes->n; n++)
        ids[n] = (uint32_t)(first + n);
    return merge(m, ids, n, &cut, seep_chance_of(~m->seed, ~task), out, err);
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
    int rc = seep_parcel_alloc(sizeof header + seep_pointgroup_batch_bytes(b), out);

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
    seep_pointgroup_place_points(&b->points, at, b->n_points);
    b->voxel_locs = (void *)(at += b->n_points * POINT_BYTES);
    b->voxel_points = (void *)(at + b->n_voxels * sizeof *b->voxel_locs);
    return 0;
}

/* From groups of points to both maps, and to one point per voxel. Voxels are numbered by going
 * through the points in order. A point whose voxel begins in another thread's chunk must wait until
 * that chunk is numbered; until then it is in a list. */
#include "kernels/voxels/voxel_dense.h"
#include "kernels/voxels/voxel_groups.h"
#include "kernels/voxels/voxelize_twins.h"

#include <string.h>

struct maps_job {
    struct seep_voxel_groups groups;
    struct seep_voxel_maps *maps;
};

/* The list of a chunk's waiting points is behind the voxels, in voxel_coords: there are at most as
 * many waiting points as points that are not first. */
static struct seep_voxel_member *waiting_room(const struct seep_voxel_groups *g, void *room,
                                              unsigned chunk)
{
    size_t n_voxels = seep_voxel_groups_firsts_before(g, g->n_chunks);
    size_t not_first = seep_voxel_chunk_begin(g, chunk) - seep_voxel_groups_firsts_before(g, chunk);

    return (struct seep_voxel_member *)room + n_voxels + not_first;
}

static inline void place(struct seep_voxel_maps *maps, struct seep_voxel_member member)
{
    int32_t voxel = maps->point_to_voxel[member.record >> 32];

    maps->point_to_voxel[member.point] = voxel;
    maps->voxel_points[maps->voxel_start[voxel] + (int32_t)(uint32_t)member.record] =
        (int32_t)member.point;
}

static void fill_maps(struct seep_voxel_groups *g, unsigned thread, struct seep_voxel_maps *maps)
{
    struct seep_voxel_member *waiting = waiting_room(g, maps->voxel_coords, thread);
    uint32_t voxel = seep_voxel_groups_firsts_before(g, thread);
    uint32_t start = seep_voxel_groups_members_before(g, thread);
    struct seep_voxel_block block;
    size_t n_waiting = 0, n;

    seep_voxel_groups_rewind(g, thread);
    for (size_t at = seep_voxel_chunk_begin(g, thread);
         (n = seep_voxel_groups_block(g, thread, at, &block)); at += n) {
        for (unsigned i = 0; i < block.n_firsts; i++, voxel++) {
            uint32_t point = block.firsts[i].point;
            memcpy(maps->voxel_coords[voxel], g->coords[point], sizeof g->coords[point]);
            maps->point_to_voxel[point] = (int32_t)voxel;
            maps->voxel_start[voxel] = (int32_t)start;
            maps->voxel_points[start] = (int32_t)point;
            start += (uint32_t)block.firsts[i].record;
        }
        for (unsigned i = 0; i < block.n_later; i++)
            place(maps, block.later[i]);
        for (unsigned i = 0; i < block.n_early; i++)
            waiting[n_waiting++] = block.early[i];
        for (unsigned i = 0; i < block.n_refused; i++)
            maps->point_to_voxel[block.refused[i]] = -1;
    }
    seep_voxel_groups_wait(g);
    for (size_t i = 0; i < n_waiting; i++)
        place(maps, waiting[i]);
}

static void make_maps(void *arg, unsigned thread, unsigned n_threads)
{
    struct maps_job *job = arg;
    struct seep_voxel_groups *g = &job->groups;

    (void)n_threads;
    if (thread >= g->n_chunks)
        return;
    struct seep_voxel_box box = seep_voxel_groups_survey(g, thread);
    if (seep_voxel_is_dense(g, &box)) {
        seep_voxel_dense_maps(g, thread, &box, job->maps);
    } else {
        seep_voxel_groups_find(g, thread, &box);
        fill_maps(g, thread, job->maps);
    }
    if (thread == 0) {
        uint32_t n_voxels = seep_voxel_groups_firsts_before(g, g->n_chunks);
        job->maps->n_voxels = n_voxels;
        job->maps->voxel_start[n_voxels] =
            (int32_t)seep_voxel_groups_members_before(g, g->n_chunks);
    }
}

int seep_voxelize_scratch_cpu(size_t n_points, size_t *bytes, struct seep_stream *stream)
{
    struct seep_voxel_groups groups;

    *bytes = 0;
    seep_voxel_groups_init(&groups, NULL, n_points, seep_stream_threads(stream), NULL, bytes);
    return 0;
}

int seep_voxelize_cpu(const int32_t (*coords)[4], size_t n_points, struct seep_voxel_maps *maps,
                      void *scratch, size_t scratch_bytes, struct seep_stream *stream)
{
    struct maps_job job = {.maps = maps};
    size_t at = 0;

    (void)scratch_bytes;
    seep_voxel_groups_init(&job.groups, coords, n_points, seep_stream_threads(stream), scratch,
                           &at);
    job.groups.large_tables = (uint64_t *)(void *)maps->voxel_coords;
    seep_stream_run(stream, make_maps, &job);
    return 0;
}

struct sparse_job {
    struct seep_voxel_groups groups;
    const int32_t *labels;
    int32_t ignore_label, *first, *voxel_labels, *inverse;
    void *room; /* 16 n bytes, used as the maps use voxel_coords */
    size_t n_voxels;
};

/* Two threads may both see that the labels of a voxel disagree: they write the same value. */
static inline void join(struct sparse_job *job, struct seep_voxel_member member)
{
    uint32_t first = (uint32_t)(member.record >> 32);
    int32_t voxel = job->inverse[first];

    job->inverse[member.point] = voxel;
    if (job->labels && job->labels[member.point] != job->labels[first])
        __atomic_store_n(&job->voxel_labels[voxel], job->ignore_label, __ATOMIC_RELAXED);
}

static void pick_points(void *arg, unsigned thread, unsigned n_threads)
{
    struct sparse_job *job = arg;
    struct seep_voxel_groups *g = &job->groups;
    struct seep_voxel_block block;
    size_t n_waiting = 0, n;

    (void)n_threads;
    if (thread >= g->n_chunks)
        return;
    struct seep_voxel_box box = seep_voxel_groups_survey(g, thread);
    seep_voxel_groups_find(g, thread, &box);
    struct seep_voxel_member *waiting = waiting_room(g, job->room, thread);
    uint32_t voxel = seep_voxel_groups_firsts_before(g, thread);
    seep_voxel_groups_rewind(g, thread);
    for (size_t at = seep_voxel_chunk_begin(g, thread);
         (n = seep_voxel_groups_block(g, thread, at, &block)); at += n) {
        for (unsigned i = 0; i < block.n_firsts; i++, voxel++) {
            uint32_t point = block.firsts[i].point;
            job->first[voxel] = (int32_t)point;
            job->inverse[point] = (int32_t)voxel;
            if (job->labels)
                job->voxel_labels[voxel] = job->labels[point];
        }
        for (unsigned i = 0; i < block.n_later; i++)
            join(job, block.later[i]);
        for (unsigned i = 0; i < block.n_early; i++)
            waiting[n_waiting++] = block.early[i];
        for (unsigned i = 0; i < block.n_refused; i++)
            job->inverse[block.refused[i]] = -1;
    }
    seep_voxel_groups_wait(g);
    for (size_t i = 0; i < n_waiting; i++)
        join(job, waiting[i]);
    if (thread + 1 == g->n_chunks)
        job->n_voxels = voxel;
}

static void lay_out(struct sparse_job *job, const int32_t (*coords)[4], size_t n_points,
                    struct seep_stream *stream, void *scratch, size_t *bytes)
{
    *bytes = 0;
    seep_voxel_groups_init(&job->groups, coords, n_points, seep_stream_threads(stream), scratch,
                           bytes);
    job->room = seep_voxel_take(scratch, bytes, n_points * sizeof(struct seep_voxel_member));
    int32_t *inverse = seep_voxel_take(scratch, bytes, n_points * sizeof *inverse);
    if (!job->inverse)
        job->inverse = inverse;
    job->groups.large_tables = job->room;
}

int seep_sparse_quantize_scratch_cpu(size_t n_points, size_t *bytes, struct seep_stream *stream)
{
    struct sparse_job job = {0};

    lay_out(&job, NULL, n_points, stream, NULL, bytes);
    return 0;
}

int seep_sparse_quantize_cpu(const int32_t (*coords)[4], const int32_t *labels, size_t n_points,
                             int32_t ignore_label, int32_t *first, int32_t *voxel_labels,
                             int32_t *inverse, size_t *n_voxels, void *scratch,
                             size_t scratch_bytes, struct seep_stream *stream)
{
    struct sparse_job job = {.labels = labels,
                             .ignore_label = ignore_label,
                             .first = first,
                             .voxel_labels = voxel_labels,
                             .inverse = inverse};

    lay_out(&job, coords, n_points, stream, scratch, &scratch_bytes);
    seep_stream_run(stream, pick_points, &job);
    *n_voxels = job.n_voxels;
    return 0;
}

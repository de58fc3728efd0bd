/* From points to both maps. With all threads, voxels are numbered by going through the points of
 * each chunk in order. A point whose voxel begins in another thread's chunk must wait until that
 * chunk is numbered; until then it is in a list. */
#include "kernels/voxels/voxel_dense.h"
#include "kernels/voxels/voxel_groups.h"
#include "kernels/voxels/voxel_in_order.h"
#include "kernels/voxels/voxel_ways.h"
#include "kernels/voxels/voxelize_twins.h"

#include <string.h>

struct maps_job {
    struct seep_voxel_groups groups;
    struct seep_voxel_maps *maps;
    bool may_count; /* a table of all cells, if the box is small enough */
};

static inline void place(struct seep_voxel_maps *maps, struct seep_voxel_member member)
{
    int32_t voxel = maps->point_to_voxel[member.record >> 32];

    maps->point_to_voxel[member.point] = voxel;
    maps->voxel_points[maps->voxel_start[voxel] + (int32_t)(uint32_t)member.record] =
        (int32_t)member.point;
}

static void fill_maps(struct seep_voxel_groups *g, unsigned thread, struct seep_voxel_maps *maps)
{
    struct seep_voxel_member *waiting = seep_voxel_waiting_room(g, maps->voxel_coords, thread);
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
    if (job->may_count && seep_voxel_is_dense(g->n_chunks, g->n, &box)) {
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

/* The table is in the scratch, which is 10 bytes per point and more. */
static void make_maps_in_order(enum seep_voxel_way way, const struct seep_voxel_box *box,
                               const int32_t (*coords)[4], size_t n, struct seep_voxel_maps *maps,
                               void *scratch)
{
    struct seep_voxel_order order = {.coords = coords,
                                     .n = n,
                                     .table = scratch,
                                     .voxel_of = maps->point_to_voxel,
                                     .voxel_coords = maps->voxel_coords,
                                     .counts = maps->voxel_start};

    maps->n_voxels = seep_voxel_order_run(way, &order, box);
    seep_voxel_order_list(&order, maps->n_voxels, maps->voxel_points);
}

int seep_voxelize_by(enum seep_voxel_way way, const int32_t (*coords)[4], size_t n_points,
                     struct seep_voxel_maps *maps, void *scratch, struct seep_stream *stream)
{
    struct maps_job job = {.maps = maps};
    struct seep_voxel_box box = seep_voxel_box_empty();
    size_t at = 0;

    seep_voxel_groups_init(&job.groups, coords, n_points, seep_stream_threads(stream), scratch,
                           &at);
    way = seep_voxel_way_for(way, coords, n_points, job.groups.n_chunks, true, &box);
    if (seep_voxel_is_in_order(way)) {
        make_maps_in_order(way, &box, coords, n_points, maps, scratch);
        return 0;
    }
    job.may_count = way != SEEP_VOXEL_PARTITIONS;
    job.groups.box = box.lo[0] <= box.hi[0] ? &box : NULL;
    job.groups.large_tables = (uint64_t *)(void *)maps->voxel_coords;
    seep_stream_run(stream, make_maps, &job);
    return 0;
}

int seep_voxelize_cpu(const int32_t (*coords)[4], size_t n_points, struct seep_voxel_maps *maps,
                      void *scratch, size_t scratch_bytes, struct seep_stream *stream)
{
    (void)scratch_bytes;
    return seep_voxelize_by(SEEP_VOXEL_CHOSEN, coords, n_points, maps, scratch, stream);
}

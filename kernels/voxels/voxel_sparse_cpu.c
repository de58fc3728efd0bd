/* From points to one point of each voxel: as the maps are made, without lists of points. */
#include "kernels/voxels/voxel_dense.h"
#include "kernels/voxels/voxel_groups.h"
#include "kernels/voxels/voxel_in_order.h"
#include "kernels/voxels/voxel_ways.h"
#include "kernels/voxels/voxelize_twins.h"

struct sparse_job {
    struct seep_voxel_groups groups;
    const int32_t *labels;
    int32_t ignore_label, *first, *voxel_labels, *inverse;
    void *room; /* 16 n bytes, used as the maps use voxel_coords */
    size_t n_voxels;
    bool may_count; /* a table of all cells, if the box is small enough */
};

/* The labels of voxels begin … end − 1 are those of their first points … */
static void begin_labels(const struct sparse_job *job, size_t begin, size_t end)
{
    for (size_t v = begin; job->labels && v < end; v++)
        job->voxel_labels[v] = job->labels[job->first[v]];
}

/* … unless one of points begin … end − 1 disagrees. Two threads may both see that: they write the
 * same value. */
static void join_labels(const struct sparse_job *job, size_t begin, size_t end)
{
    for (size_t i = begin; job->labels && i < end; i++) {
        int32_t voxel = job->inverse[i];
        if (voxel >= 0 && job->labels[i] != job->labels[job->first[voxel]])
            __atomic_store_n(&job->voxel_labels[voxel], job->ignore_label, __ATOMIC_RELAXED);
    }
}

static void pick_by_counting(struct sparse_job *job, unsigned thread,
                             const struct seep_voxel_box *box)
{
    struct seep_voxel_groups *g = &job->groups;

    seep_voxel_dense_pick(g, thread, box, job->inverse, job->first);
    begin_labels(job, seep_voxel_groups_firsts_before(g, thread),
                 seep_voxel_groups_firsts_before(g, thread + 1));
    seep_voxel_groups_wait(g);
    join_labels(job, seep_voxel_chunk_begin(g, thread), seep_voxel_chunk_begin(g, thread + 1));
    if (thread == 0)
        job->n_voxels = seep_voxel_groups_firsts_before(g, g->n_chunks);
}

static inline void join(struct sparse_job *job, struct seep_voxel_member member)
{
    uint32_t first = (uint32_t)(member.record >> 32);
    int32_t voxel = job->inverse[first];

    job->inverse[member.point] = voxel;
    if (job->labels && job->labels[member.point] != job->labels[first])
        __atomic_store_n(&job->voxel_labels[voxel], job->ignore_label, __ATOMIC_RELAXED);
}

static void pick_by_partitions(struct sparse_job *job, unsigned thread,
                               const struct seep_voxel_box *box)
{
    struct seep_voxel_groups *g = &job->groups;
    struct seep_voxel_block block;
    size_t n_waiting = 0, n;

    seep_voxel_groups_find(g, thread, box);
    struct seep_voxel_member *waiting = seep_voxel_waiting_room(g, job->room, thread);
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

static void pick_points(void *arg, unsigned thread, unsigned n_threads)
{
    struct sparse_job *job = arg;
    struct seep_voxel_groups *g = &job->groups;

    (void)n_threads;
    if (thread >= g->n_chunks)
        return;
    struct seep_voxel_box box = seep_voxel_groups_survey(g, thread);
    if (job->may_count && seep_voxel_is_dense(g->n_chunks, g->n, &box))
        pick_by_counting(job, thread, &box);
    else
        pick_by_partitions(job, thread, &box);
}

static void pick_in_order(enum seep_voxel_way way, const struct seep_voxel_box *box,
                          struct sparse_job *job, void *scratch)
{
    const struct seep_voxel_groups *g = &job->groups;
    struct seep_voxel_order order = {.coords = g->coords,
                                     .n = g->n,
                                     .table = scratch,
                                     .voxel_of = job->inverse,
                                     .voxel_coords = job->room,
                                     .first = job->first};

    job->n_voxels = seep_voxel_order_run(way, &order, box);
    begin_labels(job, 0, job->n_voxels);
    join_labels(job, 0, g->n);
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

int seep_sparse_quantize_by(enum seep_voxel_way way, const int32_t (*coords)[4],
                            const int32_t *labels, size_t n_points, int32_t ignore_label,
                            int32_t *first, int32_t *voxel_labels, int32_t *inverse,
                            size_t *n_voxels, void *scratch, struct seep_stream *stream)
{
    struct sparse_job job = {.labels = labels,
                             .ignore_label = ignore_label,
                             .first = first,
                             .voxel_labels = voxel_labels,
                             .inverse = inverse};
    struct seep_voxel_box box = seep_voxel_box_empty();
    size_t bytes;

    lay_out(&job, coords, n_points, stream, scratch, &bytes);
    way = seep_voxel_way_for(way, coords, n_points, job.groups.n_chunks, false, &box);
    job.may_count = way != SEEP_VOXEL_PARTITIONS;
    job.groups.box = box.lo[0] <= box.hi[0] ? &box : NULL;
    if (seep_voxel_is_in_order(way))
        pick_in_order(way, &box, &job, scratch);
    else
        seep_stream_run(stream, pick_points, &job);
    *n_voxels = job.n_voxels;
    return 0;
}

int seep_sparse_quantize_cpu(const int32_t (*coords)[4], const int32_t *labels, size_t n_points,
                             int32_t ignore_label, int32_t *first, int32_t *voxel_labels,
                             int32_t *inverse, size_t *n_voxels, void *scratch,
                             size_t scratch_bytes, struct seep_stream *stream)
{
    (void)scratch_bytes;
    return seep_sparse_quantize_by(SEEP_VOXEL_CHOSEN, coords, labels, n_points, ignore_label, first,
                                   voxel_labels, inverse, n_voxels, scratch, stream);
}

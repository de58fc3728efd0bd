/* A batch as PointGroup's trainMerge() makes it: 112 bytes a point, 32 + 4·row a voxel. */
#ifndef SEEP_KERNELS_POINTGROUP_BATCH_H
#define SEEP_KERNELS_POINTGROUP_BATCH_H

#include "kernels/compute/stream.h"
#include "kernels/lab/scenarios/pointgroup_piece.h"
#include "kernels/lab/scenarios/worker_queue.h"

struct seep_pointgroup_batch {
    uint64_t task;
    size_t n_points, n_voxels;
    size_t row; /* 1 + points of the densest voxel */
    struct seep_pointgroup_points points;
    int64_t (*voxel_locs)[4]; /* [n_voxels] */
    int32_t *voxel_points;    /* v2p_map [n_voxels][row]: how many, which, then zeros */
    void *blocks[3];          /* what _fini() frees; NULLs where the batch lies in a parcel */
};

/* What batches are made of, and how. One a process: it has scratch of its own. */
struct seep_pointgroup_maker {
    const struct seep_pointgroup_scenes *scenes;
    struct seep_pointgroup_cut cut;
    uint64_t seed;
    size_t steps_per_epoch, validation_steps;
    uint32_t *order; /* [n_train] of the epoch `order_epoch` */
    uint64_t order_epoch;
    struct seep_stream *stream; /* one thread's: a loader worker has a CPU of its own at best */
};

/* Allocates maker->order and ->stream; free with _fini(). */
SEEP_MUST_CHECK int seep_pointgroup_maker_init(struct seep_pointgroup_maker *maker,
                                               const struct seep_pointgroup_scenes *scenes,
                                               double scale, uint64_t seed);
void seep_pointgroup_maker_fini(struct seep_pointgroup_maker *maker);

/* Scenes of the training's batch number `task`, counted over all epochs. */
void seep_pointgroup_batch_ids(struct seep_pointgroup_maker *maker, uint64_t task,
                               uint32_t ids[SEEP_POINTGROUP_BATCH]);

/* trainMerge(ids), for that batch: the same whoever makes it. */
SEEP_MUST_CHECK int seep_pointgroup_train_merge(struct seep_pointgroup_maker *maker, uint64_t task,
                                                const uint32_t ids[SEEP_POINTGROUP_BATCH],
                                                struct seep_pointgroup_batch *out,
                                                struct seep_error *err);

/* Batch number `task` of a validation, in the order of its scenes; the last one may be smaller. */
SEEP_MUST_CHECK int seep_pointgroup_validation_batch(struct seep_pointgroup_maker *maker,
                                                     uint64_t task,
                                                     struct seep_pointgroup_batch *out,
                                                     struct seep_error *err);

/* Both of the first two. */
SEEP_MUST_CHECK int seep_pointgroup_make_batch(struct seep_pointgroup_maker *maker, uint64_t task,
                                               struct seep_pointgroup_batch *out,
                                               struct seep_error *err);
void seep_pointgroup_batch_fini(struct seep_pointgroup_batch *batch);

/* Its bytes; a copy of it in shared memory; the batch that lies in a parcel. */
size_t seep_pointgroup_batch_bytes(const struct seep_pointgroup_batch *batch);
SEEP_MUST_CHECK int seep_pointgroup_batch_pack(const struct seep_pointgroup_batch *batch,
                                               struct seep_parcel *out);
SEEP_MUST_CHECK int seep_pointgroup_batch_unpack(const struct seep_parcel *parcel,
                                                 struct seep_pointgroup_batch *out);

#endif

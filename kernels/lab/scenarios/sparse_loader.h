/* The document's data set and loader: a scene is read (DummyDataset.__getitem__), quantised and
 * collated with others (minkowski_collate_fn), by the thread that trains. */
#ifndef SEEP_KERNELS_SPARSE_LOADER_H
#define SEEP_KERNELS_SPARSE_LOADER_H

#include "kernels/compute/stream.h"
#include "kernels/lab/scenarios/pointgroup_scenes.h"
#include "kernels/lab/scenarios/sparse_network.h"

struct seep_sparse_loader {
    struct seep_pointgroup_scenes scenes;
    double points;              /* of a scene, relative to a real one's */
    struct seep_stream *stream; /* one thread's */
};

/* In host memory, all float32 as in the document. */
struct seep_sparse_batch {
    size_t n; /* voxels */
    float (*coordinates)[4];
    float (*features)[3];
    float *labels;
    struct seep_sparse_size size; /* what it is for scenes of full size */
};

/* Lists the scenes of `folder`, which are of that scale. It keeps the folder's name. 0,
 * -SEEP_ENODATA (too few scenes), -SEEP_EIO, -SEEP_ENOMEM; _fini() also then. */
SEEP_MUST_CHECK int seep_sparse_loader_init(struct seep_sparse_loader *loader, const char *folder,
                                            double scale, struct seep_error *err);
void seep_sparse_loader_fini(struct seep_sparse_loader *loader);

/* Voxels of all scenes as they are, not of full size: sizes[scenes.n]. Reads each. As _batch(). */
SEEP_MUST_CHECK int seep_sparse_loader_sizes(const struct seep_sparse_loader *loader,
                                             struct seep_sparse_size *sizes,
                                             struct seep_error *err);
/* What the batch of these n scenes is for scenes of full size, to the bit as _batch() says. */
struct seep_sparse_size seep_sparse_loader_sum(const struct seep_sparse_loader *loader,
                                               const struct seep_sparse_size *sizes,
                                               const uint32_t *ids, size_t n);

/* The batch of these n scenes. 0, what seep_scannet_read_mesh() returns, -SEEP_EFORMAT (a scene
 * without a voxel), -SEEP_ENOMEM.
 * Allocates: seep_sparse_batch_fini(), which is allowed for zeros. */
SEEP_MUST_CHECK int seep_sparse_loader_batch(const struct seep_sparse_loader *loader,
                                             const uint32_t *ids, size_t n,
                                             struct seep_sparse_batch *out, struct seep_error *err);
void seep_sparse_batch_fini(struct seep_sparse_batch *batch);

#endif

/* What the document's network (DummyNetwork: a convolution, one of stride 2, a transposed one back,
 * and a last one of kernel size 1 to the classes) asks of the GPU's allocator in a step, and when
 * it gives it back; nothing is computed. */
#ifndef SEEP_KERNELS_SPARSE_NETWORK_H
#define SEEP_KERNELS_SPARSE_NETWORK_H

#include "kernels/lab/scenarios/caching_allocator.h"

struct seep_sparse_network;

/* A collated batch, on which all sizes depend. */
struct seep_sparse_size {
    double voxels; /* quantised points of all its scenes */
    double coarse; /* voxels of twice the edge, which the layer of stride 2 makes of them */
};

/* Weights and gradients are taken at once. `padded`: sizes above 1 MiB are rounded up to a power of
 * two. The allocator is used and not owned. 0, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_sparse_network_create(struct seep_caching_allocator *allocator,
                                               bool padded, struct seep_sparse_network **out);

/* Gives everything back. NULL: nothing. */
void seep_sparse_network_destroy(struct seep_sparse_network *net);

/* The batch comes to the device and becomes a sparse tensor: what training_step() begins with. It
 * takes the place of the one before. 0, -SEEP_ENOMEM; also where it fails, _rest() is due. */
SEEP_MUST_CHECK int seep_sparse_network_load(struct seep_sparse_network *net,
                                             struct seep_sparse_size size);

/* Forward, backward and the optimizer over the batch that was loaded; forward alone, without a
 * graph. 0, -SEEP_ENOMEM: it has no more than the batch then. */
SEEP_MUST_CHECK int seep_sparse_network_train(struct seep_sparse_network *net);
SEEP_MUST_CHECK int seep_sparse_network_validate(struct seep_sparse_network *net);

#endif

/* What a sparse U-Net (Choy et al., "4D Spatio-Temporal ConvNets", CVPR 2019: MinkUNet) asks of the
 * GPU's allocator in a training step, and when it gives it back; nothing is computed. */
#ifndef SEEP_KERNELS_SPARSE_NETWORK_H
#define SEEP_KERNELS_SPARSE_NETWORK_H

#include "kernels/compute/chance.h"
#include "kernels/lab/scenarios/caching_allocator.h"

struct seep_sparse_network;

/* Weights, gradients and momentum are taken at once. `bucketed`: sizes above 1 MiB are rounded up
 * to a power of two. The allocator is used and not owned. 0, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_sparse_network_create(struct seep_caching_allocator *allocator,
                                               bool bucketed, struct seep_sparse_network **out);

/* Gives everything back. NULL: nothing. */
void seep_sparse_network_destroy(struct seep_sparse_network *net);

/* A batch waits on the device for its step: quantised coordinates and colours. It takes the place
 * of the one before.
 *   points    of the batch; the finest level has about as many voxels
 *   progress  0 … 1, how far in the list of scenes: from cluttered to open ones, whose coarser
 *             levels have fewer voxels for each of the finest
 * Levels are scaled so that a step takes the same at its highest, whatever the progress.
 * 0, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_sparse_network_load(struct seep_sparse_network *net, double points,
                                             double progress, struct seep_chance *chance);

/* Forward, backward and optimizer over the batch that was loaded. 0, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_sparse_network_step(struct seep_sparse_network *net);

#endif

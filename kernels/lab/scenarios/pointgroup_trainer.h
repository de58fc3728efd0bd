/* The trainer's side of PointGroup's scenario: what it holds besides the data, and its step. */
#ifndef SEEP_KERNELS_POINTGROUP_TRAINER_H
#define SEEP_KERNELS_POINTGROUP_TRAINER_H

#include "kernels/lab/scenarios/pointgroup_batch.h"

enum { SEEP_POINTGROUP_HIDDEN = 16, SEEP_POINTGROUP_CLASSES = 20, SEEP_POINTGROUP_WORKERS = 16 };

struct seep_pointgroup_trainer {
    char *framework; /* [framework_bytes] */
    size_t framework_bytes, program_bytes;
    float first[SEEP_POINTGROUP_HIDDEN][4],
        second[SEEP_POINTGROUP_CLASSES][SEEP_POINTGROUP_HIDDEN + 1];
    double loss; /* of the last step, or of the last validation's batch */
};

/* Takes the framework's memory, and touches it. -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_pointgroup_trainer_init(struct seep_pointgroup_trainer *trainer,
                                                 double scale, uint64_t seed);
void seep_pointgroup_trainer_fini(struct seep_pointgroup_trainer *trainer);

/* In a forked worker: writes to the pages that its interpreter would. `loads`: it makes batches. */
void seep_pointgroup_become_worker(struct seep_pointgroup_trainer *trainer, double scale,
                                   bool loads);

/* One step: a small network on the voxels' mean colours, then the wait for a GPU that is not there.
 */
void seep_pointgroup_train(struct seep_pointgroup_trainer *trainer,
                           const struct seep_pointgroup_batch *batch);

/* The same without learning, in a third of the GPU's time. */
void seep_pointgroup_validate(struct seep_pointgroup_trainer *trainer,
                              const struct seep_pointgroup_batch *batch);

#endif

/* The loaders of PointGroup's training: for each pass over one, workers are made, and end with it,
 * as without persistent_workers. */
#ifndef SEEP_KERNELS_POINTGROUP_LOADER_H
#define SEEP_KERNELS_POINTGROUP_LOADER_H

#include "kernels/lab/scenarios/pinned_pool.h"
#include "kernels/lab/scenarios/pointgroup_batch.h"
#include "kernels/lab/scenarios/pointgroup_trainer.h"

enum { SEEP_POINTGROUP_PREFETCH = 2 };

struct seep_pointgroup_loader {
    struct seep_pointgroup_maker *maker;
    struct seep_pointgroup_trainer *trainer;
    double scale;
    bool ids_only; /* collate_fn=lambda x: x: workers hand out ids, the training thread collates */
    struct seep_pinned_pool *pool; /* pin_memory=True; or NULL */
};

struct seep_pointgroup_pass;

/* Forks the workers. A pass over batches first … end − 1: of the training, or of the validation.
 * To be called with one thread only. 0, a negative SEEP_E…. */
SEEP_MUST_CHECK int seep_pointgroup_pass_begin(const struct seep_pointgroup_loader *loader,
                                               bool validates, uint64_t first, uint64_t end,
                                               struct seep_pointgroup_pass **out,
                                               struct seep_error *err);

/* Waits for the next batch; one is out at a time. 0, a negative SEEP_E…. */
SEEP_MUST_CHECK int seep_pointgroup_pass_next(struct seep_pointgroup_pass *pass,
                                              struct seep_pointgroup_batch **out,
                                              struct seep_error *err);
void seep_pointgroup_pass_release(struct seep_pointgroup_pass *pass);

/* Ends the workers and waits for them. NULL: nothing. */
void seep_pointgroup_pass_end(struct seep_pointgroup_pass *pass);

#endif

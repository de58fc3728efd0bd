/* The one order in which a digest is written. It depends on what rows say, never on ids. */
#ifndef SEEP_LIBPROF_DIGEST_DIGEST_ORDER_H
#define SEEP_LIBPROF_DIGEST_DIGEST_ORDER_H

#include "libprof/digest/digest.h"

struct seep_digest_order {
    uint32_t *frames; /* [n_frames] texts of frames that rows refer to, sorted */
    size_t n_frames;
    uint32_t *frame_number; /* [d->n_texts] place in `frames` */
    uint32_t *stacks;       /* [n_stacks] ids of the same, sorted */
    size_t n_stacks;
    uint32_t *stack_number; /* [d->n_stacks] */
    uint32_t *rows;         /* [d->n_rows] sorted by kind and key */
    uint32_t *extremes;     /* [d->n_tops] */
    uint32_t *cells;        /* [d->n_cells] */
};

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_digest_order_fini(), also after an error. */
SEEP_MUST_CHECK int seep_digest_order_init(struct seep_digest_order *order,
                                           const struct seep_digest *d);
void seep_digest_order_fini(struct seep_digest_order *order);

#endif

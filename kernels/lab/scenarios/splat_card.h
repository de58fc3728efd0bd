/* What training a 3D Gaussian Splatting model asks of a GPU's caching allocator, at its own size:
 * 200,000 to 4.4 million Gaussians on a card of 8 GB. Nothing is computed, so a run takes seconds
 * at any scale.
 *
 * Densification makes each tensor anew: its rows and the new ones are joined in a larger one (cat),
 * or the rows that stay are copied into a smaller one (index). What was freed is never quite large
 * enough for the next request, and small tensors that are cut from it keep it from the driver. */
#ifndef SEEP_KERNELS_SPLAT_CARD_H
#define SEEP_KERNELS_SPLAT_CARD_H

#include "kernels/compute/stream.h"
#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct seep_splat_card {
    enum seep_device device;
    bool empties;      /* the cache is emptied after each densification */
    bool expandable;   /* segments grow */
    bool preallocated; /* tensors are made once, with a row for each Gaussian there will be */
    uint64_t seed;
    size_t n_last;         /* Gaussians at the end; 0: 4.4 million */
    size_t capacity_bytes; /* 0: a card of 8 GB */
};

/* Tells seep the capacity, steps and tensors. Sets figures of `measured`, also where it fails. 0,
 * -SEEP_ENOMEM, -SEEP_EDEVICE; -SEEP_EVARIANT where the card was too small, with what PyTorch says
 * then in *err. */
SEEP_MUST_CHECK int seep_splat_card_run(const struct seep_splat_card *card, json_t *measured,
                                        struct seep_error *err);

#endif

/* Adam for the Gaussians of a picture alone (3DGS's sparse_adam, after Mallick et al., Taming 3DGS,
 * 2024), held against the step of all. */
#ifndef SEEP_KERNELS_SPLAT_SEEN_H
#define SEEP_KERNELS_SPLAT_SEEN_H

#include "kernels/lab/scenarios/splat_gaussians.h"

/* Of one step, in Gaussians. By a hash of 64 bits of all that is trained of each. */
struct seep_seen_check {
    size_t n_seen;
    size_t apart; /* seen, and not what the step of all makes of them, to the bit */
    size_t moved; /* not seen, and not what they were before */
};

/* Steps as seep_splat_adam_seen() does, and looks what came of it. Allocates meanwhile a second
 * model. 0, -SEEP_EIO (no room for a temporary file), -SEEP_ENOMEM, -SEEP_EDEVICE.
 *   offsets  on the stream's device */
SEEP_MUST_CHECK int seep_gaussians_check_seen(struct seep_gaussians *g,
                                              const struct seep_splat_rates *rates, unsigned step,
                                              const uint32_t *offsets, struct seep_seen_check *out);

/* Bytes that one step of Adam reads and writes: of all n Gaussians, and of n_seen of n. */
double seep_gaussians_adam_bytes(double n);
double seep_gaussians_adam_seen_bytes(double n_seen, double n);

#endif

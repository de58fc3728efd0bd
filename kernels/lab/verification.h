/* All variants of scenarios under seep, several at once, and what seep says of every fix. */
#ifndef SEEP_KERNELS_VERIFICATION_H
#define SEEP_KERNELS_VERIFICATION_H

#include "kernels/lab/lab.h"
#include "kernels/lab/rows.h"

struct seep_verification {
    const struct seep_lab_arguments *a;
    char folder[PATH_MAX / 2]; /* of all of it: there is nothing of the scenarios yet */
    struct seep_rows rows;     /* by scenario, in the order of seep_scenarios */
    json_t *measured;          /* by scenario and variant */
};

/* Adds the rows and figures of the scenarios that the arguments choose. What fails in one leaves
 * the others: 0, or the first error. Signals must be held. */
SEEP_MUST_CHECK int seep_verification_run(struct seep_verification *v, struct seep_error *err);

#endif

/* One variant under `seep run`, in a process of its own. */
#ifndef SEEP_KERNELS_TRIAL_H
#define SEEP_KERNELS_TRIAL_H

#include "kernels/harness/rows.h"
#include "kernels/harness/scenario.h"

struct seep_trial {
    const struct seep_scenario *scenario;
    const struct seep_variant *variant;
    const char *profile;  /* folder for the profile; there is none yet */
    const char *data;     /* folder with the input */
    const char *pictures; /* or NULL */
    const char *log;      /* file for the job's stderr, NULL: this process's own */
    enum seep_device device;
    double scale;
    uint64_t seed;
    unsigned epochs;
    bool progress;
};

/* Fills *outcome (also where the job itself failed: its wait status is there). 0; -SEEP_EIO,
 * -SEEP_ENODATA where seep could not run or left no report.
 * Allocates: outcome->report and outcome->measured; seep_trial_fini(). */
SEEP_MUST_CHECK int seep_trial_run(const struct seep_trial *trial, struct seep_outcome *outcome,
                                   struct seep_error *err);
void seep_trial_fini(struct seep_outcome *outcome);

/* The folder with the scenario's input: `given`, else one made at `room` (below which nothing is
 * yet). *data is one of these. */
SEEP_MUST_CHECK int seep_trial_data(const struct seep_scenario *scenario, const char *given,
                                    const char *room, double scale, uint64_t seed,
                                    const char **data, struct seep_error *err);

/* Whether seep found in the variant what there is to find: adds the lines for it. Returns whether
 * all of them hold. */
bool seep_trial_judge(const struct seep_outcome *outcome, struct seep_rows *rows);

/* The finding of that pattern that weighs most, NULL where there is none; its look-at function or
 * "". */
const json_t *seep_trial_finding(const json_t *report, const char *pattern);
const char *seep_trial_function(const json_t *finding);

#endif

/* One variant under `seep run`, in a process of its own. */
#ifndef SEEP_KERNELS_TRIAL_H
#define SEEP_KERNELS_TRIAL_H

#include "kernels/lab/scenario.h"

struct seep_trial {
    const struct seep_scenario *scenario;
    const struct seep_variant *variant;
    const char *profile;                  /* folder for the profile; there is none yet */
    const char *data;                     /* folder with the input */
    const char *images, *pictures, *save; /* as scenario_options has them, or NULL */
    const char *log;                      /* file for the job's stderr, NULL: this process's own */
    enum seep_device device;
    double scale;
    uint64_t seed;
    unsigned epochs;
    uint64_t capacity; /* 0: the scenario's own */
};

/* Runs it; *status: how the job ended. 0; -SEEP_ENODATA without seep; -SEEP_EIO where seep could
 * not run it. Signals must be held (lab.h). */
SEEP_MUST_CHECK int seep_trial_spawn(const struct seep_trial *trial, int *status,
                                     struct seep_error *err);

/* Fills *outcome with what it left, also where the job itself failed, or seep left no report (that
 * is NULL then). 0; -SEEP_EIO where the job could not be run with its input: it has said why on its
 * stderr. Allocates: outcome->report and outcome->measured; seep_trial_fini(), in either case. */
SEEP_MUST_CHECK int seep_trial_read(const struct seep_trial *trial, int status,
                                    struct seep_outcome *outcome, struct seep_error *err);
void seep_trial_fini(struct seep_outcome *outcome);

/* The folder with the scenario's input: `given`, else one made at `room` (below which nothing is
 * yet), by a child: signals must be held. *data is one of these. */
SEEP_MUST_CHECK int seep_trial_data(const struct seep_scenario *scenario, const char *given,
                                    const char *room, double scale, uint64_t seed,
                                    const char **data, struct seep_error *err);

#endif

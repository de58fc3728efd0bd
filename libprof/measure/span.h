/* Which steps of a job are judged: past its warm-up and its first epoch, before its end. */
#ifndef SEEP_LIBPROF_MEASURE_SPAN_H
#define SEEP_LIBPROF_MEASURE_SPAN_H

#include "libprof/model/model.h"

enum {
    SEEP_MIN_JUDGED = 10, /* steps after the warm-up: fewer show no trend */
    SEEP_LAST_SLICES = 2, /* of a life without steps: its last slices, which are teardown */
};

/* The job's step axis as verdicts see it. */
struct seep_span {
    int32_t first;       /* step whose end is the first that levels show */
    int32_t last;        /* last finished step that teardown does not reach into */
    int32_t warm;        /* steps after this one are judged */
    int32_t judge;       /* the same, after the first epoch if that leaves enough steps */
    int32_t epoch_steps; /* of the first epoch; 0: it did not end, or is unknown */
    bool by_laps;        /* epochs are laps: iterations of a loop, which need not be passes */
    bool epochs_known;   /* the job has epochs; laps only where more than one has passed */
    bool epoch_passed;   /* … and ran on long enough after the first one */
};

void seep_span_compute(const struct seep_model *m, struct seep_span *span);

/* The steps that follow a training, which are judged by themselves; `span` is the job's. All zero
 * where there are none, or too few. */
struct seep_span seep_span_after_training(const struct seep_model *m, const struct seep_span *span);

/* How many judged steps it takes to tell growth from a job's usual fluctuation; three times as many
 * time slices, which hold unequal work. */
int32_t seep_span_steps_needed(const struct seep_model *m);

/* The same for a run other than the main one, on the job's axis. */
struct seep_span seep_span_of_run(const struct seep_model *m, const struct seep_model_run *run);

#endif

/* Which steps of a job are judged: past its warm-up and its first epoch, before its end. */
#ifndef SEEP_LIBPROF_MEASURE_SPAN_H
#define SEEP_LIBPROF_MEASURE_SPAN_H

#include "libprof/model/model.h"

enum {
    SEEP_MIN_JUDGED = 10, /* steps after the warm-up: fewer show no trend */
    SEEP_LAST_SLICES = 2, /* of a life without steps: what falls in them is its end */
};

/* The job's step axis as verdicts see it. */
struct seep_span {
    int32_t last;        /* last finished step that the job's end does not reach into */
    int32_t warm;        /* judged are the steps after this one */
    int32_t judge;       /* the same, after the first epoch where that leaves enough steps */
    int32_t epoch_steps; /* of the first epoch, 0 when it did not end or is not known */
    bool by_laps;        /* epochs are laps: iterations of a loop, which need not be passes */
    bool epochs_known;   /* the job has epochs; laps only where more than one has passed */
    bool epoch_passed;   /* … and ran on long enough after the first one */
    double sample_bytes; /* mean gap between samples, 0 where every allocation was recorded */
};

void seep_span_compute(const struct seep_model *m, struct seep_span *span);

/* How many steps have to be judged before growth can be told from what a job does anyway: of time
 * slices, which hold no equal work, three times as many. */
int32_t seep_span_steps_needed(const struct seep_model *m);

/* The same of another run than the main one, on the job's axis. */
struct seep_span seep_span_of_run(const struct seep_model *m, const struct seep_span *span,
                                  const struct seep_model_run *run);

#endif

/* How a process's steps are counted, why, and what its epochs are: struct seep_process,
 * step_source, step_why and epoch_source. */
#ifndef SEEP_LIBPROF_FORMAT_STEP_FORMAT_H
#define SEEP_LIBPROF_FORMAT_STEP_FORMAT_H

#include <stdbool.h>

/* How steps are counted. */
enum seep_step_source {
#define SEEP_STEP_SOURCE(id, name) SEEP_STEP_##id,
#include "libprof/format/step_sources.def"
#undef SEEP_STEP_SOURCE
    SEEP_N_STEP_SOURCES
};

/* Why they are counted so. */
enum seep_step_why {
    SEEP_WHY_UNKNOWN = 0,
    SEEP_WHY_TOLD,
    SEEP_WHY_OPTIMIZER,
    SEEP_WHY_BATCHES,         /* no optimizer steps */
    SEEP_WHY_BATCHES_BETWEEN, /* several between two steps of an optimizer */
    SEEP_WHY_BATCHES_ANEW,    /* optimizers are new each time, and step once */
    SEEP_WHY_LOOP,            /* no optimizer steps, and no loader gives batches */
    SEEP_WHY_LOOP_BETWEEN,
    SEEP_WHY_OPTIMIZERS_ANEW, /* each is made for one step */
    SEEP_WHY_TASKS,           /* nothing else is seen, and a pool handles tasks */
    SEEP_WHY_BATCHES_AFTER,   /* no optimizer steps any more */
    SEEP_WHY_LOOP_AFTER,
    SEEP_WHY_TIME_AFTER, /* the same, and nothing else shows either: time slices */
    /* Of a torch snapshot (libprof/torch), in which no optimizer shows: */
    SEEP_WHY_ZERO_GRAD, /* its zero_grad() does */
    SEEP_WHY_BACKWARD,
    SEEP_WHY_REPEATS, /* nor that: what is allocated again and again */
    SEEP_N_STEP_WHYS
};

/* A training is over, and other work continues its step count. */
static inline bool seep_why_is_after(enum seep_step_why why)
{
    return why == SEEP_WHY_BATCHES_AFTER || why == SEEP_WHY_LOOP_AFTER ||
           why == SEEP_WHY_TIME_AFTER;
}

/* Rounds of a loop that passed before it was noticed are *counted back*: where back_steps is not 0,
 * these are the steps up to the one that ended first_step_period, and they lie evenly over the
 * periods from back_period, in which the first of them ended, to that. Step back_steps + k ends
 * period first_step_period + k. */

/* What an epoch is. */
enum seep_epoch_source {
    SEEP_EPOCHS_UNKNOWN = 0,
    SEEP_EPOCHS_LOADER, /* a pass over a DataLoader that feeds steps */
    SEEP_EPOCHS_TOLD,   /* seep_epoch() */
    SEEP_EPOCHS_LOOP,   /* an iteration of a loop around the one whose iterations are steps */
    SEEP_N_EPOCH_SOURCES
};

#endif

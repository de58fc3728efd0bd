#include "libprof/measure/span.h"

#include "libprof/thresholds/thresholds.h"

enum {
    WARM_SHARE = 10, /* warm-up is one step in this many, */
    WARM_LEAST = 3,  /* but at least this many, */
    WARM_MOST = 50,  /* and at most this many */
    WARM_SLICES = 4, /* of a life without steps: imports and setup */
    SHORT = 4,       /* a life of at most this many steps or slices has no teardown to leave out */
};

/* Rounds of a loop that were counted in hindsight lie in a few periods: what they kept shows at the
 * end of the last one, or of the series' point that contains it. 0: they are most of the run, and
 * leaving them out would leave nothing to judge. */
static int32_t counted_back(const struct seep_model_process *p)
{
    const uint32_t point = p->steps / (SEEP_SERIES_LARGE / 2) + 1;

    return p->axis_back > 1 && p->axis_back <= p->steps / 2 ? (int32_t)(p->axis_back + point) : 0;
}

/* Steps that were counted in hindsight may all have passed in one period. */
static int32_t first_shown(const struct seep_model_process *p)
{
    return counted_back(p) && p->axis_first == p->axis_last ? (int32_t)p->axis_back : 1;
}

/* Sets warm-up and judged steps of a run of n steps, the first `back` of which were counted in
 * hindsight; the first epoch took `epoch` steps and ended with step `ended`. All steps are the
 * run's own. */
static void settle_stepped(struct seep_span *span, int32_t n, int32_t back, int32_t epoch,
                           int32_t ended)
{
    /* The last step's end shows only in the next event, the first of the teardown. */
    span->last = n > SHORT ? n - 1 : n;
    span->warm = n / WARM_SHARE;
    span->warm = span->warm < WARM_LEAST  ? WARM_LEAST
                 : span->warm > WARM_MOST ? WARM_MOST
                                          : span->warm;
    span->warm = span->warm < back ? back : span->warm;
    if (span->warm > span->last)
        span->warm = span->last > 0 ? span->last - 1 : 0;
    span->judge = span->warm;
    span->epoch_steps = epoch;
    const int32_t least =
        span->by_laps && epoch > SEEP_MIN_JUDGED ? epoch : (int32_t)SEEP_MIN_JUDGED;
    if (epoch > 0 && span->last - ended >= least) {
        span->epoch_passed = true;
        span->judge = ended > span->warm ? ended : span->warm;
    } else if (span->by_laps) { /* it may not be a pass over the data: treat the epoch as unknown */
        span->epochs_known = false;
        span->epoch_steps = 0;
    }
}

static void settle_timed(struct seep_span *span, int32_t n)
{
    /* A process frees everything as it ends: its last slices are not its steady state. */
    span->last = n > SHORT ? n - SEEP_LAST_SLICES : n;
    span->warm = n / WARM_SLICES < WARM_LEAST ? WARM_LEAST : n / WARM_SLICES;
    if (span->warm > span->last)
        span->warm = span->last > 0 ? span->last - 1 : 0;
    span->judge = span->warm;
}

void seep_span_compute(const struct seep_model *m, struct seep_span *span)
{
    int32_t epoch = 0, ended = 0;

    *span = (struct seep_span){.first = 1};
    if (m->step_source == SEEP_STEP_TIME) {
        settle_timed(span, (int32_t)m->n_steps);
        return;
    }
    span->epochs_known = m->n_epoch_starts > 0;
    span->by_laps = m->epoch_source == SEEP_EPOCHS_LOOP;
    if (m->n_epoch_starts > 1) {
        epoch = m->epoch_starts[1] - (m->epoch_starts[0] > 1 ? m->epoch_starts[0] : 1);
        ended = m->epoch_starts[1] - 1;
    }
    /* The steps are those of one process; other processes' counted-back rounds are not on the job's
     * axis. */
    span->first = first_shown(&m->processes[m->main]);
    settle_stepped(span, (int32_t)m->n_steps, counted_back(&m->processes[m->main]), epoch, ended);
}

struct seep_span seep_span_after_training(const struct seep_model *m, const struct seep_span *span)
{
    const int32_t n = span->last - m->trained;
    const int32_t warm = n / WARM_SHARE < WARM_LEAST ? WARM_LEAST : n / WARM_SHARE;

    if (!m->trained || n - warm < SEEP_MIN_JUDGED)
        return (struct seep_span){0};
    return (struct seep_span){.first = span->first,
                              .last = span->last,
                              .warm = m->trained + warm,
                              .judge = m->trained + warm};
}

int32_t seep_span_steps_needed(const struct seep_model *m)
{
    return SEEP_T_STEPS * (m->step_source == SEEP_STEP_TIME ? 3 : 1);
}

struct seep_span seep_span_of_run(const struct seep_model *m, const struct seep_model_run *run)
{
    const struct seep_model_process *p = &m->processes[run->leader];
    struct seep_span own = {.first = run->base + first_shown(p),
                            .by_laps = p->entry && p->entry->epoch_source == SEEP_EPOCHS_LOOP,
                            .epochs_known = p->n_epochs > 0};
    int32_t starts[2], n = 0;

    for (uint32_t i = 0; i < p->n_epochs && n < 2; i++) {
        int32_t step = seep_model_step(m, p, p->epoch_periods[i]) - run->base;
        if (!n || step > starts[0])
            starts[n++] = step;
    }
    settle_stepped(&own, p->steps < INT32_MAX / 4 ? (int32_t)p->steps : INT32_MAX / 4,
                   counted_back(p), n < 2 ? 0 : starts[1] - (starts[0] > 1 ? starts[0] : 1),
                   n < 2 ? 0 : starts[1] - 1);
    own.last += run->base;
    own.warm += run->base;
    own.judge += run->base;
    return own;
}

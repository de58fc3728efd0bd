#include "libprof/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A trend needs so many steps after the warm-up; fewer show nothing. */
#define SAMPLING_ERRORS 4 /* growth that many standard errors of --sample above 0 is real */
#define MAX_FALL 0.4 /* of the range of values: a deeper fall is a sawtooth's */
enum { MIN_JUDGED = 10, MIN_GROWTH_BYTES = 64 * 1024, SITE_POINTS = 48 };

static double sample_gap(const struct seep_model *m)
{
    uint64_t gap = 0;

    for (uint32_t p = 0; p < m->n_processes; p++) {
        const struct seep_profile *profile = m->processes[p].profile;
        if (profile && profile->header->sample_bytes > gap)
            gap = profile->header->sample_bytes;
    }
    return (double)gap;
}

void seep_span_settle(const struct seep_model *m, struct seep_span *span)
{
    int32_t n = (int32_t)m->n_steps;
    bool timed = m->step_source == SEEP_STEP_TIME;

    *span = (struct seep_span){.sample_bytes = sample_gap(m)};
    /* The end of a process frees what it held. The last slices are not its steady state; nor is the
     * last step where its end showed only in the next event, the first of the teardown. */
    span->last = timed ? (n > 4 ? n - 2 : n) : (n > 4 ? n - 1 : n);
    /* Without steps the start is mostly imports and the making of things. */
    span->warm = timed ? n / 4 : n / 10;
    if (span->warm < 3)
        span->warm = 3;
    if (!timed && span->warm > 50)
        span->warm = 50;
    if (span->warm > span->last)
        span->warm = span->last > 0 ? span->last - 1 : 0;
    span->judge = span->warm;
    if (timed || !m->n_epoch_starts)
        return;
    span->epochs_known = true;
    if (m->n_epoch_starts < 2)
        return;
    span->epoch_steps = m->epoch_starts[1] - (m->epoch_starts[0] > 1 ? m->epoch_starts[0] : 1);
    int32_t ended = m->epoch_starts[1] - 1;
    if (span->epoch_steps > 0 && span->last - ended >= MIN_JUDGED) {
        span->epoch_passed = true;
        span->judge = ended > span->warm ? ended : span->warm;
    }
}

static size_t points_for(int32_t from, int32_t to)
{
    int64_t n = (int64_t)to - from + 1;

    return n < SEEP_STATISTICS_MAX ? (size_t)(n > 0 ? n : 0) : SEEP_STATISTICS_MAX;
}

/* The variance of a sampled level, per byte of it. An object of s bytes is taken with the chance
 * p = 1 − e^(−s/gap) and then counts for s/p: a variance of s·(1 − p)/p for each of its bytes. */
static double sampling_variance(const struct seep_model *m, const struct seep_span *span,
                                const uint32_t *sites, size_t n)
{
    double sum = 0, bytes = 0;

    if (span->sample_bytes <= 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        const struct seep_totals *t = &m->sites[sites[i]].totals;
        if (!t->allocations || !t->allocated_bytes)
            continue;
        double size = (double)t->allocated_bytes / (double)t->allocations;
        sum += (double)t->allocated_bytes * size / expm1(size / span->sample_bytes);
        bytes += (double)t->allocated_bytes;
    }
    return bytes > 0 ? sum / bytes : 0;
}

/* How far two points of a sampled level may differ though nothing changed but the blocks it is made
 * of: one standard error. */
static double sampling_error(double variance, double level, double other)
{
    return sqrt(variance * (fabs(level) + fabs(other)));
}

/* One level over (from, to]. False when it is too short to say anything. */
static bool measure_lane(const struct seep_level *level, int32_t from, int32_t to,
                         double variance, struct seep_growth *g)
{
    double y[SEEP_STATISTICS_MAX];
    int64_t s;
    size_t n = points_for(from, to);

    g->from = from;
    g->to = to;
    g->slope = (struct seep_slope){0, 0, 0};
    g->shape = (struct seep_shape){0};
    g->growing = false;
    g->z = 0;
    if (n < SEEP_STATISTICS_MIN)
        return false;
    seep_level_sample(level, from, to, n, y);
    double dx = (double)((int64_t)to - from) / (double)(n - 1);
    if (seep_slope_estimate(y, 1, n, dx, &g->slope) || seep_trend_test(y, n, &s, &g->z) ||
        seep_shape_describe(y, n, &g->shape))
        return false;
    double total = g->slope.value * (double)(to - from);
    double least = g->shape.windows * 0.6;
    double error = sampling_error(variance, y[0], y[n - 1]);
    g->slope.low -= 2 * error / (double)(to - from);
    g->slope.high += 2 * error / (double)(to - from);
    g->growing = g->slope.low > 0 && g->z > 2.5 && total >= MIN_GROWTH_BYTES &&
                 total > 3 * g->shape.noise && total > SAMPLING_ERRORS * error && g->shape.rising >= least &&
                 g->shape.falling * 4 <= g->shape.windows && g->shape.late_share > 0.1 &&
                 g->shape.fall < MAX_FALL;
    return true;
}

static void find_plateau(struct seep_growth *g, int32_t to)
{
    double y[SEEP_STATISTICS_MAX];
    struct seep_shape shape, way;
    size_t n = points_for(0, to);

    g->plateau = 0;
    g->plateau_rise = 0;
    g->plateau_gradual = false;
    if (n < 2 * SEEP_STATISTICS_MIN)
        return;
    seep_level_sample(&g->level, 0, to, n, y);
    if (seep_shape_describe(y, n, &shape) || !shape.plateau_at || shape.rise <= 0)
        return;
    g->plateau = (int32_t)((int64_t)to * (int64_t)shape.plateau_at / (int64_t)(n - 1));
    g->plateau_rise = shape.rise;
    n = points_for(0, g->plateau);
    if (n < 2 * SEEP_STATISTICS_MIN)
        return;
    seep_level_sample(&g->level, 0, g->plateau, n, y);
    g->plateau_gradual = !seep_shape_describe(y, n, &way) && way.rising >= way.windows * 0.7;
}

static bool came_and_went(const struct seep_model *m, const uint32_t *sites, size_t n, int32_t last)
{
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = m->sites[sites[i]].parts; k; k = m->parts[k - 1].next) {
            if (m->processes[m->parts[k - 1].process].end_step <= last)
                return true;
        }
    }
    return false;
}

/* Each process over its own life; the slopes add up to what the job grew by a step. */
static int measure_processes(const struct seep_model *m, const struct seep_span *span,
                             const uint32_t *sites, size_t n, double variance,
                             struct seep_growth *g)
{
    struct seep_level level = {0};
    struct seep_growth best = {0};
    struct seep_slope sum = {0, 0, 0};
    double lived = 0, grew = 0;
    bool past_epoch = false;
    int32_t first = INT32_MAX, last = INT32_MIN;
    int rc = 0;

    for (uint32_t p = 0; p < m->n_processes && !rc; p++) {
        struct seep_growth lane = {0};
        int32_t to = m->processes[p].end_step;
        to = to > span->last ? span->last : to - 1;
        if (to - span->warm < MIN_JUDGED)
            continue;
        rc = seep_level_sum(m, sites, n, p, &level);
        if (rc || !level.n)
            continue;
        int32_t from = level.points[0].step > span->warm ? level.points[0].step : span->warm;
        /* One that has seen most of the first epoch is judged by what comes after. */
        bool past = span->epoch_passed && from <= span->judge - span->epoch_steps / 2 &&
                    to - span->judge >= MIN_JUDGED;
        if (past)
            from = span->judge;
        if (to - from < MIN_JUDGED || !measure_lane(&level, from, to, variance, &lane))
            continue;
        double life = to - from;
        first = from < first ? from : first;
        last = to > last ? to : last;
        lived += life;
        grew += lane.growing ? life : 0;
        past_epoch = past_epoch || (past && lane.growing);
        sum.value += lane.slope.value * life;
        sum.low += lane.slope.low * life;
        sum.high += lane.slope.high * life;
        if (!best.to || (lane.growing && !best.growing) ||
            (lane.growing == best.growing && life > best.to - best.from))
            best = lane;
    }
    seep_level_fini(&level);
    if (rc || lived <= 0)
        return rc;
    double span_steps = last - first;
    g->by_process = true;
    g->past_epoch = past_epoch || !span->epochs_known;
    g->slope =
        (struct seep_slope){sum.value / span_steps, sum.low / span_steps, sum.high / span_steps};
    g->shape = best.shape;
    g->z = best.z;
    g->from = first;
    g->to = last;
    g->growing = grew > 0.6 * lived;
    return 0;
}

/* Without steps nothing says when the job's work was over: a teardown at the end, which may take
 * many slices, begins where the level was highest. */
static int32_t end_of_work(const struct seep_level *level, int32_t last)
{
    int32_t end = last;
    int64_t most = 0;

    for (size_t i = 0; i < level->n && level->points[i].step <= last; i++) {
        if (level->points[i].bytes >= most) {
            most = level->points[i].bytes;
            end = level->points[i].step;
        }
    }
    return end >= last - last / 4 && seep_level_at(level, last).bytes < most / 2 ? end : last;
}

int seep_growth_measure(const struct seep_model *m, const struct seep_span *span,
                        const uint32_t *sites, size_t n, struct seep_growth *g)
{
    struct seep_level level = g->level;

    *g = (struct seep_growth){.level = level};
    if (seep_level_sum(m, sites, n, SEEP_LEVEL_ALL, &g->level))
        return -SEEP_ENOMEM;
    double variance = sampling_variance(m, span, sites, n);
    int32_t last = span->last;
    if (m->step_source == SEEP_STEP_TIME)
        last = end_of_work(&g->level, last);
    measure_lane(&g->level, span->judge, last, variance, g);
    g->past_epoch = !span->epochs_known || span->epoch_passed;
    find_plateau(g, span->last);
    if (came_and_went(m, sites, n, span->last))
        return measure_processes(m, span, sites, n, variance, g);
    return 0;
}

void seep_growth_fini(struct seep_growth *growth)
{
    seep_level_fini(&growth->level);
}

int seep_growth_of_site(const struct seep_model *m, const struct seep_span *span, uint32_t site,
                        struct seep_level *level, double *slope)
{
    double y[SITE_POINTS];
    struct seep_slope estimate;
    int64_t n = (int64_t)span->last - span->judge + 1;

    *slope = 0;
    /* Most sites belong to the start of the job: nothing happened in the judged steps. */
    if (m->sites[site].last_step <= span->judge || n < SEEP_STATISTICS_MIN)
        return 0;
    if (seep_level_sum(m, &site, 1, SEEP_LEVEL_ALL, level))
        return -SEEP_ENOMEM;
    if (level->n < 2)
        return 0;
    if (n > SITE_POINTS)
        n = SITE_POINTS;
    seep_level_sample(level, span->judge, span->last, (size_t)n, y);
    double dx = (double)(span->last - span->judge) / (double)(n - 1);
    if (!seep_slope_estimate(y, 1, (size_t)n, dx, &estimate))
        *slope = estimate.value;
    return 0;
}

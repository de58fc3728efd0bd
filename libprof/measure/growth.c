#include "libprof/measure/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/thresholds/thresholds.h"

bool seep_trend_measure(const double *y, size_t n, double dx, struct seep_trend *trend)
{
    int64_t s;

    return !seep_slope_estimate(y, 1, n, dx, &trend->slope) &&
           !seep_trend_test(y, n, &s, &trend->z) && !seep_shape_describe(y, n, &trend->shape);
}

bool seep_trend_grows(const struct seep_trend *trend, double steps, double least_bytes,
                      double least_rising)
{
    const double total = trend->slope.value * steps;

    return trend->slope.low > 0 && trend->z > SEEP_T_TREND_Z && total >= least_bytes &&
           total > SEEP_T_TREND_NOISE * trend->shape.noise &&
           trend->shape.late_share > SEEP_T_TREND_LATE_SHARE &&
           trend->shape.rising >= least_rising * trend->shape.windows;
}

#define SAMPLING_ERRORS 4 /* growth this many standard errors of sampling above 0 is real */
enum {
    MIN_EPOCHS = 5, /* where growth comes once an epoch */
    SITE_POINTS = 48,
    TEARDOWN_SHARE = 8, /* a life's last slices are its teardown if they take at most 1/8 of it */
};

/* Below this |z| the slope's interval contains 0 anyway: no need to estimate it. */
static const double NO_TREND = 1;

static size_t points_for(int32_t from, int32_t to)
{
    int64_t n = (int64_t)to - from + 1;

    return n < SEEP_STATISTICS_MAX ? (size_t)(n > 0 ? n : 0) : SEEP_STATISTICS_MAX;
}

/* The variance of a sampled level, per byte. */
static double sampling_variance(const struct seep_model *m, const uint32_t *sites, size_t n)
{
    double sum = 0, bytes = 0;

    for (size_t i = 0; i < n; i++) {
        sum += m->sites[sites[i]].sampling_variance;
        bytes += (double)m->sites[sites[i]].totals.allocated_bytes;
    }
    return bytes > 0 ? sum / bytes : 0;
}

/* How far two points of a sampled level may differ by sampling alone: one standard error. */
static double sampling_error(double variance, double level, double other)
{
    return sqrt(variance * (fabs(level) + fabs(other)));
}

static double range_of(const double *y, size_t n)
{
    double low = y[0], high = y[0];

    for (size_t i = 1; i < n; i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    return high - low;
}

/* Measures one level over (from, to]. False when that is too short to say anything. */
static bool measure_lane(const struct seep_level *level, int32_t from, int32_t to, double variance,
                         struct seep_growth *g)
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
    /* Most lines: too small for any rule to report, or without a trend, so the slope is not clear
     * of 0. */
    if (range_of(y, n) < SEEP_T_SHOWN_BYTES)
        return true;
    if (seep_trend_test(y, n, &s, &g->z) || seep_shape_describe(y, n, &g->shape))
        return false;
    if (g->z < NO_TREND)
        return true;
    double dx = (double)((int64_t)to - from) / (double)(n - 1);
    if (seep_slope_estimate(y, 1, n, dx, &g->slope))
        return false;
    double total = g->slope.value * (double)(to - from);
    double error = sampling_error(variance, y[0], y[n - 1]);
    g->slope.low -= 2 * error / (double)(to - from);
    g->slope.high += 2 * error / (double)(to - from);
    const struct seep_trend trend = {g->slope, g->shape, g->z};
    g->growing = seep_trend_grows(&trend, to - from, SEEP_T_SHOWN_BYTES, SEEP_T_RISING) &&
                 total > SAMPLING_ERRORS * error &&
                 g->shape.falling * SEEP_T_RARE <= g->shape.windows &&
                 g->shape.fall < SEEP_T_TREND_FALL;
    return true;
}

static void find_plateau(struct seep_growth *g, int32_t from, int32_t to)
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
    if (range_of(y, n) < SEEP_T_SHOWN_BYTES || seep_shape_describe(y, n, &shape) ||
        !shape.plateau_at || shape.rise <= 0)
        return;
    g->plateau = (int32_t)((int64_t)to * (int64_t)shape.plateau_at / (int64_t)(n - 1));
    g->plateau_rise = shape.rise;
    if (g->plateau <= from)
        return;
    n = points_for(from, g->plateau);
    if (n < 2 * SEEP_STATISTICS_MIN)
        return;
    seep_level_sample(&g->level, from, g->plateau, n, y);
    g->plateau_gradual =
        !seep_shape_describe(y, n, &way) && way.rising >= way.windows * SEEP_T_GRADUAL;
}

/* What begins in a later epoch (a cache that a flag turns on, say) has its own first pass. */
static void find_beginning(const struct seep_model *m, const struct seep_span *span,
                           struct seep_growth *g)
{
    const int64_t start = seep_level_at(&g->level, 1).bytes;
    const int64_t range = seep_level_at(&g->level, span->last).bytes - start;
    size_t epoch = 0;

    for (size_t i = 0; i < g->level.n && range > 0; i++) {
        const struct seep_level_point *p = &g->level.points[i];
        if (p->step > 1 && (double)(p->bytes - start) > SEEP_T_BEGUN * (double)range) {
            g->began = p->step;
            break;
        }
    }
    g->after_training = m->trained && g->began > m->trained;
    while (epoch + 1 < m->n_epoch_starts && m->epoch_starts[epoch + 1] <= g->began)
        epoch++;
    g->began_late = epoch > 0;
    if (epoch + 1 < m->n_epoch_starts)
        g->began_end = m->epoch_starts[epoch + 1] - 1;
}

/* A part of the group, to be sorted by its run and its process. */
struct share {
    uint32_t run, process, part;
};

static int by_process(const void *a, const void *b)
{
    const struct share *p = a, *q = b;

    if (p->run != q->run)
        return p->run < q->run ? -1 : 1;
    if (p->process != q->process)
        return p->process < q->process ? -1 : 1;
    return (p->part > q->part) - (p->part < q->part);
}

static struct share *list_shares(const struct seep_model *m, const uint32_t *sites, size_t n,
                                 size_t *n_shares)
{
    struct share *shares = NULL;
    size_t capacity = 0, at = 0;

    if (seep_grow(&shares, &capacity, n + 1, sizeof *shares))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = m->sites[sites[i]].slots; k; k = m->slots[k - 1].next) {
            if (seep_grow(&shares, &capacity, at + 1, sizeof *shares)) {
                free(shares);
                return NULL;
            }
            uint32_t process = m->slots[k - 1].process;
            const struct seep_model_process *p = &m->processes[process];
            uint32_t run = p->axis_steps && m->n_runs ? p->run : m->processes[m->main].run;
            shares[at++] = (struct share){run, process, k - 1};
        }
    }
    if (at > 1)
        qsort(shares, at, sizeof *shares, by_process);
    *n_shares = at;
    return shares;
}

/* Processes of the group that ended in the middle of the main run. */
static bool came_and_went(const struct seep_model *m, const struct share *shares, size_t n,
                          int32_t last)
{
    for (size_t i = 0; i < n; i++) {
        int32_t end = m->processes[shares[i].process].end_step;
        if (end > 0 && end <= last)
            return true;
    }
    return false;
}

/* What the processes of a run did, each over its own life. */
struct lives {
    struct seep_growth best;
    struct seep_slope sum; /* weighted by life */
    double lived, grew;
    bool past_epoch;
    int32_t first, last;
};

/* Where judging begins for a process that started in the middle of the job: a forked one has its
 * imports behind it. */
static int32_t warm_of(const struct seep_model *m, const struct seep_span *span,
                       const struct seep_model_process *p, int32_t from, int32_t to)
{
    if (m->step_source == SEEP_STEP_TIME && !p->parent && from < to) {
        int32_t start = seep_model_step_at(m, p->start_ns);
        if (start + (to - start) / 4 > from)
            from = start + (to - start) / 4;
    }
    return from > span->warm ? from : span->warm;
}

/* Without steps nothing says when the work ended. What is freed after the highest level, in the
 * last slices or, where most of it goes, bit by bit until the end, is teardown. A level that drops
 * and is then used on, or drains for long, is still work. */
static int32_t end_of_work(const struct seep_level *level, int32_t start, int32_t last)
{
    int32_t end = last;
    int64_t most = 0, left = seep_level_at(level, last).bytes;

    for (size_t i = 0; i < level->n && level->points[i].step <= last; i++) {
        if (level->points[i].bytes >= most) {
            most = level->points[i].bytes;
            end = level->points[i].step;
        }
    }
    if (last - end <= SEEP_LAST_SLICES)
        return left < most - most / 4 ? end : last;
    int64_t halfway = seep_level_at(level, end + (last - end) / 2).bytes;
    bool goes_on = halfway - left > (most - left) / 8;
    bool brief = last - end <= (last - start) / TEARDOWN_SHARE;
    return brief && goes_on && left < most / 2 ? end : last;
}

static void measure_life(const struct seep_model *m, const struct seep_span *span,
                         const struct seep_model_process *p, const struct seep_level *level,
                         double variance, struct lives *l)
{
    struct seep_growth lane = {0};
    int32_t to = p->end_step > span->last ? span->last : p->end_step - 1;

    if (!level->n || to - span->warm < SEEP_MIN_JUDGED)
        return;
    if (m->step_source == SEEP_STEP_TIME)
        to = end_of_work(level, seep_model_step_at(m, p->start_ns), to);
    int32_t from = warm_of(m, span, p, level->points[0].step, to);
    /* A process that saw most of the first epoch is judged by what comes after it. */
    bool past = span->epoch_passed &&
                level->points[0].step <= span->judge - span->epoch_steps / 2 &&
                to - span->judge >= SEEP_MIN_JUDGED;
    if (past)
        from = span->judge;
    if (to - from < SEEP_MIN_JUDGED || !measure_lane(level, from, to, variance, &lane))
        return;
    double life = to - from;
    l->first = from < l->first ? from : l->first;
    l->last = to > l->last ? to : l->last;
    l->lived += life;
    l->grew += lane.growing ? life : 0;
    l->past_epoch |= past && lane.growing;
    l->sum.value += lane.slope.value * life;
    l->sum.low += lane.slope.low * life;
    l->sum.high += lane.slope.high * life;
    if (!l->best.to || (lane.growing && !l->best.growing) ||
        (lane.growing == l->best.growing && life > l->best.to - l->best.from))
        l->best = lane;
}

/* The processes of one run, shares[0, n); their slopes add up to the run's growth per step. *g is
 * unchanged if no process lived long enough. */
static int measure_run(const struct seep_model *m, const struct seep_span *span,
                       const struct share *shares, size_t n, double variance, int32_t base,
                       struct seep_growth *g)
{
    struct seep_level level = {0};
    struct lives l = {.first = INT32_MAX, .last = INT32_MIN};
    uint32_t *parts = malloc((n + 1) * sizeof *parts);
    int rc = parts ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0, next; i < n && !rc; i = next) {
        for (next = i; next < n && shares[next].process == shares[i].process; next++)
            parts[next - i] = shares[next].part;
        rc = seep_level_resident_slots(m, parts, next - i, &level);
        if (!rc)
            measure_life(m, span, &m->processes[shares[i].process], &level, variance, &l);
    }
    free(parts);
    seep_level_fini(&level);
    if (rc || l.lived <= 0)
        return rc;
    double steps = l.last - l.first;
    g->by_process = true;
    g->past_epoch = l.past_epoch || !span->epochs_known;
    g->slope = (struct seep_slope){l.sum.value / steps, l.sum.low / steps, l.sum.high / steps};
    g->shape = l.best.shape;
    g->z = l.best.z;
    g->from = l.first - base;
    g->to = l.last - base;
    g->growing = l.grew > SEEP_T_RISING * l.lived;
    return 0;
}

/* Where the main run does not grow, another may. */
static int measure_runs(const struct seep_model *m, const struct seep_span *span,
                        const struct share *shares, size_t n, double variance,
                        struct seep_growth *g)
{
    const uint32_t main = m->processes[m->main].run;
    int rc = 0;

    for (size_t i = 0, next; i < n && !rc; i = next) {
        for (next = i; next < n && shares[next].run == shares[i].run; next++)
            ;
        if (shares[i].run == main) {
            if (came_and_went(m, shares + i, next - i, span->last))
                rc = measure_run(m, span, shares + i, next - i, variance, 0, g);
        }
    }
    for (size_t i = 0, next; i < n && !rc && !g->growing; i = next) {
        for (next = i; next < n && shares[next].run == shares[i].run; next++)
            ;
        if (shares[i].run == main)
            continue;
        const struct seep_model_run *run = &m->runs[shares[i].run];
        struct seep_span own = seep_span_of_run(m, run);
        struct seep_growth other = {0};
        rc = measure_run(m, &own, shares + i, next - i, variance, run->base, &other);
        if (!rc && other.growing) {
            other.level = g->level;
            *g = other;
        }
    }
    return rc;
}

/* Growth that comes once an epoch (an evaluation that keeps its results) is flat in most windows;
 * one point per epoch shows it. The first epoch is left out, as everywhere. */
static void measure_epochs(const struct seep_model *m, const struct seep_span *span,
                           struct seep_growth *g)
{
    double y[SEEP_STATISTICS_MAX], least = INFINITY, rises[SEEP_STATISTICS_MAX];
    size_t n = 0;
    int32_t first = 0, last = 0;
    struct seep_slope slope;

    for (size_t e = 1; e <= m->n_epoch_starts && n < SEEP_STATISTICS_MAX; e++) {
        int32_t from = m->epoch_starts[e - 1];
        int32_t to = e < m->n_epoch_starts ? m->epoch_starts[e] : from + span->epoch_steps;
        if (from + (to - from) / 2 > span->last)
            break;
        last = from + (to - from) / 2;
        first = n ? first : last;
        y[n++] = (double)seep_level_at(&g->level, last).bytes;
        if (n > 1) {
            rises[n - 2] = y[n - 1] - y[n - 2];
            least = fmin(least, rises[n - 2]);
        }
    }
    if (n < MIN_EPOCHS || last <= first ||
        seep_slope_estimate(y, 1, n, (double)(last - first) / (double)(n - 1), &slope))
        return;
    double median = seep_median(rises, n - 1);
    if (least <= 0 || least < median / 2 || y[n - 1] - y[0] < SEEP_T_SHOWN_BYTES)
        return;
    g->epochs = (unsigned)n;
    if (g->growing)
        return;
    g->slope = slope;
    g->shape = (struct seep_shape){.windows = (unsigned)n - 1,
                                   .rising = (unsigned)n - 1,
                                   .rise = y[n - 1] - y[0],
                                   .late_share = 1.0 / (double)(n - 1)};
    g->from = first;
    g->to = last;
    g->growing = true;
}

int seep_growth_measure(const struct seep_model *m, const struct seep_span *span,
                        const uint32_t *sites, size_t n, struct seep_growth *g)
{
    struct seep_level level = g->level;

    *g = (struct seep_growth){.level = level};
    if (seep_level_resident(m, sites, n, SEEP_LEVEL_ALL, &g->level))
        return -SEEP_ENOMEM;
    double variance = sampling_variance(m, sites, n);
    int32_t last = span->last;
    if (m->step_source == SEEP_STEP_TIME)
        last = end_of_work(&g->level, 0, last);
    measure_lane(&g->level, span->judge, last, variance, g);
    if (span->epoch_passed)
        measure_epochs(m, span, g);
    g->past_epoch = !span->epochs_known || span->epoch_passed;
    find_beginning(m, span, g);
    find_plateau(g, g->began_late ? g->began : 0, span->last);
    size_t n_shares;
    struct share *shares = list_shares(m, sites, n, &n_shares);
    if (!shares)
        return -SEEP_ENOMEM;
    int rc = measure_runs(m, span, shares, n_shares, variance, g);
    free(shares);
    return rc;
}

void seep_growth_fini(struct seep_growth *growth)
{
    seep_level_fini(&growth->level);
}

int seep_growth_of_site(const struct seep_model *m, const struct seep_span *span, uint32_t site,
                        struct seep_level *level, struct seep_slope *slope)
{
    double y[SITE_POINTS];
    struct seep_slope estimate;
    int64_t n = (int64_t)span->last - span->judge + 1;

    *slope = (struct seep_slope){0, 0, 0};
    /* Most sites are only active at the start of the job: nothing happened in the judged steps. */
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
        *slope = estimate;
    return 0;
}

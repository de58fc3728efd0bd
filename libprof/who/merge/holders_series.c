#include "libprof/who/merge/holders_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/thresholds/thresholds.h"

struct series {
    double x[SEEP_STATISTICS_MAX], y[SEEP_STATISTICS_MAX];
    size_t n;
};

/* The length at a step between two snapshots, interpolated. */
static double length_at(const struct series *s, double x)
{
    size_t i = 1;

    while (i + 1 < s->n && s->x[i] < x)
        i++;
    return s->y[i - 1] + (s->y[i] - s->y[i - 1]) * (x - s->x[i - 1]) / (s->x[i] - s->x[i - 1]);
}

/* The share of the whole rise that came in the last third of the steps. */
static double late_share(const struct series *s)
{
    double first = s->x[0], last = s->x[s->n - 1], rise = s->y[s->n - 1] - s->y[0];

    return rise > 0 ? (s->y[s->n - 1] - length_at(s, last - (last - first) / 3)) / rise : 0;
}

/* The deepest fall below an earlier point, as a share of the range. */
static double deepest_fall(const struct series *s)
{
    double low = s->y[0], high = s->y[0], fall = 0;

    for (size_t i = 1; i < s->n; i++) {
        fall = fmax(fall, high - s->y[i]);
        high = fmax(high, s->y[i]);
        low = fmin(low, s->y[i]);
    }
    return high > low ? fall / (high - low) : 0;
}

static int by_value(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return (p > q) - (p < q);
}

/* Theil-Sen slope of points at any distance (statistics.h takes evenly spaced ones). Its 95 %
 * interval: the order statistics given by the variance of Kendall's S. */
static struct seep_slope slope_of(const struct series *s)
{
    static const double normal_95 = 1.959964;
    enum { PAIRS = SEEP_STATISTICS_MAX * (SEEP_STATISTICS_MAX - 1) / 2 };
    double slopes[PAIRS], n = (double)s->n;
    size_t k = 0;

    for (size_t i = 0; i < s->n; i++) {
        for (size_t j = i + 1; j < s->n; j++)
            slopes[k++] = (s->y[j] - s->y[i]) / (s->x[j] - s->x[i]);
    }
    qsort(slopes, k, sizeof *slopes, by_value);
    double width = normal_95 * sqrt(n * (n - 1) * (2 * n + 5) / 18);
    double rank = floor(((double)k - width) / 2);
    size_t at = rank > 0 ? (size_t)rank : 0;
    double middle = k % 2 ? slopes[k / 2] : (slopes[k / 2 - 1] + slopes[k / 2]) / 2;
    return (struct seep_slope){middle, slopes[at], slopes[k - 1 - at]};
}

struct seep_holders_pace seep_holders_pace_of(const struct seep_holders_length *points, size_t n)
{
    struct seep_holders_pace pace = {0};
    struct series s = {.n = n < SEEP_STATISTICS_MAX ? n : SEEP_STATISTICS_MAX};
    int64_t rank;
    double z;

    for (size_t i = 0; i < s.n; i++) {
        size_t at = s.n == n ? i : i * (n - 1) / (s.n - 1);
        s.x[i] = points[at].step;
        s.y[i] = (double)points[at].length;
    }
    if (s.n < SEEP_STATISTICS_MIN || seep_trend_test(s.y, s.n, &rank, &z))
        return pace;
    pace.known = true;
    pace.slope = slope_of(&s);
    /* The interval tests only the order: with four points, the fewest allowed, all must rise. */
    pace.grows = pace.slope.low > 0 && late_share(&s) > SEEP_T_TREND_LATE_SHARE &&
                 deepest_fall(&s) < SEEP_T_TREND_FALL;
    return pace;
}

/* A container, as one path of one snapshot shows it. */
struct sight {
    const struct seep_holders_snapshot *of;
    const struct seep_holders_path *path;
};

static int by_container(const void *a, const void *b)
{
    const struct sight *p = a, *q = b;
    int order = strcmp(p->path->container, q->path->container);

    if (!order)
        order = seep_holders_by_process(p->of, q->of);
    return order ? order : (p->of->step > q->of->step) - (p->of->step < q->of->step);
}

static struct sight *list_sights(const struct seep_holders_files *files, size_t *n)
{
    struct sight *sights = NULL;
    size_t most = 1;

    for (size_t i = 0; i < files->n; i++) {
        for (size_t k = 0; k < files->list[i].n_lines; k++)
            most += files->list[i].lines[k].n_paths;
    }
    *n = 0;
    sights = calloc(most, sizeof *sights);
    for (size_t i = 0; sights && i < files->n; i++) {
        const struct seep_holders_snapshot *s = &files->list[i];
        for (size_t k = 0; k < s->n_lines; k++) {
            for (size_t p = 0; p < s->lines[k].n_paths; p++) {
                if (s->lines[k].paths[p].container)
                    sights[(*n)++] = (struct sight){s, &s->lines[k].paths[p]};
            }
        }
    }
    if (*n)
        qsort(sights, *n, sizeof *sights, by_container);
    return sights;
}

/* The lengths in one process: of several containers with the same key, the longest. */
static size_t lengths_of(const struct sight *sights, size_t n, struct seep_holders_length *lengths)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t step = sights[i].of->step;
        if (!sights[i].path->has_length)
            continue;
        if (!k || lengths[k - 1].step != step)
            lengths[k++] = (struct seep_holders_length){.step = step};
        if (sights[i].path->length > lengths[k - 1].length)
            lengths[k - 1].length = sights[i].path->length;
    }
    return k;
}

/* Whether one process shows a container's growth better than another: growth is known, then
 * steeper, then longer. */
static bool tells_more(const struct seep_holders_pace *pace, size_t n,
                       const struct seep_holders_container *than)
{
    if (pace->known != than->pace.known)
        return pace->known;
    if (pace->grows != than->pace.grows)
        return pace->grows;
    if (pace->known && pace->slope.value != than->pace.slope.value)
        return pace->slope.value > than->pace.slope.value;
    return n > than->n_lengths;
}

/* Takes in sights[0, n), those of one process. */
static int add_process(struct seep_holders_container *c, const struct sight *sights, size_t n)
{
    struct seep_holders_length *lengths = calloc(n, sizeof *lengths);
    uint32_t last = sights[n - 1].of->step;

    if (!lengths)
        return -SEEP_ENOMEM;
    size_t k = lengths_of(sights, n, lengths);
    struct seep_holders_pace pace = seep_holders_pace_of(lengths, k);
    if (!c->lengths || tells_more(&pace, k, c)) {
        free(c->lengths);
        c->lengths = lengths;
        c->n_lengths = k;
        c->pace = pace;
    } else {
        free(lengths);
    }
    for (size_t i = n; i-- && sights[i].of->step == last;) {
        c->bytes += sights[i].path->bytes;
        if (!c->path || sights[i].path->bytes > c->path->bytes)
            c->path = sights[i].path;
    }
    c->pids[c->n_pids++] = sights[0].of->pid;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

static void sort_pids(struct seep_holders_container *c)
{
    size_t n = 0;

    qsort(c->pids, c->n_pids, sizeof *c->pids, by_number);
    for (size_t i = 0; i < c->n_pids; i++) {
        if (!n || c->pids[n - 1] != c->pids[i])
            c->pids[n++] = c->pids[i];
    }
    c->n_pids = n;
}

/* sights[0, n) are of one container. */
static int add_container(struct seep_holders_series *series, const struct sight *sights, size_t n)
{
    struct seep_holders_container *c = &series->list[series->n++];
    int rc = 0;

    c->pids = calloc(n, sizeof *c->pids);
    if (!c->pids)
        return -SEEP_ENOMEM;
    for (size_t i = 0, end; i < n && !rc; i = end) {
        for (end = i + 1; end < n && !seep_holders_by_process(sights[i].of, sights[end].of);)
            end++;
        rc = add_process(c, &sights[i], end - i);
    }
    sort_pids(c);
    return rc;
}

int seep_holders_series_make(const struct seep_holders_files *files,
                             struct seep_holders_series *series)
{
    size_t n;
    struct sight *sights = list_sights(files, &n);
    int rc = 0;

    *series = (struct seep_holders_series){.list = calloc(n + 1, sizeof *series->list)};
    if (!sights || !series->list)
        rc = -SEEP_ENOMEM;
    for (size_t i = 0, end; i < n && !rc; i = end) {
        const char *container = sights[i].path->container;
        for (end = i + 1; end < n && strcmp(sights[end].path->container, container) == 0;)
            end++;
        rc = add_container(series, &sights[i], end - i);
    }
    free(sights);
    return rc;
}

void seep_holders_series_fini(struct seep_holders_series *series)
{
    for (size_t i = 0; i < series->n; i++) {
        free(series->list[i].pids);
        free(series->list[i].lengths);
    }
    free(series->list);
    *series = (struct seep_holders_series){0};
}

static int by_key(const void *key, const void *element)
{
    const struct seep_holders_container *c = element;

    return strcmp(key, c->path->container);
}

const struct seep_holders_container *
seep_holders_series_find(const struct seep_holders_series *series,
                         const struct seep_holders_path *path)
{
    return path->container
               ? bsearch(path->container, series->list, series->n, sizeof *series->list, by_key)
               : NULL;
}

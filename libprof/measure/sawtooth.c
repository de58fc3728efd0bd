#include "libprof/measure/sawtooth.h"

#include <stdlib.h>

enum { MAX_FALLS = 64 };

static bool begins_epoch(const struct seep_model *m, int32_t step, int32_t reach)
{
    for (size_t i = 0; i < m->n_epoch_starts; i++) {
        if (abs((int)(m->epoch_starts[i] - step)) <= reach)
            return true;
    }
    return false;
}

struct seep_sawtooth seep_sawtooth_find(const struct seep_model *m, const struct seep_span *span,
                                        const struct seep_level *level)
{
    double rises[MAX_FALLS], tops[MAX_FALLS], bases[MAX_FALLS], heights[MAX_FALLS];
    int64_t low = INT64_MAX, high = 0;
    struct seep_sawtooth s = {0};
    size_t first = level->n, n = level->n;

    for (size_t i = 0; i < level->n; i++) {
        if (level->points[i].step > span->last) {
            n = i;
            break;
        }
        if (level->points[i].step <= span->warm)
            continue;
        first = first < i ? first : i;
        low = level->points[i].bytes < low ? level->points[i].bytes : low;
        high = level->points[i].bytes > high ? level->points[i].bytes : high;
    }
    if (n < first + 4)
        return s;
    size_t bottom = first;
    for (size_t i = first + 1; i < n && s.falls < MAX_FALLS; i++) {
        const struct seep_level_point *p = &level->points[i], *q = &level->points[i - 1];
        s.steps++;
        s.rising += p->bytes > q->bytes;
        if (q->bytes - p->bytes <= (high - low) / 2)
            continue;
        const struct seep_level_point *b = &level->points[bottom];
        rises[s.falls] =
            q->step > b->step ? (double)(q->bytes - b->bytes) / (double)(q->step - b->step) : 0;
        heights[s.falls] =
            (double)(q->bytes - p->bytes) + rises[s.falls] * (double)(p->step - q->step);
        tops[s.falls] = (double)q->bytes;
        bases[s.falls++] = (double)p->bytes;
        s.epoch_falls += begins_epoch(m, p->step, 1 + (p->step - q->step));
        bottom = i;
    }
    if (s.falls) {
        s.rise = seep_median(rises, s.falls);
        s.top = seep_median(tops, s.falls);
        s.base = seep_median(bases, s.falls);
        s.height = seep_median(heights, s.falls);
    }
    return s;
}

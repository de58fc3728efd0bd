#include "libprof/measure/doublings.h"

#include "libprof/thresholds/thresholds.h"

static bool is_double(int64_t from, int64_t to)
{
    return (double)to > SEEP_T_DOUBLE_LEAST * (double)from &&
           (double)to < SEEP_T_DOUBLE_MOST * (double)from;
}

/* While an old buffer is copied into a new one both are there, but only within a step. */
struct seep_doublings seep_doublings_find(const struct seep_level *level)
{
    const int32_t end = seep_level_highest(level).step;
    struct seep_doublings d = {0};

    for (size_t i = 0; i < level->n && level->points[i].step <= end; i++) {
        const int32_t step = level->points[i].step;
        const int64_t bytes = level->points[i].bytes, little = d.to / SEEP_T_STAIR_FALL;
        if (bytes >= d.to - little && bytes <= d.to + little)
            continue;
        if (is_double(d.to, bytes))
            d = (struct seep_doublings){d.n + 1, step, d.from, bytes};
        else
            d = (struct seep_doublings){.from = bytes, .to = bytes};
    }
    return d;
}

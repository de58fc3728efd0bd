#include "libprof/measure/doublings.h"

#include "libprof/thresholds/thresholds.h"

static bool is_double(int64_t from, int64_t to)
{
    return (double)to > SEEP_T_DOUBLE_LEAST * (double)from &&
           (double)to < SEEP_T_DOUBLE_MOST * (double)from;
}

/* While an old buffer is copied into a new one both are there, for a step or from one time slice
 * into the next. A slice may be several steps, which were counted later: the level is the sum of
 * what it was and will be. */
static bool is_passing(const struct seep_level *level, size_t i)
{
    const struct seep_level_point *p = &level->points[i];

    if (i + 1 >= level->n || p[1].bytes >= p->bytes)
        return false;
    if (p[1].step <= p->step + 1)
        return true;
    const int64_t both = i ? p[-1].bytes + p[1].bytes : 0, little = both / SEEP_T_STAIR_FALL;
    return i && is_double(p[-1].bytes, p[1].bytes) && p->bytes >= both - little &&
           p->bytes <= both + little;
}

/* A program may give all of it back before it ends. */
static size_t end_of(const struct seep_level *level)
{
    int64_t highest = 0;
    size_t end = 0;

    for (size_t i = 0; i < level->n; i++) {
        if (is_passing(level, i) || level->points[i].bytes <= highest)
            continue;
        highest = level->points[i].bytes;
        end = i + 1;
    }
    return end;
}

struct seep_doublings seep_doublings_find(const struct seep_level *level)
{
    const size_t end = end_of(level);
    struct seep_doublings d = {0};

    for (size_t i = 0; i < end; i++) {
        const struct seep_level_point *p = &level->points[i];
        const int64_t bytes = p->bytes, little = d.to / SEEP_T_STAIR_FALL;
        if (is_passing(level, i) || (bytes >= d.to - little && bytes <= d.to + little))
            continue;
        if (is_double(d.to, bytes))
            d = (struct seep_doublings){d.n + 1, p->step, d.from, bytes, p->blocks};
        else
            d = (struct seep_doublings){.from = bytes, .to = bytes, .blocks = p->blocks};
    }
    return d;
}

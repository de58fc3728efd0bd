#include "libprof/measure/timeline_rows.h"

#include "libprof/base/statistics.h"

bool seep_timeline_rows_spread(uint32_t first, uint32_t last, struct seep_timeline_rows *rows)
{
    if (first == UINT32_MAX || last - first < 2 * SEEP_STATISTICS_MIN)
        return false;
    const size_t n = last - first + 1;
    *rows =
        (struct seep_timeline_rows){first, last, n < SEEP_STATISTICS_MAX ? n : SEEP_STATISTICS_MAX};
    return true;
}

uint32_t seep_timeline_rows_at(const struct seep_timeline_rows *rows, size_t i)
{
    return rows->first + (uint32_t)((uint64_t)(rows->last - rows->first) * i / (rows->n - 1));
}

double seep_timeline_host_live(const struct seep_model *m, const struct seep_model_process *p,
                               uint32_t row)
{
    double sum = 0; /* a damaged file may have any numbers */

    for (int s = 0; s < SEEP_MAX_SPACES; s++)
        if (p->space_of[s] && m->spaces[p->space_of[s] - 1].name.host_like)
            sum += (double)p->live[(size_t)s * p->n_rows + row];
    return sum;
}

/* Rows of a process's timeline as points for statistics. */
#ifndef SEEP_LIBPROF_MEASURE_TIMELINE_ROWS_H
#define SEEP_LIBPROF_MEASURE_TIMELINE_ROWS_H

#include "libprof/model/model.h"

/* So many of the rows from the first to the last, as evenly as rows lie. */
struct seep_timeline_rows {
    uint32_t first, last;
    size_t n;
};

/* `first` UINT32_MAX: there are none. False: they are too few for statistics. */
bool seep_timeline_rows_spread(uint32_t first, uint32_t last, struct seep_timeline_rows *rows);

/* The i-th of them, below n. */
uint32_t seep_timeline_rows_at(const struct seep_timeline_rows *rows, size_t i);

/* Live bytes of the process in all spaces of the host. */
double seep_timeline_host_live(const struct seep_model *m, const struct seep_model_process *p,
                               uint32_t row);

#endif

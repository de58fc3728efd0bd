/* RSS: what it consisted of at its peak, and whether its unexplained part grows. From the samples
 * that each process took of itself (struct seep_rss_sample). */
#ifndef SEEP_LIBPROF_MEASURE_RESIDENT_RESIDENT_MEMORY_H
#define SEEP_LIBPROF_MEASURE_RESIDENT_RESIDENT_MEMORY_H

#include "libprof/measure/growth.h"
#include "libprof/measure/resident/resident_instant.h"
#include "libprof/measure/resident/resident_pace.h"

enum { SEEP_RSS_MIN_SAMPLES = 8 }; /* samples after the warm-up that a slope needs */

struct seep_rss_growth {
    bool known;
    bool growing;            /* clear of zero and of the noise, up to the end, and worth
                              * reporting */
    struct seep_slope slope; /* bytes per step */
    double first, last;      /* bytes at the first and last judged sample */
};

struct seep_rss {
    struct seep_rss_instant peak;
    int32_t from, to;               /* steps of the first and last judged sample */
    struct seep_resident_trend all; /* without seep's own, by the timeline */
    struct seep_rss_growth unexplained, heap_free;
    struct seep_rss_growth maps; /* growing: more pages are touched, and less than half of them were
                                  * requested meanwhile */
};

struct seep_rss_table {
    struct seep_rss job;         /* all processes; slopes weighted by their share of the time */
    struct seep_rss *of_process; /* [n_processes] */
};

/* Returns 0 or -SEEP_ENOMEM. Allocates: *out; free with seep_rss_fini(). */
SEEP_MUST_CHECK int seep_rss_measure(const struct seep_model *m, const struct seep_span *span,
                                     struct seep_rss_table *out);
void seep_rss_fini(struct seep_rss_table *table);

/* The growth of one process's RSS, without its peak. Pure. */
void seep_rss_measure_growth(const struct seep_model *m, const struct seep_span *span,
                             const struct seep_model_process *p, struct seep_rss *rss);

#endif

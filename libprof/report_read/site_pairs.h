/* Pairs the sites of two reports of one job that are the same. Nothing here depends on line
 * numbers, folders, addresses, process numbers or times. A pair is a few numbers: its sites are
 * made again where more is asked of them. */
#ifndef SEEP_LIBPROF_REPORT_READ_SITE_PAIRS_H
#define SEEP_LIBPROF_REPORT_READ_SITE_PAIRS_H

#include "libprof/base/hash_index.h"
#include "libprof/base/json_stream.h"
#include "libprof/base/statistics.h"
#include "libprof/report_read/pair_key.h"

enum seep_compare_by {
    SEEP_BY_STACK, /* sites whose stacks have the same functions and file names */
    SEEP_BY_PLACE, /* sites whose lines to look at are in the same function and file */
};

/* One of two runs, and its sites, all of them. */
struct seep_compared {
    const json_t *report;
    struct seep_json_stream *sites;
};

/* The sums of a pair's sites in one run. */
struct seep_pair_side {
    double retained, peak;
    struct seep_slope growth;
    uint32_t n, first, last; /* n 0: it has none */
};

struct seep_site_pair {
    struct seep_pair_key key;
    const char *space;
    struct seep_pair_side sides[2]; /* before, after */
    bool is_interpreters;
};

struct seep_site_pairs {
    enum seep_compare_by by;
    struct seep_json_stream *sites[2];
    struct seep_site_pair *list; /* those of the first run come first */
    size_t n, capacity;
    struct seep_hash_index index; /* of their keys */
    uint32_t *next[2];            /* of each site: the next one in its pair */
    json_t *spaces;               /* {name: null}: of the pairs */
    json_t *interpreter;          /* the frame of those that are the interpreter's */
};

/* Those of one kind are one pair; host and mmap stay apart by stack and are one by place. The maps
 * of the Python interpreter itself are one pair. Returns 0 or -SEEP_ENOMEM; call
 * seep_site_pairs_fini() in either case. The runs must outlive the pairs. */
SEEP_MUST_CHECK int seep_site_pairs_init(struct seep_site_pairs *pairs,
                                         const struct seep_compared runs[2],
                                         enum seep_compare_by by);
void seep_site_pairs_fini(struct seep_site_pairs *pairs);

/* The first site of a pair, with its stack: a new reference; NULL without memory. */
json_t *seep_site_pair_first(const struct seep_site_pairs *pairs, size_t i);

/* A pair; a new reference, NULL without memory:
 *     { "space", "part", "frame",
 *       "before": SIDE|null,
 *       "after": SIDE|null,
 *       "stack" (by stack only),
 *       "interpreter": true (where it is) }
 *     SIDE, sums: { "retained_bytes", "peak_bytes",
 *                   "growth_bytes_per_step": {value, low, high},
 *                   "sites": [id…] } */
json_t *seep_site_pair_json(const struct seep_site_pairs *pairs, size_t i);

#endif

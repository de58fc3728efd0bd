/* The sites of a report by line of code: to the user, what one line holds in one space is one
 * matter, however many stacks led there. */
#ifndef SEEP_LIBPROF_REPORT_READ_LINE_VIEW_H
#define SEEP_LIBPROF_REPORT_READ_LINE_VIEW_H

#include "libprof/base/json_stream.h"
#include "libprof/words/patterns.h"

#include <stddef.h>
#include <stdint.h>

/* Sums over its sites. Their peaks may be of different times; the sum is cut at the space's
 * peak. */
struct seep_line_view {
    char *place;                 /* "train.py:40 in collate" */
    const char *space;           /* as the report names it */
    const char *pattern;         /* of its most severe finding, or "" */
    enum seep_severity severity; /* of that; SEEP_N_SEVERITIES */
    const json_t *finding;       /* NULL: none names a site of this line */
    uint32_t finding_at;         /* its place in the report */
    double live, peak, growth;   /* bytes; live: of living processes only, if there are series */
    double blocks;               /* −1: unknown, because processes ended with some of them */
    double highest;              /* the largest peak of one site */
    double held;                 /* bytes that holders of its sites are known to hold */
    uint32_t asked;        /* the first site whose holders were looked for; UINT32_MAX: none */
    const uint32_t *sites; /* n_sites of the report, in its order */
    size_t n_sites;
    uint64_t key; /* the same in all reports of the job */
};

struct seep_line_views {
    struct seep_line_view *lines; /* largest peak first */
    size_t n, capacity;
    json_t *spaces;  /* {name: null}: of the lines */
    uint32_t *sites; /* of all lines, line by line */
};

/* The lines of a report, which must outlive them, with these sites, which are not kept;
 * `host_is_one`: host and mmap are one space. Returns 0, or -1 without memory; call
 * seep_line_views_fini() in either case. */
int seep_line_views_init(struct seep_line_views *lines, const json_t *report,
                         struct seep_json_stream *sites, bool host_is_one);
void seep_line_views_fini(struct seep_line_views *lines);

#endif

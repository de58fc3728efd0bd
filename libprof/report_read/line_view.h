/* The sites of a report by line of code: to the user, what one line holds in one space is one
 * matter, however many stacks led there. */
#ifndef SEEP_LIBPROF_REPORT_READ_LINE_VIEW_H
#define SEEP_LIBPROF_REPORT_READ_LINE_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sums over its sites. Their peaks may be of different times; the sum is cut at the space's
 * peak. */
struct seep_line_view {
    char *place;               /* "train.py:40 in collate" */
    const char *space;         /* as the report names it */
    const char *pattern;       /* of its most severe finding, or "" */
    const json_t *finding;     /* NULL: none names a site of this line */
    double live, peak, growth; /* bytes; live: of living processes only, if there are series */
    double blocks;             /* −1: unknown, because processes ended with some of them */
    const json_t **sites;      /* n_sites, in the report's order */
    size_t n_sites;
    uint64_t key; /* the same in all reports of the job */
};

struct seep_line_views {
    struct seep_line_view *lines; /* largest peak first */
    size_t n;
    const json_t **sites; /* of all lines, line by line */
};

/* The lines of a report, which must outlive them; `host_is_one`: host and mmap are one space.
 * Returns 0, or -1 without memory; call seep_line_views_fini() in either case. */
int seep_line_views_init(struct seep_line_views *lines, const json_t *report, bool host_is_one);
void seep_line_views_fini(struct seep_line_views *lines);

#endif

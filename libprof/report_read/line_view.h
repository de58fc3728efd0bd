/* The sites of a report by the line of code that they are of: what one line holds in one space is
 * one matter to the user, however many stacks led there. */
#ifndef SEEP_LIBPROF_REPORT_READ_LINE_VIEW_H
#define SEEP_LIBPROF_REPORT_READ_LINE_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sums over its sites. Peaks may not have been at one time, but are never above the space's. */
struct seep_line_view {
    char *place;           /* "train.py:40 in collate" */
    const char *space;     /* as the report names it */
    const char *pattern;   /* of its most severe finding, or "" */
    const json_t *finding; /* NULL: none names a site of it */
    double live, peak,
        growth;           /* bytes; live is what living processes hold, where there are series */
    double blocks;        /* -1: not known, for processes that ended had some */
    const json_t **sites; /* n_sites, in the report's order */
    size_t n_sites;
    uint64_t key; /* the same in every report of the job */
};

struct seep_line_views {
    struct seep_line_view *lines; /* largest peak first */
    size_t n;
    const json_t **sites; /* of the lines, one line's after another's */
};

/* The lines of a report, which has to outlive them; `host_is_one`: host and mmap are one space.
 * Returns 0, or -1 without memory; seep_line_views_fini() frees them in either case. */
int seep_line_views_init(struct seep_line_views *lines, const json_t *report, bool host_is_one);
void seep_line_views_fini(struct seep_line_views *lines);

#endif

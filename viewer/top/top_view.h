/* What `seep top` shows of a job, read from a report with series. Pure: nothing here knows a
 * terminal. */
#ifndef SEEP_VIEWER_TOP_VIEW_H
#define SEEP_VIEWER_TOP_VIEW_H

#include "libprof/report_read/line_view.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A space of the job, or its resident memory (name "resident"). */
struct seep_top_space {
    const char *name;
    double live, peak, growth, limit; /* bytes, growth a step; limit 0: none is known */
    double full_in_s;                 /* until its memory is full, at the current rate; < 0:
                                       * unknown */
    bool has_growth;
    const json_t *levels; /* of the timeline; NULL where it has none */
};

struct seep_top_process {
    double pid, steps;
    char role[32];  /* "trainer", "rank 3" */
    char state[32]; /* "running", "exit 1", "signal 9", "unknown" */
    bool running;
    bool failed;          /* and is not a helper, many of which fail */
    double cpu_step_s;    /* CPU time a step; 0: not known */
    double rss, rss_peak; /* bytes; rss 0 once it has ended */
    double host, device;  /* live bytes, in the host's spaces and on devices (tensors where nothing
                           * else is known); 0 once it has ended */
    char *command;
};

struct seep_top_view {
    char *command;
    double steps, steps_per_s; /* steps_per_s < 0: not known */
    double since_s;            /* since its start, until now or its end */
    const char *step_unit;     /* "step", "time slice" */
    bool running;              /* at least one of its processes runs */
    bool ended; /* it no longer runs; unknown where it was killed, or runs on another machine */
    const char *cwd;
    const json_t *times; /* of the timeline, seconds */
    struct seep_top_space *spaces;
    struct seep_top_process *processes; /* running ones first, then failed ones, then the larger */
    struct seep_line_view *lines;       /* largest peak first */
    size_t n_spaces, n_processes, n_lines;
    size_t n_ended; /* the last ones of `processes`, which get no row while others run */
    struct seep_line_views all; /* owns the lines */
    const char **space_names;   /* of the spaces that the lines are in */
    size_t n_space_names;
    const json_t *holders; /* what holds most, by the latest snapshots; NULL: none was taken */
    json_t *report;        /* owns what the fields refer to */
};

/* The view of a report that was made now_unix_s seconds after 1970; takes over the reference, also
 * on failure. NULL without memory; free it by seep_top_view_destroy(). */
struct seep_top_view *seep_top_view_create(json_t *report, double now_unix_s);
/* Site `i` of a line. */
const json_t *seep_top_site(const struct seep_top_view *view, const struct seep_line_view *line,
                            size_t i);

void seep_top_view_destroy(struct seep_top_view *view); /* Accepts NULL. */

#endif

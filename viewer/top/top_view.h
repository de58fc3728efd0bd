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
    double full_in_s;                 /* until its memory is full, at this pace; < 0: not known */
    bool has_growth;
    const json_t *levels; /* of the timeline; NULL where it has none */
};

struct seep_top_process {
    double pid, steps;
    char role[32];  /* "trainer", "rank 3" */
    char state[32]; /* "running", "exit 1", "signal 9", "unknown" */
    bool running;
    bool failed;          /* and is no helper, of which many do */
    double rss, rss_peak; /* bytes; rss 0 once it has ended */
    double host, device;  /* live bytes, of the host's spaces and of devices (tensors where no more
                             is known); 0 once it has ended */
    char *command;
};

struct seep_top_view {
    char *command;
    double steps, steps_per_s; /* steps_per_s < 0: not known */
    double since_s;            /* since its start, until now or its end */
    const char *step_unit;     /* "step", "time slice" */
    bool running;              /* some process of it does */
    bool ended; /* it runs no more; where it was killed, or runs on another machine, nobody knows */
    const char *cwd;
    const json_t *times; /* of the timeline, seconds */
    struct seep_top_space *spaces;
    struct seep_top_process *processes; /* running ones first, then failed ones, then the larger */
    struct seep_line_view *lines;       /* largest peak first */
    size_t n_spaces, n_processes, n_lines;
    size_t n_ended;       /* processes, the last ones, that are not worth a row while others run */
    const json_t **sites; /* of the lines, one line's after another's */
    const char **space_names; /* of those that lines are in */
    size_t n_space_names;
    json_t *report; /* what all of it refers to */
};

/* The view of a report that was made now_unix_s seconds after 1970; takes the reference over, also
 * on failure. NULL without memory, else free it by
 * seep_top_view_destroy(). */
struct seep_top_view *seep_top_view_create(json_t *report, double now_unix_s);
void seep_top_view_destroy(struct seep_top_view *view); /* NULL: nothing */

#endif

/* Two ways to follow a job: on a terminal, and as lines for a file or a pipe. Both take over the
 * view that is shown first; both return the exit status. */
#ifndef SEEP_VIEWER_TOP_LIVE_H
#define SEEP_VIEWER_TOP_LIVE_H

#include "viewer/follow/follow.h"
#include "viewer/top/top_view.h"

/* What both follow. */
struct seep_top_job {
    const char *folder;
    struct seep_follow_how how; /* its readings are reports (json_t *) with series */
    double interval_s;          /* least time between two readings */
    double next_s;              /* until the next one */
    bool utf8;
};

/* On the open screen, which is closed at the end. */
int seep_top_live(const struct seep_top_job *job, struct seep_top_view *view);

/* One line a reading on standard output, until the job has ended. */
int seep_top_plain(const struct seep_top_job *job, struct seep_top_view *view);

/* One picture on standard output, `columns` wide. Returns 0, or −1 without memory. */
int seep_top_print(const struct seep_top_view *view, int columns, bool utf8);

#endif

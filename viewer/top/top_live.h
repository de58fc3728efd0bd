/* Follows a job on a terminal. */
#ifndef SEEP_VIEWER_TOP_LIVE_H
#define SEEP_VIEWER_TOP_LIVE_H

#include "viewer/follow/follow.h"
#include "viewer/top/top_view.h"

struct seep_top_job {
    const char *folder;
    struct seep_follow_how how; /* its readings are reports (json_t *) with series */
    double interval_s;          /* least time between two readings */
    double next_s;              /* until the next one */
    bool utf8;
};

/* On the open screen, which is closed at the end. Takes over the view that is shown first; returns
 * the exit status. */
int seep_top_live(const struct seep_top_job *job, struct seep_top_view *view);

#endif

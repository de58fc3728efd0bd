/* Reads a job for those who follow it in a browser. */
#ifndef SEEP_VIEWER_SERVE_SERVE_READING_H
#define SEEP_VIEWER_SERVE_SERVE_READING_H

#include "viewer/follow/follow.h"
#include "viewer/view/view_page.h"

/* For one thread. */
struct seep_serve_reading {
    struct seep_view_of of; /* set by its user; the rest begins as zero */
    unsigned long version;  /* of the last reading; 0: none yet */
    bool seen;              /* a reading has succeeded */
    bool ended;             /* and showed that the job had ended */
};

/* How to read: a reading is a struct seep_served. It fails where no page is possible at all:
 * without memory, or where the folder holds no profiles and never will. */
struct seep_follow_how seep_serve_reading_how(struct seep_serve_reading *reading);

#endif

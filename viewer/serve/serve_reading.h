/* Reads a job for those who follow it in a browser. */
#ifndef SEEP_VIEWER_SERVE_SERVE_READING_H
#define SEEP_VIEWER_SERVE_SERVE_READING_H

#include "viewer/follow/follow.h"
#include "viewer/serve/pieces.h"
#include "viewer/view/view_page.h"

/* For one thread. */
struct seep_serve_reading {
    struct seep_view_of of;
    struct seep_piece begin, end; /* the page before and after its data */
    unsigned long version;        /* of the last reading; 0: none yet */
    bool seen;                    /* a reading has succeeded */
    bool ended;                   /* and showed that the job had ended */
};

/* Copies `of`; its texts stay the caller's. Returns 0 or -SEEP_ENOMEM; free it by
 * seep_serve_reading_fini(), after every reading that was taken. */
SEEP_MUST_CHECK int seep_serve_reading_init(struct seep_serve_reading *reading,
                                            const struct seep_view_of *of);
void seep_serve_reading_fini(struct seep_serve_reading *reading);

/* How to read: a reading is a struct seep_served. It fails where no page is possible at all:
 * without memory, or where the folder holds no profiles and never will. */
struct seep_follow_how seep_serve_reading_how(struct seep_serve_reading *reading);

#endif

/* Reads a job for those who follow it in a browser. */
#ifndef SEEP_VIEWER_SERVE_SERVE_READING_H
#define SEEP_VIEWER_SERVE_SERVE_READING_H

#include "viewer/follow/follow.h"
#include "viewer/serve/pieces.h"
#include "viewer/view/view_page.h"

/* For one thread. */
struct seep_serve_reading {
    struct seep_view_of of;
    struct seep_piece begin, end; /* of the page, around its data */
    unsigned long version;        /* of the last reading; 0: there was none */
    bool seen;                    /* the job was seen */
    bool ended;                   /* and had ended */
};

/* `of` is copied; its texts stay the caller's. Returns 0 or -SEEP_ENOMEM; free it by
 * seep_serve_reading_fini(), after all that was seen. */
SEEP_MUST_CHECK int seep_serve_reading_init(struct seep_serve_reading *reading,
                                            const struct seep_view_of *of);
void seep_serve_reading_fini(struct seep_serve_reading *reading);

/* Readings that see a struct seep_served. They fail where no page is possible at all: no memory, or
 * something that is no folder of profiles and will be none. */
struct seep_follow_how seep_serve_reading_how(struct seep_serve_reading *reading);

#endif

/* The result of one reading, made once and shared by all requests: the data of a page, the page,
 * and the figures for monitoring. */
#ifndef SEEP_VIEWER_SERVE_SERVED_H
#define SEEP_VIEWER_SERVE_SERVED_H

#include "libprof/page/page_document.h"

#include <stdbool.h>

struct MHD_Response;

enum seep_served_state {
    SEEP_SERVED_WAITING, /* there is nothing to show yet */
    SEEP_SERVED_FAILED,  /* the reading failed: the page of the reading before still holds */
    SEEP_SERVED_LIVE,
    SEEP_SERVED_UNKNOWN, /* whether the job runs is unknown */
    SEEP_SERVED_ENDED,
};

enum seep_served_part {
    SEEP_SERVED_DATA,
    SEEP_SERVED_PAGE,
    SEEP_SERVED_METRICS,
    SEEP_SERVED_N_PARTS
};

struct seep_served {
    enum seep_served_state state;
    unsigned long version; /* counts readings, from 1 on */
    double steps;
    char why[512];       /* a reason for people, where the reading failed or waits; else "" */
    bool has_page, look; /* has_page: the data is that of a page; look: of a look's */
    char *data;          /* JSON in which nothing can end an HTML element */
    size_t n_data;
    char *metrics; /* OpenMetrics text; NULL: there are none */
    struct MHD_Response *responses[SEEP_SERVED_N_PARTS][2]; /* plain and gzip; NULL: not yet asked
                                                             * for */
};

/* Made from a page (libprof/page/page_document.h; NULL where there is none), to which it
 * adds `live`: the state of the reading. The metrics, allocated, are then the caller's to set. NULL
 * without memory; release it by seep_served_release(). */
struct seep_served *seep_served_create(struct seep_page *page, enum seep_served_state state,
                                       unsigned long version, const char *why);
void seep_served_release(struct seep_served *served); /* Accepts NULL. */

/* A response with a part, made and compressed when it is first asked for; the sender need not keep
 * the struct. NULL without memory. One thread at a time. */
struct MHD_Response *seep_served_response(struct seep_served *served, enum seep_served_part part,
                                          bool gzip);

#endif

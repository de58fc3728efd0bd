/* The result of one reading, made once and shared by all requests: the data of a page, the page,
 * and the figures for monitoring. */
#ifndef SEEP_VIEWER_SERVE_SERVED_H
#define SEEP_VIEWER_SERVE_SERVED_H

#include "libprof/page/page_document.h"
#include "viewer/serve/pieces.h"

#include <stdbool.h>

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
    char why[512]; /* a reason for people, where the reading failed or waits; else "" */
    struct seep_piece data, page, metrics; /* metrics.text NULL: there are none */
    const struct seep_piece *begin, *end;  /* the page before and after its data; NULL: `page` is
                                            * complete */
    struct MHD_Response *responses[SEEP_SERVED_N_PARTS][2]; /* plain and gzip; NULL: not yet asked
                                                             * for */
    unsigned references; /* one for each response, and one for the owner */
};

/* Made from a page (libprof/page/page_document.h; NULL where there is none), to which it
 * adds `live`: the state of the reading. `begin` and `end` stay the caller's, and must outlive it.
 * NULL without memory; release it by seep_served_release(). */
struct seep_served *seep_served_create(struct seep_page *page, enum seep_served_state state,
                                       unsigned long version, const char *why,
                                       const struct seep_piece *begin,
                                       const struct seep_piece *end);
void seep_served_release(struct seep_served *served); /* Accepts NULL. */

/* Adds the metrics: OpenMetrics text of n bytes, allocated, which it takes over. Before any
 * response. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_served_add_metrics(struct seep_served *served, char *text, size_t n);

/* A response with a part; the sender need not keep the struct. NULL without memory. One thread at a
 * time. */
struct MHD_Response *seep_served_response(struct seep_served *served, enum seep_served_part part,
                                          bool gzip);

#endif

/* What one reading gives to all who ask, made once and shared: the data of a page, and the page. */
#ifndef SEEP_VIEWER_SERVE_SERVED_H
#define SEEP_VIEWER_SERVE_SERVED_H

#include "viewer/serve/pieces.h"

#include <jansson.h>
#include <stdbool.h>

enum seep_served_state {
    SEEP_SERVED_WAITING, /* there is nothing to be shown yet */
    SEEP_SERVED_FAILED,  /* nothing new could be seen: the page of the reading before holds */
    SEEP_SERVED_LIVE,
    SEEP_SERVED_UNKNOWN, /* nobody knows whether the job runs */
    SEEP_SERVED_ENDED,
};

struct seep_served {
    enum seep_served_state state;
    unsigned long version; /* later readings have higher ones, from 1 on */
    double steps;
    char why[512]; /* for people, where the reading failed or waits; "" */
    struct seep_piece data, page;
    const struct seep_piece *begin, *end; /* around the data in a page; NULL: `page` is whole */
    struct MHD_Response *responses[2][2]; /* of data and page, plain and gzip; NULL: not asked */
    unsigned references;                  /* responses, and who holds it */
};

/* Of a page's document (libprof/page/page_document.h), to which it adds `live`: what the reading
 * is; NULL where there is none. `begin` and `end` stay the caller's, and must stay. NULL without
 * memory; whoever is done with it calls seep_served_release(). */
struct seep_served *seep_served_create(json_t *document, enum seep_served_state state,
                                       unsigned long version, const char *why,
                                       const struct seep_piece *begin,
                                       const struct seep_piece *end);
void seep_served_release(struct seep_served *served); /* NULL: nothing */

/* The page, or the data alone: whoever sends it need not keep it. NULL without memory. One thread
 * at a time. */
struct MHD_Response *seep_served_response(struct seep_served *served, bool page, bool gzip);

#endif

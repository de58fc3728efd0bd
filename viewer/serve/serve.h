/* `seep view --serve`: serves the page of a running job, and keeps it up to date. */
#ifndef SEEP_VIEWER_SERVE_SERVE_H
#define SEEP_VIEWER_SERVE_SERVE_H

#include "viewer/serve/serve_address.h"
#include "viewer/view/view_page.h"

/* Prints the URL, and serves until a signal ends it. open_metrics: at /metrics as well, whose URL
 * is the second line. Returns the exit status, after a complaint where it is not 0. */
int seep_serve(const struct seep_view_of *of, struct seep_serve_address *address,
               bool open_metrics);

#endif

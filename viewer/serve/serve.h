/* `seep view --serve`: the page of a running job, following it. */
#ifndef SEEP_VIEWER_SERVE_SERVE_H
#define SEEP_VIEWER_SERVE_SERVE_H

#include "viewer/serve/serve_address.h"
#include "viewer/view/view_page.h"

/* Serves until a signal ends it. Prints where. Returns the exit status, after a complaint where it
 * is not 0. */
int seep_serve(const struct seep_view_of *of, struct seep_serve_address *address);

#endif

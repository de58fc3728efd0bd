/* The server: one page, its data and its metrics at one address that nobody can guess, and nothing
 * else. No request opens a file, and all work is done in seep_http_run(). For one thread. */
#ifndef SEEP_VIEWER_SERVE_SERVE_HTTP_H
#define SEEP_VIEWER_SERVE_SERVE_HTTP_H

#include "viewer/serve/serve_address.h"
#include "viewer/serve/served.h"

struct seep_http;

/* Listens. `address` out: with the port that was chosen. open_metrics: the metrics are at /metrics
 * as well, for anybody who can connect. NULL with *err. */
struct seep_http *seep_http_start(struct seep_serve_address *address, bool open_metrics,
                                  struct seep_error *err);

/* "http://127.0.0.1:8080/…/": anybody who has it can read the page. */
const char *seep_http_url(const struct seep_http *http);

/* Readable when there is something to do (poll(2)). */
int seep_http_fd(const struct seep_http *http);

/* Seconds until there is something to do even if the descriptor stays silent; < 0: nothing. */
double seep_http_wait_s(const struct seep_http *http);

/* Answers what can be answered. */
void seep_http_run(struct seep_http *http);

/* Serves this reading from now on; takes it over. */
void seep_http_show(struct seep_http *http, struct seep_served *served);

/* Whether anybody follows the job. */
bool seep_http_is_followed(const struct seep_http *http);

void seep_http_stop(struct seep_http *http);

#endif

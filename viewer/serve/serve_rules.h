/* What a request may and may not: pure rules about what its head says. */
#ifndef SEEP_VIEWER_SERVE_SERVE_RULES_H
#define SEEP_VIEWER_SERVE_SERVE_RULES_H

#include "viewer/serve/serve_address.h"

enum seep_serve_path { SEEP_SERVE_NOTHING, SEEP_SERVE_PAGE, SEEP_SERVE_DATA };

/* What a path asks for: "/TOKEN/" and "/TOKEN/data"; everything else is nothing. The time that it
 * takes says nothing about the token but its length. */
enum seep_serve_path seep_serve_path_of(const char *path, const char *token);

/* Whether a request that names `host` (its Host header, or NULL) is meant for us: a page of
 * another site whose name was made to lead here is refused. `address` has the port that is bound.
 */
bool seep_serve_host_is_own(const struct seep_serve_address *address, const char *host);

/* Whether an Accept-Encoding (or NULL) takes gzip. */
bool seep_serve_takes_gzip(const char *accepted);

/* Whether an If-None-Match (or NULL) names the version. */
bool seep_serve_names_version(const char *tags, unsigned long version);

#endif

/* Which requests are allowed: pure rules about what the head says. */
#ifndef SEEP_VIEWER_SERVE_SERVE_RULES_H
#define SEEP_VIEWER_SERVE_SERVE_RULES_H

#include "viewer/serve/serve_address.h"

enum seep_serve_path { SEEP_SERVE_NOTHING, SEEP_SERVE_PAGE, SEEP_SERVE_DATA, SEEP_SERVE_METRICS };

/* What a path asks for: "/TOKEN/", "/TOKEN/data" and "/TOKEN/metrics"; "/metrics" only if the
 * metrics are open to all who can connect; anything else is nothing. The time it takes reveals only
 * the token's length. */
enum seep_serve_path seep_serve_path_of(const char *path, const char *token, bool open_metrics);

/* Whether a request that names `host` (its Host header, or NULL) is meant for us: refuses a page of
 * another site whose name was made to resolve to this server. `address` has the port that is
 * bound. */
bool seep_serve_host_is_own(const struct seep_serve_address *address, const char *host);

/* Whether an Accept-Encoding header (or NULL) accepts gzip. */
bool seep_serve_takes_gzip(const char *accepted);

/* Whether an If-None-Match header (or NULL) names the version. */
bool seep_serve_names_version(const char *tags, unsigned long version);

#endif

/* Looks at what a job has written, one after another, so that they take no more than a tenth of a
 * CPU: after each there is a pause of ten times as long as it took. They run in a thread of their
 * own that makes way for the job's. */
#ifndef SEEP_VIEWER_TOP_LOOKS_H
#define SEEP_VIEWER_TOP_LOOKS_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct seep_top_looks;

/* One look, now, in this thread: what seep_analyse() gives for the folder, with series. *next_s
 * out: how long to wait for the next one, not less than interval_s. */
SEEP_MUST_CHECK int seep_top_look(const char *folder, double interval_s, double *next_s,
                                  json_t **report, struct seep_error *err);

/* Begins to look, `first_s` seconds from now. `folder` stays the caller's, and must stay. NULL
 * where there is no memory or no thread. */
struct seep_top_looks *seep_top_looks_start(const char *folder, double interval_s, double first_s);

/* Readable while a look was not taken yet (poll(2)). */
int seep_top_looks_fd(const struct seep_top_looks *looks);

/* The newest report, a new reference; NULL where there is none that was not taken, or where the
 * look failed: *err says so then, and is empty else. */
json_t *seep_top_looks_take(struct seep_top_looks *looks, struct seep_error *err);

/* None begins until it goes on. */
void seep_top_looks_pause(struct seep_top_looks *looks, bool paused);

/* Ends them. True where all is freed; false where a look is under way that nobody can stop: the
 * process is to end by _exit() then. */
bool seep_top_looks_stop(struct seep_top_looks *looks);

#endif

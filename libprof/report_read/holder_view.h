/* Who holds what a finding's line made, as a report says it. Used by all printers and judges. */
#ifndef SEEP_LIBPROF_REPORT_READ_HOLDER_VIEW_H
#define SEEP_LIBPROF_REPORT_READ_HOLDER_VIEW_H

#include "libprof/report_read/report_fields.h"

/* Pure; results belong to the report. */

/* The answer of snapshots for a finding or a site, its `holders`, which may be any JSON or NULL;
 * NULL if nobody looked or nothing was seen. */
const json_t *seep_get_holders(const json_t *holders);

/* The name of the container that holds most of a finding; NULL if it has none. */
const char *seep_get_holder_name(const struct seep_report_finding *f);

/* Whether that container is known to grow, or known not to grow. */
bool seep_get_holder_grows(const struct seep_report_finding *f);
bool seep_get_holder_stays(const struct seep_report_finding *f);

/* The container of that name in a report's list; NULL if it is not there. */
const json_t *seep_get_container(const json_t *report, const char *name);

/* A path in words: "local 'history' of main()[60] (Tensor); deleting it frees at least 98 %; it
 * grew from 4 to 60 entries" Not cleaned. Allocates the result (free() it); NULL without memory. */
char *seep_get_path_words(const json_t *holders, const json_t *path);

/* The words before the paths, or instead of them; "" if the paths say it all. */
const char *seep_get_holders_words(const json_t *holders);

/* Line `i` of all that is said of a finding's holders as evidence: where they got it, and who they
 * are; NULL after the last. `cwd` as in seep_get_frame_text(). Allocates the result as above. */
char *seep_get_holders_line(const struct seep_report_finding *f, const char *cwd, size_t i);

/* Statement `i` of those of which one puts a finding's memory into its holder: "train.py:42 in
 * main: losses.append(loss)"; NULL after the last. Allocates the result as above. */
char *seep_get_kept_words(const struct seep_report_finding *f, const char *cwd, size_t i);

/* The same of those that pass it on, of which one may have taken a reference too many. */
char *seep_get_passed_words(const struct seep_report_finding *f, const char *cwd, size_t i);

/* Where the finding's memory is kept, if that is one statement; else the line that made it.
 * Borrowed; a frame, or null. */
const json_t *seep_get_line_to_change(const struct seep_report_finding *f);

/* The line to look at: "kept at train.py:42 in main, made at train.py:27 in forward" if both are
 * known and differ, else the finding's own. Allocates the result as above. */
char *seep_get_finding_place(const struct seep_report_finding *f, const char *cwd);

#endif

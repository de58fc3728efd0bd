/* All code that compares, judges or prints a report reads it through these functions. Reports of
 * versions 1 and 2 are read alike: in version 1 a site's growth is a number with its interval
 * beside it, and nothing says how many findings were left out. */
#ifndef SEEP_LIBPROF_REPORT_READ_REPORT_VIEW_H
#define SEEP_LIBPROF_REPORT_READ_REPORT_VIEW_H

#include "libprof/report_read/report_fields.h"

/* All take any JSON value or NULL, and return the missing value (NULL, 0) if there is no such
 * thing. Pure; texts belong to the object. */
const char *seep_get_text(const json_t *object, const char *key, const char *missing);
double seep_get_number(const json_t *object, const char *key);

/* The job of a report, or of what says whose it is as a report does: a check. */
struct seep_report_job seep_get_job(const json_t *report);

/* The part of the job that a site's line belongs to. */
const char *seep_get_part(const json_t *site);

/* The frame of a site to look at, else its innermost one; NULL if it has none. */
const json_t *seep_get_site_frame(const json_t *site);

/* The user sees host and mmap as one memory: "host" for both, else the name itself. */
const char *seep_get_space_class(const char *space);

extern const char *const seep_severities[SEEP_N_SEVERITIES];

/* How many findings of a severity (0 … 3), or of all, the report counts but does not list. */
double seep_get_left_out(const json_t *report, int severity);
double seep_get_all_left_out(const json_t *report);

/* The next trainer or rank from *at on that failed: it ended by a signal or with a status other
 * than 0, and its own parent in the job did not terminate it. NULL after the last. *at begins as 0
 * and moves on. */
const json_t *seep_get_failed(const json_t *report, size_t *at);

/* The first of these that no SIGTERM, SIGINT or SIGHUP asked to end; NULL: none. */
const json_t *seep_get_crashed(const json_t *report);

/* Whether such a process crashed before the job's first step, and nothing was found. */
bool seep_get_crashed_at_once(const json_t *report);

/* Whether something was found, and none of it is more than growth that may yet end. */
bool seep_get_undetermined(const json_t *report);

/* Whether the job leaves the question open: it failed, was told to end, had too few steps, or is
 * undetermined. Never of a digest. */
bool seep_get_unsettled(const json_t *report);

/* The id that a launcher (Slurm, torchrun) gave the job, the same in all its processes; NULL if
 * none did. */
const char *seep_get_job_id(const json_t *report);

/* How the job or a process ended: "killed by SIGKILL", "ended with status 1", "still running"; ""
 * if an older report has no words for it. */
const char *seep_get_exit_text(const json_t *job_or_process);

/* Whether it is known to have failed. */
bool seep_get_has_failed(const json_t *job_or_process);

/* Whether some process of the job was alive when the report was made. */
bool seep_get_runs(const json_t *report);

/* Whether the job is known to have ended. If it was killed or runs on another machine, nobody
 * knows: false. */
bool seep_get_ended(const json_t *report);

/* Whether it had too few steps for growth to show: then finding nothing proves nothing yet. */
bool seep_get_too_early(const json_t *report);

/* What the steps of a job are: "step", or "time slice" if the job has no steps. */
const char *seep_get_step_unit(const struct seep_report_job *job);

/* "in step 60", "before step 1", "after the last step" of that many. Returns `text`. */
enum { SEEP_WHEN_TEXT = 48 };
const char *seep_get_when(const char *unit, double step, double steps, char text[SEEP_WHEN_TEXT]);

/* The path relative to `cwd` if it is below that, else the path. */
const char *seep_get_below(const char *cwd, const char *path);

/* The function of a frame, with its class if known: "Trainer.fit", else "libtorch.so+0x12". As in
 * the report. Allocates the result (free() it); NULL without memory. */
char *seep_get_frame_function(const json_t *frame);

/* "train.py:40 in collate", "libtorch.so+0x12 in f". Cleaned: no control characters.
 * Allocates the result (free() it); NULL without memory. */
char *seep_get_frame_text(const json_t *frame, const char *cwd);

/* The header of documents such as "seep-check": {format, version: 1, seep}. A new reference. */
json_t *seep_get_document(const char *format);

/* A device of a report in words. */

/* "GPU 0: tensors at most 1.0 GiB; PyTorch reserves 1.5 GiB; this job uses 2.0 GiB (at most 2.1
 * GiB) of 8.0 GiB": what is known of it. device: of a report's `devices`. Allocates the result;
 * NULL without memory. */
char *seep_device_text(const json_t *device);

/* Who had the memory that was missing at an out-of-memory, from a report. */

/* Line `i` of a finding, largest first; NULL after the last, and if the finding has none. It
 * belongs to the finding. */
const json_t *seep_get_oom_line(const struct seep_report_finding *f, size_t i);

/* How much such a line had: "5.2 GiB kept from before, at most 1.0 GiB more made in the step".
 * Allocates the result (free() it); NULL without memory. */
char *seep_get_oom_words(const struct seep_report_shortage_line *line);

#endif

/* Several files write report.json: these are the pieces that they share. Only report_*.c include
 * it. */
#ifndef SEEP_LIBPROF_REPORT_REPORT_PIECES_H
#define SEEP_LIBPROF_REPORT_REPORT_PIECES_H

#include "libprof/base/json_build.h"
#include "libprof/measure/space_growth.h"
#include "libprof/model/live_level.h"
#include "libprof/report/report_input.h"

/* All return new references, NULL without memory (which json_object_set_new() and its like
 * take for a failure). */
json_t *seep_json_real(double x);                     /* 0 for what JSON cannot say */
json_t *seep_json_argv(const char *argv, uint32_t n); /* NUL-separated */
json_t *seep_json_totals(const struct seep_totals *t);
json_t *seep_json_slope(const struct seep_slope *slope);
/* Each pid once: after an exec several processes of the model have the same. Sorts list[]. */
json_t *seep_json_pids(uint32_t *list, size_t n);
/* Totals of a space with its growth, null where that is not known. */
json_t *seep_json_space(const struct seep_totals *t, const struct seep_lane_growth *growth);

/* The frames that one dictionary frame stands for: several where calls were inlined. Appends to
 * `list`. Returns 0 or -1. */
int seep_json_frames_append(const struct seep_report_pieces *pieces, uint32_t frame, json_t *list);

/* The one that a line of code to look at prints as: a copy. */
json_t *seep_json_shown(const struct seep_report_pieces *pieces, uint32_t frame);

/* Who holds what that line made in a space; null where nobody looked. */
json_t *seep_json_holders(const struct seep_report_pieces *pieces, uint16_t space, uint32_t frame);

/* Fills chosen[n_sites] with the sites to list, largest peak first, and sets `shown` and
 * n_left_out. The largest site of every finding is always among them. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_report_choose(struct seep_report_pieces *pieces, uint32_t *chosen,
                                       size_t *n_chosen);

/* Whether a space is in the report: something of it was recorded, or a finding is about it. */
bool seep_report_lists_space(const struct seep_report_pieces *pieces, uint16_t space);

json_t *seep_json_sites(const struct seep_report_pieces *pieces, const uint32_t *chosen, size_t n);
json_t *seep_json_site_id(uint32_t site);
json_t *seep_json_findings(const struct seep_report_pieces *pieces);
json_t *seep_json_left_out(const struct seep_report_pieces *pieces); /* findings, by severity */
json_t *seep_json_processes(const struct seep_report_pieces *pieces);
/* How a process ended, or the job: its first trainer or rank that failed, else its command, else
 * the main process; with the words for it. */
json_t *seep_json_exit(const struct seep_process_end *end);
json_t *seep_json_job_exit(const struct seep_model *m);
json_t *seep_json_oom_kills(const struct seep_model *m); /* processes, by the kernel */
json_t *seep_json_timeline(const struct seep_report_pieces *pieces);
json_t *seep_json_folded(const struct seep_report_pieces *pieces); /* `helpers` */

/* How a level went over the steps, how old blocks were that were freed, and what a process had over
 * time (report_series.c). */
json_t *seep_json_series(const struct seep_level *level);
json_t *seep_json_lifetimes(const struct seep_model_extra *e); /* NULL: not known */
json_t *seep_json_sizes(const struct seep_model_extra *e);     /* the same */
json_t *seep_json_site_threads(const struct seep_model *m, const struct seep_model_site *site);
json_t *seep_json_process_timeline(const struct seep_report_pieces *pieces,
                                   const struct seep_model_process *p);
json_t *seep_json_epoch_steps(const struct seep_model *m); /* in which epochs began */

/* How steps were counted, why so, and the line of the loop whose iterations they are, or null
 * (report_steps.c). */
json_t *seep_json_step_source(const struct seep_model *m);
json_t *seep_json_step_why(const struct seep_model *m);
json_t *seep_json_step_line(const struct seep_report_pieces *pieces);

/* The same of epochs: what they are, null where there are none or that is not known. */
json_t *seep_json_epoch_source(const struct seep_model *m);
json_t *seep_json_epoch_line(const struct seep_report_pieces *pieces);

/* What was seen, and what could not be (report_coverage.c). */
json_t *seep_json_coverage(const struct seep_report_pieces *pieces);

/* What PyTorch says of its memory on each device, in `coverage`. */
json_t *seep_json_tensors(const struct seep_model *m);

/* What was taken from the drivers of devices beneath that, in `coverage` (report_runtime.c). */
json_t *seep_json_runtime(const struct seep_model *m);

/* Who had the memory that an out-of-memory lacked; null of another finding (report_shortage.c). */
struct seep_shortage;
json_t *seep_json_shortage(const struct seep_report_pieces *pieces, const struct seep_shortage *s);

/* Devices of which their driver or PyTorch's allocator tells (report_devices.c). */
json_t *seep_json_devices(const struct seep_model *m);

/* Where blocks lay on devices (report_layouts.c). After seep_report_choose(). */
json_t *seep_json_layouts(const struct seep_report_pieces *pieces);

/* Requests that a device had no room for. */
json_t *seep_json_shortages(const struct seep_report_pieces *pieces);
json_t *seep_json_rss(const struct seep_rss *rss); /* null where it is not known */

/* Whether every process ended and was read whole. */
bool seep_report_is_complete(const struct seep_model *m);
uint64_t seep_report_dropped(const struct seep_model *m);

#endif

/* The pieces that the files which write report.json share. Only report_*.c include it. */
#ifndef SEEP_LIBPROF_REPORT_REPORT_PIECES_H
#define SEEP_LIBPROF_REPORT_REPORT_PIECES_H

#include "libprof/base/json_build.h"
#include "libprof/base/json_stream.h"
#include "libprof/measure/space_growth.h"
#include "libprof/model/live_level.h"
#include "libprof/report/report_input.h"
#include "libprof/report_read/report_fields.h"

/* All return new references, NULL without memory (which json_object_set_new() and the like treat as
 * a failure). */
json_t *seep_json_argv(const char *argv, uint32_t n); /* NUL-separated */
/* Each pid once: after an exec, several processes of the model have the same. Sorts list[]. */
json_t *seep_json_pids(uint32_t *list, size_t n);
/* A space with its growth, null if that is not known. capacity_bytes: 0 if nobody announced it. */
json_t *seep_json_space(const struct seep_totals *t, const struct seep_lane_growth *growth,
                        uint64_t capacity_bytes);

/* What a space and a site have of `t`, among their fields for SEEP_REPORT_JSON(). */
#define SEEP_REPORT_TOTALS(t)                                                                      \
    .allocations = (t)->allocations, .frees = (t)->frees, .allocated_bytes = (t)->allocated_bytes, \
    .live_bytes = seep_totals_live(t), .peak_bytes = (t)->peak_bytes,                              \
    .peak_step = (t)->peak_step > 0 ? (uint64_t)(t)->peak_step : 0

/* The frames that one dictionary frame stands for: several if calls were inlined. Appends to
 * `list`. Returns 0 or -1. */
int seep_json_frames_append(const struct seep_report_pieces *pieces, uint32_t frame, json_t *list);

/* A copy of the frame that is printed for a line of code to look at. */
json_t *seep_json_shown(const struct seep_report_pieces *pieces, uint32_t frame);

/* Who holds the memory that a line made in a space; null if nobody looked. */
json_t *seep_json_holders(const struct seep_report_pieces *pieces, uint16_t space, uint32_t frame);

/* Whether a space is in the report: it has recorded memory, or a finding is about it. */
bool seep_report_lists_space(const struct seep_report_pieces *pieces, uint16_t space);

/* The chosen sites, made one by one. Free it by seep_report_sites_fini(). */
struct seep_report_sites {
    struct seep_json_stream stream;
    const struct seep_report_pieces *pieces;
    const uint32_t *chosen;
    struct seep_level level; /* scratch */
};
void seep_report_sites_init(struct seep_report_sites *sites,
                            const struct seep_report_pieces *pieces, const uint32_t *chosen,
                            size_t n);
void seep_report_sites_fini(struct seep_report_sites *sites);

/* "S7": its place in the profile, from 1. Returns `text`. */
enum { SEEP_SITE_ID_TEXT = 16 };
const char *seep_report_site_id(uint32_t site, char text[SEEP_SITE_ID_TEXT]);
json_t *seep_json_site_id(uint32_t site);
json_t *seep_json_findings(const struct seep_report_pieces *pieces);
json_t *seep_json_left_out(const struct seep_report_pieces *pieces); /* findings, by severity */
json_t *seep_json_processes(const struct seep_report_pieces *pieces);
/* How a process or the job ended, also in words. The job's end is that of the first trainer or rank
 * that failed, else that of its command, else that of the main process. */

json_t *seep_json_job_exit(const struct seep_model *m);
uint64_t seep_report_oom_kills(const struct seep_model *m); /* processes that the kernel killed */
json_t *seep_json_memory_files(const struct seep_job *job); /* that it left on a tmpfs, or null */
json_t *seep_json_timeline(const struct seep_report_pieces *pieces);
json_t *seep_json_folded(const struct seep_report_pieces *pieces); /* `helpers` */

/* A level over the steps, ages of freed blocks, and a process over time (report_series.c). */
json_t *seep_json_series(const struct seep_level *level);
json_t *seep_json_lifetimes(const struct seep_model_extra *e); /* NULL: not known */
json_t *seep_json_sizes(const struct seep_model_extra *e);     /* the same */
json_t *seep_json_site_threads(const struct seep_model *m, const struct seep_model_site *site);
json_t *seep_json_process_timeline(const struct seep_report_pieces *pieces,
                                   const struct seep_model_process *p);
json_t *seep_json_epoch_steps(const struct seep_model *m); /* the steps in which epochs began */

/* How steps were counted, why so, and the line of the loop whose iterations they are, or null. */
const char *seep_report_step_source(const struct seep_model *m);
const char *seep_report_step_why(const struct seep_model *m);
json_t *seep_json_step_line(const struct seep_report_pieces *pieces);

/* The same of epochs: what they are; null if there are none or that is not known. */
json_t *seep_json_epoch_source(const struct seep_model *m);
json_t *seep_json_epoch_line(const struct seep_report_pieces *pieces);

/* What seep cost the job; null if nobody measured it. */
json_t *seep_json_cost(const struct seep_report_pieces *pieces);

/* What was seen, and what could not be (report_coverage.c). */
json_t *seep_json_coverage(const struct seep_report_pieces *pieces);

/* What PyTorch reports of its memory on each device, in `coverage`. */
json_t *seep_json_tensors(const struct seep_model *m);

/* Who had the memory that was missing at an out-of-memory; null for other findings. */
struct seep_oom;
json_t *seep_json_oom(const struct seep_report_pieces *pieces, const struct seep_oom *s);

/* Devices known from their driver or from PyTorch's allocator. */
json_t *seep_json_devices(const struct seep_model *m);

/* Where blocks were in devices' memory. */
json_t *seep_json_layouts(const struct seep_report_pieces *pieces);

/* Requests that a device had no room for. */
json_t *seep_json_ooms(const struct seep_report_pieces *pieces);
json_t *seep_json_what_ifs(const struct seep_report_pieces *pieces);
json_t *seep_json_rss(const struct seep_rss *rss); /* null if not known */

/* The parts of a process's RSS over time. */
json_t *seep_json_rss_course(const struct seep_model *m, const struct seep_model_process *p);

/* Whether every process has ended and was read completely. */
bool seep_report_is_complete(const struct seep_model *m);
uint64_t seep_report_dropped(const struct seep_model *m);

#endif

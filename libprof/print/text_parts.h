/* Parts of terminal output that several texts use. `unit`: of growth, "step" or "time slice". */
#ifndef SEEP_LIBPROF_PRINT_TEXT_PARTS_H
#define SEEP_LIBPROF_PRINT_TEXT_PARTS_H

#include "libprof/base/json_stream.h"
#include "libprof/report_read/report_fields.h"

#include <stdio.h>

/* One line: how many findings there are in how many steps; if none, whether that proves
 * anything. */
void seep_verdict_text(const json_t *report, FILE *out, bool colour);

/* The findings of a report: their number, then each with its line, size, evidence and advice. */
void seep_findings_text(const json_t *report, FILE *out, bool colour);

/* The lines with the largest peaks that no finding names, each with its holders, if known. */
void seep_lines_text(const json_t *report, struct seep_json_stream *sites, FILE *out);

/* The first of these in one line, without its holders; nothing if there is none. */
void seep_largest_text(const json_t *report, struct seep_json_stream *sites, FILE *out);

/* The end of a report, for a window of 24 rows after the rest has scrolled by: the number of
 * findings, each in one line (only the first if there are very many), and where to see more.
 * `folder` is the profile's, NULL if there is not exactly one. */
void seep_closing_text(const json_t *report, FILE *out, bool colour, const char *folder);

/* Instead of a report, for a job that leaves the question open (seep_get_unsettled()): at most
 * eight lines of how it ended, what grows by how much, and what to do. */
void seep_brief_text(const json_t *report, struct seep_json_stream *sites, FILE *out, bool colour,
                     const char *folder);

/* What to do about a finding, indented. */
void seep_advice_text(const struct seep_report_finding *f, FILE *out, bool colour);

/* The requests for memory that failed, a paragraph each; or only the last one. */
void seep_ooms_text(const json_t *report, FILE *out, bool last_only);

/* Who holds the memory that a finding's line made, and where they got it: "held by local 'history'
 * …" and "kept at train.py:42 …", indented by `indent`; nothing if not known. `cwd`: of the job. */
void seep_holder_text(const struct seep_report_finding *f, const char *cwd, FILE *out, int indent);

/* Only who holds it, by its `holders`, which may be any JSON. */
void seep_holders_text(const json_t *holders, FILE *out, int indent);

/* How many ranks made steps, of how many, and on which hosts: "7 of 8 with steps, on 2 hosts: a,
 * b". Returns whether there is anything to say: false for a job of one rank on one host. */
bool seep_ranks_text(const json_t *report, FILE *out);

/* What the processes of a digest show together. False, and nothing, if the report is of no digest.
 */
bool seep_many_text(const json_t *report, FILE *out);

/* How many hosts the processes are on. */
size_t seep_hosts_count(const json_t *report);

/* The spaces of two reports (report_pairs.h) side by side. */
void seep_spaces_text(const json_t *spaces, FILE *out, const char *unit);

#endif

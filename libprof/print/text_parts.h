/* Parts of what is printed on a terminal, a file each; several texts have some of them. `unit`:
 * what growth is told by, "step" or "time slice". */
#ifndef SEEP_LIBPROF_PRINT_TEXT_PARTS_H
#define SEEP_LIBPROF_PRINT_TEXT_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* The findings of a report: how many there are, and then each with its line, what it holds,
 * evidence and advice. */
void seep_findings_text(const json_t *report, FILE *out, bool colour);

/* Who holds what a finding's line made, and where they got it: "held by local 'history' …" and
 * "kept at train.py:42 …", indented by `indent`; nothing where it is not known. `cwd`: of the job.
 */
void seep_holder_text(const json_t *finding, const char *cwd, FILE *out, int indent);

/* What resident memory was made of, from the `rss` of a report or of a process: "1.0 GiB at its
 * peak: 700.0 MiB heap, …; 12.0 MiB (1 %) not explained, which grows by …". Allocates the result
 * (free() it); NULL without memory. */
char *seep_rss_text(const json_t *rss, const char *unit);

/* Whether much of it is not explained, or what is not grows. */
bool seep_rss_is_notable(const json_t *rss);

/* The spaces of two reports (report_pairs.h) side by side. */
void seep_spaces_text(const json_t *spaces, FILE *out, const char *unit);

#endif

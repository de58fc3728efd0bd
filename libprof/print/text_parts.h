/* Parts of what is printed on a terminal, a file each; several texts have some of them. `unit`:
 * what growth is told by, "step" or "time slice". */
#ifndef SEEP_LIBPROF_PRINT_TEXT_PARTS_H
#define SEEP_LIBPROF_PRINT_TEXT_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* How many findings there are in how many steps, in a line; of none, whether that says anything. */
void seep_verdict_text(const json_t *report, FILE *out, bool colour);

/* The findings of a report: how many there are, and then each with its line, what it holds,
 * evidence and advice. */
void seep_findings_text(const json_t *report, FILE *out, bool colour);

/* The lines with the largest peaks that no finding tells of, each with who was seen to hold it. */
void seep_lines_text(const json_t *report, FILE *out);

/* The end of a report, for a window of 24 rows when all has scrolled by: how many findings there
 * are, each in one line (the first of very many), and where more is to be seen: `folder` is that of
 * the profile, NULL where there is not one. */
void seep_closing_text(const json_t *report, FILE *out, bool colour, const char *folder);

/* Who holds what a finding's line made, and where they got it: "held by local 'history' …" and
 * "kept at train.py:42 …", indented by `indent`; nothing where it is not known. `cwd`: of the job.
 */
void seep_holder_text(const json_t *finding, const char *cwd, FILE *out, int indent);

/* What resident memory was made of, from the `rss` of a report or of a process: "RSS in step
 * 40, 1.0 GiB: 700.0 MiB malloc'd memory, …; 12.0 MiB (1 %) unexplained; the unexplained part
 * grows by …"; that nobody looked near its peak, where that is so. Allocates the result (free()
 * it); NULL without memory. */
char *seep_rss_text(const json_t *rss, const char *unit);

/* "PSS peak 323.0 MiB, RSS peak 1002.0 MiB". RSS counts what processes share in each of them, so
 * PSS comes first where it is known (not 0). A lower RSS was not looked at when it was at its
 * highest: it is left out. `together`: of several processes. Allocates the result (free() it); NULL
 * without memory. */
char *seep_resident_peaks_text(double pss_bytes, double rss_bytes, bool together);

/* Whether much of it is not explained, or what is not grows. */
bool seep_rss_is_notable(const json_t *rss);

/* The spaces of two reports (report_pairs.h) side by side. */
void seep_spaces_text(const json_t *spaces, FILE *out, const char *unit);

#endif

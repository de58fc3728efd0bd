/* Findings in relation to each other and to the rest of the job, once all lines are judged: which
 * have one cause, which come first, and what is added to each. */
#ifndef SEEP_LIBPROF_VERDICT_FINDING_LIST_H
#define SEEP_LIBPROF_VERDICT_FINDING_LIST_H

#include "libprof/code/code.h"
#include "libprof/verdict/case.h"
#include "libprof/verdict/finding.h"

/* Brings findings into relation, step by step (the table in finding_list.c): those that are one
 * matter become one, those that another one explains are dropped, and what matters most comes
 * first. A finding weighs what its fix would save, or else what it keeps, and what it would add in
 * another run as long, as a share of the memory that limits it: the GPU's, or the host's. What is
 * accused (a leak, retention) weighs ten times that: it comes before what is only likely, unless it
 * is less than a tenth of it. What needs no fix comes last. What weighs the same goes by severity,
 * then by line. Those beyond SEEP_MAX_FINDINGS are counted and left out. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_findings_relate(const struct seep_code *code, struct seep_findings *f);

/* Drops findings on segments that are kept because tensors are, and adds them as evidence to the
 * findings on those tensors: if, together, segments grow at most twice as fast as the tensors; or,
 * where they no longer grow, have grown at most twice as much. Returns 0
 * or -SEEP_ENOMEM (segment_findings.c). */
SEEP_MUST_CHECK int seep_segments_join(const struct seep_code *code, struct seep_findings *f);

/* Sets the advice that follows from who was seen to hold what a finding is about, and the holder's
 * name. If nobody holds it, notes the calls that allocated it, innermost first: "PyArray_IterNew ←
 * diag ← roots". Looks up symbols. Returns 0 or -SEEP_ENOMEM (pattern_words.c). */
SEEP_MUST_CHECK int seep_holder_advise(const struct seep_case *c, struct seep_finding *f);

/* ---- findings that no line shows, in the order in which they are added ---------------------- */

/* Adds a finding if the other findings account for less than half of what RSS grows by, with the
 * part of RSS that gained most. Not on what is unexplained (diagnosis.h), nor on live
 * blocks, which other rules judge. Adds one on files in memory. Returns 0 or
 * -SEEP_ENOMEM (resident_rest.c). */
SEEP_MUST_CHECK int seep_resident_rest_judge(const struct seep_code *code,
                                             struct seep_findings *out);

/* How bad it is that something resident grows. In a short run, and in slices of time, an allocator
 * or a job may still be filling what it keeps. */
enum seep_severity seep_resident_severity(const struct seep_model *m, const struct seep_span *span);

/* Adds a finding without a line if files that the job leaves on a tmpfs grow. Returns 0 or
 * -SEEP_ENOMEM (memory_file_findings.c). */
SEEP_MUST_CHECK int seep_memory_files_judge(const struct seep_model *m, struct seep_findings *out);

/* Adds a finding, also without a line, for each device on which ranks that work on another one have
 * a context; if there is a finding for their blocks already, adds to its evidence instead. Returns
 * 0 or -SEEP_ENOMEM (resident_findings.c). */
SEEP_MUST_CHECK int seep_contexts_judge(const struct seep_model *m, struct seep_findings *out);

/* out-of-memory: a request that a device or the host had no room for, explained by the profile and
 * the other findings. Adds a finding for each device that had no room, and for the host, after the
 * last one of a leak or of what is kept for good. All others must be there, in order: these refer
 * to them by number. Returns 0 or -SEEP_ENOMEM (oom_findings.c). */
SEEP_MUST_CHECK int seep_ooms_judge(const struct seep_code *code, struct seep_findings *out);

/* Sets title and advice, once the rest of the finding is known. A library's line is named as such,
 * after what was seen to keep its memory. Looks up symbols. Returns 0 or -SEEP_ENOMEM
 * (pattern_words.c). */
SEEP_MUST_CHECK int seep_finding_set_words(const struct seep_code *code,
                                           struct seep_finding *finding);

#endif

/* Tries the rows of words/patterns.def on a line, or on the job: a decision list, first hit wins.
 * The rows' order is the order in which patterns are tried, and is defined only there. */
#ifndef SEEP_LIBPROF_VERDICT_PATTERN_JUDGE_H
#define SEEP_LIBPROF_VERDICT_PATTERN_JUDGE_H

#include "libprof/measure/doublings.h"
#include "libprof/verdict/case.h"
#include "libprof/verdict/finding.h"

/* One predicate a row of patterns.def. Of a line: fills what is particular to the pattern
 * (severity, confidence, plateau_step, the sites it is about and what they hold, evidence) and
 * returns true, or returns false. finding->sites has room for all of the case's sites. Of the job:
 * the case has a space, no sites and no signs; the host's stands for all that is the host's. The
 * predicate chooses frame, sites (there is room for all of the model), space and part; it may run
 * out of memory. */
#define SEEP_PREDICATE_LINE(name)                                                                  \
    bool seep_is_##name(const struct seep_case *c, struct seep_finding *f);
#define SEEP_PREDICATE_JOB(name)                                                                   \
    int seep_find_##name(struct seep_case *c, struct seep_finding *f, bool *found);
#define SEEP_PREDICATE_LAST(name)                     /* oom_findings.c, resident_rest.c */
#define SEEP_PATTERN(id, predicate, name, scope, ...) SEEP_PREDICATE_##scope(predicate)
#include "libprof/words/patterns.def"
#undef SEEP_PATTERN
#undef SEEP_PREDICATE_LINE
#undef SEEP_PREDICATE_JOB
#undef SEEP_PREDICATE_LAST

/* The first row of lines that fits; false where none does. */
bool seep_patterns_judge_line(const struct seep_case *c, struct seep_finding *finding);

/* One pattern of the job. Returns 0 or -SEEP_ENOMEM; *found is false for patterns of lines, too. */
SEEP_MUST_CHECK int seep_patterns_judge_job(struct seep_case *c, enum seep_pattern pattern,
                                            struct seep_finding *finding, bool *found);

/* ---- what predicates share ------------------------------------------------------------------- */

/* "step", or "time slice" where steps are not known. */
const char *seep_case_unit(const struct seep_case *c);

/* The name of the case's space. */
const struct seep_space_name *seep_case_space(const struct seep_case *c);

/* Whether a site holds the same kind of thing as the line's main one: objects around the data
 * (headers, storages) do not count, an item made through another function does. */
bool seep_case_is_alike(struct seep_held one, struct seep_held main);

/* Adds the sites that hold what the line gained since training began. */
void seep_case_keep_retaining(const struct seep_case *c, struct seep_finding *f);

/* Whether the level has doubled several times, and may do so again. */
bool seep_case_may_double(const struct seep_case *c, struct seep_doublings *d);

/* Frees of a site whose blocks never outlived the step after their own. */
uint64_t seep_case_short_frees(const struct seep_case *c, const struct seep_model_site *site);

/* Whether a site asks for ever new sizes. */
bool seep_site_has_many_sizes(const struct seep_model *m, const struct seep_model_site *site);

/* Whether an evaluation gathers what the line makes on a device, with graphs or without. */
bool seep_case_judge_gathered(const struct seep_case *c, struct seep_finding *f, bool with_graph);

/* Whether so much that is kept without growing has consequences: it is 1/share of its space's peak,
 * and a part of the host memory of one of its processes at that process's peak; or a good part of
 * all memory. */
bool seep_case_is_large(const struct seep_case *c, uint64_t bytes, unsigned share);

/* Whether reading so much at the start and keeping it has consequences: on the host it takes a part
 * of all memory, or makes up much of its process. */
bool seep_case_has_consequences(const struct seep_case *c, uint64_t bytes);

/* How sure we are that growth has no end. Laps of a loop are not always passes over the data, and a
 * pace alone is no proof. */
enum seep_confidence seep_signs_confidence(const struct seep_signs *signs);

/* Says why there is no end, or what is open. */
void seep_case_note_prospect(const struct seep_case *c, struct seep_finding *f);

/* Copies the slope and notes it. */
void seep_case_note_growth(const struct seep_case *c, struct seep_finding *f);

/* Whether the level rises between its falls by an amount worth reporting. */
bool seep_case_comes_in_bursts(const struct seep_case *c);

#endif

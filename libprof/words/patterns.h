/* The names of patterns, severities and confidences for reports, gates and printers: patterns.def
 * and confidence.def as enums and as texts. Pure. Includes nothing of the project's. */
#ifndef SEEP_LIBPROF_WORDS_PATTERNS_H
#define SEEP_LIBPROF_WORDS_PATTERNS_H

#include <stdbool.h>

enum seep_pattern {
#define SEEP_PATTERN(id, ...) SEEP_PATTERN_##id,
#include "libprof/words/patterns.def"
#undef SEEP_PATTERN
    SEEP_N_PATTERNS
};

enum seep_pattern_scope { SEEP_SCOPE_LINE, SEEP_SCOPE_JOB, SEEP_SCOPE_LAST };
enum seep_pattern_axis { SEEP_AXIS_ANY, SEEP_AXIS_STEPS };
enum seep_pattern_spaces {
    SEEP_SPACES_ALL,
    SEEP_SPACES_DEVICE,
    SEEP_SPACES_PINNED,
    SEEP_SPACES_SHM,
    SEEP_SPACES_NOT_SHM
};
enum seep_pattern_holder { SEEP_HOLDER_ANY, SEEP_HOLDER_HELD, SEEP_HOLDER_OWNED };
enum seep_pattern_caches { SEEP_CACHES_NONE, SEEP_CACHES_BOUNDED, SEEP_CACHES_GROWING };
enum seep_pattern_small {
    SEEP_SMALL_NONE,
    SEEP_SMALL_ARENAS,
    SEEP_SMALL_HELD,
    SEEP_SMALL_CYCLE,
    SEEP_SMALL_ALL
};

struct seep_pattern_row {
    const char *name; /* "eager-retention" */
    enum seep_pattern_scope scope;
    enum seep_pattern_axis axis;
    enum seep_pattern_spaces spaces;
    enum seep_pattern_holder holder;
    enum seep_pattern_caches caches;
    enum seep_pattern_small small;
    const char *title; /* a template: see patterns.def */
    const char *advice;
    const char *signs; /* how it is recognised */
};

/* The row of a pattern. */
const struct seep_pattern_row *seep_pattern_row(enum seep_pattern pattern);
const char *seep_pattern_name(enum seep_pattern pattern);

/* The pattern of that name; false if there is none. */
bool seep_pattern_find(const char *name, enum seep_pattern *pattern);

enum seep_severity {
#define SEEP_SEVERITY(id, name) SEEP_##id,
#include "libprof/words/severities.def"
#undef SEEP_SEVERITY
    SEEP_N_SEVERITIES
};

const char *seep_severity_name(enum seep_severity severity);

/* How sure a finding is of its pattern, surest first: confidence.def. */
enum seep_confidence {
#define SEEP_CONFIDENCE(id, ...) SEEP_##id,
#include "libprof/words/confidence.def"
#undef SEEP_CONFIDENCE
    SEEP_N_CONFIDENCES
};

const char *seep_confidence_word(enum seep_confidence confidence);
double seep_confidence_number(enum seep_confidence confidence); /* 0 … 1 */

#endif

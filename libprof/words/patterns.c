#include "libprof/words/patterns.h"

#include <string.h>

static const struct seep_pattern_row rows[SEEP_N_PATTERNS] = {
#define SEEP_PATTERN(id, predicate, name, scope, axis, spaces, holder, caches, small, title,       \
                     advice, signs)                                                                \
    [SEEP_PATTERN_##id] = {                                                                        \
        name,                                                                                      \
        SEEP_SCOPE_##scope,                                                                        \
        SEEP_AXIS_##axis,                                                                          \
        SEEP_SPACES_##spaces,                                                                      \
        SEEP_HOLDER_##holder,                                                                      \
        SEEP_CACHES_##caches,                                                                      \
        SEEP_SMALL_##small,                                                                        \
        title,                                                                                     \
        advice,                                                                                    \
        signs,                                                                                     \
    },
#include "libprof/words/patterns.def"
#undef SEEP_PATTERN
};

const struct seep_pattern_row *seep_pattern_row(enum seep_pattern pattern)
{
    return &rows[pattern];
}

const char *seep_pattern_name(enum seep_pattern pattern)
{
    return rows[pattern].name;
}

bool seep_pattern_find(const char *name, enum seep_pattern *pattern)
{
    for (int i = 0; i < SEEP_N_PATTERNS; i++) {
        if (strcmp(name, rows[i].name) == 0) {
            *pattern = (enum seep_pattern)i;
            return true;
        }
    }
    return false;
}

const char *seep_severity_name(enum seep_severity severity)
{
    static const char *const names[] = {
#define SEEP_SEVERITY(id, name) name,
#include "libprof/words/severities.def"
#undef SEEP_SEVERITY
    };

    return names[severity];
}

static const struct {
    const char *word;
    double number;
} confidences[SEEP_N_CONFIDENCES] = {
#define SEEP_CONFIDENCE(id, word, number, meaning) [SEEP_##id] = {word, number},
#include "libprof/words/confidence.def"
#undef SEEP_CONFIDENCE
};

const char *seep_confidence_word(enum seep_confidence confidence)
{
    return confidences[confidence].word;
}

double seep_confidence_number(enum seep_confidence confidence)
{
    return confidences[confidence].number;
}

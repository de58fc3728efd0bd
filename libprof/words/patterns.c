#include "libprof/words/patterns.h"

#include <string.h>

static const struct seep_pattern_row rows[SEEP_N_PATTERNS] = {
#define SEEP_PATTERN(id, predicate, name, scope, axis, spaces, title, advice)                      \
    [SEEP_PATTERN_##id] = {                                                                        \
        name, SEEP_SCOPE_##scope, SEEP_AXIS_##axis, SEEP_SPACES_##spaces, title, advice,           \
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

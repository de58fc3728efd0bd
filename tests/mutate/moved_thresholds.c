/* Thresholds as variables. SEEP_MOVE=NAME:VALUE moves one of them before anything else runs. */
#include "libprof/thresholds/thresholds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEP_COUNT(name, value, unit, why, held_by) int SEEP_T_##name = (value);
#define SEEP_RATIO(name, value, unit, why, held_by) double SEEP_T_##name = (value);
#include "libprof/thresholds/thresholds.def"
#undef SEEP_COUNT
#undef SEEP_RATIO

static const struct {
    const char *name;
    int *count;
    double *ratio;
} rows[] = {
#define SEEP_COUNT(name, value, unit, why, held_by) {#name, &SEEP_T_##name, NULL},
#define SEEP_RATIO(name, value, unit, why, held_by) {#name, NULL, &SEEP_T_##name},
#include "libprof/thresholds/thresholds.def"
#undef SEEP_COUNT
#undef SEEP_RATIO
};

__attribute__((constructor)) static void move(void)
{
    const char *wish = getenv("SEEP_MOVE"), *colon = wish ? strchr(wish, ':') : NULL;

    for (size_t i = 0; colon && i < sizeof rows / sizeof *rows; i++) {
        if (strlen(rows[i].name) != (size_t)(colon - wish) ||
            strncmp(wish, rows[i].name, (size_t)(colon - wish)) != 0)
            continue;
        if (rows[i].count)
            *rows[i].count = (int)strtol(colon + 1, NULL, 10);
        else
            *rows[i].ratio = strtod(colon + 1, NULL);
        return;
    }
    if (wish) {
        fprintf(stderr, "SEEP_MOVE=%s: no such threshold\n", wish);
        exit(2);
    }
}

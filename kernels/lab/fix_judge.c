#include "kernels/lab/judges.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 128 };

int seep_fix_status(const struct seep_fix *fix)
{
    return fix->leaves ? 1 : 0;
}

static bool is(const json_t *object, const char *path, const char *text)
{
    const char *value = seep_rows_text(object, path);

    return value && strcmp(value, text) == 0;
}

static bool has_vanished(const json_t *verdict, const char *pattern)
{
    const json_t *pair;
    size_t i;

    json_array_foreach (json_object_get(verdict, "findings"), i, pair) {
        if (is(pair, "state", "vanished") && is(pair, "before.pattern", pattern))
            return true;
    }
    return false;
}

/* Whether this pattern remains, or is new, and no other does. */
static bool is_all_that_is_left(const json_t *verdict, const char *pattern)
{
    const json_t *pair;
    size_t i, left = 0;

    json_array_foreach (json_object_get(verdict, "findings"), i, pair) {
        if (is(pair, "state", "vanished"))
            continue;
        if (!is(pair, "after.pattern", pattern))
            return false;
        left++;
    }
    return left > 0;
}

/* seep's own verdict on each space, and the numbers behind it. */
static void judge_savings(const char *name, const json_t *verdict, struct seep_rows *rows)
{
    const json_t *savings = json_object_get(verdict, "savings"), *saving;
    size_t i;

    if (!json_array_size(savings))
        seep_rows_add(rows, false, name, "within 10 %", "seep predicted nothing");
    json_array_foreach (savings, i, saving) {
        seep_rows_add(rows, json_is_true(json_object_get(saving, "agrees")), name, "within 10 %",
                      "%.4g of %.4g MB of %s", seep_rows_number(saving, "measured_bytes") / 1e6,
                      seep_rows_number(saving, "predicted_bytes") / 1e6,
                      seep_rows_text(saving, "space"));
    }
}

void seep_fix_judge(const struct seep_fix *fix, const json_t *verdict, struct seep_rows *rows)
{
    char name[NAME_BYTES];

    if (fix->vanishes) {
        bool gone = has_vanished(verdict, fix->vanishes);
        snprintf(name, sizeof name, "%s to %s: the finding that vanishes", fix->before, fix->after);
        seep_rows_add(rows, gone, name, fix->vanishes, "%s", gone ? fix->vanishes : "it remains");
    }
    if (fix->leaves) {
        bool left = is_all_that_is_left(verdict, fix->leaves);
        snprintf(name, sizeof name, "%s to %s: the only finding that remains", fix->before,
                 fix->after);
        seep_rows_add(rows, left, name, fix->leaves, "%s", left ? fix->leaves : "none, or others");
    }
    if (fix->as_predicted) {
        snprintf(name, sizeof name, "%s to %s: the peak falls as predicted", fix->before,
                 fix->after);
        judge_savings(name, verdict, rows);
    }
}

#include "kernels/harness/rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 256, PATH_BYTES = 256 };

void seep_rows_add(struct seep_rows *rows, bool pass, const char *name, const char *expected,
                   const char *measured, ...)
{
    char text[TEXT_BYTES];
    va_list args;

    va_start(args, measured);
    vsnprintf(text, sizeof text, measured, args);
    va_end(args);
    json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:b}", "scenario", rows->scenario, "name", name,
                            "expected", expected, "measured", text, "pass", pass);
    /* A line that cannot be kept must not pass in silence. */
    if (!row || json_array_append_new(rows->rows, row) || !pass)
        rows->n_failed++;
}

void seep_rows_add_near(struct seep_rows *rows, const char *name, double value, double target,
                        double share, const char *unit)
{
    char expected[TEXT_BYTES];
    double divisor = strcmp(unit, "MB") == 0 ? 1e6 : 1;
    bool pass = isfinite(value) && fabs(value - target) <= share * fabs(target);

    snprintf(expected, sizeof expected, "%.4g %s ± %.3g %%", target / divisor, unit, 100 * share);
    if (isfinite(value))
        seep_rows_add(rows, pass, name, expected, "%.4g %s", value / divisor, unit);
    else
        seep_rows_add(rows, false, name, expected, "not known");
}

/* Keys of reports hold no dots, those of spaces colons at most. A number picks from an array. */
static const json_t *find(const json_t *object, const char *path)
{
    char key[PATH_BYTES];

    while (object && *path) {
        size_t n = strcspn(path, ".");
        if (n >= sizeof key)
            return NULL;
        memcpy(key, path, n);
        key[n] = '\0';
        path += n + (path[n] == '.');
        unsigned index;
        char rest;
        if (json_is_array(object))
            object = sscanf(key, "%u%c", &index, &rest) == 1 ? json_array_get(object, index) : NULL;
        else
            object = json_object_get(object, key);
    }
    return object;
}

double seep_rows_number(const json_t *object, const char *path)
{
    const json_t *value = find(object, path);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *seep_rows_text(const json_t *object, const char *path)
{
    return json_string_value(find(object, path));
}

/* Lists of a timeline stand side by side; one that does not know a step holds null there. */
double seep_rows_live_at(const json_t *report, const char *space, double step)
{
    const json_t *timeline = json_object_get(report, "timeline");
    const json_t *steps = json_object_get(timeline, "step"), *live;
    double value = NAN;

    if (strcmp(space, "rss") == 0)
        live = json_object_get(timeline, "rss_bytes");
    else
        live = json_object_get(json_object_get(json_object_get(timeline, "spaces"), space),
                               "live_bytes");
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *at = json_array_get(steps, i), *bytes = json_array_get(live, i);
        if (!json_is_number(at) || json_number_value(at) > step)
            continue;
        if (json_is_number(bytes))
            value = json_number_value(bytes);
    }
    return value;
}

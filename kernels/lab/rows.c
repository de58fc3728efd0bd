#include "kernels/lab/rows.h"

#include "libprof/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 256, PATH_BYTES = 256 };

/* A file's name or a job's last word may hold any bytes; JSON requires UTF-8. */
static json_t *clean(const char *bytes)
{
    char *text = bytes ? seep_text_clean(bytes, strlen(bytes)) : NULL;
    json_t *string = text ? json_string(text) : NULL;

    free(text);
    return string;
}

void seep_rows_add(struct seep_rows *rows, bool pass, const char *name, const char *expected,
                   const char *measured, ...)
{
    va_list args;
    char *text = NULL;

    va_start(args, measured);
    if (vasprintf(&text, measured, args) < 0)
        text = NULL;
    va_end(args);
    json_t *row =
        json_pack("{s:o, s:o, s:o, s:o, s:b}", "scenario", clean(rows->scenario), "name",
                  clean(name), "expected", clean(expected), "measured", clean(text), "pass", pass);
    free(text);
    if (!row || json_array_append_new(rows->rows, row))
        rows->lost = true;
    else if (!pass)
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
        seep_rows_add(rows, false, name, expected, "unknown");
}

/* Keys in reports have no dots, and names of spaces only colons. A number indexes an array. */
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

/* The function that requested a site's blocks: the caller of the allocating functions. */
static const char *maker_of(const json_t *site)
{
    const json_t *frame;
    size_t i;

    json_array_foreach (json_object_get(site, "stack"), i, frame) {
        const char *name = seep_rows_text(frame, "function");
        if (name && !strstr(name, "alloc") && !strstr(name, "memalign") && !strstr(name, "Malloc"))
            return name;
    }
    return "";
}

bool seep_rows_is_made_by(const json_t *site, const char *function, const char *space)
{
    const char *in = seep_rows_text(site, "space");

    return in && strcmp(in, space) == 0 && strcmp(maker_of(site), function) == 0;
}

double seep_rows_peak_of(const json_t *report, const char *function, const char *space)
{
    const json_t *site;
    double peak = NAN;
    size_t i;

    json_array_foreach (json_object_get(report, "sites"), i, site) {
        if (seep_rows_is_made_by(site, function, space))
            peak = (isnan(peak) ? 0 : peak) + seep_rows_number(site, "peak_bytes");
    }
    return peak;
}

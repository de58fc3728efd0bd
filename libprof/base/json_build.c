#include "libprof/base/json_build.h"

#include "libprof/base/statistics.h"
#include "libprof/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void seep_json_set(json_t *object, const char *key, json_t *value, bool *failed)
{
    if (json_object_set_new(object, key, value))
        *failed = true;
}

void seep_json_set_known(json_t *object, const char *key, json_t *value, bool *failed)
{
    if (json_object_set_new_nocheck(object, key, value))
        *failed = true;
}

void seep_json_append(json_t *list, json_t *value, bool *failed)
{
    if (json_array_append_new(list, value))
        *failed = true;
}

json_t *seep_json_whole(json_t *json, bool failed)
{
    if (json && !failed)
        return json;
    json_decref(json);
    return NULL;
}

json_t *seep_json_made(json_t *value, bool *failed)
{
    *failed |= !value;
    return value;
}

/* Most names are. */
static bool is_printable_ascii(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] < ' ' || bytes[i] > '~')
            return false;
    }
    return true;
}

json_t *seep_json_text_n(const char *bytes, size_t n)
{
    if (is_printable_ascii(bytes, n))
        return json_stringn_nocheck(bytes, n);
    char *clean = seep_text_clean(bytes, n);
    json_t *text = clean ? json_string_nocheck(clean) : NULL; /* it is UTF-8 by now */

    free(clean);
    return text;
}

json_t *seep_json_text(const char *bytes)
{
    return seep_json_text_n(bytes, strlen(bytes));
}

json_t *seep_json_text_or_null(const char *bytes)
{
    return bytes && *bytes ? seep_json_text(bytes) : json_null();
}

json_t *seep_json_count(uint64_t n)
{
    return json_integer(n < INT64_MAX ? (json_int_t)n : INT64_MAX);
}

json_t *seep_json_count_or_null(int64_t n)
{
    return n >= 0 ? seep_json_count((uint64_t)n) : json_null();
}

json_t *seep_json_real(double x)
{
    return json_real(isfinite(x) ? x : 0);
}

json_t *seep_json_slope(const struct seep_slope *slope)
{
    return json_pack("{s:o, s:o, s:o}", "value", seep_json_real(slope->value), "low",
                     seep_json_real(slope->low), "high", seep_json_real(slope->high));
}

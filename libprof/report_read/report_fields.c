#include "libprof/report_read/report_fields.h"

#include "libprof/base/json_build.h"

#include <stddef.h>
#include <string.h>

enum type {
    TEXT,
    TEXT_OR_NULL,
    COUNT,
    COUNT_OR_NULL,
    REAL,
    REAL_OR_NULL,
    BOOL,
    BOOL_OR_NULL,
    SLOPE,
    SLOPE_OR_NULL,
    SEVERITY,
    JSON
};
enum presence { ALWAYS, LATER, OPTIONAL };

struct field {
    const char *key, *former; /* former: NULL, or as older reports call it */
    enum type type;
    enum presence presence;
    size_t at;
};

struct fields {
    const struct field *list;
    size_t n;
};

#define SEEP_OBJECT(name, ...)                                                                     \
    static struct fields name##_fields(void)                                                       \
    {                                                                                              \
        typedef struct seep_report_##name its;                                                     \
        static const struct field list[] = {
#define SEEP_FIELD(...)           SEEP_RENAMED_OR_NOT(NULL, __VA_ARGS__)
#define SEEP_RENAMED(former, ...) SEEP_RENAMED_OR_NOT(#former, __VA_ARGS__)
#define SEEP_RENAMED_OR_NOT(former, key, type, form, presence, ...)                                \
    {#key, former, type, presence, offsetof(its, key)},
#define SEEP_END(name)                                                                             \
    }                                                                                              \
    ;                                                                                              \
    return (struct fields){list, sizeof list / sizeof *list};                                      \
    }
#include "libprof/report_read/report_fields.def"

/* ---- writing ----------------------------------------------------------------------------- */

static json_t *value_of(enum type type, const void *member)
{
    const char *const *text = member;

    switch (type) {
    case TEXT:
        return seep_json_text(*text ? *text : "");
    case TEXT_OR_NULL:
        return seep_json_text_or_null(*text);
    case COUNT:
        return seep_json_count(*(const uint64_t *)member);
    case COUNT_OR_NULL:
        return seep_json_count_or_null(*(const int64_t *)member);
    case REAL:
        return seep_json_real(*(const double *)member);
    case REAL_OR_NULL:
        return isnan(*(const double *)member) ? json_null()
                                              : seep_json_real(*(const double *)member);
    case BOOL:
        return json_boolean(*(const bool *)member);
    case BOOL_OR_NULL:
        return *(const int *)member < 0 ? json_null() : json_boolean(*(const int *)member);
    case SLOPE:
        return seep_json_slope(member);
    case SLOPE_OR_NULL:
        return isnan(((const struct seep_slope *)member)->value) ? json_null()
                                                                 : seep_json_slope(member);
    case SEVERITY:
        return json_string(seep_severity_name(*(const enum seep_severity *)member));
    case JSON:
        return *(json_t *const *)member;
    }
    return NULL;
}

/* Whether there is anything to write. */
static bool is_said(const struct field *field, const json_t *value)
{
    if (field->presence == OPTIONAL)
        return !json_is_null(value) && !json_is_false(value);
    return value || field->type != JSON || field->presence == ALWAYS;
}

static json_t *write_all(struct fields fields, const void *from)
{
    json_t *json = json_object();
    bool failed = false;

    for (size_t i = 0; i < fields.n; i++) {
        const struct field *field = &fields.list[i];
        json_t *value = value_of(field->type, (const char *)from + field->at);
        if (is_said(field, value))
            seep_json_set_known(json, field->key, value, &failed);
        else
            json_decref(value);
    }
    return seep_json_whole(json, failed);
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Whatever else handled the report may have made reals of its integers. */
static int64_t count_in(const json_t *value, int64_t missing)
{
    const double real = json_number_value(value);

    if (json_is_integer(value))
        return json_integer_value(value) >= 0 ? json_integer_value(value) : missing;
    return real >= 0 && real < 9e18 && json_is_real(value) ? (int64_t)real : missing;
}

static enum seep_severity severity_in(const json_t *value)
{
    int i = 0;

    while (i < SEEP_INFO && json_is_string(value) &&
           strcmp(json_string_value(value), seep_severity_name((enum seep_severity)i)) != 0)
        i++;
    return json_is_string(value) ? (enum seep_severity)i : SEEP_INFO;
}

bool seep_get_slope(const json_t *object, const char *key, struct seep_slope *slope)
{
    const json_t *growth = json_object_get(object, key), *interval = growth;
    const double value = json_number_value(growth);

    if (json_is_number(growth)) {
        interval = json_object_get(object, "growth_interval_bytes_per_step");
        *slope = (struct seep_slope){value, value, value};
        if (!json_is_object(interval))
            return true;
    } else {
        slope->value = json_number_value(json_object_get(growth, "value"));
    }
    slope->low = json_number_value(json_object_get(interval, "low"));
    slope->high = json_number_value(json_object_get(interval, "high"));
    return json_is_number(growth) || json_is_object(growth);
}

static void read_value(const struct field *field, const json_t *object, void *member)
{
    const char *key =
        field->former && !json_object_get(object, field->key) ? field->former : field->key;
    json_t *value = json_object_get(object, key);

    switch (field->type) {
    case TEXT:
        *(const char **)member = json_is_string(value) ? json_string_value(value) : "";
        break;
    case TEXT_OR_NULL:
        *(const char **)member = json_string_value(value);
        break;
    case COUNT:
        *(uint64_t *)member = (uint64_t)count_in(value, 0);
        break;
    case COUNT_OR_NULL:
        *(int64_t *)member = count_in(value, -1);
        break;
    case REAL:
        *(double *)member = json_number_value(value);
        break;
    case REAL_OR_NULL:
        *(double *)member = json_is_number(value) ? json_number_value(value) : NAN;
        break;
    case BOOL:
        *(bool *)member = json_is_true(value);
        break;
    case BOOL_OR_NULL:
        *(int *)member = json_is_boolean(value) ? json_is_true(value) : -1;
        break;
    case SLOPE:
        seep_get_slope(object, key, member);
        break;
    case SLOPE_OR_NULL:
        if (!seep_get_slope(object, key, member))
            *(struct seep_slope *)member = SEEP_NO_SLOPE;
        break;
    case SEVERITY:
        *(enum seep_severity *)member = severity_in(value);
        break;
    case JSON:
        *(json_t **)member = value;
        break;
    }
}

static void read_all(struct fields fields, const json_t *object, void *to)
{
    for (size_t i = 0; i < fields.n; i++)
        read_value(&fields.list[i], object, (char *)to + fields.list[i].at);
}

#define WRITTEN(name)
#define READ(name)                                                                                 \
    struct seep_report_##name seep_report_##name##_read(const json_t *object)                      \
    {                                                                                              \
        struct seep_report_##name its;                                                             \
        read_all(name##_fields(), object, &its);                                                   \
        return its;                                                                                \
    }
#define SEEP_OBJECT(name, openness, use, ...)                                                      \
    json_t *seep_report_##name##_json(const struct seep_report_##name *from)                       \
    {                                                                                              \
        return write_all(name##_fields(), from);                                                   \
    }                                                                                              \
    use(name)
#define SEEP_FIELD(...)
#define SEEP_END(name)
#include "libprof/report_read/report_fields.def"

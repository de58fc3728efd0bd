/* The objects of report.json as structs: what writes a report fills them, what reads one asks them.
 * Their members are the rows of report_fields.def. */
#ifndef SEEP_LIBPROF_REPORT_READ_REPORT_FIELDS_H
#define SEEP_LIBPROF_REPORT_READ_REPORT_FIELDS_H

#include "libprof/base/statistics.h"
#include "libprof/words/patterns.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Members by type, and what one is that the object read lacks or has in another form. */
#define SEEP_MEMBER_TEXT          const char *       /* "" */
#define SEEP_MEMBER_TEXT_OR_NULL  const char *       /* NULL; "" is written as null, too */
#define SEEP_MEMBER_COUNT         uint64_t           /* 0 */
#define SEEP_MEMBER_COUNT_OR_NULL int64_t            /* −1; what is negative is written as null */
#define SEEP_MEMBER_REAL          double             /* 0; what JSON does not have is written so */
#define SEEP_MEMBER_REAL_OR_NULL  double             /* NAN */
#define SEEP_MEMBER_BOOL          bool               /* false */
#define SEEP_MEMBER_BOOL_OR_NULL  int                /* −1; what is negative is written as null */
#define SEEP_MEMBER_SLOPE         struct seep_slope  /* all 0 */
#define SEEP_MEMBER_SLOPE_OR_NULL struct seep_slope  /* SEEP_NO_SLOPE */
#define SEEP_MEMBER_SEVERITY      enum seep_severity /* SEEP_INFO */
#define SEEP_MEMBER_JSON          json_t *           /* NULL */

/* clang-format off */
#define SEEP_OBJECT(name, ...) struct seep_report_##name {
#define SEEP_FIELD(key, type, ...) SEEP_MEMBER_##type key;
#define SEEP_END(name) };
/* clang-format on */
#include "libprof/report_read/report_fields.def"

/* It is neither larger nor smaller than any number. */
#define SEEP_NO_SLOPE ((struct seep_slope){NAN, NAN, NAN})

/* For each object:
 *
 *   json_t *seep_report_NAME_json(const struct seep_report_NAME *from)
 * writes it: a new reference, NULL without memory. Texts are cleaned. It takes the references of
 * the members that are JSON; of these NULL is left out if the field is LATER, else it stands for
 * no memory.
 *
 *   struct seep_report_NAME seep_report_NAME_read(const json_t *object)
 * reads any JSON or NULL, of those that are READ. Texts and JSON belong to the object. */
#define SEEP_READER_WRITTEN(name)
#define SEEP_READER_READ(name)                                                                     \
    struct seep_report_##name seep_report_##name##_read(const json_t *object);
#define SEEP_OBJECT(name, openness, use, ...)                                                      \
    json_t *seep_report_##name##_json(const struct seep_report_##name *from);                      \
    SEEP_READER_##use(name)
#define SEEP_FIELD(...)
#define SEEP_END(name)
#include "libprof/report_read/report_fields.def"

/* What it writes of these members. */
#define SEEP_REPORT_JSON(name, ...)                                                                \
    seep_report_##name##_json(&(struct seep_report_##name){__VA_ARGS__})

/* A member that may be null. */
static inline int64_t seep_count_if(bool known, uint64_t n)
{
    return !known ? -1 : n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

/* What has no row, by its key: {value, low, high}, or a number, as sites of version 1 have it with
 * the interval beside it; false if the key holds neither. */
bool seep_get_slope(const json_t *object, const char *key, struct seep_slope *slope);

#endif

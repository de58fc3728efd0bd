#include "kernels/formats/text_fields.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t the_c_locale(void)
{
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale;
}

bool seep_text_line(struct seep_bytes *text, struct seep_bytes *line)
{
    size_t n = seep_bytes_left(text);

    *line = *text;
    line->end = line->at;
    if (!n)
        return false;
    const uint8_t *newline = memchr(text->at, '\n', n);
    line->end = newline ? newline : text->end;
    text->at = newline ? newline + 1 : text->end;
    if (line->end > line->at && line->end[-1] == '\r')
        line->end--;
    return true;
}

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool seep_text_field(struct seep_bytes *text, struct seep_field *field)
{
    while (text->at != text->end && is_space(*text->at))
        text->at++;
    field->at = (const char *)text->at;
    while (text->at != text->end && !is_space(*text->at))
        text->at++;
    field->n = (size_t)((const char *)text->at - field->at);
    return field->n > 0;
}

bool seep_field_is(const struct seep_field *field, const char *word)
{
    return strlen(word) == field->n && !memcmp(field->at, word, field->n);
}

/* strtod() and its like need a 0 after the number, and accept more than these formats allow:
 * leading white space, 0x, nan(…). */
static bool copy(const struct seep_field *field, char text[128])
{
    if (!field->n || field->n >= 128)
        return false;
    for (size_t i = 0; i < field->n; i++) {
        char c = field->at[i];
        if (!c || is_space((uint8_t)c) || c == 'x' || c == 'X' || c == '(')
            return false;
        text[i] = c;
    }
    text[field->n] = 0;
    return true;
}

bool seep_field_f64(const struct seep_field *field, double *value)
{
    locale_t locale = the_c_locale();
    char text[128], *end;

    *value = 0;
    if (!copy(field, text))
        return false;
    errno = 0;
    double got = locale ? strtod_l(text, &end, locale) : strtod(text, &end);
    /* A number too small is rounded; one too large is invalid. */
    if (end == text || *end || (errno == ERANGE && fabs(got) > 1))
        return false;
    *value = got;
    return true;
}

bool seep_field_i64(const struct seep_field *field, int64_t *value)
{
    char text[128], *end;

    *value = 0;
    if (!copy(field, text))
        return false;
    errno = 0;
    long long got = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return false;
    *value = got;
    return true;
}

bool seep_field_u64(const struct seep_field *field, uint64_t *value)
{
    char text[128], *end;

    *value = 0;
    /* strtoull() takes "-1" for the largest number there is. */
    if (!copy(field, text) || *text == '-')
        return false;
    errno = 0;
    unsigned long long got = strtoull(text, &end, 10);
    if (end == text || *end || errno)
        return false;
    *value = got;
    return true;
}

void seep_text_print(FILE *out, double value, int digits)
{
    locale_t locale = the_c_locale();
    locale_t before = locale ? uselocale(locale) : (locale_t)0;

    fprintf(out, "%.*g", digits, value);
    if (before)
        uselocale(before);
}

#include "libprof/base/size_parse.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Reads digits[.digits] by hand: strtod() would follow the locale and take "inf", "0x10" and "1e9".
 */
static int parse_number(const char **text, double *value)
{
    const char *p = *text;
    double scale = 1;

    if (!isdigit((unsigned char)*p))
        return -SEEP_EINVAL;
    *value = 0;
    for (; isdigit((unsigned char)*p); p++)
        *value = *value * 10 + (*p - '0');
    if (*p == '.') {
        if (!isdigit((unsigned char)p[1]))
            return -SEEP_EINVAL;
        for (p++; isdigit((unsigned char)*p); p++) {
            scale /= 10;
            *value += scale * (*p - '0');
        }
    }
    *text = p;
    return 0;
}

static int parse_unit(const char *text, double *factor)
{
    static const char letters[] = "kmgtp";

    while (*text == ' ')
        text++;
    *factor = 1;
    if (!*text || strcasecmp(text, "b") == 0)
        return 0;
    const char *letter = strchr(letters, tolower((unsigned char)*text));
    if (!letter || !*letter)
        return -SEEP_EINVAL;
    double base;
    if (!text[1] || strcasecmp(text + 1, "ib") == 0)
        base = 1024;
    else if (strcasecmp(text + 1, "b") == 0)
        base = 1000;
    else
        return -SEEP_EINVAL;
    for (long i = letter - letters; i >= 0; i--)
        *factor *= base;
    return 0;
}

int seep_size_parse(const char *text, uint64_t *bytes)
{
    double number, factor;

    if (parse_number(&text, &number) < 0 || parse_unit(text, &factor) < 0)
        return -SEEP_EINVAL;
    number = number * factor + 0.5;
    if (!(number < 9.2e18))
        return -SEEP_EINVAL;
    *bytes = (uint64_t)number;
    return 0;
}

/* Each number is written in groups of five bits, the lowest first, as the shortest possible two's
 * complement; a sixth bit says that another group follows, and '0' is added. From the fourth number
 * on the difference to the number two before is written: runs of a column resemble those of the
 * next. */
#include "kernels/formats/coco_runs.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FIRST_DIGIT = '0', GROUP_BITS = 5, MORE = 0x20, SIGN = 0x10, LOW = 0x1f };

/* A difference of two 32-bit numbers takes 33 bits and a sign. */
enum { MAX_GROUPS = 7 };

/* One number from *at on. */
static int take_number(const char *text, size_t n, size_t *at, int64_t *number)
{
    uint64_t bits = 0;

    for (unsigned group = 0; group < MAX_GROUPS && *at < n; group++) {
        unsigned digit = (unsigned)(unsigned char)text[*at] - FIRST_DIGIT;
        if (digit > (MORE | LOW))
            return -SEEP_EFORMAT;
        ++*at;
        bits |= (uint64_t)(digit & LOW) << GROUP_BITS * group;
        if (digit & MORE)
            continue;
        *number = (int64_t)bits;
        if (digit & SIGN)
            *number -= INT64_C(1) << GROUP_BITS * (group + 1);
        return 0;
    }
    return -SEEP_EFORMAT;
}

int seep_coco_runs_from_text(const char *text, size_t n_text, uint32_t **runs, size_t *n_runs)
{
    /* A run takes at least one digit. */
    uint32_t *values = n_text ? malloc(n_text * sizeof *values) : NULL;
    size_t n = 0;

    if (n_text && !values)
        return -SEEP_ENOMEM;
    for (size_t at = 0; at < n_text; n++) {
        int64_t number;
        int rc = take_number(text, n_text, &at, &number);
        if (!rc && n > 2)
            number += values[n - 2];
        if (rc || number < 0 || number > UINT32_MAX) {
            free(values);
            return -SEEP_EFORMAT;
        }
        values[n] = (uint32_t)number;
    }
    uint32_t *fitting = n < n_text ? realloc(values, n * sizeof *values) : NULL;
    *runs = fitting ? fitting : values;
    *n_runs = n;
    return 0;
}

static char *put_number(char *to, int64_t number)
{
    for (;;) {
        /* An arithmetic right shift, in portable C11. */
        int64_t rest = (number - (number & LOW)) / (LOW + 1);
        unsigned digit = (unsigned)(number & LOW);
        bool last = rest == (digit & SIGN ? -1 : 0);
        *to++ = (char)(FIRST_DIGIT + (digit | (last ? 0 : MORE)));
        if (last)
            return to;
        number = rest;
    }
}

char *seep_coco_runs_to_text(const uint32_t *runs, size_t n_runs)
{
    if (n_runs > (SIZE_MAX - 1) / MAX_GROUPS)
        return NULL;
    char *text = malloc(n_runs * MAX_GROUPS + 1), *end = text;
    if (!text)
        return NULL;
    for (size_t i = 0; i < n_runs; i++)
        end = put_number(end, i > 2 ? (int64_t)runs[i] - runs[i - 2] : runs[i]);
    *end = 0;
    char *fitting = realloc(text, (size_t)(end - text) + 1);
    return fitting ? fitting : text;
}

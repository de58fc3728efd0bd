#include "libprof/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LETTERS = 32, MAX_EDITS = 2 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be put in, left out or replaced; two that changed places are two. */
static size_t edits(const char *a, const char *b)
{
    const size_t n = strlen(a), k = strlen(b);
    size_t row[MAX_LETTERS + 1];

    if (n > MAX_LETTERS || k > MAX_LETTERS)
        return MAX_LETTERS;
    for (size_t j = 0; j <= k; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= k; j++) {
            const size_t above = row[j];
            row[j] = least(least(above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[k];
}

const char *seep_text_nearest(const char *word, const char *const *list)
{
    const char *nearest = NULL;
    size_t fewest = MAX_EDITS + 1;

    for (; *list; list++) {
        const size_t n = edits(word, *list);
        if (n < fewest && 2 * n < strlen(*list)) {
            fewest = n;
            nearest = *list;
        }
    }
    return nearest;
}

const char *seep_text_size(double bytes, char text[SEEP_SIZE_TEXT])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = fabs(bytes);
    const char *sign = bytes < 0 ? "-" : "";
    unsigned unit = 0;

    if (size < 1024) {
        snprintf(text, SEEP_SIZE_TEXT, size >= 10 || size == floor(size) ? "%s%.0f B" : "%s%.1f B",
                 sign, size);
        return text;
    }
    size /= 1024;
    /* 1023.6 would print as 1024: use the next unit. */
    for (; size >= 1023.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        size /= 1024;
    snprintf(text, SEEP_SIZE_TEXT, "%s%.*f %s", sign, size < 99.95 ? 1 : 0, size, units[unit]);
    return text;
}

const char *seep_text_interval(const char *name, double value, double low, double high,
                               char text[SEEP_INTERVAL_TEXT])
{
    char middle[SEEP_SIZE_TEXT], from[SEEP_SIZE_TEXT], to[SEEP_SIZE_TEXT];

    seep_text_size(value, middle);
    seep_text_size(low, from);
    seep_text_size(high, to);
    text[0] = '\0';
    if (strcmp(from, middle) != 0 || strcmp(to, middle) != 0)
        snprintf(text, SEEP_INTERVAL_TEXT, " (%.30s%s to %s)", name, from, to);
    return text;
}

const char *seep_text_span(const char *unit, long from, long to, char text[SEEP_SPAN_TEXT])
{
    if (from == to)
        snprintf(text, SEEP_SPAN_TEXT, "%.16s %ld", unit, from);
    else
        snprintf(text, SEEP_SPAN_TEXT, "%.15ss %ld to %ld", unit, from, to);
    return text;
}

/* Length of the valid UTF-8 sequence at p (RFC 3629: shortest form, no surrogates); 0 if there is
 * none. */
static size_t sequence(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80)
        return 1;
    size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || length > n)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return length;
}

/* C0, DEL, and the C1 controls that terminals obey as well; also characters that reverse text. */
static int is_control(const unsigned char *p, size_t length)
{
    if (length == 1)
        return p[0] < 0x20 || p[0] == 0x7f;
    if (length == 2)
        return (p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xd8 && p[1] == 0x9c);
    return length == 3 && p[0] == 0xe2 &&
           ((p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f)) ||
            (p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) ||
            (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

size_t seep_text_clean_in_place(char *text, size_t n)
{
    size_t k = 0;

    for (size_t i = 0; i < n;) {
        size_t length = sequence((const unsigned char *)text + i, n - i);
        if (length == 0 || is_control((const unsigned char *)text + i, length)) {
            text[k++] = '?';
            i += length ? length : 1;
            continue;
        }
        memmove(text + k, text + i, length);
        k += length;
        i += length;
    }
    text[k] = '\0';
    return k;
}

const char *seep_text_count(unsigned long long n, char text[SEEP_SIZE_TEXT])
{
    char digits[SEEP_SIZE_TEXT];
    const int length = snprintf(digits, sizeof digits, "%llu", n);
    char *at = text;

    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    return text;
}

char *seep_text_clean(const char *bytes, size_t n)
{
    char *text = malloc(n + 1);

    if (!text)
        return NULL;
    memcpy(text, bytes, n);
    seep_text_clean_in_place(text, n);
    return text;
}

bool seep_text_is_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t left = strlen(text), length;

    for (; left; p += length, left -= length) {
        length = sequence(p, left);
        if (!length)
            return false;
    }
    return true;
}

char *seep_text_format(const char *format, ...)
{
    va_list args;
    char *text = NULL;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    return text;
}

const char *seep_text_list(const char *const *words, size_t n, const char *last, char *text,
                           size_t capacity)
{
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        const char *before = !i ? "" : i + 1 < n ? ", " : last;
        size_t used = strlen(text);
        snprintf(text + used, capacity - used, "%s%s", before, words[i]);
    }
    return text;
}

const char *seep_text_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

int seep_text_read(const char *file, char **text, size_t *n, struct seep_error *err)
{
    FILE *f = fopen(file, "re");

    *text = NULL;
    if (!f)
        return seep_error_set(err, SEEP_EIO, file, 0, "%s", strerror(errno));
    char *room = malloc(SEEP_TEXT_MAX_FILE_BYTES + 1);
    *n = room ? fread(room, 1, SEEP_TEXT_MAX_FILE_BYTES + 1, f) : 0;
    int rc = !room       ? -SEEP_ENOMEM
             : ferror(f) ? seep_error_set(err, SEEP_EIO, file, 0, "%s", strerror(errno))
             : *n > SEEP_TEXT_MAX_FILE_BYTES
                 ? seep_error_set(err, SEEP_EINVAL, file, 0, "larger than 1 MiB")
             : memchr(room, '\0', *n) ? seep_error_set(err, SEEP_EINVAL, file, 0, "not a text")
                                      : 0;
    fclose(f);
    if (rc) {
        free(room);
        return rc;
    }
    room[*n] = '\0';
    *text = room;
    return 0;
}

size_t seep_text_complaint(char *line, size_t capacity, const char *name, const char *format,
                           va_list args)
{
    size_t start = (size_t)snprintf(line, capacity, "%s: ", name);

    vsnprintf(line + start, capacity - start - 1, format, args);
    size_t n = strlen(line);
    for (size_t i = 0; i < n; i++) {
        if (iscntrl((unsigned char)line[i]))
            line[i] = '?';
    }
    line[n++] = '\n';
    return n;
}

#include "viewer/top/top_text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* The character at `p`, and its length; 0xfffd for an invalid byte. */
static uint32_t decode(const unsigned char *p, int *length)
{
    int n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? p[0] : n == 2 ? p[0] & 0x1fu : n == 3 ? p[0] & 0xfu : p[0] & 7u;

    *length = n ? n : 1;
    if (n == 0 || p[0] > 0xf4)
        return *length = 1, 0xfffd;
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return *length = 1, 0xfffd;
        c = c << 6 | (p[i] & 0x3f);
    }
    return c;
}

/* Most tables of widths give direction marks no width, but not all. */
static bool turns_around(uint32_t c)
{
    return c == 0x61c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

/* The columns of the character at `p`; *shown: the bytes to write for it; *length: the bytes it
 * takes in the text. */
static int cell(const char *p, bool utf8, const char **shown, int *length, int *bytes)
{
    uint32_t c = decode((const unsigned char *)p, length);
    int width = c < 0x80 ? 1 : utf8 && c != 0xfffd && !turns_around(c) ? wcwidth((wchar_t)c) : 0;

    *shown = p;
    *bytes = *length;
    if (width > 0 && c >= 0x20 && c != 0x7f)
        return width;
    *shown = "?";
    *bytes = 1;
    return 1;
}

int seep_top_fit(char *out, const char *text, int columns, bool utf8)
{
    const char *shown, *sign = utf8 ? "\u2026" : "~";
    int used = 0, length, bytes, before_last = 0;
    char *at = out, *cut = out;

    while (*text && columns > 0) {
        int width = cell(text, utf8, &shown, &length, &bytes);
        if (used < columns)
            cut = at, before_last = used;
        if (used + width > columns) {
            memcpy(cut, sign, strlen(sign) + 1);
            return before_last + 1;
        }
        memcpy(at, shown, (size_t)bytes);
        at += bytes;
        used += width;
        text += length;
    }
    *at = '\0';
    return used;
}

static int columns_of(const char *text, int most, bool utf8)
{
    const char *shown;
    int used = 0, length, bytes;

    for (; *text && used <= most; text += length)
        used += cell(text, utf8, &shown, &length, &bytes);
    return used;
}

int seep_top_fit_place(char *out, const char *place, int columns, bool utf8)
{
    const char *in = strstr(place, " in "), *end = in ? in : place + strlen(place);
    const char *folder;

    while (columns_of(place, columns, utf8) > columns &&
           (folder = memchr(place, '/', (size_t)(end - place))))
        place = folder + 1;
    return seep_top_fit(out, place, columns, utf8);
}

int seep_top_bar(char *out, double share, int columns, bool utf8)
{
    char text[16];
    double shown = share < 0 || isnan(share) ? 0 : share > 9.99 ? 9.99 : share;
    int room = columns - 7, n = (int)(fmin(shown, 1) * room + 0.5);

    snprintf(text, sizeof text, "%3.0f%%", shown * 100);
    if (room < 5)
        return seep_top_fit(out, text, columns, utf8);
    out[0] = '[';
    memset(out + 1, '#', (size_t)n);
    memset(out + 1 + n, ' ', (size_t)(room - n));
    sprintf(out + 1 + room, "] %s", text);
    return columns;
}

int seep_top_curve(char *out, const double *levels, int n, bool utf8)
{
    static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const ascii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    double highest = 0;
    char *at = out;

    for (int i = 0; i < n; i++)
        highest = fmax(highest, levels[i]);
    for (int i = 0; i < n; i++) {
        int step = highest > 0 ? (int)(levels[i] / highest * 7 + 0.5) : 0;
        const char *sign = levels[i] < 0 ? " " : (utf8 ? blocks : ascii)[step];
        at = stpcpy(at, sign);
    }
    *at = '\0';
    return n;
}

int seep_top_levels(const json_t *at, const json_t *values, double from, double to, double *levels,
                    int n)
{
    size_t n_values = json_array_size(values);

    if (n_values == 0 || json_array_size(at) != n_values || n <= 0)
        return 0;
    for (int i = 0; i < n; i++)
        levels[i] = -1;
    for (size_t i = 0; i < n_values; i++) {
        double place = json_number_value(json_array_get(at, i)) - from;
        int part = to > from && place > 0 ? (int)fmin(place / (to - from) * n, n - 1) : 0;
        levels[part] = fmax(levels[part], json_number_value(json_array_get(values, i)));
    }
    for (int i = 1; i < n; i++) {
        if (levels[i] < 0)
            levels[i] = levels[i - 1];
    }
    return n;
}

void seep_top_duration(double seconds, char text[32])
{
    long s = seconds > 0 && seconds < 1e12 ? (long)seconds : 0;

    if (s < 60)
        snprintf(text, 32, "%ld s", s);
    else if (s < 3600)
        snprintf(text, 32, "%ld min %02ld s", s / 60, s % 60);
    else
        snprintf(text, 32, "%ld h %02ld min", s / 3600, s / 60 % 60);
}

void seep_top_count(double n, char text[32])
{
    if (n < 1e5)
        snprintf(text, 32, "%.0f", n);
    else if (n < 999500)
        snprintf(text, 32, "%.0f k", n / 1e3);
    else if (n < 1e9)
        snprintf(text, 32, n < 99.95e6 ? "%.1f M" : "%.0f M", n / 1e6);
    else
        snprintf(text, 32, "%.0e", n);
}

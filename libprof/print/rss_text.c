#include "libprof/print/text_parts.h"

#include "libprof/base/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { NOTABLE_BYTES = 32 << 20 };

/* Parts below this share of RSS are not worth their place in the line. */
static const double least_part = 0.005;

static const struct {
    const char *key, *what;
} parts[] = {
    {"heap_live", "heap"}, {"heap_free", "free in libc's arenas"},
    {"maps", "maps"},      {"shm", "shared"},
    {"stacks", "stacks"},  {"files", "of files"},
};

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void put_part(FILE *out, double bytes, double all, const char *what, bool *any)
{
    char size[SEEP_SIZE_TEXT];

    if (bytes < all * least_part)
        return;
    fprintf(out, "%s%s %s", *any ? ", " : "", seep_text_size(bytes, size), what);
    *any = true;
}

static void put_growth(FILE *out, const json_t *rss, const char *grows, const char *growth,
                       const char *what, const char *unit)
{
    char size[SEEP_SIZE_TEXT];

    if (json_is_true(json_object_get(rss, grows)))
        fprintf(out, ", %s by %s a %s", what,
                seep_text_size(number_of(json_object_get(rss, growth), "value"), size), unit);
}

static void put(FILE *out, const json_t *rss, const char *unit)
{
    const json_t *explained = json_object_get(rss, "explained");
    double all = number_of(rss, "peak_bytes"), rest = number_of(rss, "unexplained_bytes");
    double highest = number_of(rss, "highest_bytes");
    char size[SEEP_SIZE_TEXT];
    bool any = false;

    fputs(seep_text_size(all, size), out);
    if (highest > 1.05 * all)
        fprintf(out, " near its peak of %s: ", seep_text_size(highest, size));
    else
        fputs(" at its peak: ", out);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        put_part(out, number_of(explained, parts[i].key), all, parts[i].what, &any);
    put_part(out, number_of(rss, "seep_bytes"), all, "seep's own", &any);
    put_growth(out, rss, "heap_free_grows", "heap_free_growth_bytes_per_step",
               "what is free in libc's arenas grows", unit);
    put_growth(out, rss, "maps_grow", "maps_growth_bytes_per_step",
               "what is used of maps grows, and no line that asks for them,", unit);
    fprintf(out, "; %s (%.0f %%) not explained", seep_text_size(rest, size),
            all > 0 ? 100 * rest / all : 0);
    put_growth(out, rss, "unexplained_grows", "unexplained_growth_bytes_per_step", "which grows",
               unit);
}

char *seep_rss_text(const json_t *rss, const char *unit)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (!out)
        return NULL;
    put(out, rss, unit);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

bool seep_rss_is_notable(const json_t *rss)
{
    double rest = number_of(rss, "unexplained_bytes");

    return json_is_true(json_object_get(rss, "unexplained_grows")) ||
           (rest > NOTABLE_BYTES && rest * 10 > number_of(rss, "peak_bytes"));
}

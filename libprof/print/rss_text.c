#include "libprof/print/text_parts.h"

#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOTABLE_BYTES = 32 << 20, NOTABLE_OWN_BYTES = 16 << 20, NOTABLE_OWN_PARTS = 50 };

/* Parts below this share of RSS are not worth printing. */
static const double least_part = 0.005;

/* A part that is a space has the space's words. */
static const struct {
    const char *key, *space, *what;
} parts[] = {
    {"heap_live", "host", ""}, {"heap_free", "", "free in malloc's arenas"},
    {"maps", "mmap", ""},      {"shm", "shm", ""},
    {"stacks", "", "stacks"},  {"files", "", "mapped files"},
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
        fprintf(out, "; %s by %s a %s", what,
                seep_text_size(number_of(json_object_get(rss, growth), "value"), size), unit);
}

static void put_parts(FILE *out, const json_t *rss, double all)
{
    const json_t *explained = json_object_get(rss, "explained");
    char words[SEEP_SPACE_WORDS];
    bool any = false;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        put_part(out, number_of(explained, parts[i].key), all,
                 *parts[i].space ? seep_space_words(parts[i].space, words) : parts[i].what, &any);
    }
    put_part(out, number_of(rss, "seep_bytes"), all, "seep's own", &any);
}

static void put_own(FILE *out, double own, double all)
{
    if (own > NOTABLE_OWN_BYTES && own * NOTABLE_OWN_PARTS > all)
        fputs("; seep takes less with --sample 64KiB or a smaller --max-profile", out);
}

static void put_composition(FILE *out, const json_t *rss, const char *unit)
{
    double all = number_of(rss, "peak_bytes"), rest = number_of(rss, "unexplained_bytes");
    char size[SEEP_SIZE_TEXT], when[SEEP_WHEN_TEXT];

    if (!(all > 0)) {
        fputs("no sample near the peak shows what RSS was made of", out);
    } else {
        fprintf(out, "RSS %s, %s: ", seep_get_when(unit, number_of(rss, "step"), INFINITY, when),
                seep_text_size(all, size));
        put_parts(out, rss, all);
        fprintf(out, "; %s (%.0f %%) unexplained", seep_text_size(rest, size), 100 * rest / all);
    }
    put_own(out, number_of(rss, "seep_bytes"), all);
    put_growth(out, rss, "heap_free_grows", "heap_free_growth_bytes_per_step",
               "free memory in malloc's arenas grows", unit);
    put_growth(out, rss, "maps_grow", "maps_growth_bytes_per_step",
               "the touched part of earlier mappings grows", unit);
    put_growth(out, rss, "unexplained_grows", "unexplained_growth_bytes_per_step",
               "the unexplained part grows", unit);
}

char *seep_rss_text(const json_t *rss, const char *unit)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (!out)
        return NULL;
    put_composition(out, rss, unit);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *seep_resident_peaks_text(double pss_bytes, double rss_bytes, bool together)
{
    const char *note = together ? " (shared pages count in each process)" : "";
    char pss[SEEP_SIZE_TEXT], rss[SEEP_SIZE_TEXT];

    seep_text_size(pss_bytes, pss);
    seep_text_size(rss_bytes, rss);
    if (!(pss_bytes > 0))
        return seep_text_format("RSS peak %s%s", rss, note);
    return rss_bytes < pss_bytes ? seep_text_format("PSS peak %s", pss)
                                 : seep_text_format("PSS peak %s, RSS peak %s%s", pss, rss, note);
}

bool seep_rss_is_notable(const json_t *rss)
{
    double rest = number_of(rss, "unexplained_bytes");

    return json_is_true(json_object_get(rss, "unexplained_grows")) ||
           (rest > NOTABLE_BYTES && rest * 10 > number_of(rss, "peak_bytes"));
}

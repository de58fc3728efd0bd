/* What many processes show together: the field `digest` of a report. */
#include "libprof/print/put_text.h"
#include "libprof/print/text_parts.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL = SEEP_PUT_LABEL, MAX_SHOWN = 8 };

struct measure {
    const char *name, *words;
    bool is_size;
};

static const struct measure measures[] = {
    {"rss_peak_bytes", "RSS at its peak", true},
    {"gpu_peak_bytes", "GPU memory at its peak", true},
    {"collective_peak_bytes", "memory for collectives at its peak", true},
    {"steps", "steps", false},
};

static void put_value(FILE *to, const struct measure *m, double value)
{
    if (m->is_size)
        seep_put_size(to, value);
    else
        fprintf(to, "%.0f", value);
}

static void put_who(FILE *to, const json_t *who)
{
    if (json_is_integer(json_object_get(who, "rank")))
        fprintf(to, " in rank %.0f on ", seep_get_number(who, "rank"));
    else
        fprintf(to, " in process %.0f on ", seep_get_number(who, "pid"));
    seep_put_text(to, seep_get_text(who, "host", "?"));
}

/* "ranks: RSS at its peak 1.0 GiB on average, 0.9 GiB in rank 3 on a to 3.1 GiB in rank 17 on b" */
static void put_distribution(FILE *to, const struct measure *m, const json_t *its)
{
    const json_t *least = json_array_get(json_object_get(its, "least"), 0);
    const json_t *most = json_array_get(json_object_get(its, "most"), 0);
    const double n = seep_get_number(its, "processes");

    fprintf(to, "%.0f %s%s, %s ", n, seep_get_text(its, "role", "?"), n > 1 ? "s" : "", m->words);
    put_value(to, m, n > 0 ? seep_get_number(its, "sum") / n : 0);
    if (!(n > 1))
        return;
    if (!(seep_get_number(least, "value") < seep_get_number(most, "value"))) {
        fputs(" each", to);
        return;
    }
    fputs(" on average, ", to);
    put_value(to, m, seep_get_number(least, "value"));
    put_who(to, least);
    fputs(" to ", to);
    put_value(to, m, seep_get_number(most, "value"));
    put_who(to, most);
}

static void put_distributions(const json_t *digest, FILE *out)
{
    const char *label = "range";
    json_t *its;
    size_t i;

    for (size_t k = 0; k < sizeof measures / sizeof *measures; k++)
        json_array_foreach (json_object_get(digest, "distributions"), i, its) {
            struct seep_paragraph line;
            if (strcmp(seep_get_text(its, "of", ""), measures[k].name) != 0)
                continue;
            fprintf(out, "%-*s", LABEL, label);
            put_distribution(seep_put_begin(&line, out, LABEL, LABEL), &measures[k], its);
            seep_put_end(&line);
            label = "";
        }
}

static void put_remarks(const json_t *digest, FILE *out)
{
    const json_t *list = json_object_get(digest, "remarks");

    for (size_t i = 0; i < json_array_size(list) && i < MAX_SHOWN; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        fprintf(out, "%-*s", LABEL, i ? "" : "outliers");
        seep_put_wrapped(out, text ? text : "?", LABEL, LABEL);
    }
}

static void put_ends(const json_t *digest, FILE *out)
{
    struct seep_paragraph line;
    json_t *its;
    size_t i;

    fprintf(out, "%-*s", LABEL, "ended");
    FILE *to = seep_put_begin(&line, out, LABEL, LABEL);
    json_array_foreach (json_object_get(digest, "ends"), i, its) {
        fprintf(to, "%s%.0f %s%s: ", i ? "; " : "", seep_get_number(its, "processes"),
                seep_get_text(its, "role", "?"), seep_get_number(its, "processes") > 1 ? "s" : "");
        seep_put_text(to, seep_get_text(its, "end", "?"));
    }
    seep_put_end(&line);
}

bool seep_many_text(const json_t *report, FILE *out)
{
    const json_t *digest = json_object_get(report, "digest");
    const json_t *ranks = json_object_get(digest, "ranks");
    const double world = seep_get_number(ranks, "world");
    struct seep_paragraph line;

    if (!json_is_object(digest))
        return false;
    fprintf(out, "%-*s", LABEL, "digest");
    FILE *to = seep_put_begin(&line, out, LABEL, LABEL);
    fprintf(to, "%.0f process%s", seep_get_number(digest, "processes"),
            seep_get_number(digest, "processes") == 1 ? "" : "es");
    fputs(" in ", to);
    seep_put_count(to, seep_get_number(digest, "folders"), "folder");
    fputs(" of ", to);
    seep_put_count(to, seep_get_number(digest, "hosts"), "host");
    if (world > 0)
        fprintf(to, "; %.0f of %.0f ranks", world - seep_get_number(ranks, "missing"), world);
    seep_put_end(&line);
    put_distributions(digest, out);
    put_ends(digest, out);
    put_remarks(digest, out);
    return true;
}

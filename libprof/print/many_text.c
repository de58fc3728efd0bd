/* What many processes show together: the field `digest` of a report. */
#include <stdlib.h>
#include <string.h>

#include "libprof/print/put_text.h"
#include "libprof/print/text_parts.h"
#include "libprof/report_read/report_view.h"

enum { MOST_SHOWN = 4 };

static const char *host_of(const json_t *process)
{
    return seep_get_text(process, "host", "");
}

/* Sets are objects whose keys are the members. */
static void add(json_t *set, const char *member)
{
    if (*member)
        (void)json_object_set_new(set, member, json_true());
}

size_t seep_hosts_count(const json_t *report)
{
    json_t *hosts = json_object(), *process;
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process)
        add(hosts, host_of(process));
    const size_t n = json_object_size(hosts);
    json_decref(hosts);
    return n;
}

/* Ranks that made steps, and the most that a launcher tells. */
static void collect(const json_t *report, json_t *hosts, json_t *ranks, double *world)
{
    json_t *process;
    char number[32];
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        const double size = seep_get_number(process, "world_size");
        add(hosts, host_of(process));
        *world = size > *world ? size : *world;
        if (!json_is_integer(json_object_get(process, "rank")) ||
            !(seep_get_number(process, "steps") > 0))
            continue;
        snprintf(number, sizeof number, "%.0f", seep_get_number(process, "rank"));
        add(ranks, number);
    }
}

static void put_hosts(FILE *to, const json_t *hosts)
{
    const char *host;
    json_t *value;
    size_t i = 0;

    fputs(": ", to);
    json_object_foreach ((json_t *)hosts, host, value) {
        if (i < MOST_SHOWN) {
            fputs(i ? ", " : "", to);
            seep_put_text(to, host);
        }
        i++;
    }
    if (i > MOST_SHOWN)
        fprintf(to, " and %zu more", i - MOST_SHOWN);
}

bool seep_ranks_text(const json_t *report, FILE *to)
{
    json_t *hosts = json_object(), *ranks = json_object();
    double world = 0;

    collect(report, hosts, ranks, &world);
    const size_t n_hosts = json_object_size(hosts);
    const bool shown = n_hosts > 1 || world > 1 || json_object_size(ranks) > 1;
    if (shown) {
        fprintf(to, "%zu", json_object_size(ranks));
        if (world > 0)
            fprintf(to, " of %.0f", world);
        fputs(" with steps", to);
        if (n_hosts) { /* a torch snapshot has none */
            fprintf(to, ", on %zu host%s", n_hosts, n_hosts == 1 ? "" : "s");
            put_hosts(to, hosts);
        }
    }
    json_decref(hosts);
    json_decref(ranks);
    return shown;
}

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

#include "libprof/print/put_text.h"
#include "libprof/print/text_parts.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

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
        fprintf(to, " with steps, on %zu host%s", n_hosts, n_hosts == 1 ? "" : "s");
        put_hosts(to, hosts);
    }
    json_decref(hosts);
    json_decref(ranks);
    return shown;
}

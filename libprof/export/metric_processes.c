/* The processes of a job as series of bounded number. A training has thousands of processes over
 * its time (workers of each epoch, helpers), and a monitoring system keeps every series. So the
 * ranks come first, then the largest that run; the rest is summed by role and host. */
#include "libprof/base/error.h"
#include "libprof/export/metric_text.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const roles[] = {
#define SEEP_PROCESS_ROLE(id, name) name,
#include "libprof/words/process_roles.def"
#undef SEEP_PROCESS_ROLE
};
enum { N_ROLES = sizeof roles / sizeof *roles };

enum { MOST_OWN = 64, MOST_SUMS = 64, KEY_BYTES = 2 * SEEP_METRIC_LABEL_BYTES };

/* A process, or the sum of several (pid and rank are "" then). */
struct unit {
    char host[SEEP_METRIC_LABEL_BYTES + 1]; /* "": several */
    char pid[24], rank[24];
    const char *role;
    bool trains, runs;
    double order, rss_peak, rss, steps, n;
    json_t *live; /* bytes by space, of those that run; owned */
};

struct units {
    struct unit *list;
    size_t n;      /* processes, of which the first MOST_OWN are shown */
    size_t n_sums; /* behind these n */
    json_t *index; /* of a key: the place in the list */
};

/* ---- processes ---------------------------------------------------------------------------- */

static bool is_known_to_have_ended(const json_t *process)
{
    const char *kind = seep_get_text(json_object_get(process, "exit"), "kind", "unknown");

    return strcmp(kind, "exit") == 0 || strcmp(kind, "signal") == 0;
}

static const char *role_of(const json_t *process)
{
    const char *role = seep_get_text(process, "role", "");

    for (int i = 0; i < N_ROLES; i++) {
        if (strcmp(role, roles[i]) == 0)
            return roles[i];
    }
    return "helper";
}

static double last_of(const json_t *column)
{
    const size_t n = json_array_size(column);

    return n ? json_number_value(json_array_get(column, n - 1)) : 0;
}

static int add_live(struct unit *to, const char *space, double bytes)
{
    const double before = json_number_value(json_object_get(to->live, space));

    return json_object_set_new(to->live, space, json_real(before + bytes)) ? -SEEP_ENOMEM : 0;
}

/* What is now belongs to the process that runs; the peak to all that had the pid, since a program
 * may have been replaced (exec) and pids are used again. */
static int take_process(struct unit *unit, const json_t *process)
{
    const json_t *rank = json_object_get(process, "rank");
    const char *space;
    json_t *totals;

    unit->role = role_of(process);
    unit->trains = strcmp(unit->role, "trainer") == 0 || strcmp(unit->role, "rank") == 0;
    unit->runs = !is_known_to_have_ended(process);
    unit->rss_peak = fmax(unit->rss_peak, seep_get_number(process, "rss_peak_bytes"));
    unit->steps = seep_get_number(process, "steps");
    unit->order = unit->trains && json_is_integer(rank) ? json_number_value(rank) : -1;
    if (json_is_integer(rank))
        snprintf(unit->rank, sizeof unit->rank, "%lld", (long long)json_integer_value(rank));
    json_object_clear(unit->live);
    unit->rss = 0;
    if (!unit->runs)
        return 0;
    unit->rss = last_of(json_object_get(json_object_get(process, "timeline"), "rss_bytes"));
    json_object_foreach (json_object_get(process, "spaces"), space, totals) {
        if (add_live(unit, space, seep_get_number(totals, "live_bytes")))
            return -SEEP_ENOMEM;
    }
    return 0;
}

/* The unit of a key, made where there is none yet. NULL without memory. */
static struct unit *unit_of(struct units *units, const char *key, size_t next)
{
    const json_t *place = json_object_get(units->index, key);
    struct unit *unit = &units->list[place ? (size_t)json_integer_value(place) : next];

    if (place)
        return unit;
    unit->live = json_object();
    if (!unit->live || json_object_set_new(units->index, key, json_integer((json_int_t)next))) {
        json_decref(unit->live);
        unit->live = NULL;
        return NULL;
    }
    return unit;
}

static int list_processes(struct units *units, const json_t *report)
{
    const char *host = seep_get_text(json_object_get(report, "job"), "host", "");
    char key[KEY_BYTES], name[SEEP_METRIC_LABEL_BYTES + 1];
    json_t *process;
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        const json_int_t pid = json_integer_value(json_object_get(process, "pid"));
        seep_metric_label_text(seep_get_text(process, "host", host), name);
        snprintf(key, sizeof key, "%lld@%s", (long long)pid, name);
        struct unit *unit = unit_of(units, key, units->n);
        if (!unit)
            return -SEEP_ENOMEM;
        units->n += unit == &units->list[units->n];
        memcpy(unit->host, name, sizeof name);
        snprintf(unit->pid, sizeof unit->pid, "%lld", (long long)pid);
        unit->n = 1;
        if (take_process(unit, process))
            return -SEEP_ENOMEM;
    }
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct unit *a = left, *b = right;

    if (a->trains != b->trains)
        return b->trains - a->trains;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    if (a->runs != b->runs)
        return b->runs - a->runs;
    if (a->rss_peak != b->rss_peak)
        return a->rss_peak > b->rss_peak ? -1 : 1;
    const int hosts = strcmp(a->host, b->host);
    return hosts ? hosts : strcmp(a->pid, b->pid);
}

/* ---- sums --------------------------------------------------------------------------------- */

static int add(struct unit *to, const struct unit *process)
{
    const char *space;
    json_t *bytes;

    to->rss_peak = fmax(to->rss_peak, process->rss_peak);
    if (!process->runs)
        return 0;
    to->runs = true;
    to->rss += process->rss;
    to->n++;
    json_object_foreach (process->live, space, bytes) {
        if (add_live(to, space, json_real_value(bytes)))
            return -SEEP_ENOMEM;
    }
    return 0;
}

/* Roles are few, hosts may be many: those that have no room are one. */
static int sum_rest(struct units *units)
{
    char key[KEY_BYTES];

    for (size_t i = MOST_OWN; i < units->n; i++) {
        const struct unit *process = &units->list[i];
        const char *host = process->host;
        snprintf(key, sizeof key, "%s@%s", process->role, host);
        if (!json_object_get(units->index, key) && units->n_sums >= MOST_SUMS) {
            snprintf(key, sizeof key, "%s", process->role);
            host = "";
        }
        struct unit *sum = unit_of(units, key, units->n + units->n_sums);
        if (!sum)
            return -SEEP_ENOMEM;
        if (!sum->role) {
            units->n_sums++;
            sum->role = process->role;
            memcpy(sum->host, host, strlen(host) + 1);
        }
        if (add(sum, process))
            return -SEEP_ENOMEM;
    }
    return 0;
}

/* ---- series ------------------------------------------------------------------------------- */

static void put(const struct seep_metrics *m, const char *name, const struct unit *unit,
                const char *space, double value)
{
    const struct seep_metric_label labels[] = {{"host", unit->host},
                                               {"role", unit->role},
                                               {"rank", unit->rank},
                                               {"pid", unit->pid},
                                               {"space", space}};

    seep_metric_put(m, name, labels, sizeof labels / sizeof *labels, value);
}

/* The next one that is shown, from *at on; NULL after the last. */
static const struct unit *next(const struct units *units, size_t *at)
{
    if (*at == MOST_OWN && units->n > MOST_OWN)
        *at = units->n;
    return *at < units->n + units->n_sums ? &units->list[(*at)++] : NULL;
}

static void put_live(const struct seep_metrics *m, const struct units *units)
{
    const struct unit *unit;
    const char *space;
    json_t *bytes;

    seep_metric_family(m, "seep_process_live_bytes", "bytes",
                       "Bytes that are live in a process that runs, by space.");
    for (size_t at = 0; (unit = next(units, &at));) {
        json_object_foreach (unit->live, space, bytes)
            put(m, "seep_process_live_bytes", unit, space, json_real_value(bytes));
    }
}

static void put_numbers(const struct seep_metrics *m, const struct units *units)
{
    const struct unit *unit;

    seep_metric_family(m, "seep_process_rss_bytes", "bytes", "RSS of a process that runs.");
    for (size_t at = 0; (unit = next(units, &at));) {
        if (unit->runs)
            put(m, "seep_process_rss_bytes", unit, NULL, unit->rss);
    }
    seep_metric_family(m, "seep_process_rss_peak_bytes", "bytes",
                       "Highest RSS of a process; without a pid, of any of them.");
    for (size_t at = 0; (unit = next(units, &at));)
        put(m, "seep_process_rss_peak_bytes", unit, NULL, unit->rss_peak);
    seep_metric_family(m, "seep_process_steps", "", "Steps of a trainer or a rank.");
    for (size_t at = 0; (unit = next(units, &at));) {
        if (unit->trains && unit->pid[0])
            put(m, "seep_process_steps", unit, NULL, unit->steps);
    }
    seep_metric_family(m, "seep_processes", "", "Processes that run.");
    for (size_t at = 0; (unit = next(units, &at));) {
        if (unit->runs)
            put(m, "seep_processes", unit, NULL, unit->n);
    }
}

static void units_fini(struct units *units, size_t n)
{
    for (size_t i = 0; units->list && i < n; i++)
        json_decref(units->list[i].live);
    free(units->list);
    json_decref(units->index);
}

int seep_metric_processes(const struct seep_metrics *m, const json_t *report)
{
    const size_t n = json_array_size(json_object_get(report, "processes")) + MOST_SUMS + N_ROLES;
    struct units units = {.list = calloc(n, sizeof *units.list), .index = json_object()};
    int r = units.list && units.index ? list_processes(&units, report) : -SEEP_ENOMEM;

    if (!r) {
        qsort(units.list, units.n, sizeof *units.list, compare);
        json_object_clear(units.index); /* places have changed */
        r = sum_rest(&units);
    }
    if (!r) {
        put_live(m, &units);
        put_numbers(m, &units);
    }
    units_fini(&units, n);
    return r;
}

#include "libprof/look/look_tree.h"

#include "libprof/base/json_build.h"
#include "libprof/look/look_course.h"

#include <stdlib.h>
#include <string.h>

/* A holder in all processes that have it. */
struct merged {
    const json_t *largest; /* as the process says that retains most in it */
    const char *within;    /* key of the holder that it belongs to there; NULL: none */
    json_t *pids;
    json_t *made_at; /* the lines of all processes that know them; NULL: none does */
    json_t *device_bytes, *device_rates; /* by name of the device */
    double retained, objects, bytes_per_minute, share;
    enum seep_look_growth growth; /* the surest of them */
    bool by_another;              /* in each of them */
};

struct tree {
    json_t *by_key; /* key: index in list[] */
    double live_bytes;
    json_t *device_bytes; /* by name, in use by all processes */
    struct merged *list;
    size_t n;
    bool failed;
};

static double number(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static const char *text(const json_t *json, const char *key)
{
    const char *value = json_string_value(json_object_get(json, key));

    return value ? value : "";
}

static struct merged *entry_of(struct tree *t, const char *key)
{
    const json_t *known = json_object_get(t->by_key, key);

    if (known)
        return &t->list[json_integer_value(known)];
    if (json_object_set_new(t->by_key, key, json_integer((json_int_t)t->n)))
        return NULL;
    t->list[t->n] = (struct merged){.pids = json_array(),
                                    .device_bytes = json_object(),
                                    .device_rates = json_object(),
                                    .by_another = true};
    return &t->list[t->n++];
}

static void add_pid(struct tree *t, struct merged *m, const json_t *pid)
{
    const json_t *last = json_array_get(m->pids, json_array_size(m->pids) - 1);

    if (!last || json_integer_value(last) != json_integer_value(pid))
        t->failed |= json_array_append(m->pids, (json_t *)pid) != 0;
}

/* The entry of the line with that frame; NULL: there is none. */
static json_t *line_with(const json_t *lines, const json_t *frame)
{
    json_t *line;
    size_t i;

    json_array_foreach (lines, i, line)
        if (json_equal(json_object_get(line, "frame"), frame))
            return line;
    return NULL;
}

static void add_lines(struct tree *t, struct merged *m, const json_t *lines)
{
    const json_t *line;
    size_t i;

    if (!m->made_at && json_is_array(lines))
        t->failed |= !(m->made_at = json_array());
    json_array_foreach (lines, i, line) {
        json_t *known = line_with(m->made_at, json_object_get(line, "frame"));
        const json_int_t bytes = json_integer_value(json_object_get(line, "bytes"));
        if (known)
            t->failed |=
                json_integer_set(json_object_get(known, "bytes"),
                                 json_integer_value(json_object_get(known, "bytes")) + bytes) != 0;
        else
            seep_json_append(m->made_at, json_deep_copy(line), &t->failed);
    }
}

/* The few that made most, the largest first. */
static json_t *most_lines(const json_t *lines)
{
    json_t *rest = json_copy((json_t *)lines), *list = json_array(), *line;
    bool failed = !rest || !list;
    size_t i;

    while (!failed && json_array_size(rest) && json_array_size(list) < SEEP_LOOK_LINES) {
        size_t most = 0;
        json_array_foreach (rest, i, line)
            if (number(line, "bytes") > number(json_array_get(rest, most), "bytes"))
                most = i;
        seep_json_append(list, json_incref(json_array_get(rest, most)), &failed);
        failed |= json_array_remove(rest, most) != 0;
    }
    json_decref(rest);
    return seep_json_whole(list, failed);
}

/* Adds numbers by name; those of `from` are all integers or all real. */
static void add_by_name(struct tree *t, json_t *to, const json_t *from)
{
    const json_t *value;
    const char *name;

    json_object_foreach ((json_t *)from, name, value) {
        const double sum = number(to, name) + json_number_value(value);
        t->failed |= json_object_set_new(to, name,
                                         json_is_integer(value) ? json_integer((json_int_t)sum)
                                                                : json_real(sum)) != 0;
    }
}

static enum seep_look_growth growth_of(const json_t *holder)
{
    enum seep_look_growth growth = SEEP_LOOK_ENDLESS;

    while (growth && strcmp(text(holder, "growth"), seep_look_growth_word(growth)) != 0)
        growth--;
    return growth;
}

static void add_holder(struct tree *t, const json_t *process, const json_t *holder)
{
    const json_t *holders = json_object_get(process, "holders");
    const json_t *within = json_object_get(holder, "within");
    const enum seep_look_growth growth = growth_of(holder);
    struct merged *m = entry_of(t, text(holder, "key"));

    if (!m || !m->pids || !m->device_bytes || !m->device_rates) {
        t->failed = true;
        return;
    }
    if (!m->largest || number(holder, "retained_bytes") > number(m->largest, "retained_bytes")) {
        m->largest = holder;
        m->within = json_is_integer(within)
                        ? text(json_array_get(holders, (size_t)json_integer_value(within)), "key")
                        : NULL;
    }
    m->retained += number(holder, "retained_bytes");
    m->objects += number(holder, "objects");
    add_by_name(t, m->device_bytes, json_object_get(holder, "device_bytes"));
    add_by_name(t, m->device_rates, json_object_get(holder, "device_growth_bytes_per_minute"));
    m->bytes_per_minute += number(holder, "growth_bytes_per_minute");
    m->growth = growth > m->growth ? growth : m->growth;
    m->by_another = m->by_another && json_is_true(json_object_get(holder, "by_another"));
    add_pid(t, m, json_object_get(process, "pid"));
    add_lines(t, m, json_object_get(holder, "made_at"));
}

static int by_share(const void *a, const void *b)
{
    const struct merged *x = a, *y = b;

    return x->share < y->share         ? 1
           : x->share > y->share       ? -1
           : x->retained < y->retained ? 1
           : x->retained > y->retained ? -1
                                       : 0;
}

/* The largest part that a holder retains of the host's memory or a device's, as in one process. */
static double share_of(const struct tree *t, const struct merged *m)
{
    double share = t->live_bytes > 0 ? m->retained / t->live_bytes : 0;
    const json_t *bytes;
    const char *name;

    json_object_foreach (m->device_bytes, name, bytes) {
        const double all = number(t->device_bytes, name);
        const double part = all > 0 ? json_number_value(bytes) / all : 0;
        share = part > share ? part : share;
    }
    return share;
}

/* The index is by key in the order that there was; this is by key in the new one. */
static void sort(struct tree *t)
{
    for (size_t i = 0; i < t->n; i++)
        t->list[i].share = share_of(t, &t->list[i]);
    if (t->n)
        qsort(t->list, t->n, sizeof *t->list, by_share);
    for (size_t i = 0; i < t->n; i++)
        t->failed |= json_object_set_new(t->by_key, text(t->list[i].largest, "key"),
                                         json_integer((json_int_t)i)) != 0;
}

static json_t *merged_json(const struct tree *t, const struct merged *m)
{
    const json_t *within = m->within ? json_object_get(t->by_key, m->within) : NULL;
    json_t *json = json_copy((json_t *)m->largest);
    bool failed = !json;

    seep_json_set(json, "within", within ? json_incref((json_t *)within) : json_null(), &failed);
    seep_json_set(json, "retained_bytes", seep_json_count((uint64_t)m->retained), &failed);
    seep_json_set(json, "device_bytes", json_incref(m->device_bytes), &failed);
    seep_json_set(json, "device_growth_bytes_per_minute", json_incref(m->device_rates), &failed);
    seep_json_set(json, "objects", seep_json_count((uint64_t)m->objects), &failed);
    seep_json_set(json, "made_at", m->made_at ? most_lines(m->made_at) : json_null(), &failed);
    seep_json_set(json, "growth", json_string(seep_look_growth_word(m->growth)), &failed);
    seep_json_set(json, "growth_bytes_per_minute", json_real(m->bytes_per_minute), &failed);
    seep_json_set(json, "by_another", json_boolean(m->by_another), &failed);
    seep_json_set(json, "pids", json_incref(m->pids), &failed);
    return seep_json_whole(json, failed);
}

static void merge(struct tree *t, const json_t *processes)
{
    const json_t *process, *holder;
    size_t i, k;

    json_array_foreach (processes, i, process) {
        const json_t *looks = json_object_get(process, "looks");
        const json_t *last = json_array_get(looks, json_array_size(looks) - 1);
        t->live_bytes += number(last, "live_bytes");
        add_by_name(t, t->device_bytes, json_object_get(last, "device_bytes"));
        json_array_foreach (json_object_get(process, "holders"), k, holder)
            add_holder(t, process, holder);
    }
    sort(t);
}

json_t *seep_look_tree_holders(const json_t *processes)
{
    struct tree t = {.by_key = json_object(), .device_bytes = json_object()};
    json_t *list = json_array();
    const json_t *process;
    size_t i, most = 0;

    json_array_foreach (processes, i, process)
        most += json_array_size(json_object_get(process, "holders"));
    t.list = calloc(most + 1, sizeof *t.list);
    t.failed = !list || !t.by_key || !t.device_bytes || !t.list;
    if (!t.failed)
        merge(&t, processes);
    for (i = 0; i < t.n; i++) {
        seep_json_append(list, merged_json(&t, &t.list[i]), &t.failed);
        json_decref(t.list[i].pids);
        json_decref(t.list[i].made_at);
        json_decref(t.list[i].device_bytes);
        json_decref(t.list[i].device_rates);
    }
    free(t.list);
    json_decref(t.by_key);
    json_decref(t.device_bytes);
    return seep_json_whole(list, t.failed);
}

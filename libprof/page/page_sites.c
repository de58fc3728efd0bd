#include "libprof/page/page_parts.h"

#include "libprof/base/json_build.h"
#include "libprof/report_read/report_view.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIGHT_POINTS = 8, /* of the course of such a site */
    OFTEN = 100,      /* allocations of a site: fewer are never many, in however short a job */
};

/* Numbers that are taken as they are. */
static const char *const plain[] = {"allocations", "frees",     "allocated_bytes", "live_bytes",
                                    "peak_bytes",  "peak_step", "retained_bytes"};
enum { N_PLAIN = sizeof plain / sizeof *plain };

static const json_t *space_of(const json_t *report, const json_t *site)
{
    return json_object_get(json_object_get(report, "spaces"), seep_get_text(site, "space", ""));
}

static bool is_light(const json_t *report, const json_t *site)
{
    const json_t *space = space_of(report, site);

    return seep_get_number(site, "peak_bytes") <
               SEEP_PAGE_LIGHT * seep_get_number(space, "peak_bytes") &&
           seep_get_number(site, "allocated_bytes") <
               SEEP_PAGE_LIGHT * seep_get_number(space, "allocated_bytes");
}

/* Small blocks weigh little, but how many a line makes is asked, too. */
static bool is_seldom(const json_t *report, const json_t *site)
{
    const double n = seep_get_number(site, "allocations");

    return n < OFTEN ||
           n < SEEP_PAGE_LIGHT * seep_get_number(space_of(report, site), "allocations");
}

/* {id: true} of what findings name, and of what is drawn on a device. */
static json_t *named_sites(const json_t *report, bool *failed)
{
    json_t *named = json_object();
    size_t i, k;
    json_t *finding, *id;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        json_array_foreach (json_object_get(finding, "sites"), k, id) {
            if (json_is_string(id))
                seep_json_set(named, json_string_value(id), json_true(), failed);
        }
    }
    seep_page_name_layout_sites(report, named, failed);
    return named;
}

static bool is_left_out(const json_t *report, const json_t *site, const json_t *named, bool all)
{
    return !all && is_light(report, site) && is_seldom(report, site) &&
           !json_object_get(named, seep_get_text(site, "id", ""));
}

static json_t *number(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_incref(value) : json_null();
}

static json_int_t integer_at(const json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}

/* Whether a point is one of the `most`, evenly spread, the last among them. */
static bool is_wanted(size_t i, size_t n, size_t most)
{
    return n <= most || i == 0 || i + 1 == n || i * (most - 1) / n != (i - 1) * (most - 1) / n;
}

/* Differences of what lies in order are short numbers. */
static json_t *differences(const json_t *series, size_t most)
{
    const json_t *steps = json_object_get(series, "step"),
                 *bytes = json_object_get(series, "live_bytes");
    const size_t n = json_array_size(steps);
    json_int_t step = 0, level = 0;
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < n && !failed; i++) {
        if (!is_wanted(i, n, most))
            continue;
        seep_json_append(list, json_integer(integer_at(steps, i) - step), &failed);
        seep_json_append(list, json_integer(integer_at(bytes, i) - level), &failed);
        step = integer_at(steps, i);
        level = integer_at(bytes, i);
    }
    return seep_json_whole(list, failed);
}

/* [from, n, …]: of two columns one list, as in [age, frees, …]. */
static json_t *pairs(const json_t *columns, const char *from, const char *n)
{
    const json_t *froms = json_object_get(columns, from), *ns = json_object_get(columns, n);
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < json_array_size(froms) && !failed; i++) {
        seep_json_append(list, json_integer(integer_at(froms, i)), &failed);
        seep_json_append(list, json_integer(integer_at(ns, i)), &failed);
    }
    return seep_json_whole(list, failed);
}

static bool is_first_thread(const json_t *thread)
{
    return json_integer_value(json_object_get(thread, "tid")) ==
           json_integer_value(json_object_get(thread, "pid"));
}

/* The number of the text that lists threads, "5776 pt_autograd_0, …"; −1 where all is the first
 * thread's of its process. */
static json_int_t threads_text(struct seep_page_tables *t, const json_t *threads)
{
    char *text = NULL;
    bool others = false;
    size_t n, i;
    const json_t *thread;

    FILE *out = json_array_size(threads) ? open_memstream(&text, &n) : NULL;
    json_array_foreach (threads, i, thread) {
        others |= !is_first_thread(thread);
        if (out)
            fprintf(out, "%s%" JSON_INTEGER_FORMAT " %s", i ? ", " : "",
                    json_integer_value(json_object_get(thread, "tid")),
                    seep_get_text(thread, "name", ""));
    }
    t->failed |= (json_array_size(threads) && !out) || (out && fclose(out));
    const json_int_t id = others && !t->failed ? seep_page_text(t, text) : -1;
    free(text);
    return id;
}

static void add_site(json_t *columns, const json_t *site, bool light, struct seep_page_tables *t,
                     bool *failed)
{
    struct seep_slope slope = {0, 0, 0};
    const json_t *ages_at = json_object_get(site, "lifetime_steps");

    seep_get_slope(site, "growth_bytes_per_step", &slope);
    seep_page_add(columns, "id", json_integer(seep_page_text(t, seep_get_text(site, "id", ""))),
                  failed);
    seep_page_add(columns, "space",
                  json_integer(seep_page_text(t, seep_get_text(site, "space", ""))), failed);
    seep_page_add(columns, "role",
                  json_integer(seep_page_text(t, seep_get_text(site, "role", "other"))), failed);
    seep_page_add(columns, "look_at",
                  seep_page_number(seep_page_frame(t, seep_get_site_frame(site))), failed);
    seep_page_add(columns, "stack",
                  seep_page_number(seep_page_stack(t, json_object_get(site, "stack"))), failed);
    for (size_t i = 0; i < N_PLAIN; i++)
        seep_page_add(columns, plain[i], number(site, plain[i]), failed);
    seep_page_add(columns, "growth", json_real(slope.value), failed);
    seep_page_add(columns, "age_p50", number(ages_at, "p50"), failed);
    seep_page_add(columns, "age_max", number(ages_at, "max"), failed);
    seep_page_add(columns, "processes",
                  json_integer(seep_page_pids(t, json_object_get(site, "processes"))), failed);
    seep_page_add(columns, "series",
                  differences(json_object_get(site, "series"), light ? LIGHT_POINTS : SIZE_MAX),
                  failed);
    seep_page_add(columns, "lifetimes",
                  pairs(json_object_get(site, "lifetimes"), "steps_at_least", "frees"), failed);
    seep_page_add(columns, "sizes",
                  pairs(json_object_get(site, "sizes"), "bytes_at_least", "allocations"), failed);
    seep_page_add(columns, "threads",
                  json_integer(threads_text(t, json_object_get(site, "threads"))), failed);
}

json_t *seep_page_sites(const json_t *report, bool all, struct seep_page_tables *tables)
{
    json_t *columns = json_object(), *site;
    bool failed = false;
    json_t *named = named_sites(report, &failed);
    size_t i;

    json_array_foreach (json_object_get(report, "sites"), i, site) {
        if (!failed && !is_left_out(report, site, named, all))
            add_site(columns, site, is_light(report, site), tables, &failed);
    }
    json_decref(named);
    return seep_json_whole(columns, failed || tables->failed);
}

static void add_sums(json_t *sums, const json_t *site, bool *failed)
{
    seep_json_set(sums, "sites", json_real(seep_get_number(sums, "sites") + 1), failed);
    for (size_t i = 0; i < N_PLAIN; i++) {
        if (strcmp(plain[i], "peak_step") != 0)
            seep_json_set(
                sums, plain[i],
                json_real(seep_get_number(sums, plain[i]) + seep_get_number(site, plain[i])),
                failed);
    }
}

json_t *seep_page_other_sites(const json_t *report, bool all)
{
    json_t *spaces = json_object(), *site;
    bool failed = false;
    json_t *named = named_sites(report, &failed);
    size_t i;

    json_array_foreach (json_object_get(report, "sites"), i, site) {
        const char *space = seep_get_text(site, "space", "");
        if (failed || !is_left_out(report, site, named, all))
            continue;
        if (!json_object_get(spaces, space))
            seep_json_set(spaces, space, json_object(), &failed);
        if (!failed)
            add_sums(json_object_get(spaces, space), site, &failed);
    }
    json_decref(named);
    return seep_json_whole(spaces, failed);
}

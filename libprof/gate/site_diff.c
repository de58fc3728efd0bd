#include "libprof/gate/site_diff.h"

#include "libprof/report_read/report_pairs.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct change {
    json_t *pair; /* borrowed */
    double first, second;
};

static double change_of(const json_t *pair, const char *key)
{
    return seep_get_number(json_object_get(pair, "after"), key) -
           seep_get_number(json_object_get(pair, "before"), key);
}

static double growth_change(const json_t *pair)
{
    struct seep_slope before, after;

    seep_get_slope(json_object_get(pair, "before"), "growth_bytes_per_step", &before);
    seep_get_slope(json_object_get(pair, "after"), "growth_bytes_per_step", &after);
    return after.value - before.value;
}

static int by_size(const void *a, const void *b)
{
    const struct change *p = a, *q = b;

    if (p->first != q->first)
        return p->first > q->first ? -1 : 1;
    return (p->second < q->second) - (p->second > q->second);
}

static int add_changes(json_t *pair, double retained, double peak, double growth)
{
    return json_object_set_new(pair, "retained_bytes_change", json_integer((json_int_t)retained)) ||
           json_object_set_new(pair, "peak_bytes_change", json_integer((json_int_t)peak)) ||
           json_object_set_new(pair, "growth_change", json_real(growth));
}

/* The changed pairs in order. NULL without memory. */
static json_t *sort_changes(const json_t *pairs, bool by_growth)
{
    struct change *changes = calloc(json_array_size(pairs) + 1, sizeof *changes);
    json_t *list = json_array(), *pair;
    size_t i, n = 0;
    int failed = !changes || !list;

    json_array_foreach (pairs, i, pair) {
        double retained = change_of(pair, "retained_bytes"), peak = change_of(pair, "peak_bytes"),
               growth = growth_change(pair);
        if (failed || (retained == 0 && peak == 0 && growth == 0))
            continue;
        failed = add_changes(pair, retained, peak, growth);
        changes[n++] = (struct change){pair, by_growth ? fabs(growth) : fabs(retained),
                                       by_growth ? fabs(retained) : fabs(growth)};
    }
    if (n)
        qsort(changes, n, sizeof *changes, by_size);
    for (i = 0; i < n && !failed; i++)
        failed = json_array_append(list, changes[i].pair);
    free(changes);
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

int seep_diff(const json_t *base, const json_t *other, bool by_growth, json_t **diff)
{
    json_t *pairs = NULL, *document, *notes = json_array();
    struct seep_error err = {0};
    int rc = seep_compare_sites(base, other, SEEP_BY_STACK, &pairs);

    if (rc) {
        json_decref(notes);
        return rc;
    }
    if (seep_compare_jobs(base, other, &err))
        json_array_append_new(notes, json_string(err.text));
    document = seep_get_document("seep-diff");
    if (!document || json_object_set(document, "base", json_object_get(base, "job")) ||
        json_object_set(document, "new", json_object_get(other, "job")) ||
        json_object_set_new(document, "spaces", seep_compare_spaces(base, other)) ||
        json_object_set_new(document, "sites", sort_changes(pairs, by_growth)) ||
        json_object_set(document, "notes", notes)) {
        json_decref(document);
        document = NULL;
    }
    json_decref(pairs);
    json_decref(notes);
    *diff = document;
    return document ? 0 : -SEEP_ENOMEM;
}

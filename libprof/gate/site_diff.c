#include "libprof/gate/site_diff.h"

#include "libprof/base/json_build.h"
#include "libprof/report_read/report_pairs.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct change {
    uint32_t pair;
    double first, second;
};

/* The changed pairs, made in order. */
struct changes {
    struct seep_json_stream stream;
    struct seep_site_pairs pairs;
    struct change *list;
};

static double retained_change(const struct seep_site_pair *pair)
{
    return pair->sides[1].retained - pair->sides[0].retained;
}

static double peak_change(const struct seep_site_pair *pair)
{
    return pair->sides[1].peak - pair->sides[0].peak;
}

static double growth_change(const struct seep_site_pair *pair)
{
    return pair->sides[1].growth.value - pair->sides[0].growth.value;
}

static int by_size(const void *a, const void *b)
{
    const struct change *p = a, *q = b;

    if (p->first != q->first)
        return p->first > q->first ? -1 : 1;
    if (p->second != q->second)
        return p->second > q->second ? -1 : 1;
    return (p->pair > q->pair) - (p->pair < q->pair);
}

static json_t *make_change(struct seep_json_stream *stream, size_t i)
{
    const struct changes *changes = (struct changes *)stream;
    const uint32_t at = changes->list[i].pair;
    const struct seep_site_pair *its = &changes->pairs.list[at];
    json_t *pair = seep_site_pair_json(&changes->pairs, at);
    bool failed = false;

    seep_json_set(pair, "retained_bytes_change", json_integer((json_int_t)retained_change(its)),
                  &failed);
    seep_json_set(pair, "peak_bytes_change", json_integer((json_int_t)peak_change(its)), &failed);
    seep_json_set(pair, "growth_change", json_real(growth_change(its)), &failed);
    return seep_json_whole(pair, failed);
}

static int sort_changes(struct changes *changes, bool by_growth)
{
    const struct seep_site_pairs *pairs = &changes->pairs;
    size_t n = 0;

    changes->list = calloc(pairs->n + 1, sizeof *changes->list);
    if (!changes->list)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < pairs->n; i++) {
        const double retained = retained_change(&pairs->list[i]),
                     growth = growth_change(&pairs->list[i]);
        if (retained == 0 && growth == 0 && peak_change(&pairs->list[i]) == 0)
            continue;
        changes->list[n++] = (struct change){i, by_growth ? fabs(growth) : fabs(retained),
                                             by_growth ? fabs(retained) : fabs(growth)};
    }
    if (n)
        qsort(changes->list, n, sizeof *changes->list, by_size);
    changes->stream = (struct seep_json_stream){n, make_change};
    return 0;
}

static json_t *document_of(const json_t *base, const json_t *other)
{
    json_t *document = seep_get_document("seep-diff"), *notes = json_array();
    struct seep_error err = {0};
    bool failed = false;

    if (seep_compare_jobs(base, other, &err))
        seep_json_append(notes, json_string(err.text), &failed);
    seep_json_set(document, "base", json_incref(json_object_get(base, "job")), &failed);
    seep_json_set(document, "new", json_incref(json_object_get(other, "job")), &failed);
    seep_json_set(document, "spaces", seep_compare_spaces(base, other), &failed);
    seep_json_set(document, "sites", json_array(), &failed);
    seep_json_set(document, "notes", notes, &failed);
    return seep_json_whole(document, failed);
}

int seep_diff(const struct seep_compared runs[2], bool by_growth, seep_json_stream_user *use,
              void *context)
{
    struct changes changes = {.list = NULL};
    json_t *document = document_of(runs[0].report, runs[1].report);
    int rc = document ? seep_site_pairs_init(&changes.pairs, runs, SEEP_BY_STACK) : -SEEP_ENOMEM;

    if (!rc)
        rc = sort_changes(&changes, by_growth);
    if (!rc)
        rc = use(context, document, &changes.stream);
    free(changes.list);
    seep_site_pairs_fini(&changes.pairs);
    json_decref(document);
    return rc;
}

#include "libprof/page/page_parts.h"

#include "libprof/base/hash_index.h"
#include "libprof/base/json_build.h"

#include <stdlib.h>

/* The change of the level at the end of a step. */
struct change {
    json_int_t step, bytes;
};

struct changes {
    struct change *list;
    size_t n, capacity;
};

static json_int_t integer_at(const json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}

static int add_changes(struct changes *changes, const json_t *series)
{
    const json_t *steps = json_object_get(series, "step"),
                 *bytes = json_object_get(series, "live_bytes");
    const size_t n = json_array_size(steps);
    json_int_t level = 0;

    if (seep_grow(&changes->list, &changes->capacity, changes->n + n, sizeof *changes->list))
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const json_int_t now = integer_at(bytes, i);
        changes->list[changes->n++] = (struct change){integer_at(steps, i), now - level};
        level = now;
    }
    return 0;
}

static int by_step(const void *a, const void *b)
{
    const struct change *p = a, *q = b;

    return (p->step > q->step) - (p->step < q->step);
}

/* Sorts the changes of several sites; afterwards each step is there once. */
static void merge(struct changes *changes)
{
    size_t n = 0;

    if (changes->n)
        qsort(changes->list, changes->n, sizeof *changes->list, by_step);
    for (size_t i = 0; i < changes->n; i++) {
        if (n && changes->list[n - 1].step == changes->list[i].step)
            changes->list[n - 1].bytes += changes->list[i].bytes;
        else
            changes->list[n++] = changes->list[i];
    }
    changes->n = n;
}

/* Whether a point is among the `most` evenly spread ones, which include the last. */
static bool is_wanted(size_t i, size_t n, size_t most)
{
    return n <= most || i == 0 || i + 1 == n || i * (most - 1) / n != (i - 1) * (most - 1) / n;
}

static json_t *series_of(const struct changes *changes, size_t most)
{
    json_t *list = json_array();
    json_int_t step = 0, bytes = 0;
    bool failed = false;

    for (size_t i = 0; i < changes->n && !failed; i++) {
        bytes += changes->list[i].bytes;
        if (!is_wanted(i, changes->n, most))
            continue;
        seep_json_append(list, json_integer(changes->list[i].step - step), &failed);
        seep_json_append(list, json_integer(bytes), &failed);
        step = changes->list[i].step;
        bytes = 0;
    }
    return seep_json_whole(list, failed);
}

json_t *seep_page_series(const json_t *const *sites, size_t n, size_t most)
{
    struct changes changes = {0};
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++)
        rc = add_changes(&changes, json_object_get(sites[i], "series"));
    if (n > 1)
        merge(&changes);
    json_t *list = rc ? NULL : series_of(&changes, most);
    free(changes.list);
    return list;
}

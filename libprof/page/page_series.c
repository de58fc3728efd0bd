#include "libprof/page/page_parts.h"

#include "libprof/base/hash_index.h"
#include "libprof/base/json_build.h"

#include <stdlib.h>

static json_int_t integer_at(const json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}

int seep_page_changes_add(struct seep_page_changes *changes, const json_t *series)
{
    const json_t *steps = json_object_get(series, "step"),
                 *bytes = json_object_get(series, "live_bytes");
    const size_t n = json_array_size(steps);
    json_int_t level = 0;

    if (seep_grow(&changes->list, &changes->capacity, changes->n + n, sizeof *changes->list))
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const json_int_t now = integer_at(bytes, i);
        changes->list[changes->n++] = (struct seep_page_change){integer_at(steps, i), now - level};
        level = now;
    }
    return 0;
}

static int by_step(const void *a, const void *b)
{
    const struct seep_page_change *p = a, *q = b;

    return (p->step > q->step) - (p->step < q->step);
}

void seep_page_changes_merge(struct seep_page_changes *changes)
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

json_t *seep_page_changes_json(const struct seep_page_changes *changes, size_t most)
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

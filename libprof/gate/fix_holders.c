#include "libprof/gate/fix_holders.h"

#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"

#include <string.h>

static bool same_holder(const json_t *before, const json_t *after)
{
    const char *was = seep_get_holder_name(before), *is = seep_get_holder_name(after);

    return was && is && strcmp(was, is) == 0;
}

static bool same_space(const json_t *before, const json_t *after)
{
    return strcmp(seep_get_space_class(seep_get_text(before, "space", "")),
                  seep_get_space_class(seep_get_text(after, "space", ""))) == 0;
}

/* The index of the pair that has only an after and belongs to this before; the number of pairs if
 * there is none. */
static size_t find_after(const json_t *pairs, const json_t *before)
{
    json_t *pair;
    size_t i;

    json_array_foreach (pairs, i, pair) {
        const json_t *after = json_object_get(pair, "after");
        if (!json_is_object(json_object_get(pair, "before")) && same_holder(before, after) &&
            same_space(before, after))
            return i;
    }
    return json_array_size(pairs);
}

int seep_fix_join_by_holder(json_t *pairs)
{
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        json_t *pair = json_array_get(pairs, i);
        const json_t *before = json_object_get(pair, "before");
        if (!json_is_object(before) || json_is_object(json_object_get(pair, "after")))
            continue;
        size_t k = find_after(pairs, before);
        if (k == json_array_size(pairs))
            continue;
        if (json_object_set(pair, "after", json_object_get(json_array_get(pairs, k), "after")) ||
            json_array_remove(pairs, k))
            return -SEEP_ENOMEM;
        i -= k < i;
    }
    return 0;
}

bool seep_fix_holder_stopped(const json_t *before, const json_t *after)
{
    struct seep_slope growth;

    return same_holder(before, after) && seep_get_holder_grows(before) &&
           seep_get_holder_stays(after) &&
           seep_get_slope(after, "growth_bytes_per_step", &growth) && !(growth.low > 0);
}

#include "libprof/who/merge/site_holders.h"

#include "libprof/thresholds/thresholds.h"
#include "libprof/who/merge/hops.h"

static bool has_pid(const json_t *pids, uint32_t pid)
{
    const json_t *one;
    size_t i;

    json_array_foreach (pids, i, one) {
        if (json_integer_value(one) == (json_int_t)pid)
            return true;
    }
    return false;
}

static uint64_t bytes_at(const struct seep_level *level, int32_t step)
{
    int64_t bytes = seep_level_at(level, step).bytes;

    return bytes > 0 ? (uint64_t)bytes : 0;
}

int seep_site_held_by(const struct seep_model *m, const json_t *answer, uint32_t site,
                      struct seep_level *level, struct seep_site_held *held)
{
    const struct seep_model_site *s = &m->sites[site];
    const json_t *pids = json_object_get(answer, "pids");
    json_int_t step = json_integer_value(json_object_get(answer, "step"));
    uint64_t before = 0, after = 0;
    bool is_looked_at = false;

    *held = (struct seep_site_held){0};
    if (!answer || step > INT32_MAX - 1)
        return 0;
    for (uint32_t k = s->slots; k; k = m->slots[k - 1].next) {
        uint32_t process = m->slots[k - 1].process, part = k - 1;
        if (!has_pid(pids, m->processes[process].id.pid))
            continue;
        is_looked_at = true;
        if (seep_level_sum_slots(m, &part, 1, level))
            return -SEEP_ENOMEM;
        before = seep_sum(before, bytes_at(level, (int32_t)step));
        after = seep_sum(after, bytes_at(level, (int32_t)step + 1));
    }
    held->bytes = before > after ? before : after;
    /* An answer's step is the last one that had ended. */
    held->known =
        is_looked_at && (held->bytes || (step + 1 >= s->first_step && step <= s->last_step));
    return 0;
}

int seep_held_may_be_of_others(const struct seep_model *m, const json_t *answer,
                               const uint32_t *sites, size_t n, struct seep_level *level, bool *may)
{
    const json_t *first = json_array_get(json_object_get(answer, "paths"), 0);
    const double rest = json_number_value(json_object_get(answer, "bytes")) -
                        json_number_value(json_object_get(answer, "explained_bytes"));
    uint64_t bytes = 0;
    int rc = 0;

    *may = false;
    if (!seep_hops_root_is(first, "static") && !seep_hops_root_is(first, "shared"))
        return 0;
    for (size_t i = 0; i < n && !rc; i++) {
        struct seep_site_held held;
        rc = seep_site_held_by(m, answer, sites[i], level, &held);
        bytes = seep_sum(bytes, held.bytes);
    }
    *may = !rc && bytes && rest >= SEEP_T_MOST * (double)bytes;
    return rc;
}

#include "libprof/measure/host_refusal.h"

#include "libprof/thresholds/thresholds.h"

bool seep_host_refusal_is_probe(const struct seep_model *m, const struct seep_model_shortage *its)
{
    const struct seep_model_refusal *r = &its->refusal;
    const bool in_step = m->step_source == SEEP_STEP_TIME || r->met_step == its->step;

    return its->source == SEEP_SHORTAGE_BY_HOST && r->met_bytes && in_step &&
           (r->met_by_same || r->met_bytes >= its->asked_bytes / SEEP_T_RETRY_SHARE);
}

static bool is_reached(uint64_t limit, uint64_t used, uint64_t asked)
{
    return limit && seep_sum(seep_sum(used, asked), limit / SEEP_T_NEGLIGIBLE) >= limit;
}

struct seep_host_bound seep_host_bound_of(const struct seep_model_shortage *its)
{
    const struct seep_model_refusal *r = &its->refusal;

    if (its->source != SEEP_SHORTAGE_BY_HOST)
        return (struct seep_host_bound){0};
    if (is_reached(r->limit_address_bytes, r->address_bytes, its->asked_bytes))
        return (struct seep_host_bound){"RLIMIT_AS", r->limit_address_bytes, r->address_bytes};
    if (is_reached(r->limit_data_bytes, r->data_bytes, its->asked_bytes))
        return (struct seep_host_bound){"RLIMIT_DATA", r->limit_data_bytes, r->data_bytes};
    return (struct seep_host_bound){.kind = "overcommit"};
}

uint64_t seep_host_bound_free(const struct seep_host_bound *bound)
{
    return bound->bytes > bound->used_bytes ? bound->bytes - bound->used_bytes : 0;
}

#include "libprof/model/model.h"
#include "libprof/model/stack_import.h"
#include "libprof/model/stages/process_import.h"

#include <stdio.h>

static int add(struct seep_model *m, const struct seep_model_oom *its)
{
    if (seep_grow(&m->ooms, &m->ooms_capacity, m->n_ooms + 1, sizeof *m->ooms))
        return -SEEP_ENOMEM;
    m->ooms[m->n_ooms++] = *its;
    return 0;
}

/* ---- of devices ------------------------------------------------------------------------------ */

/* Whether PyTorch's allocator reported later in the same step that it had no room: then the
 * runtime's refusals were its attempts. */
static bool is_a_try(const struct seep_device_notes *notes, const struct seep_device_oom *its)
{
    for (size_t i = 0; its->source == SEEP_OOM_BY_RUNTIME && i < SEEP_MAX_OOMS; i++) {
        const struct seep_device_oom *other = &notes->ooms[i];
        if (other->source == SEEP_OOM_BY_ALLOCATOR && other->device == its->device &&
            other->period == its->period && other->t_ns >= its->t_ns)
            return true;
    }
    return false;
}

/* The space that had no room: the program's own, tensor:N, device:N, or pinned host memory; false
 * if the record names none. */
static bool space_of_oom(struct seep_model *m, const struct seep_model_process *p,
                         const struct seep_device_oom *its, uint16_t *space)
{
    const bool by_runtime = its->source != SEEP_OOM_BY_ALLOCATOR;
    char name[24];

    if (its->source == SEEP_OOM_BY_PROGRAM) {
        if (its->space >= SEEP_MAX_SPACES)
            return false;
        snprintf(name, sizeof name, "%.23s", p->profile->header->spaces[its->space].name);
        return !seep_space_parse(name).host_like && seep_model_add_space(m, name, space);
    }
    if (by_runtime && its->device == SEEP_DEVICE_PINNED)
        return seep_model_add_space(m, "pinned", space);
    if (its->device >= SEEP_MAX_DEVICES)
        return false;
    snprintf(name, sizeof name, "%s:%u", by_runtime ? "device" : "tensor", its->device);
    return seep_model_add_space(m, name, space);
}

static bool is_of_runtime(uint32_t source)
{
    return source != SEEP_OOM_BY_ALLOCATOR && source != SEEP_OOM_BY_PROGRAM;
}

static enum seep_oom_source source_of(const struct seep_device_oom *its)
{
    const bool known = its->source <= SEEP_OOM_BY_PROGRAM && its->source != SEEP_OOM_BY_HOST;

    return known ? (enum seep_oom_source)its->source : SEEP_OOM_BY_RUNTIME;
}

static uint32_t device_of(const struct seep_model *m, uint16_t space)
{
    const struct seep_space_name *name = &m->spaces[space].name;

    if (name->class == SEEP_CLASS_PINNED)
        return SEEP_DEVICE_PINNED;
    return name->device >= 0 && name->device < SEEP_MAX_DEVICES ? (uint32_t)name->device
                                                                : SEEP_DEVICE_OWN;
}

static int add_of_devices(struct seep_model *m, struct seep_resolver *resolver, uint32_t process)
{
    const struct seep_model_process *p = &m->processes[process];
    const struct seep_device_notes *notes = &p->profile->header->devices;

    for (size_t i = 0; i < SEEP_MAX_OOMS; i++) {
        const struct seep_device_oom *its = &notes->ooms[i];
        const bool by_runtime = is_of_runtime(its->source);
        uint16_t space;
        if (!its->t_ns || is_a_try(notes, its) || !space_of_oom(m, p, its, &space))
            continue;
        const struct seep_model_oom oom = {
            .process = process,
            .stack = its->stack ? seep_resolve_stack(resolver, p->profile, its->stack) : 0,
            .device = its->source == SEEP_OOM_BY_PROGRAM ? device_of(m, space) : its->device,
            .space = space,
            .source = source_of(its),
            .step = seep_model_step(m, p, its->period),
            .asked_bytes = its->asked_bytes,
            .allocated_bytes = by_runtime ? 0 : its->allocated_bytes,
            .reserved_bytes = by_runtime ? 0 : its->reserved_bytes,
            .registered_bytes =
                by_runtime && its->device == SEEP_DEVICE_PINNED ? its->allocated_bytes : 0};
        if (add(m, &oom))
            return -SEEP_ENOMEM;
    }
    return 0;
}

/* ---- of the host ----------------------------------------------------------------------------- */

static int add_of_host(struct seep_model *m, struct seep_resolver *resolver, uint32_t process)
{
    const struct seep_model_process *p = &m->processes[process];
    const struct seep_host_ooms *table = &p->profile->header->host_ooms;

    for (size_t i = 0; i < SEEP_MAX_HOST_OOMS; i++) {
        const struct seep_host_oom *its = &table->list[i];
        uint16_t space;
        if (!its->t_ns || !seep_model_add_space(m, "host", &space))
            continue;
        const struct seep_model_oom oom = {
            .process = process,
            .stack = its->stack ? seep_resolve_stack(resolver, p->profile, its->stack) : 0,
            .device = SEEP_DEVICE_HOST,
            .space = space,
            .source = SEEP_OOM_BY_HOST,
            .step = seep_model_step(m, p, its->period),
            .asked_bytes = its->asked_bytes,
            .allocated_bytes = its->live_bytes,
            .refusal = {.requests = its->requests ? its->requests : 1,
                        .address_bytes = its->address_bytes,
                        .data_bytes = its->data_bytes,
                        .limit_address_bytes = its->limit_address_bytes,
                        .limit_data_bytes = its->limit_data_bytes,
                        .met_bytes = its->met_bytes,
                        .met_step = seep_model_step(m, p, its->met_period),
                        .met_by_same = its->met_by_same != 0}};
        if (add(m, &oom))
            return -SEEP_ENOMEM;
    }
    return 0;
}

int seep_process_import_ooms(struct seep_model *m, struct seep_resolver *resolver, uint32_t process)
{
    const int rc = add_of_devices(m, resolver, process);

    return rc ? rc : add_of_host(m, resolver, process);
}

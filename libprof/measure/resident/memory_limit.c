/* Each limit is compared with what counts towards it: cgroup and RAM with the RSS of all processes,
 * RLIMIT_AS with the address space of one, RLIMIT_DATA with one's heap and private maps, a device's
 * capacity with what is in use of it. */
#include "libprof/measure/resident/memory_limit.h"

#include "libprof/measure/device_memory.h"
#include "libprof/measure/resident/resident_pace.h"

#include <string.h>

static void tighten(struct seep_limit *limit, uint64_t bytes, const char *kind)
{
    if (bytes && (!limit->bytes || bytes < limit->bytes))
        *limit = (struct seep_limit){.bytes = bytes, .kind = kind};
}

static const char *cgroup_kind(const struct seep_process_limits *limits)
{
    return limits->cgroup_version == 1 ? "cgroup-v1" : "cgroup-v2";
}

/* A limit on all processes together, on the main one's machine. */
static struct seep_limit shared_limit(const struct seep_model *m)
{
    const struct seep_model_process *main = &m->processes[m->main];
    struct seep_limit limit = {.kind = "none"};

    if (main->job)
        tighten(&limit, main->job->limit_bytes, main->job->limit_kind);
    tighten(&limit, main->limits.cgroup_bytes, cgroup_kind(&main->limits));
    tighten(&limit, main->limits.ram_bytes, "ram");
    return limit;
}

uint64_t seep_memory_limit_of(const struct seep_model *m, const char **kind)
{
    struct seep_limit limit = shared_limit(m);

    for (size_t i = 0; i < m->n_processes && !shared_limit(m).bytes; i++) {
        tighten(&limit, m->processes[i].limits.address_bytes, "RLIMIT_AS");
        tighten(&limit, m->processes[i].limits.data_bytes, "RLIMIT_DATA");
    }
    *kind = limit.kind;
    return limit.bytes;
}

/* What a process has taken for its heap and its private maps. */
static uint64_t private_at(const struct seep_model *m, const struct seep_model_process *p,
                           uint64_t t)
{
    uint64_t sum = 0;

    for (uint16_t s = 0; s < m->n_spaces; s++) {
        if (m->spaces[s].name.host_like)
            sum += seep_process_live_at(p, s, t);
    }
    return sum;
}

double seep_memory_limit_steps(const struct seep_limit *limit)
{
    return limit->bytes > limit->used ? (double)(limit->bytes - limit->used) / limit->growth : 0;
}

/* The most that was live at one time: of tensors, else of the driver's blocks. What grows ends with
 * it, and at its end a program may free it. */
static uint64_t most_on(const struct seep_model *m, int device)
{
    uint64_t tensors = 0, blocks = 0;

    for (uint16_t i = 0; i < m->n_spaces; i++) {
        const struct seep_space_name *name = &m->spaces[i].name;
        if (name->device == device && name->class == SEEP_CLASS_TENSOR)
            tensors = m->spaces[i].totals.peak_bytes;
        else if (name->device == device && name->class == SEEP_CLASS_DEVICE)
            blocks = m->spaces[i].totals.peak_bytes;
    }
    return tensors ? tensors : blocks;
}

static struct seep_limit limit_of_device(const struct seep_model *m, int device, double slope)
{
    const struct seep_device_memory d = seep_device_memory_of(m, device);
    const uint64_t taken = seep_sum(d.used_bytes, d.others_bytes);
    const uint64_t cached = seep_device_memory_cached(&d);
    const uint64_t used = taken > cached ? taken - cached : 0;

    return (struct seep_limit){.bytes = d.capacity_bytes,
                               .used = d.used_bytes ? used : most_on(m, device),
                               .growth = slope,
                               .kind = "device"};
}

struct seep_limit seep_memory_limit_of_space(const struct seep_model *m, uint16_t space,
                                             double slope)
{
    const struct seep_model_space *its = &m->spaces[space];

    switch (its->name.class) {
    case SEEP_CLASS_DEVICE:
    case SEEP_CLASS_TENSOR:
        return limit_of_device(m, its->name.device, slope);
    case SEEP_CLASS_OTHER:
    case SEEP_CLASS_PINNED:
        return (struct seep_limit){.bytes = its->capacity_bytes,
                                   .used = its->totals.peak_bytes,
                                   .growth = slope,
                                   .kind = "capacity"};
    default:
        return (struct seep_limit){.kind = "none"};
    }
}

static void keep_nearer(struct seep_limit *nearest, const struct seep_limit *limit)
{
    if (limit->bytes &&
        (!nearest->bytes || seep_memory_limit_steps(limit) < seep_memory_limit_steps(nearest)))
        *nearest = *limit;
}

struct seep_limit seep_memory_limit_nearest(const struct seep_model *m, double slope,
                                            const uint32_t *processes, size_t n)
{
    struct seep_limit nearest = {0}, limit = shared_limit(m);

    if (limit.bytes) {
        const struct seep_resident most = seep_resident_at_most(m);
        limit.growth = slope;
        limit.used = most.bytes;
        limit.own = most.own_bytes;
    }
    keep_nearer(&nearest, &limit);
    for (size_t i = 0; i < n; i++) {
        const struct seep_model_process *p = &m->processes[processes[i]];
        double growth = slope / (double)n;
        uint64_t last = p->end_ns ? p->end_ns - 1 : 0;
        limit = (struct seep_limit){.bytes = p->limits.address_bytes,
                                    .used = p->address_space_bytes,
                                    .growth = growth,
                                    .kind = "RLIMIT_AS"};
        keep_nearer(&nearest, &limit);
        limit = (struct seep_limit){.bytes = p->limits.data_bytes,
                                    .used = private_at(m, p, last),
                                    .growth = growth,
                                    .kind = "RLIMIT_DATA"};
        keep_nearer(&nearest, &limit);
    }
    return nearest;
}

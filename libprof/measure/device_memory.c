#include "libprof/measure/device_memory.h"

#include <string.h>

#include "libprof/model/model.h"

/* Without a cache, or with the driver's own pool, PyTorch reserves nothing; expandable segments are
 * given back page by page. */
bool seep_allocator_is_cured(unsigned settings)
{
    return settings & (SEEP_ALLOCATOR_EXPANDABLE | SEEP_ALLOCATOR_ASYNC | SEEP_ALLOCATOR_NO_CACHE);
}

const char *seep_allocator_advice(unsigned settings)
{
    if (seep_allocator_is_cured(settings))
        return "The allocator is already set to keep little: what is reserved belongs to other "
               "streams or to the private pool of a CUDA graph. Let sizes repeat (pad or bucket "
               "them), or drop graphs that are not replayed any more.";
    if (settings & SEEP_ALLOCATOR_MAX_SPLIT)
        return "Set expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF instead of "
               "max_split_size_mb. Let sizes repeat: pad or bucket them.";
    if (settings & SEEP_ALLOCATOR_COLLECTS)
        return "Set expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF in addition to "
               "garbage_collection_threshold. Let sizes repeat: pad or bucket them.";
    return "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (PyTorch 2.1 or later); before "
           "2.1 set max_split_size_mb or garbage_collection_threshold:0.8. Let sizes repeat: pad "
           "or bucket them. Call empty_cache() when a phase with other sizes begins, as between "
           "training and evaluation.";
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t beyond(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* What a process saw in use on the device beyond what the job's processes on that machine had.
 * Processes that have ended still count as the job's, so this errs on the low side. */
static uint64_t others_seen_by(const struct seep_model *m, const struct seep_model_process *p,
                               int device)
{
    uint64_t ours = 0;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *q = &m->processes[i];
        if (strcmp(p->id.host, q->id.host) == 0)
            ours = seep_sum(ours, q->recording.uses[device].used_bytes);
    }
    return beyond(p->recording.uses[device].all_used_bytes, ours);
}

static void add_use(const struct seep_model *m, const struct seep_model_process *p, int device,
                    struct seep_device_memory *d)
{
    const struct seep_device_use *its = &p->recording.uses[device];

    if (!its->looks)
        return;
    d->looked = true;
    d->capacity_bytes = larger(d->capacity_bytes, its->capacity_bytes);
    d->used_bytes = seep_sum(d->used_bytes, its->used_bytes);
    d->used_peak_bytes = seep_sum(d->used_peak_bytes, its->used_peak_bytes);
    d->others_bytes = larger(d->others_bytes, others_seen_by(m, p, device));
}

/* As announced of the device, or of an allocator on it. */
static void bound_capacity(const struct seep_model *m, int device, struct seep_device_memory *d)
{
    for (uint16_t i = 0; i < m->n_spaces; i++) {
        const struct seep_model_space *its = &m->spaces[i];
        const bool is_its = its->name.device == device && (its->name.class == SEEP_CLASS_DEVICE ||
                                                           its->name.class == SEEP_CLASS_TENSOR);
        if (is_its && its->capacity_bytes &&
            (!d->capacity_bytes || its->capacity_bytes < d->capacity_bytes))
            d->capacity_bytes = its->capacity_bytes;
    }
}

struct seep_device_memory seep_device_memory_of(const struct seep_model *m, int device)
{
    struct seep_device_memory d = {0};

    if (device < 0 || device >= SEEP_MAX_DEVICES)
        return d;
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        const struct seep_tensor_books *books = &p->recording.tensors[device];
        add_use(m, p, device, &d);
        if (books->reports || p->recording.uses[device].looks)
            d.settings |= p->recording.allocator_settings;
        d.reports = seep_sum(d.reports, books->reports);
        d.live_bytes = seep_sum(d.live_bytes, books->live_bytes);
        d.allocated_bytes = seep_sum(d.allocated_bytes, books->allocated_bytes);
        d.reserved_bytes = seep_sum(d.reserved_bytes, books->reserved_bytes);
        d.drift_bytes = larger(d.drift_bytes, books->drift_bytes);
    }
    bound_capacity(m, device, &d);
    return d;
}

bool seep_device_memory_is_known(const struct seep_device_memory *d)
{
    return d->reports || d->capacity_bytes || d->used_peak_bytes;
}

uint64_t seep_device_memory_cached(const struct seep_device_memory *d)
{
    return beyond(d->reserved_bytes, d->allocated_bytes);
}

/* What a process asked for on a device, above all how often: a process that works there asks in
 * every step, one that only keeps memory there does not. Counts tensors where they are known: the
 * driver's blocks may be recorded for some devices only. */
struct work {
    uint64_t allocations, peak_bytes;
};

static struct work work_on(const struct seep_model *m, const struct seep_model_process *p,
                           int device, enum seep_space_class class)
{
    struct work most = {0};

    for (int s = 0; s < SEEP_MAX_SPACES; s++) {
        const struct seep_space_name *name =
            p->space_of[s] ? &m->spaces[p->space_of[s] - 1].name : NULL;
        if (!name || name->class != class || name->device != device)
            continue;
        most.allocations = larger(most.allocations, p->spaces[s].allocations);
        most.peak_bytes = larger(most.peak_bytes, p->spaces[s].peak_bytes);
    }
    return most;
}

static bool is_more(struct work a, struct work b)
{
    return a.allocations != b.allocations ? a.allocations > b.allocations
                                          : a.peak_bytes > b.peak_bytes;
}

static int device_of_most(const struct seep_model *m, const struct seep_model_process *p,
                          enum seep_space_class class)
{
    struct work most = {0};
    int best = -1;

    for (int s = 0; s < SEEP_MAX_SPACES; s++) {
        const int device = p->space_of[s] ? m->spaces[p->space_of[s] - 1].name.device : -1;
        const struct work its = device < 0 ? most : work_on(m, p, device, class);
        if (is_more(its, most)) {
            most = its;
            best = device;
        }
    }
    return best;
}

int seep_device_of_process(const struct seep_model *m, const struct seep_model_process *p)
{
    const int device = device_of_most(m, p, SEEP_CLASS_TENSOR);

    return device >= 0 ? device : device_of_most(m, p, SEEP_CLASS_DEVICE);
}

/* Ranks of one training on one machine: known from the launcher's variables; else children of one
 * process that train side by side, or compute side by side where neither has steps. */
static bool are_ranks(const struct seep_model_process *p, const struct seep_model_process *q)
{
    if (p == q || strcmp(p->id.host, q->id.host) != 0)
        return false;
    if (p->id.rank >= 0 || q->id.rank >= 0)
        return p->id.rank >= 0 && q->id.rank >= 0 && p->id.rank != q->id.rank;
    return !p->steps == !q->steps && p->role != SEEP_ROLE_WORKER && q->role != SEEP_ROLE_WORKER &&
           p->id.ppid == q->id.ppid && p->start_ns < q->end_ns && q->start_ns < p->end_ns;
}

bool seep_device_is_anothers(const struct seep_model *m, const struct seep_model_process *p,
                             int device)
{
    const int own = p->id.rank ? seep_device_of_process(m, p) : -1;

    for (size_t i = 0; i < m->n_processes && own >= 0 && own != device; i++) {
        const struct seep_model_process *q = &m->processes[i];
        if (are_ranks(p, q) && seep_device_of_process(m, q) == device)
            return true;
    }
    return false;
}

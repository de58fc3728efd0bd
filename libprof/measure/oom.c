#include "libprof/measure/oom.h"

#include <stdlib.h>

#include "libprof/measure/device_layout.h"
#include "libprof/measure/segments.h"
#include "libprof/model/live_level.h"
#include "libprof/thresholds/thresholds.h"

bool seep_host_refusal_is_probe(const struct seep_model *m, const struct seep_model_oom *its)
{
    const struct seep_model_refusal *r = &its->refusal;
    const bool in_step = m->step_source == SEEP_STEP_TIME || r->met_step == its->step;

    return its->source == SEEP_OOM_BY_HOST && r->met_bytes && in_step &&
           (r->met_by_same || r->met_bytes >= its->asked_bytes / SEEP_T_RETRY_SHARE);
}

static bool is_reached(uint64_t limit, uint64_t used, uint64_t asked)
{
    return limit && seep_sum(seep_sum(used, asked), limit / SEEP_T_NEGLIGIBLE) >= limit;
}

struct seep_host_bound seep_host_bound_of(const struct seep_model_oom *its)
{
    const struct seep_model_refusal *r = &its->refusal;

    if (its->source != SEEP_OOM_BY_HOST)
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

/* ---- which requests count -------------------------------------------------------------------- */

/* Whether a request of the runtime may come from PyTorch's allocator: it has reported on that
 * device, and its segments are requested on that stack. */
static bool is_allocators(const struct seep_model *m, const struct seep_model_oom *its,
                          const bool *marked)
{
    return its->source != SEEP_OOM_BY_ALLOCATOR && its->source != SEEP_OOM_BY_PROGRAM &&
           its->device < SEEP_MAX_DEVICES &&
           m->processes[its->process].recording.tensors[its->device].reports &&
           (!its->stack || marked[its->stack]);
}

/* Adds the stacks that request segments of a device. */
static int mark_segments(const struct seep_code *code, uint16_t device, bool *marked)
{
    const struct seep_model *m = code->model;
    uint32_t *tensors = malloc((m->n_sites + 1) * sizeof *tensors);
    uint16_t space;
    int rc = tensors ? 0 : -SEEP_ENOMEM;

    if (!rc && seep_model_tensor_space(m, device, &space))
        rc = seep_segments_mark(code, tensors, seep_sites_of_space(m, space, tensors), marked);
    free(tensors);
    return rc;
}

int seep_oom_requests(const struct seep_code *code, bool *counts)
{
    const struct seep_model *m = code->model;
    bool *marked = calloc(m->dict.n_stacks + 1, sizeof *marked);
    int rc = marked ? 0 : -SEEP_ENOMEM;

    for (uint16_t s = 0; s < m->n_spaces && !rc; s++) {
        bool asked = false;
        for (size_t i = 0; i < m->n_ooms; i++)
            asked |= m->ooms[i].device < SEEP_MAX_DEVICES &&
                     m->ooms[i].source == SEEP_OOM_BY_RUNTIME && m->ooms[i].space == s;
        if (asked)
            rc = mark_segments(code, s, marked);
    }
    for (size_t i = 0; i < m->n_ooms && !rc; i++)
        counts[i] =
            !is_allocators(m, &m->ooms[i], marked) && !seep_host_refusal_is_probe(m, &m->ooms[i]);
    free(marked);
    return rc;
}

bool seep_oom_find(const struct seep_model *m, const bool *counts, uint16_t space,
                   struct seep_oom *s)
{
    *s = (struct seep_oom){.space = space, .first_step = INT32_MAX};
    for (size_t i = 0; i < m->n_ooms; i++) {
        const struct seep_model_oom *its = &m->ooms[i];
        if (!counts[i] || its->space != space)
            continue;
        s->n_requests += its->refusal.requests > 1 ? its->refusal.requests : 1;
        s->first_step = its->step < s->first_step ? its->step : s->first_step;
        if (!s->request || its->step >= s->request->step)
            s->request = its;
    }
    if (s->request)
        s->before = s->request->step - 1;
    return s->request != NULL;
}

/* ---- what lay there -------------------------------------------------------------------------- */

static bool is_of(const struct seep_model *m, const struct seep_model_site *site, uint32_t process)
{
    for (uint32_t k = site->slots; k; k = m->slots[k - 1].next) {
        if (m->slots[k - 1].process != process)
            return false;
    }
    return true;
}

static uint64_t positive(int64_t n)
{
    return n > 0 ? (uint64_t)n : 0;
}

/* What a site may have allocated in the step itself: it was active then, and was once higher than
 * it was before. */
static uint64_t made_in_step(const struct seep_model *m, const struct seep_oom *s,
                             const struct seep_model_site *site, uint64_t kept)
{
    if (site->first_step > s->request->step || site->last_step < s->request->step ||
        !is_of(m, site, s->request->process) || site->totals.peak_bytes <= kept)
        return 0;
    return site->totals.peak_bytes - kept;
}

static int by_most(const void *a, const void *b)
{
    const struct seep_oom_line *p = a, *q = b;
    const uint64_t its = seep_sum(p->kept_bytes, p->step_bytes);
    const uint64_t others = seep_sum(q->kept_bytes, q->step_bytes);

    if (its != others)
        return its > others ? -1 : 1;
    return (p->frame > q->frame) - (p->frame < q->frame);
}

/* Adds a site to its line; of_frame: the line's number + 1. Returns 0 or -SEEP_ENOMEM. */
static int add_site(const struct seep_code *code, uint32_t site, struct seep_level *level,
                    uint32_t *of_frame, struct seep_oom *s)
{
    const struct seep_model *m = code->model;
    const struct seep_model_site *its = &m->sites[site];
    const uint32_t frame = code->lines->shown[its->stack];

    if (seep_level_sum(m, &site, 1, s->request->process, level))
        return -SEEP_ENOMEM;
    const struct seep_level_point then = seep_level_at(level, s->before);
    const uint64_t kept = positive(then.bytes);
    const uint64_t made = made_in_step(m, s, its, kept);
    s->kept_bytes = seep_sum(s->kept_bytes, kept);
    s->kept_blocks = seep_sum(s->kept_blocks, positive(then.blocks));
    s->began_bytes = seep_sum(s->began_bytes, positive(seep_level_at(level, 1).bytes));
    if (!kept && !made)
        return 0;
    if (!of_frame[frame]) {
        of_frame[frame] = (uint32_t)++s->n_lines;
        s->lines[s->n_lines - 1] = (struct seep_oom_line){.frame = frame, .site = site};
    }
    struct seep_oom_line *line = &s->lines[of_frame[frame] - 1];
    line->kept_bytes = seep_sum(line->kept_bytes, kept);
    line->kept_blocks = seep_sum(line->kept_blocks, positive(then.blocks));
    line->step_bytes = seep_sum(line->step_bytes, made);
    if (its->totals.peak_bytes > m->sites[line->site].totals.peak_bytes)
        line->site = site;
    return 0;
}

/* Free memory of the device when the request failed; assumes that contexts take as much as at the
 * last look. */
static uint64_t free_then(const struct seep_oom *s)
{
    const struct seep_device_memory *d = &s->device;
    const uint64_t context =
        d->used_bytes > d->reserved_bytes ? d->used_bytes - d->reserved_bytes : 0;
    const uint64_t held = seep_oom_has_reserve(s) ? s->request->reserved_bytes : s->allocated_bytes;
    const uint64_t taken = seep_sum(seep_sum(context, held), d->others_bytes);

    return d->capacity_bytes > taken ? d->capacity_bytes - taken : 0;
}

/* How the unallocated memory was split when the allocator gave up. Returns 0 or -SEEP_ENOMEM. */
static int weigh_pieces(const struct seep_model *m, struct seep_oom *s)
{
    const struct seep_model_oom *r = s->request;
    struct seep_device_layout layout;

    for (size_t i = 0; i < m->n_layouts; i++) {
        const struct seep_model_layout *its = &m->layouts[i];
        if (its->process != r->process || its->device != r->device || its->step != r->step ||
            its->reason != SEEP_LAYOUT_FAILED || its->asked_bytes != r->asked_bytes ||
            its->left_out)
            continue;
        if (seep_device_layout_make(m, its, NULL, &layout))
            return -SEEP_ENOMEM;
        s->unallocated_pieces = layout.n_free;
        s->largest_piece_bytes = layout.largest_free_bytes;
        s->unusable_bytes = layout.unusable_bytes;
        seep_device_layout_fini(&layout);
    }
    return 0;
}

static void weigh_device(const struct seep_model *m, struct seep_oom *s)
{
    const struct seep_model_oom *r = s->request;

    s->device = seep_device_memory_of(m, (int)r->device);
    if (r->source == SEEP_OOM_BY_PROGRAM && r->device >= SEEP_MAX_DEVICES)
        s->device.capacity_bytes = m->spaces[r->space].capacity_bytes;
    s->allocated_bytes =
        r->allocated_bytes ? r->allocated_bytes : seep_sum(s->kept_bytes, r->registered_bytes);
    s->unallocated_bytes =
        r->reserved_bytes > r->allocated_bytes ? r->reserved_bytes - r->allocated_bytes : 0;
    s->bound = seep_host_bound_of(r);
    s->free_bytes = s->bound.bytes ? seep_host_bound_free(&s->bound) : free_then(s);
}

int seep_oom_weigh(const struct seep_code *code, struct seep_oom *s)
{
    const struct seep_model *m = code->model;
    uint32_t *of_frame = calloc(m->dict.n_frames + 1, sizeof *of_frame);
    struct seep_level level = {0};
    int rc = 0;

    s->lines = calloc(m->n_sites + 1, sizeof *s->lines);
    if (!s->lines || !of_frame)
        rc = -SEEP_ENOMEM;
    for (uint32_t i = 0; i < m->n_sites && !rc; i++) {
        if (seep_oom_covers(m, s, m->sites[i].space))
            rc = add_site(code, i, &level, of_frame, s);
    }
    if (!rc && s->n_lines)
        qsort(s->lines, s->n_lines, sizeof *s->lines, by_most);
    weigh_device(m, s);
    if (!rc)
        rc = weigh_pieces(m, s);
    seep_level_fini(&level);
    free(of_frame);
    return rc;
}

void seep_oom_free(struct seep_oom *s)
{
    if (s)
        free(s->lines);
    free(s);
}

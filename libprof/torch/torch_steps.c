#include "libprof/torch/torch_steps.h"

#include "libprof/torch/torch_tidy.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_STEPS = 2 };

static int add_end(struct seep_torch_steps *s, int64_t time_us)
{
    if (s->n && s->ends_us[s->n - 1] >= time_us)
        return 0;
    if (seep_grow(&s->ends_us, &s->capacity, s->n + 1, sizeof *s->ends_us))
        return -SEEP_ENOMEM;
    s->ends_us[s->n++] = time_us;
    return 0;
}

uint8_t seep_torch_main_device(const struct seep_torch_records *r)
{
    size_t n[UINT8_MAX + 1] = {0};
    uint8_t most = 0;

    for (size_t i = 0; i < r->n_events; i++)
        n[r->events[i].device]++;
    for (uint8_t d = 0; d < SEEP_TORCH_DEVICES; d++)
        if (n[d] > n[most])
            most = d;
    return most;
}

struct stretch {
    int64_t from_us, to_us;
};

static struct stretch stretch_of(const struct seep_torch_records *r, uint8_t device)
{
    struct stretch s = {INT64_MAX, 0};

    for (size_t i = 0; i < r->n_events; i++) {
        const struct seep_torch_event *e = &r->events[i];
        if (e->device != device)
            continue;
        s.from_us = e->time_us < s.from_us ? e->time_us : s.from_us;
        s.to_us = e->time_us > s.to_us ? e->time_us : s.to_us;
    }
    return s;
}

/* ---- marks ------------------------------------------------------------------------------- */

/* What ends with such a name inside the trace. */
static int by_marks(const struct seep_torch_records *r, const struct stretch *within,
                    const char *name, struct seep_torch_steps *s)
{
    const size_t n = strlen(name);
    int rc = 0;

    s->n = 0;
    for (size_t i = 0; i < r->n_annotations && !rc; i++) {
        const struct seep_torch_annotation *a = &r->annotations[i];
        if (a->is_end && a->time_us >= within->from_us && a->time_us <= within->to_us &&
            strncmp(seep_torch_text(r, a->name), name, n) == 0)
            rc = add_end(s, a->time_us);
    }
    return rc;
}

/* ---- calls ------------------------------------------------------------------------------- */

/* Whose call a stack is in: by the frames of PyTorch that tell it. */
typedef bool is_callee(const struct seep_torch_records *r, uint32_t frame);

static bool lies_in(const struct seep_torch_records *r, uint32_t frame, const char *folder)
{
    return strstr(seep_torch_text(r, r->frames[frame].file), folder);
}

/* An optimizer's step(), of PyTorch or of a package that follows it; not a scheduler's. */
static bool is_optimizer(const struct seep_torch_records *r, uint32_t frame)
{
    const struct seep_torch_frame *f = &r->frames[frame];

    return strcmp(seep_torch_text(r, f->function), "step") == 0 &&
           !lies_in(r, frame, "lr_scheduler") &&
           (lies_in(r, frame, "/optim") || lies_in(r, frame, "/bitsandbytes/"));
}

static bool is_zero_grad(const struct seep_torch_records *r, uint32_t frame)
{
    return strcmp(seep_torch_text(r, r->frames[frame].function), "zero_grad") == 0;
}

static bool is_backward(const struct seep_torch_records *r, uint32_t frame)
{
    return seep_torch_frame_is(r, frame, "backward", "torch/_tensor.py") ||
           seep_torch_frame_is(r, frame, "backward", "torch/autograd/__init__.py");
}

/* Of each stack the frame that calls such a function: of the program, not of PyTorch. + 1; 0: it
 * is in none. NULL without memory. */
static uint32_t *find_callers(const struct seep_torch_records *r, is_callee *is)
{
    uint32_t *callers = calloc(r->n_stacks, sizeof *callers);

    for (size_t i = 0; callers && i < r->n_stacks; i++) {
        const struct seep_torch_stack *s = &r->stacks[i];
        bool is_inside = false;
        for (uint32_t k = 0; k < s->n && !callers[i]; k++) {
            const uint32_t frame = r->frame_ids[s->first + k];
            if (is_inside && !is(r, frame) && !lies_in(r, frame, "/torch/"))
                callers[i] = frame + 1;
            is_inside |= is(r, frame);
        }
    }
    return callers;
}

/* The caller whose calls are most; of several the first. A call is a run of events from inside. */
static uint32_t most_calls(const struct seep_torch_records *r, uint8_t device,
                           const uint32_t *callers)
{
    size_t *n = calloc(r->n_frames + 1, sizeof *n);
    uint32_t last = 0, most = 0;

    for (size_t i = 0; n && i < r->n_events; i++) {
        if (r->events[i].device != device)
            continue;
        const uint32_t caller = callers[r->events[i].stack];
        if (caller && caller != last && ++n[caller] > n[most])
            most = caller;
        last = caller;
    }
    free(n);
    return most;
}

/* Steps end as the calls of one place end. */
static int by_calls(const struct seep_torch_records *r, uint8_t device, is_callee *is,
                    struct seep_torch_steps *s)
{
    uint32_t *callers = find_callers(r, is);
    const uint32_t caller = callers ? most_calls(r, device, callers) : 0;
    int64_t end_us = -1;
    int rc = callers ? 0 : -SEEP_ENOMEM;

    s->n = 0;
    s->frame_plus_1 = caller;
    for (size_t i = 0; caller && i < r->n_events && !rc; i++) {
        const struct seep_torch_event *e = &r->events[i];
        if (e->device != device)
            continue;
        if (callers[e->stack] == caller) {
            end_us = e->time_us;
        } else if (end_us >= 0) {
            rc = add_end(s, end_us);
            end_us = -1;
        }
    }
    if (end_us >= 0 && !rc)
        rc = add_end(s, end_us);
    free(callers);
    return rc;
}

/* ---- what repeats ------------------------------------------------------------------------ */

/* What a line allocated, and how often. */
struct repeat {
    uint64_t bytes;
    uint32_t n;
};

/* Most of what is allocated again and again is allocated once a step: the number of times that most
 * bytes agree upon. 0: nothing repeats. */
static uint32_t usual_times(const struct repeat *of_stack, size_t n_stacks, uint32_t most)
{
    uint64_t *bytes = calloc((size_t)most + 1, sizeof *bytes);
    uint32_t usual = 0;

    for (size_t i = 1; bytes && i < n_stacks; i++)
        if (of_stack[i].n > MIN_STEPS)
            bytes[of_stack[i].n] += of_stack[i].bytes;
    for (uint32_t k = MIN_STEPS + 1; bytes && k <= most; k++)
        if (bytes[k] > bytes[usual])
            usual = k;
    free(bytes);
    return usual;
}

/* A step ends before the stack's next allocation. */
static int ends_before(const struct seep_torch_records *r, uint8_t device, uint32_t stack,
                       struct seep_torch_steps *s)
{
    int64_t before_us = 0;
    int rc = 0;

    for (size_t i = 0; i < r->n_events && !rc; i++) {
        const struct seep_torch_event *e = &r->events[i];
        if (e->device != device)
            continue;
        if (e->stack == stack && e->action == SEEP_TORCH_ALLOC && before_us)
            rc = add_end(s, before_us);
        before_us = e->time_us;
    }
    return rc;
}

static int by_repeats(const struct seep_torch_records *r, uint8_t device,
                      struct seep_torch_steps *s)
{
    struct repeat *of_stack = calloc(r->n_stacks, sizeof *of_stack);
    uint32_t most = 0, usual = 0, first = 0;
    int rc = of_stack ? 0 : -SEEP_ENOMEM;

    s->n = 0;
    for (size_t i = 0; !rc && i < r->n_events; i++) {
        const struct seep_torch_event *e = &r->events[i];
        if (e->device != device || e->action != SEEP_TORCH_ALLOC)
            continue;
        struct repeat *its = &of_stack[e->stack];
        its->bytes += e->bytes;
        most = ++its->n > most ? its->n : most;
    }
    if (!rc)
        usual = usual_times(of_stack, r->n_stacks, most);
    for (size_t i = 0; usual && i < r->n_events && !first; i++) {
        const struct seep_torch_event *e = &r->events[i];
        if (e->device == device && e->action == SEEP_TORCH_ALLOC && e->stack &&
            of_stack[e->stack].n == usual)
            first = e->stack;
    }
    if (first)
        rc = ends_before(r, device, first, s);
    s->frame_plus_1 = first && r->stacks[first].n ? r->frame_ids[r->stacks[first].first] + 1 : 0;
    free(of_stack);
    return rc;
}

/* ---- the choice -------------------------------------------------------------------------- */

static bool chosen(struct seep_torch_steps *s, enum seep_step_source source, enum seep_step_why why)
{
    s->source = source;
    s->why = why;
    return s->n >= MIN_STEPS;
}

/* The marks of several optimizers cannot be told apart, their callers can. An optimizer that
 * allocates nothing has only marks. */
static int by_optimizer(const struct seep_torch_records *r, uint8_t device,
                        const struct stretch *within, struct seep_torch_steps *s)
{
    int rc = by_marks(r, within, "Optimizer.step#", s);
    const size_t n_marks = s->n;

    if (!rc)
        rc = by_calls(r, device, is_optimizer, s);
    if (rc || (s->n >= MIN_STEPS && s->n >= n_marks / 8))
        return rc;
    s->frame_plus_1 = 0;
    return by_marks(r, within, "Optimizer.step#", s);
}

int seep_torch_steps_find(const struct seep_torch_records *r, struct seep_torch_steps *s)
{
    const uint8_t device = seep_torch_main_device(r);
    const struct stretch within = stretch_of(r, device);
    int rc;

    memset(s, 0, sizeof *s);
    rc = by_marks(r, &within, "ProfilerStep#", s);
    if (rc || chosen(s, SEEP_STEP_API, SEEP_WHY_TOLD))
        return rc;
    rc = by_optimizer(r, device, &within, s);
    if (rc || chosen(s, SEEP_STEP_OPTIMIZER, SEEP_WHY_OPTIMIZER))
        return rc;
    rc = by_calls(r, device, is_zero_grad, s);
    if (rc || chosen(s, SEEP_STEP_OPTIMIZER, SEEP_WHY_ZERO_GRAD))
        return rc;
    rc = by_calls(r, device, is_backward, s);
    if (rc || chosen(s, SEEP_STEP_LOOP, SEEP_WHY_BACKWARD))
        return rc;
    rc = by_repeats(r, device, s);
    if (rc || chosen(s, SEEP_STEP_LOOP, SEEP_WHY_REPEATS))
        return rc;
    s->n = 0;
    (void)chosen(s, SEEP_STEP_TIME, SEEP_WHY_UNKNOWN);
    return 0;
}

void seep_torch_steps_fini(struct seep_torch_steps *s)
{
    free(s->ends_us);
    memset(s, 0, sizeof *s);
}

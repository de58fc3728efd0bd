#include "libprof/torch/torch_tidy.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

bool seep_torch_frame_is(const struct seep_torch_records *r, uint32_t frame, const char *function,
                         const char *file_end)
{
    const struct seep_torch_frame *f = &r->frames[frame];

    return strcmp(seep_torch_text(r, f->function), function) == 0 &&
           ends_with(seep_torch_text(r, f->file), file_end);
}

/* ---- stacks ------------------------------------------------------------------------------ */

/* "<string>", "<frozen runpy>" and cells of notebooks have no file of their own. */
static bool is_python(const struct seep_torch_records *r, uint32_t frame)
{
    const char *file = seep_torch_text(r, r->frames[frame].file);

    return *file == '<' || ends_with(file, ".py");
}

static bool is_backward(const struct seep_torch_records *r, uint32_t frame)
{
    return seep_torch_frame_is(r, frame, "backward", "torch/_tensor.py") ||
           seep_torch_frame_is(r, frame, "backward", "torch/autograd/__init__.py") ||
           seep_torch_frame_is(r, frame, "grad", "torch/autograd/__init__.py");
}

/* What a stack becomes. */
struct tidied {
    uint32_t python;          /* its frames of Python */
    uint32_t backward_plus_1; /* those from the innermost backward() on; 0: it is in none */
};

static int tidy_stack(struct seep_torch_records *r, uint32_t stack, uint32_t *frames,
                      struct tidied *tidied)
{
    const struct seep_torch_stack its = r->stacks[stack];
    size_t n = 0, inner = SIZE_MAX;

    for (uint32_t i = 0; i < its.n; i++) {
        const uint32_t frame = r->frame_ids[its.first + i];
        if (!is_python(r, frame))
            continue;
        if (inner == SIZE_MAX && is_backward(r, frame))
            inner = n;
        frames[n++] = frame;
    }
    *tidied = (struct tidied){.python = stack};
    int rc = n == its.n ? 0 : seep_torch_stack(r, frames, n, &tidied->python);
    if (!rc && inner != SIZE_MAX) {
        rc = seep_torch_stack(r, frames + inner, n - inner, &tidied->backward_plus_1);
        tidied->backward_plus_1++;
    }
    return rc;
}

/* The stacks that were there before, each once; NULL without memory. */
static struct tidied *tidy_stacks(struct seep_torch_records *r)
{
    const size_t n = r->n_stacks;
    struct tidied *list = calloc(n, sizeof *list);
    uint32_t *frames = malloc(r->n_frame_ids * sizeof *frames + sizeof *frames);
    int rc = list && frames ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < n && !rc; i++)
        rc = tidy_stack(r, (uint32_t)i, frames, &list[i]);
    free(frames);
    if (!rc)
        return list;
    free(list);
    return NULL;
}

/* The backward() that each device is in, as its last event with a stack says. */
struct callers {
    uint32_t of[UINT8_MAX + 1]; /* stack + 1 */
};

static void tidy_event(struct seep_torch_event *e, const struct tidied *stacks,
                       struct callers *callers)
{
    const struct tidied *its = &stacks[e->stack];
    uint32_t *caller = &callers->of[e->device];

    e->stack = its->python;
    if (e->stack)
        *caller = its->backward_plus_1;
    else if (*caller)
        e->stack = *caller - 1;
}

/* ---- frees ------------------------------------------------------------------------------- */

static void tidy_frees(struct seep_torch_records *r)
{
    bool has_ends = false;

    for (size_t i = 0; i < r->n_events && !has_ends; i++)
        has_ends = r->events[i].action == SEEP_TORCH_FREE;
    for (size_t i = 0; i < r->n_events && !has_ends; i++)
        if (r->events[i].action == SEEP_TORCH_FREE_REQUESTED)
            r->events[i].action = SEEP_TORCH_FREE;
}

/* ---- times ------------------------------------------------------------------------------- */

enum { UNTIMED_US = 1000 };

static void tidy_times(struct seep_torch_records *r)
{
    int64_t last[UINT8_MAX + 1] = {0};
    bool is_timed = false;

    for (size_t i = 0; i < r->n_events && !is_timed; i++)
        is_timed = r->events[i].time_us;
    for (size_t i = 0; i < r->n_events; i++) {
        struct seep_torch_event *e = &r->events[i];
        if (!is_timed)
            e->time_us = last[e->device] + UNTIMED_US;
        else if (e->time_us < last[e->device])
            e->time_us = last[e->device];
        last[e->device] = e->time_us;
    }
}

int seep_torch_tidy(struct seep_torch_records *r)
{
    struct callers callers = {{0}};
    struct tidied *stacks = tidy_stacks(r);

    if (!stacks)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < r->n_events; i++)
        tidy_event(&r->events[i], stacks, &callers);
    for (size_t i = 0; i < r->n_blocks; i++)
        r->blocks[i].stack = stacks[r->blocks[i].stack].python;
    for (size_t i = 0; i < r->n_segments; i++)
        r->segments[i].stack = stacks[r->segments[i].stack].python;
    free(stacks);
    tidy_frees(r);
    tidy_times(r);
    return 0;
}

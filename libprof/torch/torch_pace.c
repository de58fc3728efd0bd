#include "libprof/torch/torch_pace.h"

#include "libprof/torch/torch_before.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_STEPS = 2, MAX_STEPS = 100 * 1000, OLDER = 0 };

/* What is known of a stack's blocks. */
struct stack {
    uint32_t older;       /* blocks from before the history that are still live */
    uint32_t each;        /* blocks that a step adds for good */
    uint32_t step;        /* the last step that was looked at, from 1 */
    uint32_t now;         /* what it adds */
    uint64_t least, most; /* bytes of those that it adds */
    bool is_unclear;      /* steps differ, or an older one of such a size was freed */
};

/* The step that an event lies in, from 1; 0: behind the last. */
static uint32_t step_of(const struct seep_torch_steps *steps, int64_t time_us)
{
    for (size_t i = 0; i < steps->n; i++)
        if (time_us <= steps->ends_us[i])
            return (uint32_t)i + 1;
    return 0;
}

/* The history begins within the first step: that may have had more. */
static void end_step(struct stack *s)
{
    if (s->step <= 2) {
        s->is_unclear |= s->now < s->each;
        s->each = s->now;
    }
    s->is_unclear |= s->step > 1 && (!s->now || s->now != s->each);
    s->now = 0;
}

/* A stack is looked at in each step, one after the other. */
static void turn_to(struct stack *s, uint32_t step)
{
    while (s->step < step) {
        if (s->step)
            end_step(s);
        s->step++;
    }
}

/* What happens to blocks in the history. */
struct course {
    bool *is_kept;                 /* by event: it allocates what is live at the end */
    struct seep_torch_blocks gone; /* by size: older ones that were freed; of what stack, nobody
                                    * knows */
    struct seep_torch_blocks late; /* of these: not in the first step, which frees its own, too */
};

static int note_end(struct course *course, const struct seep_torch_live *block, uint32_t step)
{
    const struct seep_torch_live size = {.address = block->bytes};
    int rc = 0;

    if (block->period != OLDER)
        course->is_kept[block->period - 1] = false;
    else
        rc = seep_torch_blocks_put(&course->gone, &size);
    if (!rc && block->period == OLDER && step != 1)
        rc = seep_torch_blocks_put(&course->late, &size);
    return rc;
}

static int find_course(const struct seep_torch_records *r, const struct seep_torch_steps *steps,
                       uint8_t device, struct stack *stacks, struct course *course)
{
    struct seep_torch_blocks live = {0};
    struct seep_torch_live gone;
    int rc = seep_torch_before(r, device, SEEP_TORCH_TENSORS, false, &live);

    for (size_t i = 0; i < live.n_slots; i++) {
        struct seep_torch_live *block = &live.slots[i];
        if (block->address && block->owner)
            stacks[block->owner].older++;
        block->period = OLDER;
    }
    for (size_t i = 0; i < r->n_events && !rc; i++) {
        const struct seep_torch_event *e = &r->events[i];
        if (e->device != device || !seep_torch_is_of(e, SEEP_TORCH_TENSORS))
            continue;
        if (seep_torch_blocks_take(&live, e->address, &gone))
            rc = note_end(course, &gone, step_of(steps, e->time_us));
        if (rc || e->action != SEEP_TORCH_ALLOC)
            continue;
        course->is_kept[i] = true;
        rc = seep_torch_blocks_put(&live, &(struct seep_torch_live){.address = e->address,
                                                                    .bytes = e->bytes,
                                                                    .owner = e->stack,
                                                                    .period = (uint32_t)i + 1});
    }
    seep_torch_blocks_fini(&live);
    return rc;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

/* Whether some size lies between two. */
static bool has_between(const uint64_t *sizes, size_t n, uint64_t least, uint64_t most)
{
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (sizes[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && sizes[low] <= most;
}

static uint64_t *sorted(const struct seep_torch_blocks *blocks)
{
    uint64_t *sizes = malloc((blocks->n + 1) * sizeof *sizes);
    size_t n = 0;

    for (size_t i = 0; sizes && i < blocks->n_slots; i++)
        if (blocks->slots[i].address)
            sizes[n++] = blocks->slots[i].address;
    if (sizes)
        qsort(sizes, n, sizeof *sizes, by_size);
    return sizes;
}

/* A queue that is full frees an older block for each that it adds; their sizes may vary. */
static int weigh_gone(const struct course *course, struct stack *stacks, size_t n_stacks)
{
    uint64_t *gone = sorted(&course->gone), *late = sorted(&course->late);
    const int rc = gone && late ? 0 : -SEEP_ENOMEM;

    for (size_t i = 1; i < n_stacks && !rc; i++) {
        struct stack *s = &stacks[i];
        s->is_unclear |= s->most && (has_between(gone, course->gone.n, s->least, s->most) ||
                                     has_between(late, course->late.n, s->least - s->least / 3,
                                                 s->most + s->most / 2));
    }
    free(gone);
    free(late);
    return rc;
}

static int look_at(const struct seep_torch_records *r, const struct seep_torch_steps *steps,
                   uint8_t device, struct stack *stacks)
{
    struct course course = {.is_kept = calloc(r->n_events + 1, 1)};
    int rc = course.is_kept ? find_course(r, steps, device, stacks, &course) : -SEEP_ENOMEM;

    for (size_t i = 0; i < r->n_events && !rc; i++) {
        const struct seep_torch_event *e = &r->events[i];
        const uint32_t step = e->device == device ? step_of(steps, e->time_us) : 0;
        struct stack *s = &stacks[e->stack];
        if (!step || e->action != SEEP_TORCH_ALLOC)
            continue;
        turn_to(s, step);
        s->now += course.is_kept[i];
        if (course.is_kept[i]) {
            s->least = s->least && s->least < e->bytes ? s->least : e->bytes;
            s->most = s->most > e->bytes ? s->most : e->bytes;
        }
    }
    if (!rc)
        rc = weigh_gone(&course, stacks, r->n_stacks);
    seep_torch_blocks_fini(&course.gone);
    seep_torch_blocks_fini(&course.late);
    free(course.is_kept);
    return rc;
}

static uint32_t steps_of(const struct stack *s)
{
    return s->is_unclear || !s->each ? 0 : s->older / s->each;
}

int seep_torch_pace_find(const struct seep_torch_records *r, const struct seep_torch_steps *steps,
                         struct seep_torch_pace *pace)
{
    *pace = (struct seep_torch_pace){.of_stack = calloc(r->n_stacks, sizeof *pace->of_stack)};
    if (!pace->of_stack)
        return -SEEP_ENOMEM;
    if (steps->source == SEEP_STEP_TIME || steps->n < MIN_STEPS || steps->n > SEEP_TORCH_PACE_STEPS)
        return 0;
    struct stack *stacks = calloc(r->n_stacks, sizeof *stacks);
    const int rc = stacks ? look_at(r, steps, seep_torch_main_device(r), stacks) : -SEEP_ENOMEM;
    for (size_t i = 1; i < r->n_stacks && !rc; i++) {
        turn_to(&stacks[i], (uint32_t)steps->n + 1);
        const uint32_t n = steps_of(&stacks[i]);
        if (n < SEEP_TORCH_PACE_STEPS || n > MAX_STEPS)
            continue;
        pace->of_stack[i] = stacks[i].each;
        pace->steps = n > pace->steps ? n : pace->steps;
    }
    free(stacks);
    return rc;
}

void seep_torch_pace_fini(struct seep_torch_pace *pace)
{
    free(pace->of_stack);
    *pace = (struct seep_torch_pace){0};
}

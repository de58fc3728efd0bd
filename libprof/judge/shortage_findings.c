#include "libprof/judge/shortage_findings.h"

#include "libprof/base/text.h"
#include "libprof/code/place_text.h"
#include "libprof/measure/allocator_settings.h"
#include "libprof/measure/device_memory.h"
#include "libprof/measure/shortage.h"
#include "libprof/measure/thresholds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an out-of-memory error comes of. */
enum cause {
    CAUSE_FILLED,     /* another finding keeps what would have been enough */
    CAUSE_FRAGMENTED, /* it is reserved, in pieces that are too small */
    CAUSE_OTHERS,     /* other processes have it */
    CAUSE_TOO_LARGE,  /* the step needs it */
};

/* One shortage while it is being explained. */
struct explaining {
    const struct seep_model *m;
    const struct seep_stack_lines *frames;
    struct seep_symbols *symbols;
    const struct seep_findings *others;
    size_t place, n_before; /* others from `place` on come behind n_before new ones */
    struct seep_shortage s;
    struct seep_device_memory device;
    uint64_t allocated, unallocated; /* unallocated: reserved, and no tensor lies there */
    uint64_t free_bytes;             /* of the device; 0 where that is not known */
    const struct seep_finding *filler;
    uint64_t filled;
    enum cause cause;
    struct seep_finding *f;
};

/* ---- why --------------------------------------------------------------------------------------
 */

static unsigned number_of(const struct explaining *e, const struct seep_finding *f)
{
    size_t at = (size_t)(f - e->others->list);

    return (unsigned)(at + 1 + (at < e->place ? 0 : e->n_before));
}

static bool lies_on(const struct explaining *e, const struct seep_finding *f)
{
    const struct seep_space_name *its = &e->m->spaces[f->space].name;

    return (its->class == SEEP_CLASS_TENSOR || its->class == SEEP_CLASS_DEVICE) &&
           its->device == (int)e->s.request->device;
}

/* What a finding had filled by then: what grows since the first step, what is kept for good as a
 * whole; nothing where its pattern keeps nothing. */
static int filled_by(const struct explaining *e, const struct seep_finding *f, uint64_t *bytes)
{
    const bool grows = f->severity == SEEP_LEAK || f->pattern == SEEP_PATTERN_UNDETERMINED;
    const bool elsewhere = f->pattern == SEEP_PATTERN_WRONG_DEVICE;
    struct seep_level level = {0};

    *bytes = 0;
    if (!lies_on(e, f) || (!grows && f->severity != SEEP_RETENTION))
        return 0;
    int rc = seep_level_sum(e->m, f->sites, f->n_sites,
                            elsewhere ? SEEP_LEVEL_ALL : e->s.request->process, &level);
    int64_t gained = rc ? 0 : seep_level_at(&level, e->s.before).bytes;
    if (grows && e->s.before > 1)
        gained -= seep_level_at(&level, 1).bytes;
    *bytes = gained > 0 ? (uint64_t)gained : 0;
    seep_level_fini(&level);
    return rc;
}

static int find_filler(struct explaining *e)
{
    int rc = 0;

    for (size_t i = 0; i < e->others->n && !rc; i++) {
        uint64_t bytes;
        rc = filled_by(e, &e->others->list[i], &bytes);
        if (!rc && bytes > e->filled) {
            e->filled = bytes;
            e->filler = &e->others->list[i];
        }
    }
    return rc;
}

/* The first finding of that pattern on the device. */
static const struct seep_finding *find_pattern(const struct explaining *e,
                                               enum seep_pattern pattern)
{
    for (size_t i = 0; i < e->others->n; i++) {
        const struct seep_finding *f = &e->others->list[i];
        if (f->pattern == pattern && lies_on(e, f))
            return f;
    }
    return NULL;
}

/* Pieces that the allocator could give back it has given back before it says no: what it still has
 * in reserve lies in segments that are in use. */
static enum cause cause_of(const struct explaining *e)
{
    const uint64_t asked = e->s.request->asked_bytes;

    if (e->filled >= asked && e->filled && e->filled >= e->allocated / SEEP_T_FILLED_SHARE)
        return CAUSE_FILLED;
    if (e->unallocated >= asked)
        return CAUSE_FRAGMENTED;
    if (e->device.others_bytes >= asked && e->device.capacity_bytes > asked)
        return CAUSE_OTHERS;
    return CAUSE_TOO_LARGE;
}

/* What nobody had of the device as the request failed: what its contexts take is as it was when
 * somebody last looked. */
static uint64_t free_then(const struct explaining *e)
{
    const struct seep_device_memory *d = &e->device;
    const uint64_t context =
        d->used_bytes > d->reserved_bytes ? d->used_bytes - d->reserved_bytes : 0;
    const uint64_t held = e->s.request->by_runtime ? e->allocated : e->s.request->reserved_bytes;
    const uint64_t taken = seep_sum(seep_sum(context, held), d->others_bytes);

    return d->capacity_bytes > taken ? d->capacity_bytes - taken : 0;
}

/* ---- what is said ---------------------------------------------------------------------------- */

/* In the words of PyTorch's own message. */
static void note_request(const struct explaining *e)
{
    const struct seep_model_no_room *r = e->s.request;
    char asked[SEEP_SIZE_TEXT], have[SEEP_SIZE_TEXT], idle[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT];
    char *capacity = NULL, *step = NULL;

    if (e->device.capacity_bytes)
        capacity = seep_text_format(", of a total capacity of %s",
                                    seep_text_size((double)e->device.capacity_bytes, all));
    if (r->step > 0)
        step = seep_text_format("in %s %d", e->m->step_source == SEEP_STEP_TIME ? "slice" : "step",
                                (int)r->step);
    seep_text_size((double)r->asked_bytes, asked);
    seep_text_size((double)e->allocated, have);
    if (r->by_runtime)
        seep_finding_note(e->f, "tried to allocate %s %s: %s of device:%u is allocated by then%s",
                          asked, step ? step : "before step 1", have, r->device,
                          capacity ? capacity : "");
    else
        seep_finding_note(
            e->f,
            "tried to allocate %s %s: %s is allocated by PyTorch, %s reserved but unallocated%s",
            asked, step ? step : "before step 1", have,
            seep_text_size((double)e->unallocated, idle), capacity ? capacity : "");
    free(capacity);
    free(step);
}

static int by_step(const void *a, const void *b)
{
    const struct seep_shortage_line *p = a, *q = b;

    if (p->step_bytes != q->step_bytes)
        return p->step_bytes > q->step_bytes ? -1 : 1;
    return (p->frame > q->frame) - (p->frame < q->frame);
}

/* "train.py:12 5.2 GiB (66 %), model.py:40 1.1 GiB (14 %)": of the lines with most, in their order;
 * NULL where none is worth a word or there is no memory. */
static char *list_lines(const struct explaining *e, bool in_step)
{
    enum { MOST = 4 };
    const uint64_t least = e->allocated / SEEP_T_LINE_SHARE;
    char *text = NULL, size[SEEP_SIZE_TEXT];
    size_t n_text, listed = 0;
    FILE *out = open_memstream(&text, &n_text);

    for (size_t i = 0; out && i < e->s.n_lines && listed < MOST; i++) {
        const struct seep_shortage_line *line = &e->s.lines[i];
        const uint64_t bytes = in_step ? line->step_bytes : line->kept_bytes;
        if (!bytes || bytes < least)
            break;
        char *place = seep_place_text(e->m, e->symbols, line->frame);
        fprintf(out, "%s%s %s (%.0f %%)", listed++ ? ", " : "", place ? place : "?",
                seep_text_size((double)bytes, size),
                e->allocated ? 100.0 * (double)bytes / (double)e->allocated : 0.0);
        free(place);
    }
    if (out)
        fclose(out);
    if (listed)
        return text;
    free(text);
    return NULL;
}

static void note_lines(const struct explaining *e)
{
    const uint64_t made = e->allocated > e->s.kept_bytes ? e->allocated - e->s.kept_bytes : 0;
    char size[SEEP_SIZE_TEXT], *kept = list_lines(e, false), *in_step;

    if (kept)
        seep_finding_note(e->f, "kept from before, %s: %s",
                          seep_text_size((double)e->s.kept_bytes, size), kept);
    free(kept);
    qsort(e->s.lines, e->s.n_lines, sizeof *e->s.lines, by_step);
    in_step = list_lines(e, true);
    if (made && in_step)
        seep_finding_note(e->f, "made in the step itself, %s: at most %s",
                          seep_text_size((double)made, size), in_step);
    free(in_step);
}

/* How they came about may be known, too. */
static void note_pieces(const struct explaining *e)
{
    const struct seep_finding *cache = find_pattern(e, SEEP_PATTERN_ALLOCATOR_CACHE);
    char size[SEEP_SIZE_TEXT];

    seep_finding_note(e->f,
                      "%s is reserved but unallocated, in pieces that are too small: in one piece "
                      "it would have been enough",
                      seep_text_size((double)e->unallocated, size));
    if (cache)
        seep_finding_note(e->f, "F%u, allocator-cache, is how it came to that",
                          number_of(e, cache));
}

static void note_cause(const struct explaining *e)
{
    char size[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT];

    if (e->s.before > 1 && e->s.kept_bytes > e->s.began_bytes)
        seep_finding_note(e->f, "of what is kept %s came after step 1, %s was there by then",
                          seep_text_size((double)(e->s.kept_bytes - e->s.began_bytes), size),
                          seep_text_size((double)e->s.began_bytes, other));
    if (e->filler)
        seep_finding_note(
            e->f, "F%u, %s, has %s of it%s", number_of(e, e->filler),
            seep_pattern_name(e->filler->pattern), seep_text_size((double)e->filled, size),
            e->cause == CAUSE_FILLED ? ": without that the request would have fitted" : "");
    if (e->cause == CAUSE_FRAGMENTED)
        note_pieces(e);
    if (e->device.others_bytes)
        seep_finding_note(e->f, "processes that are none of the job's use %s of the device",
                          seep_text_size((double)e->device.others_bytes, size));
    if (e->free_bytes && e->free_bytes < e->s.request->asked_bytes)
        seep_finding_note(e->f, "a request of up to %s would have fitted",
                          seep_text_size((double)e->free_bytes, size));
}

/* How often, and what became of the process. */
static void note_outcome(const struct explaining *e)
{
    const struct seep_model_process *p = &e->m->processes[e->s.request->process];
    const bool stepped = e->m->step_source != SEEP_STEP_TIME;
    const int32_t first = e->s.first_step > 0 ? e->s.first_step : 0, last = e->s.request->step;

    if (p->recording.no_room_left_out)
        seep_finding_note(e->f, "%zu requests failed in steps %d to %d, and then %u more",
                          e->s.n_requests, (int)first, (int)last, p->recording.no_room_left_out);
    else if (e->s.n_requests > 1)
        seep_finding_note(e->f, "%zu requests failed, in steps %d to %d", e->s.n_requests,
                          (int)first, (int)(last > 0 ? last : 0));
    if (stepped && (int64_t)e->m->n_steps >= last && e->m->n_steps)
        seep_finding_note(e->f, "the job caught it and went on, to step %u", e->m->n_steps);
    else if (p->exit_kind == SEEP_ENDED_EXIT && p->exit_value)
        seep_finding_note(e->f, "the process ended then, with exit status %d", p->exit_value);
    else if (p->exit_kind == SEEP_ENDED_SIGNAL)
        seep_finding_note(e->f, "the process ended then, by signal %d", p->exit_value);
}

/* ---- what to do ------------------------------------------------------------------------------ */

/* What lies on the device from dataset, loader or camera can wait on the host. */
static bool is_data(const struct explaining *e, const struct seep_shortage_line *line)
{
    const enum seep_part part = (enum seep_part)e->frames->part[e->m->sites[line->site].stack];

    return part == SEEP_PART_DATASET || part == SEEP_PART_LOADER || part == SEEP_PART_CAMERA;
}

static char *advice_too_large(const struct explaining *e)
{
    const struct seep_finding *spike = find_pattern(e, SEEP_PATTERN_SIZE_SPIKE);
    const struct seep_finding *twice = find_pattern(e, SEEP_PATTERN_CARRY_OVER);
    const struct seep_finding *cure = spike ? spike : twice;
    const char *usual = "a smaller batch (with gradient accumulation), activation checkpointing "
                        "(torch.utils.checkpoint), autocast; del the batch, outputs and loss at "
                        "the end of the loop's body";

    for (size_t i = 0; i < e->s.n_lines; i++) {
        const struct seep_shortage_line *line = &e->s.lines[i];
        if (line->kept_bytes >= e->allocated / SEEP_T_FILLED_SHARE && is_data(e, line)) {
            char *place = seep_place_text(e->m, e->symbols, line->frame);
            char *text = seep_text_format("keep what %s makes on the host, and move a batch at a "
                                          "time to the device; else %s",
                                          place ? place : "the loader", usual);
            free(place);
            return text;
        }
    }
    return cure ? seep_text_format("see F%u first; else %s", number_of(e, cure), usual)
                : strdup(usual);
}

static char *advice_for(const struct explaining *e)
{
    switch (e->cause) {
    case CAUSE_FILLED:
        return seep_text_format("mend F%u: it fills the device; a smaller batch only puts the end "
                                "off",
                                number_of(e, e->filler));
    case CAUSE_FRAGMENTED:
        return strdup(seep_allocator_advice(e->device.settings));
    case CAUSE_OTHERS:
        return strdup("look who else is on the device (nvidia-smi), and wait for it or take "
                      "another one (CUDA_VISIBLE_DEVICES)");
    case CAUSE_TOO_LARGE:
        break;
    }
    return advice_too_large(e);
}

/* ---- the finding ----------------------------------------------------------------------------- */

/* The sites that hold most, one a line, and the processes that asked. */
static int list_whom(const struct explaining *e, const bool *counts)
{
    enum { MOST = 8 };
    struct seep_finding *f = e->f;

    f->sites = calloc(MOST, sizeof *f->sites);
    f->processes = calloc(e->m->n_processes + 1, sizeof *f->processes);
    if (!f->sites || !f->processes)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < e->s.n_lines && f->n_sites < MOST; i++)
        f->sites[f->n_sites++] = e->s.lines[i].site;
    for (uint32_t p = 0; p < e->m->n_processes; p++) {
        bool asked = false;
        for (size_t i = 0; i < e->m->n_no_room; i++)
            asked |=
                counts[i] && e->m->no_room[i].space == e->s.space && e->m->no_room[i].process == p;
        if (asked)
            f->processes[f->n_processes++] = p;
    }
    return 0;
}

static double confidence_in(enum cause cause)
{
    return cause == CAUSE_FILLED      ? SEEP_T_SURE_EVERY_SIGN
           : cause == CAUSE_TOO_LARGE ? SEEP_T_SURE_INFERRED
                                      : SEEP_T_SURE_NO_OTHER;
}

static void describe(struct explaining *e)
{
    const struct seep_model_no_room *r = e->s.request;
    struct seep_finding *f = e->f;

    seep_finding_verdict(f, SEEP_PATTERN_OUT_OF_MEMORY, SEEP_PRESSURE, confidence_in(e->cause));
    f->space = e->s.space;
    f->frame = r->stack ? e->frames->look_at[r->stack] : e->s.n_lines ? e->s.lines[0].frame : 0;
    f->part = r->stack ? (enum seep_part)e->frames->part[r->stack] : SEEP_PART_OTHER;
    f->asked_bytes = r->asked_bytes;
    f->live_bytes = e->s.kept_bytes;
    f->count = e->s.kept_blocks;
    f->peak_bytes = e->allocated > e->s.kept_bytes ? e->allocated : e->s.kept_bytes;
    f->saving_bytes = e->cause == CAUSE_FRAGMENTED ? e->unallocated : 0;
    f->first_step = e->s.first_step;
    f->limit_bytes = e->device.capacity_bytes;
    f->steps_to_limit = -1;
}

static int explain(struct explaining *e, const bool *counts)
{
    const struct seep_model_no_room *r = e->s.request;

    if (seep_shortage_weigh(e->m, e->frames, &e->s) || list_whom(e, counts))
        return -SEEP_ENOMEM;
    e->device = seep_device_memory_of(e->m, (int)r->device);
    e->allocated = r->allocated_bytes ? r->allocated_bytes : e->s.kept_bytes;
    e->unallocated =
        r->reserved_bytes > r->allocated_bytes ? r->reserved_bytes - r->allocated_bytes : 0;
    if (e->device.capacity_bytes)
        e->free_bytes = free_then(e);
    if (find_filler(e))
        return -SEEP_ENOMEM;
    e->cause = cause_of(e);
    describe(e);
    note_request(e);
    note_lines(e);
    note_cause(e);
    note_outcome(e);
    e->f->advice = advice_for(e);
    return e->f->advice ? 0 : -SEEP_ENOMEM;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Behind the leaks and what is kept for good: they keep their numbers. */
static size_t place_among(const struct seep_findings *out)
{
    size_t at = 0;

    while (at < out->n && out->list[at].severity < SEEP_PRESSURE)
        at++;
    return at;
}

static int insert(struct seep_findings *out, size_t place, const struct seep_finding *new, size_t n)
{
    struct seep_finding *list = reallocarray(out->list, out->n + n, sizeof *list);

    if (!list)
        return -SEEP_ENOMEM;
    out->list = list;
    memmove(list + place + n, list + place, (out->n - place) * sizeof *list);
    memcpy(list + place, new, n * sizeof *list);
    out->n += n;
    for (; out->n > SEEP_MAX_FINDINGS; out->n--) {
        out->left_out[list[out->n - 1].severity]++;
        seep_finding_fini(&list[out->n - 1]);
    }
    return 0;
}

static size_t count_shortages(const struct seep_model *m, const bool *counts)
{
    struct seep_shortage s;
    size_t n = 0;

    for (uint16_t space = 0; space < m->n_spaces; space++)
        n += seep_shortage_find(m, counts, space, &s);
    return n;
}

int seep_shortages_judge(const struct seep_model *m, const struct seep_stack_lines *frames,
                         struct seep_symbols *symbols, struct seep_findings *out)
{
    bool *counts = calloc(m->n_no_room + 1, sizeof *counts);
    int rc = counts ? seep_shortage_requests(m, frames, symbols, counts) : -SEEP_ENOMEM;
    const size_t most = rc ? 0 : count_shortages(m, counts);
    struct seep_finding *new = calloc(most + 1, sizeof *new);
    size_t n = 0;

    rc = new ? rc : -SEEP_ENOMEM;
    for (uint16_t space = 0; space < m->n_spaces && n < most && !rc; space++) {
        struct explaining e = {.m = m, .frames = frames, .symbols = symbols, .others = out};
        if (!seep_shortage_find(m, counts, space, &e.s))
            continue;
        e.place = place_among(out);
        e.n_before = most;
        e.f = &new[n++];
        rc = explain(&e, counts);
        free(e.s.lines);
    }
    if (!rc && n)
        rc = insert(out, place_among(out), new, n);
    for (size_t i = 0; i < n && rc; i++)
        seep_finding_fini(&new[i]);
    free(new);
    free(counts);
    return rc;
}

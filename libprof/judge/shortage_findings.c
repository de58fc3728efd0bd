#include "libprof/judge/shortage_findings.h"

#include "libprof/judge/shortage_told.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/thresholds/thresholds.h"

#include <stdlib.h>
#include <string.h>

/* One shortage while it is being explained. */
struct explaining {
    const struct seep_code *code;
    const struct seep_findings *others;
    size_t place, n_before; /* others from `place` on come after n_before new ones */
    struct seep_shortage *s;
    const struct seep_finding *filler;
    struct seep_finding *f;
};

/* ---- why -------------------------------------------------------------------------------------
 */

/* 0: no finding. */
static unsigned number_of(const struct explaining *e, const struct seep_finding *f)
{
    size_t at = f ? (size_t)(f - e->others->list) : 0;

    return f ? (unsigned)(at + 1 + (at < e->place ? 0 : e->n_before)) : 0;
}

static bool lies_on(const struct explaining *e, const struct seep_finding *f)
{
    const struct seep_space_name *its = &e->code->model->spaces[f->space].name;

    return seep_shortage_covers(e->code->model, e->s, f->space) ||
           ((its->class == SEEP_CLASS_TENSOR || its->class == SEEP_CLASS_DEVICE) &&
            its->device == (int)e->s->request->device);
}

/* What a finding had filled by then: what has grown since the first step, or all that is kept for
 * good; nothing if its pattern keeps nothing. */
static int filled_by(const struct explaining *e, const struct seep_finding *f, uint64_t *bytes)
{
    const bool grows = f->severity == SEEP_LEAK || f->pattern == SEEP_PATTERN_UNDETERMINED;
    const bool elsewhere = f->pattern == SEEP_PATTERN_WRONG_DEVICE;
    struct seep_level level = {0};

    *bytes = 0;
    if (!lies_on(e, f) || (!grows && f->severity != SEEP_RETENTION))
        return 0;
    int rc = seep_level_sum(e->code->model, f->sites, f->n_sites,
                            elsewhere ? SEEP_LEVEL_ALL : e->s->request->process, &level);
    int64_t gained = rc ? 0 : seep_level_at(&level, e->s->before).bytes;
    if (grows && e->s->before > 1)
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
        if (!rc && bytes > e->s->filled_bytes) {
            e->s->filled_bytes = bytes;
            e->filler = &e->others->list[i];
        }
    }
    e->s->filler = number_of(e, e->filler);
    return rc;
}

/* The number of the first finding with that pattern on the device; 0: none. */
static unsigned number_of_pattern(const struct explaining *e, enum seep_pattern pattern)
{
    for (size_t i = 0; i < e->others->n; i++) {
        const struct seep_finding *f = &e->others->list[i];
        if (f->pattern == pattern && lies_on(e, f))
            return number_of(e, f);
    }
    return 0;
}

static unsigned number_of_cure(const struct explaining *e)
{
    const unsigned spike = number_of_pattern(e, SEEP_PATTERN_SIZE_SPIKE);

    if (seep_shortage_is_pinned(e->s))
        return number_of_pattern(e, SEEP_PATTERN_PINNED_POOL);
    return spike ? spike : number_of_pattern(e, SEEP_PATTERN_CARRY_OVER);
}

/* Before the allocator fails, it gives back all the pieces that it can: what it still reserves lies
 * in segments that are in use. Pinned memory has no such reserve, and nobody knows what others pin,
 * or what the host has promised them. */
static enum seep_shortage_cause cause_of(const struct seep_shortage *s)
{
    const uint64_t asked = s->request->asked_bytes;

    if (s->filled_bytes >= asked && s->filled_bytes &&
        s->filled_bytes >= s->allocated_bytes / SEEP_T_LARGE_SHARE)
        return SEEP_SHORTAGE_FILLED;
    if (seep_shortage_is_pinned(s) || seep_shortage_is_of_host(s))
        return SEEP_SHORTAGE_TOO_LARGE;
    if (s->unallocated_bytes >= asked)
        return SEEP_SHORTAGE_FRAGMENTED;
    if (s->device.others_bytes >= asked && s->device.capacity_bytes > asked)
        return SEEP_SHORTAGE_OTHERS;
    return SEEP_SHORTAGE_TOO_LARGE;
}

/* ---- the finding ----------------------------------------------------------------------------- */

/* The sites that hold most, one per line, and the processes that asked. */
static int list_whom(const struct explaining *e, const bool *counts)
{
    enum { MOST = 8 };
    struct seep_finding *f = e->f;

    f->sites = calloc(MOST, sizeof *f->sites);
    f->processes = calloc(e->code->model->n_processes + 1, sizeof *f->processes);
    if (!f->sites || !f->processes)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < e->s->n_lines && f->n_sites < MOST; i++)
        f->sites[f->n_sites++] = e->s->lines[i].site;
    for (size_t i = 0; i < e->code->model->n_shortages; i++) { /* by process */
        const struct seep_model_shortage *its = &e->code->model->shortages[i];
        const bool again = f->n_processes && f->processes[f->n_processes - 1] == its->process;
        if (counts[i] && its->space == e->s->space && !again)
            f->processes[f->n_processes++] = its->process;
    }
    return 0;
}

static enum seep_confidence confidence_in(enum seep_shortage_cause cause)
{
    return cause == SEEP_SHORTAGE_TOO_LARGE ? SEEP_LIKELY : SEEP_CERTAIN;
}

/* The most that the memory could have held, as far as known. */
static uint64_t limit_of(const struct explaining *e)
{
    const char *kind;

    if (e->s->bound.bytes)
        return e->s->bound.bytes;
    return seep_shortage_is_pinned(e->s) || seep_shortage_is_of_host(e->s)
               ? seep_memory_limit_of(e->code->model, &kind)
               : e->s->device.capacity_bytes;
}

static void describe(struct explaining *e)
{
    const struct seep_model_shortage *r = e->s->request;
    struct seep_finding *f = e->f;

    seep_finding_verdict(f, SEEP_PATTERN_OUT_OF_MEMORY, SEEP_PRESSURE, confidence_in(e->s->cause));
    f->space = e->s->space;
    f->frame = r->stack        ? e->code->lines->shown[r->stack]
               : e->s->n_lines ? e->s->lines[0].frame
                               : 0;
    f->part = r->stack ? (enum seep_part)e->code->lines->part[r->stack] : SEEP_PART_OTHER;
    f->asked_bytes = r->asked_bytes;
    f->live_bytes = e->s->kept_bytes;
    f->count = e->s->kept_blocks;
    f->peak_bytes =
        e->s->allocated_bytes > e->s->kept_bytes ? e->s->allocated_bytes : e->s->kept_bytes;
    f->saving_bytes = e->s->cause == SEEP_SHORTAGE_FRAGMENTED ? e->s->unallocated_bytes : 0;
    f->first_step = e->s->first_step;
    f->limit_bytes = limit_of(e);
    f->steps_to_limit = -1;
}

static int explain(struct explaining *e, const bool *counts)
{
    if (seep_shortage_weigh(e->code, e->s) || list_whom(e, counts) || find_filler(e))
        return -SEEP_ENOMEM;
    e->s->cause = cause_of(e->s);
    describe(e);
    const struct seep_shortage_told told = {
        .code = e->code,
        .s = e->s,
        .filler = e->filler ? seep_pattern_name(e->filler->pattern) : "",
        .cache = number_of_pattern(e, SEEP_PATTERN_ALLOCATOR_CACHE),
        .cure = number_of_cure(e),
    };
    seep_shortage_note(&told, e->f);
    e->f->advice = seep_shortage_advice(&told);
    return e->f->advice ? 0 : -SEEP_ENOMEM;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* After the leaks and what is kept for good: these keep their numbers. */
static size_t place_among(const struct seep_findings *out)
{
    size_t at = out->n;

    while (at && out->list[at - 1].severity >= SEEP_PRESSURE)
        at--;
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

int seep_shortages_judge(const struct seep_code *code, struct seep_findings *out)
{
    const struct seep_model *m = code->model;
    bool *counts = calloc(m->n_shortages + 1, sizeof *counts);
    int rc = counts ? seep_shortage_requests(code, counts) : -SEEP_ENOMEM;
    const size_t most = rc ? 0 : count_shortages(m, counts);
    struct seep_finding *new = calloc(most + 1, sizeof *new);
    size_t n = 0;

    rc = new ? rc : -SEEP_ENOMEM;
    for (uint16_t space = 0; space < m->n_spaces && n < most && !rc; space++) {
        struct seep_shortage s;
        if (!seep_shortage_find(m, counts, space, &s))
            continue;
        struct seep_finding *f = &new[n++];
        struct explaining e = {.code = code,
                               .others = out,
                               .place = place_among(out),
                               .n_before = most,
                               .s = f->shortage = malloc(sizeof s),
                               .f = f};
        rc = e.s ? 0 : -SEEP_ENOMEM;
        if (!rc) {
            *e.s = s;
            rc = explain(&e, counts);
        }
    }
    if (!rc && n)
        rc = insert(out, place_among(out), new, n);
    for (size_t i = 0; i < n && rc; i++)
        seep_finding_fini(&new[i]);
    free(new);
    free(counts);
    return rc;
}

/* out-of-memory: a request that a device or the host had no room for, explained by the profile and
 * the other findings. */
#include "libprof/base/text.h"
#include "libprof/code/code.h"
#include "libprof/code/function_kinds.h"
#include "libprof/measure/device_layout.h"
#include "libprof/measure/device_memory.h"
#include "libprof/measure/oom.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/finding.h"
#include "libprof/verdict/finding_list.h"
#include "libprof/words/findings/finding_words.h"
#include "libprof/words/limit_kind.h"
#include "libprof/words/space.h"
#include "libprof/words/step_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An explained oom. Numbers are those of findings; 0: none. */
struct seep_oom_told {
    const struct seep_code *code;
    const struct seep_oom *s;
    const char *filler; /* pattern of the finding with most of the memory */
    unsigned cache;     /* an allocator's cache that grew until the request failed */
    unsigned cure;      /* its fix makes the step need less, or shrinks the pool of pinned memory */
};

/* What to do about an out-of-memory error, by its cause. If the step simply needs too much, it is
 * the advice of the pattern's row. */

/* Advice for devices does not apply to host memory: the machine bounds it, and so does how it is
 * asked for. */
static char *about_pinned(const struct seep_oom_told *t)
{
    const char *less =
        t->s->request->source == SEEP_OOM_BY_REGISTER
            ? "Register less at a time: in pieces that you unregister when you are done with them "
              "(cudaHostUnregister), or copy through one small pinned buffer."
        : seep_oom_is_of_pool(t->s)
            ? "Pin less: use few different batch sizes, just below a power of two rather than "
              "above, since PyTorch's pool rounds up and keeps its blocks. Lower prefetch_factor; "
              "use pin_memory=False for what is large."
            : "Pin less: reuse one buffer, or free it (cudaFreeHost) before the next. Lower "
              "prefetch_factor; use few different batch sizes.";
    const char *bound = "Pinned memory is bounded by the machine's free memory, a cgroup or "
                        "RLIMIT_MEMLOCK (ulimit -l).";

    if (t->s->cause == SEEP_OOM_FILLED)
        return seep_text_format(
            "Fix F%u first: it keeps pinned memory. Pinning less at a time only delays the crash.",
            t->s->filler);
    return t->cure ? seep_text_format("See F%u first. %s %s", t->cure, less, bound)
                   : seep_text_format(SEEP_OOM_ADVICES_TEXT, less, bound);
}

/* Whatever refused it: first fix what fills the memory, then reduce what the program asks for. */
static char *about_host(const struct seep_oom_told *t)
{
    if (t->s->cause == SEEP_OOM_FILLED)
        return seep_text_format(
            "Fix F%u first: it fills the memory. A higher limit only delays the crash.",
            t->s->filler);
    return seep_text_format(
        SEEP_OOM_ADVICES_TEXT,
        "Allocate less at a time: work in pieces, use a smaller batch or dtype, or memory-map "
        "files (numpy.memmap).",
        strcmp(t->s->bound.kind, "RLIMIT_AS") == 0
            ? "Or raise the limit (ulimit -v): it counts address space, of which libraries and "
              "threads reserve more than they use."
        : strcmp(t->s->bound.kind, "RLIMIT_DATA") == 0
            ? "Or raise the limit (ulimit -d)."
            : "Check the size: a wrong shape or dtype asks for more than the machine has. If it is "
              "right, see vm.overcommit_memory and vm.max_map_count (man 5 proc).");
}

/* The path without the job's folder. */
static const char *within_folder(const char *path, const char *folder)
{
    const size_t n = strlen(folder);

    return n && strncmp(path, folder, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static char *native_place(const struct seep_code *code, uint32_t frame)
{
    const struct seep_model *m = code->model;
    const struct seep_dict_frame *f = &m->dict.frames[frame];
    const struct seep_symbol *symbol;

    if (seep_symbols_resolve(code->symbols, &frame, 1))
        return NULL;
    symbol = seep_function_kinds_symbol(code->lines->kinds, code->symbols, frame);
    if (symbol && symbol->function)
        return strdup(symbol->function);
    return strdup(
        f->source ? seep_text_base(seep_dictionary_text(&m->dict, m->dict.modules[f->source].path))
                  : "unknown code");
}

/* "train.py:12" of Python, its path relative to the job's folder; of native code, the function,
 * which is looked up, or the file. Allocates the result; NULL without memory. */
static char *place_text(const struct seep_code *code, uint32_t frame)
{
    const struct seep_model *m = code->model;
    const struct seep_dict_frame *f = &m->dict.frames[frame];

    if (f->pseudo)
        return strdup("unknown code");
    if (f->kind != SEEP_FRAME_PYTHON)
        return native_place(code, frame);
    return seep_text_format(
        "%s:%llu",
        within_folder(seep_dictionary_text(&m->dict, f->source), m->processes[m->main].id.cwd),
        (unsigned long long)f->where);
}

/* Data from a dataset, loader or camera on the device could wait on the host. */
static bool is_data(const struct seep_oom_told *t, const struct seep_oom_line *line)
{
    const enum seep_part part =
        (enum seep_part)t->code->lines->part[t->code->model->sites[line->site].stack];

    return part == SEEP_PART_DATASET || part == SEEP_PART_LOADER || part == SEEP_PART_CAMERA;
}

/* The data line that keeps most, if that is a good part of the whole; else NULL. */
static const struct seep_oom_line *much_data(const struct seep_oom_told *t)
{
    const struct seep_oom *s = t->s;
    const struct seep_oom_line *most = NULL;

    for (const struct seep_oom_line *one = s->lines; one < s->lines + s->n_lines; one++) {
        if (is_data(t, one) && one->kept_bytes >= s->allocated_bytes / SEEP_T_LARGE_SHARE &&
            (!most || one->kept_bytes > most->kept_bytes))
            most = one;
    }
    return most;
}

static char *about_too_large(const struct seep_oom_told *t)
{
    const char *usual = seep_pattern_row(SEEP_PATTERN_OUT_OF_MEMORY)->advice;
    const struct seep_oom_line *data = much_data(t);

    if (data) {
        char *place = place_text(t->code, data->frame);
        char *text = seep_text_format(
            "Keep what %s allocates in host memory, and move one batch at a time to the GPU. %s",
            place ? place : "the loader", usual);
        free(place);
        return text;
    }
    return t->cure ? seep_text_format(SEEP_OOM_SEE_FIRST_ELSE_TEXT, t->cure, usual) : strdup(usual);
}

/* Nothing is known of the allocator but its books. */
static char *about_own(const struct seep_oom_told *t)
{
    switch (t->s->cause) {
    case SEEP_OOM_FILLED:
        return seep_text_format(
            "Fix F%u first: it fills the memory. A larger capacity only delays the failure.",
            t->s->filler);
    case SEEP_OOM_FRAGMENTED:
        return strdup("Let the allocator round requests to few sizes and give back what it has "
                      "reserved but does not use, or map memory so that it can grow in place. "
                      "Requests of equal size from step to step (padding, buckets) help as well.");
    case SEEP_OOM_OTHERS:
        return strdup(SEEP_OOM_LOOK_WHO_TEXT);
    case SEEP_OOM_TOO_LARGE:
        break;
    }
    return t->cure ? seep_text_format(SEEP_OOM_SEE_FIRST_ELSE_TEXT, t->cure, SEEP_OOM_OWN_LESS_TEXT)
                   : strdup(SEEP_OOM_OWN_LESS_TEXT);
}

/* Allocates the result; NULL without memory. */
static char *advise_on_oom(const struct seep_oom_told *t)
{
    if (seep_oom_is_pinned(t->s))
        return about_pinned(t);
    if (seep_oom_is_of_host(t->s))
        return about_host(t);
    if (seep_oom_is_announced(t->s))
        return about_own(t);
    switch (t->s->cause) {
    case SEEP_OOM_FILLED:
        return seep_text_format(
            "Fix F%u first: it fills the GPU. A smaller batch only delays the crash.",
            t->s->filler);
    case SEEP_OOM_FRAGMENTED:
        return strdup(seep_allocator_advice(t->s->device.settings));
    case SEEP_OOM_OTHERS:
        return strdup(SEEP_OOM_LOOK_WHO_TEXT);
    case SEEP_OOM_TOO_LARGE:
        break;
    }
    return about_too_large(t);
}

/* The evidence of an out-of-memory finding: which request failed, who had the memory, and why. */

/* ---- the request ----------------------------------------------------------------------------- */

/* "in step 12", or before the first. Allocates; NULL without memory. */
static char *when(const struct seep_oom_told *t)
{
    const char *unit = seep_step_unit(t->code->model->step_source == SEEP_STEP_TIME);
    const int32_t step = t->s->request->step;

    return step > 0 ? seep_text_format("in %s %d", unit, (int)step) : strdup("before step 1");
}

static const char *tried_text(const struct seep_oom *s)
{
    return seep_oom_is_announced(s)
               ? "Tried to allocate %s %s: the job's own allocator had %s allocated, %s reserved "
                 "but unallocated%s"
               : "Tried to allocate %s %s: PyTorch had %s allocated, %s reserved but unallocated%s";
}

/* In the words of PyTorch's own message. */
static void note_of_device(const struct seep_oom_told *t, const char *step, struct seep_finding *f)
{
    const struct seep_oom *s = t->s;
    char asked[SEEP_SIZE_TEXT], have[SEEP_SIZE_TEXT], idle[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT],
        space[SEEP_SPACE_WORDS];
    char *capacity = NULL;

    if (s->device.capacity_bytes)
        capacity = seep_text_format(s->request->device < SEEP_MAX_DEVICES ? "; the GPU has %s"
                                                                          : "; its capacity is %s",
                                    seep_text_size((double)s->device.capacity_bytes, all));
    seep_text_size((double)s->request->asked_bytes, asked);
    seep_text_size((double)s->allocated_bytes, have);
    if (!seep_oom_has_reserve(s))
        seep_finding_note(f, "Tried to allocate %s %s: %s of %s was allocated by then%s", asked,
                          step, have,
                          seep_space_words(t->code->model->spaces[s->space].name.text, space),
                          capacity ? capacity : "");
    else
        seep_finding_note(f, tried_text(s), asked, step, have,
                          seep_text_size((double)s->unallocated_bytes, idle),
                          capacity ? capacity : "");
    free(capacity);
}

/* Why no free piece was used. */
static const char *kept_for(const struct seep_oom *s)
{
    if (s->largest_piece_bytes < s->request->asked_bytes)
        return "";
    if (seep_oom_is_announced(s))
        return "; some are large enough, but were not used";
    if (s->unusable_bytes < s->unallocated_bytes)
        return "; some are large enough, but belong to another stream or pool";
    return s->request->asked_bytes > SEEP_SMALL_REQUEST
               ? ", which PyTorch keeps for requests of up to 1 MiB"
               : ", which PyTorch keeps for requests above 1 MiB";
}

static void note_unallocated(const struct seep_oom *s, struct seep_finding *f)
{
    char largest[SEEP_SIZE_TEXT];

    if (s->unallocated_pieces)
        seep_finding_note(f, "Unallocated memory lies in %zu piece%s of at most %s%s",
                          s->unallocated_pieces, s->unallocated_pieces == 1 ? "" : "s",
                          seep_text_size((double)s->largest_piece_bytes, largest), kept_for(s));
}

static void note_of_pinned(const struct seep_oom_told *t, const char *step, struct seep_finding *f)
{
    const struct seep_model_oom *r = t->s->request;
    char asked[SEEP_SIZE_TEXT], have[SEEP_SIZE_TEXT], more[SEEP_SIZE_TEXT];
    const char *kind;
    const uint64_t limit = seep_memory_limit_of(t->code->model, &kind);
    char *registered = NULL;

    if (r->registered_bytes)
        registered = seep_text_format(" and %s registered",
                                      seep_text_size((double)r->registered_bytes, more));
    seep_finding_note(f,
                      r->source == SEEP_OOM_BY_REGISTER
                          ? "Tried to register %s %s: %s of pinned memory was allocated%s by then"
                          : "Tried to allocate %s %s: %s of pinned memory was allocated%s by then",
                      seep_text_size((double)r->asked_bytes, asked), step,
                      seep_text_size((double)t->s->kept_bytes, have), registered ? registered : "");
    if (seep_oom_is_of_pool(t->s))
        seep_finding_note(f,
                          "PyTorch rounds pinned requests up to a power of two: little more than "
                          "%s may be needed",
                          seep_text_size((double)(r->asked_bytes / 2), asked));
    if (limit)
        seep_finding_note(f, "Pinned memory is host memory, of which there is %s (%s)",
                          seep_text_size((double)limit, have), seep_limit_words(kind));
    free(registered);
}

static void note_bound(const struct seep_oom_told *t, struct seep_finding *f)
{
    const struct seep_host_bound *its = &t->s->bound;
    char all[SEEP_SIZE_TEXT], used[SEEP_SIZE_TEXT];
    const char *kind;
    const uint64_t limit = seep_memory_limit_of(t->code->model, &kind);

    seep_text_size((double)its->bytes, all);
    seep_text_size((double)its->used_bytes, used);
    if (strcmp(its->kind, "RLIMIT_AS") == 0)
        seep_finding_note(f, "RLIMIT_AS (ulimit -v) allows %s of address space; %s was in use", all,
                          used);
    else if (strcmp(its->kind, "RLIMIT_DATA") == 0)
        seep_finding_note(f, "RLIMIT_DATA (ulimit -d) allows %s of data; %s was in use", all, used);
    else if (limit)
        seep_finding_note(f,
                          "No limit of the process was reached: the kernel refused the request "
                          "(overcommit). There is %s (%s)",
                          seep_text_size((double)limit, all), seep_limit_words(kind));
    else
        seep_finding_note(
            f, "No limit of the process was reached: the kernel refused the request (overcommit)");
}

static void note_of_host(const struct seep_oom_told *t, const char *step, struct seep_finding *f)
{
    char asked[SEEP_SIZE_TEXT], have[SEEP_SIZE_TEXT];

    seep_finding_note(f, "Tried to allocate %s %s: %s of host memory was allocated by then",
                      seep_text_size((double)t->s->request->asked_bytes, asked), step,
                      seep_text_size((double)t->s->allocated_bytes, have));
    note_bound(t, f);
}

/* ---- the lines ------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct seep_oom_line *line, bool in_step)
{
    return in_step ? line->step_bytes : line->kept_bytes;
}

/* The line with most after `last` (NULL: the first); NULL after the last one. */
static const struct seep_oom_line *next_line(const struct seep_oom *s,
                                             const struct seep_oom_line *last, bool in_step)
{
    const struct seep_oom_line *best = NULL;

    for (const struct seep_oom_line *one = s->lines; one < s->lines + s->n_lines; one++) {
        const uint64_t bytes = bytes_of(one, in_step);
        const uint64_t bound = last ? bytes_of(last, in_step) : UINT64_MAX;
        if (bytes > bound || (bytes == bound && one <= last))
            continue;
        if (!best || bytes > bytes_of(best, in_step))
            best = one;
    }
    return best;
}

/* "train.py:12 5.2 GiB (66 %), model.py:40 1.1 GiB (14 %)": the lines with most, in order; NULL if
 * none is worth reporting, or without memory. */
static char *list_lines(const struct seep_oom_told *t, bool in_step)
{
    enum { MOST = 4 };
    const uint64_t all = t->s->allocated_bytes, least = all / SEEP_T_NEGLIGIBLE;
    const struct seep_oom_line *line = NULL;
    char *text = NULL, size[SEEP_SIZE_TEXT];
    size_t n_text, listed = 0;
    FILE *out = open_memstream(&text, &n_text);

    while (out && listed < MOST && (line = next_line(t->s, line, in_step))) {
        const uint64_t bytes = bytes_of(line, in_step);
        if (!bytes || bytes < least)
            break;
        char *place = place_text(t->code, line->frame);
        fprintf(out, "%s%s %s (%.0f %%)", listed++ ? ", " : "", place ? place : "?",
                seep_text_size((double)bytes, size),
                all ? 100.0 * (double)bytes / (double)all : 0.0);
        free(place);
    }
    if (out)
        fclose(out);
    if (listed)
        return text;
    free(text);
    return NULL;
}

static void note_lines(const struct seep_oom_told *t, struct seep_finding *f)
{
    const uint64_t kept_bytes = seep_sum(t->s->kept_bytes, t->s->request->registered_bytes);
    const uint64_t made =
        t->s->allocated_bytes > kept_bytes ? t->s->allocated_bytes - kept_bytes : 0;
    char size[SEEP_SIZE_TEXT], *kept = list_lines(t, false), *in_step = list_lines(t, true);

    if (kept)
        seep_finding_note(f, "Kept from before, %s: %s",
                          seep_text_size((double)t->s->kept_bytes, size), kept);
    if (made && in_step)
        seep_finding_note(f, "Allocated in the step itself, %s: at most %s",
                          seep_text_size((double)made, size), in_step);
    free(kept);
    free(in_step);
}

/* ---- the cause ------------------------------------------------------------------------------- */

/* Also how the free pieces came about, if known. */
static void note_pieces(const struct seep_oom_told *t, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT];

    seep_finding_note(f,
                      "%s is reserved but unallocated, in pieces that are too small; in one piece "
                      "it would be enough",
                      seep_text_size((double)t->s->unallocated_bytes, size));
    if (t->cache)
        seep_finding_note(f, "F%u, allocator-cache, explains how this came about", t->cache);
}

static void note_cause(const struct seep_oom_told *t, struct seep_finding *f)
{
    const struct seep_oom *s = t->s;
    char size[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT];

    if (s->before > 1 && s->kept_bytes > s->began_bytes)
        seep_finding_note(f, "Of what is kept, %s came after step 1; %s was there by then",
                          seep_text_size((double)(s->kept_bytes - s->began_bytes), size),
                          seep_text_size((double)s->began_bytes, other));
    if (s->filler)
        seep_finding_note(f, "F%u, %s, holds %s of it%s", s->filler, t->filler,
                          seep_text_size((double)s->filled_bytes, size),
                          s->cause == SEEP_OOM_FILLED ? ": without it the request would have fitted"
                                                      : "");
    if (s->cause == SEEP_OOM_FRAGMENTED)
        note_pieces(t, f);
    if (s->device.others_bytes)
        seep_finding_note(f, "Processes outside this job use %s of the GPU",
                          seep_text_size((double)s->device.others_bytes, size));
    if (s->free_bytes && s->free_bytes < s->request->asked_bytes)
        seep_finding_note(f, "A request of up to %s would have fitted",
                          seep_text_size((double)s->free_bytes, size));
}

/* How often it happened, and what became of the process. */
static void note_outcome(const struct seep_oom_told *t, struct seep_finding *f)
{
    const struct seep_model_process *p = &t->code->model->processes[t->s->request->process];
    const bool stepped = t->code->model->step_source != SEEP_STEP_TIME;
    const int32_t first = t->s->first_step > 0 ? t->s->first_step : 0;
    const int32_t last = t->s->request->step > first ? t->s->request->step : first;
    const uint32_t left_out =
        seep_oom_is_of_host(t->s) ? p->recording.host_ooms_left_out : p->recording.ooms_left_out;
    char span[SEEP_SPAN_TEXT];

    seep_text_span("step", first, last, span);
    if (left_out)
        seep_finding_note(f, "%zu requests failed in %s, and then %u more", t->s->n_requests, span,
                          left_out);
    else if (t->s->n_requests > 1)
        seep_finding_note(f, "%zu requests failed, in %s", t->s->n_requests, span);
    if (stepped && (int64_t)t->code->model->n_steps >= last && t->code->model->n_steps)
        seep_finding_note(f, "The job caught the error and continued, to step %u",
                          t->code->model->n_steps);
    else if (p->ended.kind == SEEP_ENDED_EXIT && p->ended.value)
        seep_finding_note(f, "The process then ended with exit status %d", p->ended.value);
    else if (p->ended.kind == SEEP_ENDED_SIGNAL)
        seep_finding_note(f, "The process was then ended by signal %d", p->ended.value);
    else if (p->ended.kind == SEEP_ENDED_EXIT && seep_oom_is_of_host(t->s))
        seep_finding_note(f, "The process caught the error and ended normally");
}

/* Adds the evidence. */
static void oom_note(const struct seep_oom_told *t, struct seep_finding *f)
{
    char *step = when(t);

    if (step && seep_oom_is_pinned(t->s))
        note_of_pinned(t, step, f);
    else if (step && seep_oom_is_of_host(t->s))
        note_of_host(t, step, f);
    else if (step)
        note_of_device(t, step, f);
    note_unallocated(t->s, f);
    free(step);
    note_lines(t, f);
    note_cause(t, f);
    note_outcome(t, f);
}

/* One oom while it is being explained. */
struct explaining {
    const struct seep_code *code;
    const struct seep_findings *others;
    size_t place, n_before; /* others from `place` on come after n_before new ones */
    struct seep_oom *s;
    const struct seep_finding *filler;
    struct seep_finding *f;
};

/* ---- why ------------------------------------------------------------------------------------- */

/* 0: no finding. */
static unsigned number_of(const struct explaining *e, const struct seep_finding *f)
{
    size_t at = f ? (size_t)(f - e->others->list) : 0;

    return f ? (unsigned)(at + 1 + (at < e->place ? 0 : e->n_before)) : 0;
}

static bool lies_on(const struct explaining *e, const struct seep_finding *f)
{
    const struct seep_space_name *its = &e->code->model->spaces[f->space].name;

    return seep_oom_covers(e->code->model, e->s, f->space) ||
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

    if (seep_oom_is_pinned(e->s))
        return number_of_pattern(e, SEEP_PATTERN_PINNED_POOL);
    return spike ? spike : number_of_pattern(e, SEEP_PATTERN_CARRY_OVER);
}

/* Before the allocator fails, it gives back all the pieces that it can: what it still reserves lies
 * in segments that are in use. Pinned memory has no such reserve, and nobody knows what others pin,
 * or what the host has promised them. */
static enum seep_oom_cause cause_of(const struct seep_oom *s)
{
    const uint64_t asked = s->request->asked_bytes;

    if (s->filled_bytes >= asked && s->filled_bytes &&
        s->filled_bytes >= s->allocated_bytes / SEEP_T_LARGE_SHARE)
        return SEEP_OOM_FILLED;
    if (seep_oom_is_pinned(s) || seep_oom_is_of_host(s))
        return SEEP_OOM_TOO_LARGE;
    if (s->unallocated_bytes >= asked)
        return SEEP_OOM_FRAGMENTED;
    if (s->device.others_bytes >= asked && s->device.capacity_bytes > asked)
        return SEEP_OOM_OTHERS;
    return SEEP_OOM_TOO_LARGE;
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
    for (size_t i = 0; i < e->code->model->n_ooms; i++) { /* by process */
        const struct seep_model_oom *its = &e->code->model->ooms[i];
        const bool again = f->n_processes && f->processes[f->n_processes - 1] == its->process;
        if (counts[i] && its->space == e->s->space && !again)
            f->processes[f->n_processes++] = its->process;
    }
    return 0;
}

static enum seep_confidence confidence_in(enum seep_oom_cause cause)
{
    return cause == SEEP_OOM_TOO_LARGE ? SEEP_LIKELY : SEEP_CERTAIN;
}

/* The most that the memory could have held, as far as known. */
static uint64_t limit_of(const struct explaining *e)
{
    const char *kind;

    if (e->s->bound.bytes)
        return e->s->bound.bytes;
    return seep_oom_is_pinned(e->s) || seep_oom_is_of_host(e->s)
               ? seep_memory_limit_of(e->code->model, &kind)
               : e->s->device.capacity_bytes;
}

static void describe(struct explaining *e)
{
    const struct seep_model_oom *r = e->s->request;
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
    f->saving_bytes = e->s->cause == SEEP_OOM_FRAGMENTED ? e->s->unallocated_bytes : 0;
    f->first_step = e->s->first_step;
    f->limit_bytes = limit_of(e);
    f->steps_to_limit = -1;
}

static int explain(struct explaining *e, const bool *counts)
{
    if (seep_oom_weigh(e->code, e->s) || list_whom(e, counts) || find_filler(e))
        return -SEEP_ENOMEM;
    e->s->cause = cause_of(e->s);
    describe(e);
    const struct seep_oom_told told = {
        .code = e->code,
        .s = e->s,
        .filler = e->filler ? seep_pattern_name(e->filler->pattern) : "",
        .cache = number_of_pattern(e, SEEP_PATTERN_ALLOCATOR_CACHE),
        .cure = number_of_cure(e),
    };
    oom_note(&told, e->f);
    e->f->advice = advise_on_oom(&told);
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

static size_t count_ooms(const struct seep_model *m, const bool *counts)
{
    struct seep_oom s;
    size_t n = 0;

    for (uint16_t space = 0; space < m->n_spaces; space++)
        n += seep_oom_find(m, counts, space, &s);
    return n;
}

int seep_ooms_judge(const struct seep_code *code, struct seep_findings *out)
{
    const struct seep_model *m = code->model;
    bool *counts = calloc(m->n_ooms + 1, sizeof *counts);
    int rc = counts ? seep_oom_requests(code, counts) : -SEEP_ENOMEM;
    const size_t most = rc ? 0 : count_ooms(m, counts);
    struct seep_finding *new = calloc(most + 1, sizeof *new);
    size_t n = 0;

    rc = new ? rc : -SEEP_ENOMEM;
    for (uint16_t space = 0; space < m->n_spaces && n < most && !rc; space++) {
        struct seep_oom s;
        if (!seep_oom_find(m, counts, space, &s))
            continue;
        struct seep_finding *f = &new[n++];
        struct explaining e = {.code = code,
                               .others = out,
                               .place = place_among(out),
                               .n_before = most,
                               .s = f->oom = malloc(sizeof s),
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

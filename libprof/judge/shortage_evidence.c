/* The evidence of an out-of-memory finding: which request failed, who had the memory, and why. */
#include "libprof/judge/shortage_told.h"

#include "libprof/base/text.h"
#include "libprof/code/place_text.h"
#include "libprof/measure/device_layout.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/findings/shortage_words.h"
#include "libprof/words/limit_kind.h"
#include "libprof/words/space.h"
#include "libprof/words/step_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the request ----------------------------------------------------------------------------- */

/* "in step 12", or before the first. Allocates; NULL without memory. */
static char *when(const struct seep_shortage_told *t)
{
    const char *unit = seep_step_unit(t->code->model->step_source == SEEP_STEP_TIME);
    const int32_t step = t->s->request->step;

    return step > 0 ? seep_text_format(SEEP_SHORTAGE_IN_STEP_TEXT, unit, (int)step)
                    : strdup(SEEP_SHORTAGE_BEFORE_TRAINING_TEXT);
}

static const char *tried_text(const struct seep_shortage *s)
{
    return seep_shortage_is_announced(s) ? SEEP_SHORTAGE_TRIED_PROGRAM_TEXT
                                         : SEEP_SHORTAGE_TRIED_PYTORCH_TEXT;
}

/* In the words of PyTorch's own message. */
static void note_of_device(const struct seep_shortage_told *t, const char *step,
                           struct seep_finding *f)
{
    const struct seep_shortage *s = t->s;
    char asked[SEEP_SIZE_TEXT], have[SEEP_SIZE_TEXT], idle[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT],
        space[SEEP_SPACE_WORDS];
    char *capacity = NULL;

    if (s->device.capacity_bytes)
        capacity =
            seep_text_format(s->request->device < SEEP_MAX_DEVICES ? SEEP_SHORTAGE_CAPACITY_TEXT
                                                                   : SEEP_SHORTAGE_HOLDS_TEXT,
                             seep_text_size((double)s->device.capacity_bytes, all));
    seep_text_size((double)s->request->asked_bytes, asked);
    seep_text_size((double)s->allocated_bytes, have);
    if (!seep_shortage_has_reserve(s))
        seep_finding_note(f, SEEP_SHORTAGE_TRIED_RUNTIME_TEXT, asked, step, have,
                          seep_space_words(t->code->model->spaces[s->space].name.text, space),
                          capacity ? capacity : "");
    else
        seep_finding_note(f, tried_text(s), asked, step, have,
                          seep_text_size((double)s->unallocated_bytes, idle),
                          capacity ? capacity : "");
    free(capacity);
}

/* Why no free piece was used. */
static const char *kept_for(const struct seep_shortage *s)
{
    if (s->largest_piece_bytes < s->request->asked_bytes)
        return "";
    if (seep_shortage_is_announced(s))
        return SEEP_SHORTAGE_PIECES_UNUSED_TEXT;
    if (s->unusable_bytes < s->unallocated_bytes)
        return SEEP_SHORTAGE_PIECES_ELSEWHERE_TEXT;
    return s->request->asked_bytes > SEEP_SMALL_REQUEST ? SEEP_SHORTAGE_PIECES_SMALL_POOL_TEXT
                                                        : SEEP_SHORTAGE_PIECES_LARGE_POOL_TEXT;
}

static void note_unallocated(const struct seep_shortage *s, struct seep_finding *f)
{
    char largest[SEEP_SIZE_TEXT];

    if (s->unallocated_pieces)
        seep_finding_note(f, SEEP_SHORTAGE_PIECES_TEXT, s->unallocated_pieces,
                          s->unallocated_pieces == 1 ? "" : "s",
                          seep_text_size((double)s->largest_piece_bytes, largest), kept_for(s));
}

static void note_of_pinned(const struct seep_shortage_told *t, const char *step,
                           struct seep_finding *f)
{
    const struct seep_model_shortage *r = t->s->request;
    char asked[SEEP_SIZE_TEXT], have[SEEP_SIZE_TEXT], more[SEEP_SIZE_TEXT];
    const char *kind;
    const uint64_t limit = seep_memory_limit_of(t->code->model, &kind);
    char *registered = NULL;

    if (r->registered_bytes)
        registered = seep_text_format(SEEP_SHORTAGE_REGISTERED_TEXT,
                                      seep_text_size((double)r->registered_bytes, more));
    seep_finding_note(f,
                      r->source == SEEP_SHORTAGE_BY_REGISTER ? SEEP_SHORTAGE_TRIED_REGISTER_TEXT
                                                             : SEEP_SHORTAGE_TRIED_PINNED_TEXT,
                      seep_text_size((double)r->asked_bytes, asked), step,
                      seep_text_size((double)t->s->kept_bytes, have), registered ? registered : "");
    if (seep_shortage_is_of_pool(t->s))
        seep_finding_note(f, SEEP_SHORTAGE_POWER_OF_TWO_TEXT,
                          seep_text_size((double)(r->asked_bytes / 2), asked));
    if (limit)
        seep_finding_note(f, SEEP_SHORTAGE_PINNED_LIMIT_TEXT, seep_text_size((double)limit, have),
                          seep_limit_words(kind));
    free(registered);
}

static void note_bound(const struct seep_shortage_told *t, struct seep_finding *f)
{
    const struct seep_host_bound *its = &t->s->bound;
    char all[SEEP_SIZE_TEXT], used[SEEP_SIZE_TEXT];
    const char *kind;
    const uint64_t limit = seep_memory_limit_of(t->code->model, &kind);

    seep_text_size((double)its->bytes, all);
    seep_text_size((double)its->used_bytes, used);
    if (strcmp(its->kind, "RLIMIT_AS") == 0)
        seep_finding_note(f, SEEP_SHORTAGE_ADDRESS_LIMIT_TEXT, all, used);
    else if (strcmp(its->kind, "RLIMIT_DATA") == 0)
        seep_finding_note(f, SEEP_SHORTAGE_DATA_LIMIT_TEXT, all, used);
    else if (limit)
        seep_finding_note(f, SEEP_SHORTAGE_OVERCOMMIT_OF_TEXT, seep_text_size((double)limit, all),
                          seep_limit_words(kind));
    else
        seep_finding_note(f, SEEP_SHORTAGE_OVERCOMMIT_TEXT);
}

static void note_of_host(const struct seep_shortage_told *t, const char *step,
                         struct seep_finding *f)
{
    char asked[SEEP_SIZE_TEXT], have[SEEP_SIZE_TEXT];

    seep_finding_note(f, SEEP_SHORTAGE_TRIED_HOST_TEXT,
                      seep_text_size((double)t->s->request->asked_bytes, asked), step,
                      seep_text_size((double)t->s->allocated_bytes, have));
    note_bound(t, f);
}

/* ---- the lines ------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct seep_shortage_line *line, bool in_step)
{
    return in_step ? line->step_bytes : line->kept_bytes;
}

/* The line with most after `last` (NULL: the first); NULL after the last one. */
static const struct seep_shortage_line *
next_line(const struct seep_shortage *s, const struct seep_shortage_line *last, bool in_step)
{
    const struct seep_shortage_line *best = NULL;

    for (const struct seep_shortage_line *one = s->lines; one < s->lines + s->n_lines; one++) {
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
static char *list_lines(const struct seep_shortage_told *t, bool in_step)
{
    enum { MOST = 4 };
    const uint64_t all = t->s->allocated_bytes, least = all / SEEP_T_NEGLIGIBLE;
    const struct seep_shortage_line *line = NULL;
    char *text = NULL, size[SEEP_SIZE_TEXT];
    size_t n_text, listed = 0;
    FILE *out = open_memstream(&text, &n_text);

    while (out && listed < MOST && (line = next_line(t->s, line, in_step))) {
        const uint64_t bytes = bytes_of(line, in_step);
        if (!bytes || bytes < least)
            break;
        char *place = seep_place_text(t->code, line->frame);
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

static void note_lines(const struct seep_shortage_told *t, struct seep_finding *f)
{
    const uint64_t kept_bytes = seep_sum(t->s->kept_bytes, t->s->request->registered_bytes);
    const uint64_t made =
        t->s->allocated_bytes > kept_bytes ? t->s->allocated_bytes - kept_bytes : 0;
    char size[SEEP_SIZE_TEXT], *kept = list_lines(t, false), *in_step = list_lines(t, true);

    if (kept)
        seep_finding_note(f, SEEP_SHORTAGE_KEPT_BEFORE_TEXT,
                          seep_text_size((double)t->s->kept_bytes, size), kept);
    if (made && in_step)
        seep_finding_note(f, SEEP_SHORTAGE_MADE_IN_STEP_TEXT, seep_text_size((double)made, size),
                          in_step);
    free(kept);
    free(in_step);
}

/* ---- the cause ------------------------------------------------------------------------------- */

/* Also how the free pieces came about, if known. */
static void note_pieces(const struct seep_shortage_told *t, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT];

    seep_finding_note(f, SEEP_SHORTAGE_FRAGMENTED_TEXT,
                      seep_text_size((double)t->s->unallocated_bytes, size));
    if (t->cache)
        seep_finding_note(f, SEEP_SHORTAGE_BY_CACHE_TEXT, t->cache);
}

static void note_cause(const struct seep_shortage_told *t, struct seep_finding *f)
{
    const struct seep_shortage *s = t->s;
    char size[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT];

    if (s->before > 1 && s->kept_bytes > s->began_bytes)
        seep_finding_note(f, SEEP_SHORTAGE_SINCE_FIRST_STEP_TEXT,
                          seep_text_size((double)(s->kept_bytes - s->began_bytes), size),
                          seep_text_size((double)s->began_bytes, other));
    if (s->filler)
        seep_finding_note(f, SEEP_SHORTAGE_FILLER_TEXT, s->filler, t->filler,
                          seep_text_size((double)s->filled_bytes, size),
                          s->cause == SEEP_SHORTAGE_FILLED ? SEEP_SHORTAGE_FILLER_ENOUGH_TEXT : "");
    if (s->cause == SEEP_SHORTAGE_FRAGMENTED)
        note_pieces(t, f);
    if (s->device.others_bytes)
        seep_finding_note(f, SEEP_SHORTAGE_OTHERS_TEXT,
                          seep_text_size((double)s->device.others_bytes, size));
    if (s->free_bytes && s->free_bytes < s->request->asked_bytes)
        seep_finding_note(f, SEEP_SHORTAGE_WOULD_FIT_TEXT,
                          seep_text_size((double)s->free_bytes, size));
}

/* How often it happened, and what became of the process. */
static void note_outcome(const struct seep_shortage_told *t, struct seep_finding *f)
{
    const struct seep_model_process *p = &t->code->model->processes[t->s->request->process];
    const bool stepped = t->code->model->step_source != SEEP_STEP_TIME;
    const int32_t first = t->s->first_step > 0 ? t->s->first_step : 0;
    const int32_t last = t->s->request->step > first ? t->s->request->step : first;
    const uint32_t left_out = seep_shortage_is_of_host(t->s) ? p->recording.host_shortages_left_out
                                                             : p->recording.shortages_left_out;
    char span[SEEP_SPAN_TEXT];

    seep_text_span("step", first, last, span);
    if (left_out)
        seep_finding_note(f, SEEP_SHORTAGE_REQUESTS_AND_MORE_TEXT, t->s->n_requests, span,
                          left_out);
    else if (t->s->n_requests > 1)
        seep_finding_note(f, SEEP_SHORTAGE_REQUESTS_TEXT, t->s->n_requests, span);
    if (stepped && (int64_t)t->code->model->n_steps >= last && t->code->model->n_steps)
        seep_finding_note(f, SEEP_SHORTAGE_CAUGHT_TEXT, t->code->model->n_steps);
    else if (p->ended.kind == SEEP_ENDED_EXIT && p->ended.value)
        seep_finding_note(f, SEEP_SHORTAGE_ENDED_BY_STATUS_TEXT, p->ended.value);
    else if (p->ended.kind == SEEP_ENDED_SIGNAL)
        seep_finding_note(f, SEEP_SHORTAGE_ENDED_BY_SIGNAL_TEXT, p->ended.value);
    else if (p->ended.kind == SEEP_ENDED_EXIT && seep_shortage_is_of_host(t->s))
        seep_finding_note(f, SEEP_SHORTAGE_ENDED_WELL_TEXT);
}

void seep_shortage_note(const struct seep_shortage_told *t, struct seep_finding *f)
{
    char *step = when(t);

    if (step && seep_shortage_is_pinned(t->s))
        note_of_pinned(t, step, f);
    else if (step && seep_shortage_is_of_host(t->s))
        note_of_host(t, step, f);
    else if (step)
        note_of_device(t, step, f);
    note_unallocated(t->s, f);
    free(step);
    note_lines(t, f);
    note_cause(t, f);
    note_outcome(t, f);
}

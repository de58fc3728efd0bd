#include "libprof/judge/shortage_findings.h"

#include "libprof/base/text.h"
#include "libprof/code/place_text.h"
#include "libprof/measure/allocator_settings.h"
#include "libprof/measure/device_layout.h"
#include "libprof/measure/memory_limit.h"
#include "libprof/thresholds/thresholds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PyTorch's pool of pinned memory asks for powers of two. */
static bool is_of_pool(const struct seep_shortage *s)
{
    const uint64_t asked = s->request->asked_bytes;

    return seep_shortage_is_pinned(s) && !s->request->registers && asked && !(asked & (asked - 1));
}

/* ---- the request ----------------------------------------------------------------------------- */

/* "in step 12", or before the first. Allocates; NULL without memory. */
static char *when(const struct seep_shortage_told *t)
{
    const bool timed = t->code->model->step_source == SEEP_STEP_TIME;
    const int32_t step = t->s->request->step;

    return step > 0 ? seep_text_format("in %s %d", timed ? "slice" : "step", (int)step)
                    : strdup("before step 1");
}

/* In the words of PyTorch's own message. */
static void note_of_device(const struct seep_shortage_told *t, const char *step,
                           struct seep_finding *f)
{
    const struct seep_shortage *s = t->s;
    char asked[SEEP_SIZE_TEXT], have[SEEP_SIZE_TEXT], idle[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT];
    char *capacity = NULL;

    if (s->device.capacity_bytes)
        capacity = seep_text_format(", of a total capacity of %s",
                                    seep_text_size((double)s->device.capacity_bytes, all));
    seep_text_size((double)s->request->asked_bytes, asked);
    seep_text_size((double)s->allocated_bytes, have);
    if (s->request->by_runtime)
        seep_finding_note(f, "tried to allocate %s %s: %s of %s is allocated by then%s", asked,
                          step, have, t->code->model->spaces[s->space].name.text,
                          capacity ? capacity : "");
    else
        seep_finding_note(
            f, "tried to allocate %s %s: %s is allocated by PyTorch, %s reserved but unallocated%s",
            asked, step, have, seep_text_size((double)s->unallocated_bytes, idle),
            capacity ? capacity : "");
    free(capacity);
}

/* Why none of them was taken. */
static const char *kept_for(const struct seep_shortage *s)
{
    if (s->largest_piece_bytes < s->request->asked_bytes)
        return "";
    if (s->unusable_bytes < s->unallocated_bytes)
        return ": some are large enough, but of another stream or pool";
    return s->request->asked_bytes > SEEP_SMALL_REQUEST
               ? ", which PyTorch keeps for requests of up to 1 MiB"
               : ", which PyTorch keeps for requests above 1 MiB";
}

static void note_unallocated(const struct seep_shortage *s, struct seep_finding *f)
{
    char largest[SEEP_SIZE_TEXT];

    if (s->unallocated_pieces)
        seep_finding_note(f, "what is unallocated lies in %zu piece%s, the largest of %s%s",
                          s->unallocated_pieces, s->unallocated_pieces == 1 ? "" : "s",
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
        registered = seep_text_format(" and %s registered",
                                      seep_text_size((double)r->registered_bytes, more));
    seep_finding_note(f, "tried to %s %s %s: %s of pinned is allocated%s by then",
                      r->registers ? "register" : "allocate",
                      seep_text_size((double)r->asked_bytes, asked), step,
                      seep_text_size((double)t->s->kept_bytes, have), registered ? registered : "");
    if (is_of_pool(t->s))
        seep_finding_note(f,
                          "that is a power of two, which PyTorch's pool rounds up to: little more "
                          "than %s may be needed",
                          seep_text_size((double)(r->asked_bytes / 2), asked));
    if (limit)
        seep_finding_note(f, "what is pinned is memory of the host, of which there is %s (%s)",
                          seep_text_size((double)limit, have), kind);
    free(registered);
}

/* ---- the lines ------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct seep_shortage_line *line, bool in_step)
{
    return in_step ? line->step_bytes : line->kept_bytes;
}

/* The line with most behind `last`, which is one or NULL; NULL behind the last. */
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

/* "train.py:12 5.2 GiB (66 %), model.py:40 1.1 GiB (14 %)": of the lines with most, in their order;
 * NULL where none is worth a word or there is no memory. */
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
        seep_finding_note(f, "kept from before, %s: %s",
                          seep_text_size((double)t->s->kept_bytes, size), kept);
    if (made && in_step)
        seep_finding_note(f, "made in the step itself, %s: at most %s",
                          seep_text_size((double)made, size), in_step);
    free(kept);
    free(in_step);
}

/* ---- the cause ------------------------------------------------------------------------------- */

/* How they came about may be known, too. */
static void note_pieces(const struct seep_shortage_told *t, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT];

    seep_finding_note(f,
                      "%s is reserved but unallocated, in pieces that are too small: in one piece "
                      "it would have been enough",
                      seep_text_size((double)t->s->unallocated_bytes, size));
    if (t->cache)
        seep_finding_note(f, "F%u, allocator-cache, is how it came to that", t->cache);
}

static void note_cause(const struct seep_shortage_told *t, struct seep_finding *f)
{
    const struct seep_shortage *s = t->s;
    char size[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT];

    if (s->before > 1 && s->kept_bytes > s->began_bytes)
        seep_finding_note(f, "of what is kept %s came after step 1, %s was there by then",
                          seep_text_size((double)(s->kept_bytes - s->began_bytes), size),
                          seep_text_size((double)s->began_bytes, other));
    if (s->filler)
        seep_finding_note(
            f, "F%u, %s, has %s of it%s", s->filler, t->filler,
            seep_text_size((double)s->filled_bytes, size),
            s->cause == SEEP_SHORTAGE_FILLED ? ": without that the request would have fitted" : "");
    if (s->cause == SEEP_SHORTAGE_FRAGMENTED)
        note_pieces(t, f);
    if (s->device.others_bytes)
        seep_finding_note(f, "processes that are none of the job's use %s of the device",
                          seep_text_size((double)s->device.others_bytes, size));
    if (s->free_bytes && s->free_bytes < s->request->asked_bytes)
        seep_finding_note(f, "a request of up to %s would have fitted",
                          seep_text_size((double)s->free_bytes, size));
}

/* How often, and what became of the process. */
static void note_outcome(const struct seep_shortage_told *t, struct seep_finding *f)
{
    const struct seep_model_process *p = &t->code->model->processes[t->s->request->process];
    const bool stepped = t->code->model->step_source != SEEP_STEP_TIME;
    const int32_t first = t->s->first_step > 0 ? t->s->first_step : 0, last = t->s->request->step;

    if (p->recording.shortages_left_out)
        seep_finding_note(f, "%zu requests failed in steps %d to %d, and then %u more",
                          t->s->n_requests, (int)first, (int)last, p->recording.shortages_left_out);
    else if (t->s->n_requests > 1)
        seep_finding_note(f, "%zu requests failed, in steps %d to %d", t->s->n_requests, (int)first,
                          (int)(last > 0 ? last : 0));
    if (stepped && (int64_t)t->code->model->n_steps >= last && t->code->model->n_steps)
        seep_finding_note(f, "the job caught it and went on, to step %u", t->code->model->n_steps);
    else if (p->exit_kind == SEEP_ENDED_EXIT && p->exit_value)
        seep_finding_note(f, "the process ended then, with exit status %d", p->exit_value);
    else if (p->exit_kind == SEEP_ENDED_SIGNAL)
        seep_finding_note(f, "the process ended then, by signal %d", p->exit_value);
}

void seep_shortage_note(const struct seep_shortage_told *t, struct seep_finding *f)
{
    char *step = when(t);

    if (step && seep_shortage_is_pinned(t->s))
        note_of_pinned(t, step, f);
    else if (step)
        note_of_device(t, step, f);
    note_unallocated(t->s, f);
    free(step);
    note_lines(t, f);
    note_cause(t, f);
    note_outcome(t, f);
}

/* ---- what to do ------------------------------------------------------------------------------ */

/* Nothing that is said of devices holds of the host's memory: it is bounded by the machine, and by
 * how it is asked for. */
static char *advice_pinned(const struct seep_shortage_told *t)
{
    const char *less =
        t->s->request->registers
            ? "register less at a time: in pieces that are unregistered when they are done "
              "(cudaHostUnregister), or copy through one small pinned buffer"
        : is_of_pool(t->s)
            ? "pin less: let batches have few different sizes, rather just below a power of two "
              "than above, for PyTorch's pool rounds up and keeps them; a lower prefetch_factor, "
              "pin_memory=False for what is large"
            : "pin less: use one buffer again, or give it back (cudaFreeHost) before the next; a "
              "lower prefetch_factor, few different sizes of batches";
    const char *bound = "what can be pinned is bounded by the machine's free memory, a cgroup or "
                        "RLIMIT_MEMLOCK (ulimit -l)";

    if (t->s->cause == SEEP_SHORTAGE_FILLED)
        return seep_text_format("mend F%u: it keeps what is pinned; to pin less at a time only "
                                "puts the end off",
                                t->s->filler);
    return t->cure ? seep_text_format("see F%u first; else %s; %s", t->cure, less, bound)
                   : seep_text_format("%s; %s", less, bound);
}

/* What lies on the device from dataset, loader or camera can wait on the host. */
static bool is_data(const struct seep_shortage_told *t, const struct seep_shortage_line *line)
{
    const enum seep_part part =
        (enum seep_part)t->code->lines->part[t->code->model->sites[line->site].stack];

    return part == SEEP_PART_DATASET || part == SEEP_PART_LOADER || part == SEEP_PART_CAMERA;
}

static char *advice_too_large(const struct seep_shortage_told *t)
{
    const char *usual = "a smaller batch (with gradient accumulation), activation checkpointing "
                        "(torch.utils.checkpoint), autocast; del the batch, outputs and loss at "
                        "the end of the loop's body";
    const struct seep_shortage_line *line = NULL;

    while ((line = next_line(t->s, line, false))) {
        if (line->kept_bytes < t->s->allocated_bytes / SEEP_T_LARGE_SHARE)
            break;
        if (is_data(t, line)) {
            char *place = seep_place_text(t->code, line->frame);
            char *text = seep_text_format("keep what %s makes on the host, and move a batch at a "
                                          "time to the device; else %s",
                                          place ? place : "the loader", usual);
            free(place);
            return text;
        }
    }
    return t->cure ? seep_text_format("see F%u first; else %s", t->cure, usual) : strdup(usual);
}

char *seep_shortage_advice(const struct seep_shortage_told *t)
{
    if (seep_shortage_is_pinned(t->s))
        return advice_pinned(t);
    switch (t->s->cause) {
    case SEEP_SHORTAGE_FILLED:
        return seep_text_format("mend F%u: it fills the device; a smaller batch only puts the end "
                                "off",
                                t->s->filler);
    case SEEP_SHORTAGE_FRAGMENTED:
        return strdup(seep_allocator_advice(t->s->device.settings));
    case SEEP_SHORTAGE_OTHERS:
        return strdup("look who else is on the device (nvidia-smi), and wait for it or take "
                      "another one (CUDA_VISIBLE_DEVICES)");
    case SEEP_SHORTAGE_TOO_LARGE:
        break;
    }
    return advice_too_large(t);
}

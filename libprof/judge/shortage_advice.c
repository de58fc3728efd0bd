/* What to do about an out-of-memory error, by its cause. If the step simply needs too much, it is
 * the advice of the pattern's row. */
#include "libprof/judge/shortage_told.h"

#include "libprof/base/text.h"
#include "libprof/code/place_text.h"
#include "libprof/measure/allocator_settings.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/findings/shortage_words.h"

#include <stdlib.h>
#include <string.h>

/* Advice for devices does not apply to host memory: the machine bounds it, and so does how it is
 * asked for. */
static char *about_pinned(const struct seep_shortage_told *t)
{
    const char *less = t->s->request->source == SEEP_SHORTAGE_BY_REGISTER
                           ? SEEP_SHORTAGE_REGISTER_LESS_TEXT
                       : seep_shortage_is_of_pool(t->s) ? SEEP_SHORTAGE_PIN_LESS_POOL_TEXT
                                                        : SEEP_SHORTAGE_PIN_LESS_TEXT;
    const char *bound = SEEP_SHORTAGE_PIN_BOUND_TEXT;

    if (t->s->cause == SEEP_SHORTAGE_FILLED)
        return seep_text_format(SEEP_SHORTAGE_FIX_PINNED_TEXT, t->s->filler);
    return t->cure ? seep_text_format(SEEP_SHORTAGE_SEE_FIRST_ELSE_ALSO_TEXT, t->cure, less, bound)
                   : seep_text_format(SEEP_SHORTAGE_ADVICES_TEXT, less, bound);
}

/* Whatever refused it: first fix what fills the memory, then reduce what the program asks for. */
static char *about_host(const struct seep_shortage_told *t)
{
    if (t->s->cause == SEEP_SHORTAGE_FILLED)
        return seep_text_format(SEEP_SHORTAGE_FIX_HOST_TEXT, t->s->filler);
    return seep_text_format(
        SEEP_SHORTAGE_ADVICES_TEXT, SEEP_SHORTAGE_HOST_LESS_TEXT,
        strcmp(t->s->bound.kind, "RLIMIT_AS") == 0     ? SEEP_SHORTAGE_RAISE_ADDRESS_TEXT
        : strcmp(t->s->bound.kind, "RLIMIT_DATA") == 0 ? SEEP_SHORTAGE_RAISE_DATA_TEXT
                                                       : SEEP_SHORTAGE_CHECK_SIZE_TEXT);
}

/* Data from a dataset, loader or camera on the device could wait on the host. */
static bool is_data(const struct seep_shortage_told *t, const struct seep_shortage_line *line)
{
    const enum seep_part part =
        (enum seep_part)t->code->lines->part[t->code->model->sites[line->site].stack];

    return part == SEEP_PART_DATASET || part == SEEP_PART_LOADER || part == SEEP_PART_CAMERA;
}

/* The data line that keeps most, if that is a good part of the whole; else NULL. */
static const struct seep_shortage_line *much_data(const struct seep_shortage_told *t)
{
    const struct seep_shortage *s = t->s;
    const struct seep_shortage_line *most = NULL;

    for (const struct seep_shortage_line *one = s->lines; one < s->lines + s->n_lines; one++) {
        if (is_data(t, one) && one->kept_bytes >= s->allocated_bytes / SEEP_T_LARGE_SHARE &&
            (!most || one->kept_bytes > most->kept_bytes))
            most = one;
    }
    return most;
}

static char *about_too_large(const struct seep_shortage_told *t)
{
    const char *usual = seep_pattern_row(SEEP_PATTERN_OUT_OF_MEMORY)->advice;
    const struct seep_shortage_line *data = much_data(t);

    if (data) {
        char *place = seep_place_text(t->code, data->frame);
        char *text = seep_text_format(SEEP_SHORTAGE_KEEP_ON_HOST_TEXT,
                                      place ? place : SEEP_SHORTAGE_THE_LOADER_TEXT, usual);
        free(place);
        return text;
    }
    return t->cure ? seep_text_format(SEEP_SHORTAGE_SEE_FIRST_ELSE_TEXT, t->cure, usual)
                   : strdup(usual);
}

/* Nothing is known of the allocator but its books. */
static char *about_own(const struct seep_shortage_told *t)
{
    switch (t->s->cause) {
    case SEEP_SHORTAGE_FILLED:
        return seep_text_format(SEEP_SHORTAGE_FIX_OWN_TEXT, t->s->filler);
    case SEEP_SHORTAGE_FRAGMENTED:
        return strdup(SEEP_SHORTAGE_OWN_PIECES_TEXT);
    case SEEP_SHORTAGE_OTHERS:
        return strdup(SEEP_SHORTAGE_LOOK_WHO_TEXT);
    case SEEP_SHORTAGE_TOO_LARGE:
        break;
    }
    return t->cure ? seep_text_format(SEEP_SHORTAGE_SEE_FIRST_ELSE_TEXT, t->cure,
                                      SEEP_SHORTAGE_OWN_LESS_TEXT)
                   : strdup(SEEP_SHORTAGE_OWN_LESS_TEXT);
}

char *seep_shortage_advice(const struct seep_shortage_told *t)
{
    if (seep_shortage_is_pinned(t->s))
        return about_pinned(t);
    if (seep_shortage_is_of_host(t->s))
        return about_host(t);
    if (seep_shortage_is_announced(t->s))
        return about_own(t);
    switch (t->s->cause) {
    case SEEP_SHORTAGE_FILLED:
        return seep_text_format(SEEP_SHORTAGE_FIX_TEXT, t->s->filler);
    case SEEP_SHORTAGE_FRAGMENTED:
        return strdup(seep_allocator_advice(t->s->device.settings));
    case SEEP_SHORTAGE_OTHERS:
        return strdup(SEEP_SHORTAGE_LOOK_WHO_TEXT);
    case SEEP_SHORTAGE_TOO_LARGE:
        break;
    }
    return about_too_large(t);
}

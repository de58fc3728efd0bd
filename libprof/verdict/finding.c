#include "libprof/verdict/finding.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/measure/oom.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/model/live_level.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/findings/finding_words.h"
#include "libprof/words/limit_kind.h"
#include "libprof/words/step_words.h"

void seep_finding_note(struct seep_finding *f, const char *format, ...)
{
    va_list args;
    char *text;

    if (f->n_evidence >= SEEP_MAX_EVIDENCE)
        return;
    va_start(args, format);
    if (vasprintf(&text, format, args) >= 0)
        f->evidence[f->n_evidence++] = text;
    va_end(args);
}

static char *pace_text(const struct seep_finding *f, const char *unit)
{
    char value[SEEP_SIZE_TEXT], interval[SEEP_INTERVAL_TEXT];

    return seep_text_format("Grows by ≈ %s a %s%s over %s", seep_text_size(f->growth.value, value),
                            unit,
                            seep_text_interval("95 % interval: ", f->growth.value, f->growth.low,
                                               f->growth.high, interval),
                            f->pace_span);
}

void seep_finding_note_pace(struct seep_finding *f, const char *unit, const char *span)
{
    char *text = NULL;

    free(f->pace_span);
    f->pace_span = f->n_evidence < SEEP_MAX_EVIDENCE ? strdup(span) : NULL;
    if (f->pace_span)
        text = pace_text(f, unit);
    if (!text) {
        free(f->pace_span);
        f->pace_span = NULL;
        return;
    }
    f->pace_at = f->n_evidence;
    f->evidence[f->n_evidence++] = text;
}

void seep_finding_renew_pace(struct seep_finding *f, const char *unit)
{
    char *text = f->pace_span ? pace_text(f, unit) : NULL;

    if (!text)
        return;
    free(f->evidence[f->pace_at]);
    f->evidence[f->pace_at] = text;
}

void seep_finding_verdict(struct seep_finding *f, enum seep_pattern pattern,
                          enum seep_severity severity, enum seep_confidence confidence)
{
    f->pattern = pattern;
    f->severity = severity;
    f->confidence = confidence;
}

void seep_finding_keep(struct seep_finding *f, uint32_t site, uint64_t bytes, uint64_t blocks)
{
    f->sites[f->n_sites++] = site;
    f->live_bytes += bytes;
    f->count += blocks;
}

void seep_finding_blank(struct seep_finding *f)
{
    while (f->n_evidence)
        free(f->evidence[--f->n_evidence]);
    free(f->pace_span);
    *f = (struct seep_finding){.sites = f->sites};
}

void seep_finding_fini(struct seep_finding *f)
{
    free(f->sites);
    free(f->processes);
    seep_oom_free(f->oom);
    free(f->keeper);
    free(f->title);
    free(f->advice);
    free(f->pace_span);
    for (size_t i = 0; i < f->n_evidence; i++)
        free(f->evidence[i]);
}

void seep_findings_fini(struct seep_findings *f)
{
    for (size_t i = 0; i < f->n; i++)
        seep_finding_fini(&f->list[i]);
    free(f->list);
    *f = (struct seep_findings){0};
}

bool seep_finding_is_among(const struct seep_finding *one, const struct seep_finding *other)
{
    size_t k = 0;

    for (size_t i = 0; i < one->n_processes; i++) {
        while (k < other->n_processes && other->processes[k] < one->processes[i])
            k++;
        if (k == other->n_processes || other->processes[k] != one->processes[i])
            return false;
    }
    return true;
}

bool seep_finding_same_function(const struct seep_model *m, uint32_t frame, uint32_t other)
{
    const struct seep_dict_frame *f = &m->dict.frames[frame], *g = &m->dict.frames[other];

    return f->kind == g->kind && f->source == g->source && f->function == g->function &&
           f->kind == SEEP_FRAME_PYTHON;
}

/* ---- its peak, and its limit --------------------------------------------------------------------
 */

bool seep_finding_is_on_host(const struct seep_model *m, const struct seep_finding *f)
{
    const struct seep_space_name *space = &m->spaces[f->space].name;

    return space->host_like || space->class == SEEP_CLASS_SHM;
}

/* The limit that the growth reaches first; bytes 0: none is known. */
static struct seep_limit nearest_of(const struct seep_model *m, const struct seep_finding *f)
{
    return seep_finding_is_on_host(m, f)
               ? seep_memory_limit_nearest(m, f->growth.value, f->processes, f->n_processes)
               : seep_memory_limit_of_space(m, f->space, f->growth.value);
}

/* What seep takes itself, above a fiftieth of what the job does. */
static bool is_notable(const struct seep_limit *limit)
{
    enum { PARTS = 50 };
    return limit->own * PARTS >= limit->used && limit->own;
}

/* Where all of the job's memory grows faster than what the finding accounts for, it reaches the
 * limit. */
static void note_pace(const struct seep_model *m, const struct seep_resident_trend *resident,
                      struct seep_limit *limit, struct seep_finding *f)
{
    const double most = f->growth.value * (1 + 1.0 / SEEP_T_LARGE_SHARE);
    char each[SEEP_SIZE_TEXT];

    if (!seep_finding_is_on_host(m, f) || !resident->grows || resident->slope.value <= most)
        return;
    limit->growth = resident->slope.value;
    seep_finding_note(
        f, "All that is resident of the job grows by %s a %s: at that pace it reaches the limit",
        seep_text_size(resident->slope.value, each),
        seep_step_unit(m->step_source == SEEP_STEP_TIME));
}

void seep_finding_set_limit(const struct seep_model *m, const struct seep_resident_trend *resident,
                            struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT], used[SEEP_SIZE_TEXT], own[SEEP_SIZE_TEXT];
    const char *kind;

    f->steps_to_limit = -1;
    f->limit_bytes = seep_finding_is_on_host(m, f)
                         ? seep_memory_limit_of(m, &kind)
                         : seep_memory_limit_of_space(m, f->space, 0).bytes;
    if (f->growth.value <= 0 || f->returns)
        return;
    struct seep_limit nearest = nearest_of(m, f);
    if (!nearest.bytes)
        return;
    note_pace(m, resident, &nearest, f);
    f->limit_bytes = nearest.bytes;
    f->steps_to_limit = seep_memory_limit_steps(&nearest);
    seep_text_size((double)nearest.used, used);
    seep_text_size((double)nearest.bytes, size);
    if (is_notable(&nearest))
        seep_finding_note(f, "%s of %s %s in use, and %s by seep, which is not counted here", used,
                          size, seep_limit_words(nearest.kind),
                          seep_text_size((double)nearest.own, own));
    else
        seep_finding_note(f, SEEP_LINE_LIMIT_TEXT, used, size, seep_limit_words(nearest.kind));
}

/* `times`: how much was requested, as a share of what is resident. */
static void note_requested(const struct seep_model *m, double times, struct seep_finding *f)
{
    char all[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT];

    seep_finding_note(f, times < 1
                             ? "Sizes are those of malloc's chunks, with headers and rounding"
                             : "Of large blocks only those pages count that the job has touched");
    seep_text_size(times * (double)f->live_bytes, all);
    if (f->growth.value > 0)
        seep_finding_note(f, "Requested: %s, %s more each %s", all,
                          seep_text_size(times * f->growth.value, each),
                          seep_step_unit(m->step_source == SEEP_STEP_TIME));
    else
        seep_finding_note(f, "Requested: %s", all);
}

int seep_finding_set_peak(const struct seep_model *m, struct seep_finding *f)
{
    struct seep_level level = {0};
    int rc = seep_level_sum(m, f->sites, f->n_sites, SEEP_LEVEL_ALL, &level);
    const double requested = (double)seep_level_highest(&level).bytes;

    if (!rc)
        rc = seep_level_resident(m, f->sites, f->n_sites, SEEP_LEVEL_ALL, &level);
    const double resident = (double)seep_level_highest(&level).bytes;
    seep_level_fini(&level);
    f->peak_bytes = (uint64_t)resident > f->live_bytes ? (uint64_t)resident : f->live_bytes;
    if (resident > 0 &&
        fmax(requested, resident) >= (1 + 1.0 / SEEP_T_LARGE_SHARE) * fmin(requested, resident) &&
        f->live_bytes >= SEEP_T_PEAK_BYTES)
        note_requested(m, requested / resident, f);
    return rc;
}

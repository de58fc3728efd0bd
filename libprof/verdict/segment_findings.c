#include "libprof/verdict/finding_list.h"

#include "libprof/base/text.h"
#include "libprof/measure/device_memory.h"
#include "libprof/measure/segments.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Findings beyond these are ignored: only the first SEEP_MAX_FINDINGS are shown. */
enum { MOST = 4 * SEEP_MAX_FINDINGS };

/* The findings on one device, and what each is about. */
struct pairing {
    const struct seep_findings *f;
    uint16_t tensors; /* space of the device's tensors */
    size_t n;
    bool is_segment[MOST], is_tensor[MOST], drop[MOST]; /* is_segment: and may be dropped */
    double added[MOST];                                 /* bytes since the first step */
    uint64_t held[MOST]; /* by segments whose findings are dropped for it */
};

/* Memory on a rank's wrong device is a separate matter. */
static bool is_alike(const struct seep_finding *a, const struct seep_finding *b)
{
    return (a->pattern == SEEP_PATTERN_WRONG_DEVICE) == (b->pattern == SEEP_PATTERN_WRONG_DEVICE);
}

/* Counts what came after the first step: what was there in it, as activations are, may be
 * anybody's. If nothing came later, counts what is kept. */
static int weigh(const struct seep_model *m, const struct seep_findings *f, struct pairing *p)
{
    struct seep_level level = {0};
    int rc = 0;

    for (size_t i = 0; i < p->n && !rc; i++) {
        const struct seep_finding *one = &f->list[i];
        if (!p->is_segment[i] && !p->is_tensor[i])
            continue;
        rc = seep_level_sum(m, one->sites, one->n_sites, SEEP_LEVEL_ALL, &level);
        int64_t rise =
            rc ? 0 : seep_level_at(&level, f->span.last).bytes - seep_level_at(&level, 1).bytes;
        p->added[i] = rise > 0 ? (double)rise : (double)one->live_bytes;
    }
    seep_level_fini(&level);
    return rc;
}

/* Growth is compared with growth: a level says nothing of what comes. */
static double weight_of(const struct pairing *p, size_t i, bool by_growth)
{
    return by_growth ? fmax(p->f->list[i].growth.value, 0) : p->added[i];
}

/* The finding on tensors that segments[at] is evidence for; −1 if tensors are too few for all
 * segments like these. */
static long find_tensors(const struct pairing *p, size_t at)
{
    const struct seep_finding *one = &p->f->list[at], *other;
    double segments = 0, tensors = 0, most = 0;
    long best = -1;

    for (size_t i = 0; i < p->n; i++) {
        double weight = weight_of(p, i, one->growth.value > 0);
        other = &p->f->list[i];
        if (!is_alike(one, other))
            continue;
        if (p->is_segment[i] && seep_finding_is_among(other, one))
            segments += weight;
        if (!p->is_tensor[i] || !seep_finding_is_among(one, other))
            continue;
        tensors += weight;
        if (weight > most) {
            most = weight;
            best = (long)i;
        }
    }
    return segments <= SEEP_T_SEGMENTS_OUTGROW * tensors ? best : -1;
}

/* Sorts the device's findings into those on segments and those on tensors. Returns 0 or
 * -SEEP_ENOMEM. */
static int sort_out(const struct seep_code *code, uint16_t device, struct pairing *p)
{
    const struct seep_model *m = code->model;
    size_t n_segments = 0;

    for (size_t i = 0; i < p->n; i++) {
        const struct seep_finding *one = &p->f->list[i];
        p->is_segment[i] = one->space == device && one->pattern != SEEP_PATTERN_ALLOCATOR_CACHE;
        p->is_tensor[i] = one->space == p->tensors;
        n_segments += p->is_segment[i];
    }
    if (!n_segments)
        return 0;
    uint32_t *sites = malloc((m->n_sites + 1) * sizeof *sites);
    bool *marked = calloc(m->dict.n_stacks + 1, sizeof *marked);
    int rc = sites && marked ? 0 : -SEEP_ENOMEM;
    if (!rc)
        rc = seep_segments_mark(code, sites, seep_sites_of_space(m, p->tensors, sites), marked);
    for (size_t i = 0; i < p->n && !rc; i++) {
        const struct seep_finding *one = &p->f->list[i];
        for (size_t k = 0; k < one->n_sites && p->is_segment[i]; k++)
            p->is_segment[i] = marked[m->sites[one->sites[k]].stack];
    }
    free(sites);
    free(marked);
    return rc;
}

/* What an allocator took once and kept is its own affair: tensors say whether anything is kept in
 * it. But that it takes more and more, or on whose device, is not. */
static bool is_allocators_own(const struct seep_finding *f)
{
    return f->severity != SEEP_LEAK && f->pattern != SEEP_PATTERN_WRONG_DEVICE;
}

/* Whether PyTorch's allocator has reserved all that is taken of a device: then no line has taken
 * any of it for itself. */
static bool is_all_reserved(const struct seep_model *m, uint16_t device)
{
    const int number = m->spaces[device].name.device;
    uint64_t reserved = 0;

    for (size_t i = 0; i < m->n_processes && number >= 0 && number < SEEP_MAX_DEVICES; i++)
        reserved = seep_sum(reserved, m->processes[i].recording.tensors[number].reserved_bytes);
    return reserved > 0 && (double)seep_totals_live(&m->spaces[device].totals) <=
                               SEEP_T_RESERVED_ALL * (double)reserved;
}

/* Of segments that tensors do not explain, the finding with most stands for all: the allocator
 * takes more and more, whatever the line does with what it asked for. Returns 0 or -SEEP_ENOMEM. */
static int call_caches(const struct seep_model *m, struct seep_findings *f, struct pairing *p)
{
    struct seep_finding *most = NULL;
    char taken[SEEP_SIZE_TEXT], kept[SEEP_SIZE_TEXT], gpu[SEEP_SPACE_WORDS];

    for (size_t i = 0; i < p->n; i++) {
        struct seep_finding *its = &f->list[i];
        if (!p->is_segment[i] || p->drop[i] || its->pattern == SEEP_PATTERN_WRONG_DEVICE)
            continue;
        if (!most || its->live_bytes > most->live_bytes)
            most = its;
        p->drop[i] = true;
    }
    if (!most)
        return 0;
    const struct seep_device_memory d =
        seep_device_memory_of(m, m->spaces[most->space].name.device);
    const uint64_t device = m->spaces[most->space].totals.peak_bytes;
    const uint64_t tensors = m->spaces[p->tensors].totals.peak_bytes;
    p->drop[most - f->list] = false;
    while (most->n_evidence)
        free(most->evidence[--most->n_evidence]);
    seep_finding_verdict(most, SEEP_PATTERN_ALLOCATOR_CACHE, SEEP_PRESSURE, SEEP_LIKELY);
    most->saving_bytes = device > tensors ? device - tensors : 0;
    seep_finding_note(most,
                      "PyTorch reserved up to %s of %s, but tensors never needed more than %s: "
                      "reserved memory grows faster than they do",
                      seep_text_size((double)device, taken),
                      seep_space_words(m->spaces[most->space].name.text, gpu),
                      seep_text_size((double)tensors, kept));
    free(most->advice);
    most->advice = strdup(seep_allocator_advice(d.settings));
    return most->advice ? 0 : -SEEP_ENOMEM;
}

static int join_device(const struct seep_code *code, uint16_t device, struct seep_findings *f)
{
    const struct seep_model *m = code->model;
    struct pairing p = {.f = f, .n = f->n < MOST ? f->n : MOST};
    char size[SEEP_SIZE_TEXT], gpu[SEEP_SPACE_WORDS];
    size_t kept = 0;

    if (!seep_model_tensor_space(m, device, &p.tensors))
        return 0;
    int rc = sort_out(code, device, &p);
    if (!rc)
        rc = weigh(m, f, &p);
    for (size_t i = 0; i < p.n && !rc; i++) {
        long of = p.is_segment[i] ? find_tensors(&p, i) : -1;
        p.drop[i] = of >= 0 || (p.is_segment[i] && is_allocators_own(&f->list[i]));
        if (of >= 0)
            p.held[of] = seep_sum(p.held[of], f->list[i].live_bytes);
    }
    for (size_t i = 0; i < p.n && !rc; i++)
        if (p.held[i])
            seep_finding_note(&f->list[i], "The allocator holds %s of %s for it",
                              seep_text_size((double)p.held[i], size),
                              seep_space_words(m->spaces[device].name.text, gpu));
    if (!rc && is_all_reserved(m, device))
        rc = call_caches(m, f, &p);
    for (size_t i = 0; i < f->n; i++) {
        if (i < p.n && p.drop[i])
            seep_finding_fini(&f->list[i]);
        else
            f->list[kept++] = f->list[i];
    }
    f->n = kept;
    return rc;
}

int seep_segments_join(const struct seep_code *code, struct seep_findings *f)
{
    const struct seep_model *m = code->model;
    int rc = 0;

    for (uint16_t s = 0; s < m->n_spaces && !rc; s++)
        rc = join_device(code, s, f);
    return rc;
}

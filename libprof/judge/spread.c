#include "libprof/judge/spread.h"

#include "libprof/base/text.h"
#include "libprof/measure/common_caller.h"
#include "libprof/thresholds/thresholds.h"

#include <stdlib.h>

/* What each site gained, and what each line gained. */
struct gains {
    struct gain {
        double bytes;
        uint32_t site;
    } * of_site;     /* [n] */
    double *of_line; /* [lines + 1]; the last: sites on no line */
};

static int by_bytes(const void *a, const void *b)
{
    const struct gain *p = a, *q = b;

    if (p->bytes > q->bytes || p->bytes < q->bytes)
        return p->bytes > q->bytes ? -1 : 1;
    return (p->site > q->site) - (p->site < q->site);
}

/* Segments belong to the tensor allocator: the tensors say what grows in them. */
static bool is_judged(const struct seep_model *m, uint16_t space)
{
    uint16_t tensors;

    return seep_space_of_line(m, space) == space && !seep_model_tensor_space(m, space, &tensors);
}

static int list_unexplained(const struct seep_model *m, const bool *explained, uint16_t space,
                            struct seep_spread *out)
{
    out->sites = malloc((m->n_sites + 1) * sizeof *out->sites);
    for (uint32_t i = 0; i < m->n_sites && out->sites; i++) {
        if (!explained[i] && seep_space_of_line(m, m->sites[i].space) == space)
            out->sites[out->n_sites++] = i;
    }
    return out->sites ? 0 : -SEEP_ENOMEM;
}

static uint64_t peak_of(const struct seep_model *m, uint16_t space)
{
    uint64_t peak = 0;

    for (uint16_t i = 0; i < m->n_spaces; i++) {
        if (seep_space_of_line(m, i) == space)
            peak = seep_sum(peak, m->spaces[i].totals.peak_bytes);
    }
    return peak;
}

/* A total that grows by less may be normal housekeeping. */
static bool is_worth_a_word(const struct seep_growth *g, uint64_t peak)
{
    const double total = g->slope.value * (g->to - g->from);

    return g->growing && total >= SEEP_T_PEAK_BYTES && total * SEEP_T_NEGLIGIBLE >= (double)peak;
}

static int weigh(const struct seep_model *m, const struct seep_growth *g,
                 const struct seep_lines *lines, struct gains *gains, struct seep_spread *out)
{
    struct seep_level level = {0};
    int rc = 0;

    for (size_t i = 0; i < out->n_sites && !rc; i++) {
        rc = seep_level_resident(m, &out->sites[i], 1, SEEP_LEVEL_ALL, &level);
        const int64_t last =
            g->by_process ? seep_level_highest(&level).bytes : seep_level_at(&level, g->to).bytes;
        const double gained = (double)(last - seep_level_at(&level, g->from).bytes);
        const uint32_t line = lines->of_site[out->sites[i]];
        gains->of_site[i] = (struct gain){gained > 0 ? gained : 0, out->sites[i]};
        gains->of_line[line ? line - 1 : lines->n] += gained;
    }
    seep_level_fini(&level);
    qsort(gains->of_site, out->n_sites, sizeof *gains->of_site, by_bytes);
    for (size_t i = 0; i < out->n_sites; i++) {
        out->sites[i] = gains->of_site[i].site;
        out->n_gained += gains->of_site[i].bytes > 0;
    }
    for (size_t i = 0; i <= lines->n; i++) {
        const double its = gains->of_line[i];
        if (its <= 0)
            continue;
        out->n_lines++;
        out->gained_bytes += its;
        out->largest_bytes = its > out->largest_bytes ? its : out->largest_bytes;
    }
    return rc;
}

static int find_caller(const struct seep_model *m, const struct gains *gains,
                       struct seep_spread *out)
{
    struct seep_common_caller caller;
    double *bytes = malloc((out->n_gained + 1) * sizeof *bytes);

    if (!bytes)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < out->n_gained; i++)
        bytes[i] = gains->of_site[i].bytes;
    const int rc = seep_common_caller_find(m, out->sites, bytes, out->n_gained, &caller);
    out->stack = caller.stack;
    out->below_bytes = caller.bytes;
    free(bytes);
    return rc;
}

/* If one line has most of it, that line was already judged by itself. */
static int look_at_lines(const struct seep_model *m, const struct seep_growth *g,
                         const struct seep_lines *lines, struct seep_spread *out)
{
    struct gains gains = {.of_site = calloc(out->n_sites + 1, sizeof *gains.of_site),
                          .of_line = calloc(lines->n + 1, sizeof *gains.of_line)};
    int rc = gains.of_site && gains.of_line ? weigh(m, g, lines, &gains, out) : -SEEP_ENOMEM;

    out->found =
        !rc && out->n_lines >= SEEP_T_MANY && out->largest_bytes < SEEP_T_HALF * out->gained_bytes;
    if (out->found)
        rc = find_caller(m, &gains, out);
    free(gains.of_site);
    free(gains.of_line);
    return rc;
}

int seep_spread_find(const struct seep_code *code, const struct seep_span *span,
                     const struct seep_lines *lines, const bool *explained, uint16_t space,
                     struct seep_spread *out)
{
    const struct seep_model *m = code->model;
    struct seep_growth whole = {0};

    *out = (struct seep_spread){0};
    if (!is_judged(m, space))
        return 0;
    int rc = list_unexplained(m, explained, space, out);
    if (!rc)
        rc = seep_growth_measure(m, span, out->sites, out->n_sites, &whole);
    if (!rc && is_worth_a_word(&whole, peak_of(m, space)))
        rc = look_at_lines(m, &whole, lines, out);
    seep_growth_fini(&whole);
    return rc;
}

void seep_spread_note(const struct seep_spread *spread, struct seep_finding *f)
{
    char most[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT];

    seep_finding_note(f, "No line keeps growing by itself: the largest gained %s of %s",
                      seep_text_size(spread->largest_bytes, most),
                      seep_text_size(spread->gained_bytes, all));
    if (spread->below_bytes > 0)
        seep_finding_note(f, "%.0f %% of it was allocated below the line shown",
                          100 * spread->below_bytes / spread->gained_bytes);
}

void seep_spread_fini(struct seep_spread *spread)
{
    free(spread->sites);
    *spread = (struct seep_spread){0};
}

/* The seed's figures: more than 20 GB before the patches and less than 10 GB after, 600 pictures of
 * 20.5 MB and 4 million Gaussians of about 1.58 kB each; what a first touch keeps, and when it
 * ends. */
#include "kernels/scenarios/splat_figures.h"

#include "kernels/harness/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct figures {
    const struct seep_outcome *outcomes;
    struct seep_rows *rows;
    const char *space;
    double photos, photo_bytes, photos_bytes, steps; /* of the eager variant; all have the same */
};

static double measured(const struct figures *f, enum seep_splat_variant variant, const char *name)
{
    return seep_rows_number(f->outcomes[variant].measured, name);
}

static double live_at(const struct figures *f, enum seep_splat_variant variant, double step)
{
    return seep_rows_live_at(f->outcomes[variant].report, f->space, step);
}

static double peak_of(const struct figures *f, enum seep_splat_variant variant)
{
    char path[64];

    snprintf(path, sizeof path, "spaces.%s.peak_bytes", f->space);
    return seep_rows_number(f->outcomes[variant].report, path);
}

static void add_between(struct figures *f, const char *name, double value, double low, double high,
                        const char *expected, const char *unit)
{
    if (isfinite(value))
        seep_rows_add(f->rows, value >= low && value <= high, name, expected, "%.4g %s", value,
                      unit);
    else
        seep_rows_add(f->rows, false, name, expected, "not known");
}

/* ---- levels ---------------------------------------------------------------------------------- */

static void judge_peaks(struct figures *f)
{
    double evicting = peak_of(f, SEEP_SPLAT_LAZY_EVICTING);

    add_between(f, "peak before : after (eager : lazy-evicting)",
                peak_of(f, SEEP_SPLAT_EAGER) / evicting, 2, INFINITY, "at least 2", "times");
    double carried = peak_of(f, SEEP_SPLAT_LAZY_CARRYING) - evicting;
    double step = measured(f, SEEP_SPLAT_LAZY_CARRYING, "pass_bytes") + 4 * f->photo_bytes;
    /* Of a picture's pixels: the true one, the rendered one, its gradient, and 8 bytes each. */
    add_between(f, "lazy-carrying costs one step's pictures and pass at most", carried / step, 0, 1,
                "0 to 1", "steps");
}

static void judge_first_touch(struct figures *f)
{
    const double shares[] = {0.25, 0.5, 0.75, 0.9, 1};
    char name[128];

    /* Both hold the same Gaussians after the same steps: what lies between them is pictures. */
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double step = floor(shares[i] * f->photos);
        double missing =
            (live_at(f, SEEP_SPLAT_EAGER, step) - live_at(f, SEEP_SPLAT_LAZY_CACHED, step)) *
            f->photos / f->photos_bytes;
        double want = f->photos - step, slack = fmax(1, 0.01 * f->photos);
        char expected[64];
        snprintf(name, sizeof name, "lazy-cached, after step %g: pictures short of eager's", step);
        snprintf(expected, sizeof expected, "%g ± %.3g", want, slack);
        add_between(f, name, missing, want - slack, want + slack, expected, "pictures");
    }
    double end = live_at(f, SEEP_SPLAT_EAGER, f->steps - 1) -
                 live_at(f, SEEP_SPLAT_LAZY_CACHED, f->steps - 1);
    add_between(f, "lazy-cached, at the end: pictures short of eager's", end / f->photo_bytes, -1,
                1, "0 ± 1", "pictures");
}

/* Blocks made by `function`, or by an allocating function that it called: most at a time. */
static double peak_of_function(const json_t *report, const char *function, const char *space)
{
    const json_t *site;
    double peak = NAN;
    size_t i;

    json_array_foreach(json_object_get(report, "sites"), i, site)
    {
        const json_t *stack = json_object_get(site, "stack");
        const char *in = seep_rows_text(site, "space"), *name = NULL;
        size_t n = json_array_size(stack), k = 0;
        if (!in || strcmp(in, space) != 0)
            continue;
        for (; k < n; k++) {
            name = seep_rows_text(json_array_get(stack, k), "function");
            if (name && !strstr(name, "alloc") && !strstr(name, "memalign") &&
                !strstr(name, "Malloc"))
                break;
        }
        if (k < n && strcmp(name, function) == 0)
            peak = (isnan(peak) ? 0 : peak) + seep_rows_number(site, "peak_bytes");
    }
    return peak;
}

static void judge_residents(struct figures *f)
{
    static const struct {
        enum seep_splat_variant variant;
        const char *name;
        double least, most;
        const char *expected;
    } residents[] = {
        {SEEP_SPLAT_LAZY_EVICTING, "lazy-evicting: pictures resident at most", 1, 1, "1"},
        {SEEP_SPLAT_LAZY_CARRYING, "lazy-carrying: pictures resident at most", 2, 2, "2"},
        {SEEP_SPLAT_HOST_RESIDENT, "host-resident: float pictures resident at most", 1, 1, "1"},
    };

    for (size_t i = 0; i < sizeof residents / sizeof *residents; i++) {
        const json_t *report = f->outcomes[residents[i].variant].report;
        add_between(f, residents[i].name,
                    peak_of_function(report, "load_camera", f->space) / f->photo_bytes,
                    residents[i].least - 0.01, residents[i].most + 0.01, residents[i].expected,
                    "pictures");
    }
    double rise = live_at(f, SEEP_SPLAT_LAZY_EVICTING, f->steps - 1) -
                  live_at(f, SEEP_SPLAT_LAZY_EVICTING, f->photos);
    add_between(f, "lazy-evicting: rise over the last epoch", rise / f->photo_bytes, -1, 1, "0 ± 1",
                "pictures");
}

/* ---- findings -------------------------------------------------------------------------------- */

static const json_t *find(const struct figures *f, enum seep_splat_variant variant,
                          const char *pattern)
{
    const json_t *finding;
    size_t i;

    json_array_foreach(json_object_get(f->outcomes[variant].report, "findings"), i, finding)
    {
        const char *its = seep_rows_text(finding, "pattern");
        if (its && strcmp(its, pattern) == 0)
            return finding;
    }
    return NULL;
}

static void judge_findings(struct figures *f)
{
    static const enum seep_splat_variant variants[] = {SEEP_SPLAT_EAGER, SEEP_SPLAT_LAZY_CACHED,
                                                       SEEP_SPLAT_LAZY_EVICTING};
    const json_t *eager = find(f, SEEP_SPLAT_EAGER, "eager-retention");
    const json_t *host = find(f, SEEP_SPLAT_HOST_RESIDENT, "eager-retention");
    const char *role = eager ? seep_rows_text(eager, "role") : NULL;

    seep_rows_add(f->rows, role && strcmp(role, "camera") == 0, "eager: whose pictures they are",
                  "camera", "%s", role ? role : "not known");
    add_between(f, "eager : host-resident, bytes kept",
                seep_rows_number(eager, "live_bytes") / seep_rows_number(host, "live_bytes"), 3.9,
                4.1, "4 ± 0.1", "times");
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        char name[96];
        const char *variant = f->outcomes[variants[i]].variant->name;
        const json_t *grown = find(f, variants[i], "legitimate-growth");
        const char *severity = grown ? seep_rows_text(grown, "severity") : NULL;
        snprintf(name, sizeof name, "%s: densification is", variant);
        seep_rows_add(f->rows, severity && strcmp(severity, "info") == 0, name,
                      "legitimate-growth, info", "%s%s",
                      grown ? "legitimate-growth, " : "no finding", severity ? severity : "");
        double off = seep_rows_number(grown, "plateau_step") -
                     measured(f, variants[i], "last_densification");
        snprintf(name, sizeof name, "%s: densification ends, against when it did", variant);
        add_between(f, name, off, -0.02 * f->steps, 0.02 * f->steps, "0 ± 2 % of the steps",
                    "steps");
    }
}

/* ---- Gaussians and pictures ------------------------------------------------------------------ */

static void judge_gaussians(struct figures *f)
{
    enum seep_splat_variant v = SEEP_SPLAT_LAZY_EVICTING;
    double first = measured(f, v, "first_densification"),
           last = measured(f, v, "last_densification");
    double more = measured(f, v, "gaussians_last") - measured(f, v, "gaussians_first");
    double kept = measured(f, v, "gaussian_kept_bytes");
    double whole =
        kept + measured(f, v, "gaussian_pass_bytes") + measured(f, v, "gaussian_scratch_bytes");

    seep_rows_add_near(f->rows, "a Gaussian between steps, by seep's levels",
                       (live_at(f, v, last + 1) - live_at(f, v, first - 2)) / more, kept, 0.02,
                       "B");
    add_between(f, "a Gaussian with its part of pass and scratch (the seed's: about 1580 B)", whole,
                kept, SEEP_SPLAT_SEED_GAUSSIAN_BYTES, "at most 1580 B", "B");
}

static void judge_training(struct figures *f)
{
    enum seep_splat_variant v = SEEP_SPLAT_LAZY_EVICTING;
    double gain = measured(f, v, "psnr_last") - measured(f, v, "psnr_first");
    double loss = measured(f, v, "loss_last") / measured(f, v, "loss_first"), apart = 0;
    bool cuda = strcmp(f->space, "host") != 0;

    add_between(f, "training raises PSNR by", gain, 3, INFINITY, "at least 3 dB", "dB");
    add_between(f, "training lowers the loss to", loss, 0, 0.7, "at most 0.7 of the first",
                "of it");
    for (int i = 0; i <= SEEP_SPLAT_HOST_RESIDENT; i++)
        apart = fmax(apart, fabs(measured(f, (enum seep_splat_variant)i, "psnr_last") -
                                 measured(f, v, "psnr_last")));
    /* On a GPU the order in which gradients are added up differs from run to run. */
    add_between(f, "the variants' results, apart by at most", apart, 0, cuda ? 0.5 : 0,
                cuda ? "0.5 dB" : "0 dB: memory is all they differ in", "dB");
}

int seep_splat_judge(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    const json_t *eager = outcomes[SEEP_SPLAT_EAGER].measured;
    struct figures f = {.outcomes = outcomes,
                        .rows = rows,
                        .space = seep_rows_text(eager, "space"),
                        .photos = seep_rows_number(eager, "photos"),
                        .photo_bytes = seep_rows_number(eager, "photo_bytes"),
                        .photos_bytes = seep_rows_number(eager, "photos_bytes"),
                        .steps = seep_rows_number(eager, "steps")};

    (void)scale;
    if (!f.space) {
        seep_rows_add(rows, false, "what was measured", "figures of each variant", "none");
        return 0;
    }
    judge_peaks(&f);
    judge_first_touch(&f);
    judge_residents(&f);
    judge_findings(&f);
    judge_gaussians(&f);
    judge_training(&f);
    return 0;
}

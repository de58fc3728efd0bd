/* The seed's figures: more than 20 GB before the patches and less than 10 GB after, 600 pictures of
 * 20.5 MB and 4 million Gaussians of about 1.58 kB each; what a first touch keeps, and when it
 * ends. */
#include "kernels/lab/scenarios/splat_figures.h"

#include "kernels/lab/judges.h"
#include "kernels/lab/rows.h"
#include "kernels/lab/scenarios/splat_seen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct figures {
    const struct seep_outcome *outcomes;
    struct seep_rows *rows;
    const char *space;
    double photos, photo_bytes, photos_bytes; /* of the eager variant; all have the same */
};

static double measured(const struct figures *f, enum seep_splat_variant variant, const char *name)
{
    return seep_rows_number(f->outcomes[variant].measured, name);
}

static double of_space(const struct figures *f, enum seep_splat_variant variant, const char *what)
{
    char path[96];

    snprintf(path, sizeof path, "spaces.%s.%s", f->space, what);
    return seep_rows_number(f->outcomes[variant].report, path);
}

static void add_between(struct figures *f, const char *name, double value, double low, double high,
                        const char *expected, const char *unit)
{
    if (isfinite(value))
        seep_rows_add(f->rows, value >= low && value <= high, name, expected, "%.4g %s", value,
                      unit);
    else
        seep_rows_add(f->rows, false, name, expected, "unknown");
}

/* ---- levels ---------------------------------------------------------------------------------- */

static void judge_peaks(struct figures *f)
{
    double evicting = of_space(f, SEEP_SPLAT_LAZY_EVICTING, "peak_bytes");

    add_between(f, "peak, eager : lazy-evicting",
                of_space(f, SEEP_SPLAT_EAGER, "peak_bytes") / evicting, 2, INFINITY, "at least 2",
                "times");
    /* Of a picture's pixels: the true one, the rendered one, its gradient, and 8 bytes each. */
    double carried = of_space(f, SEEP_SPLAT_LAZY_CARRYING, "peak_bytes") - evicting;
    double step = measured(f, SEEP_SPLAT_LAZY_CARRYING, "pass_bytes") + 4 * f->photo_bytes;
    add_between(f, "lazy-carrying: extra peak over one step's pictures and pass", carried / step, 0,
                1, "0 to 1", "steps");
}

/* Gaussians after `step`. */
static double gaussians_at(const json_t *figures, double step)
{
    double n = seep_rows_number(figures, "gaussians_first");
    const json_t *at;
    size_t i;

    json_array_foreach (json_object_get(figures, "densifications"), i, at) {
        if (step >= json_number_value(json_array_get(at, 0)))
            n = json_number_value(json_array_get(at, 1));
    }
    return n;
}

struct level {
    double step, bytes;
};

/* The timeline's first row in these steps. Rows lie within steps: one from a densification is not
 * representative. */
static struct level first_row(const struct figures *f, enum seep_splat_variant variant, double from,
                              double to)
{
    const json_t *timeline = json_object_get(f->outcomes[variant].report, "timeline");
    const json_t *steps = json_object_get(timeline, "step");
    const json_t *bytes = json_object_get(
        json_object_get(json_object_get(timeline, "spaces"), f->space), "live_bytes");
    const json_t *figures = f->outcomes[variant].measured;

    for (size_t i = 0; i < json_array_size(steps); i++) {
        double at = json_number_value(json_array_get(steps, i));
        if (at >= from && at <= to &&
            gaussians_at(figures, at - 2) == gaussians_at(figures, at + 2))
            return (struct level){at, json_number_value(json_array_get(bytes, i))};
    }
    return (struct level){NAN, NAN};
}

/* Memory that a step takes and gives back, in pictures: a row of the timeline may contain all of
 * it. */
static double pictures_of_a_step(const struct figures *f)
{
    double scratch = fmax(measured(f, SEEP_SPLAT_LAZY_CACHED, "scratch_bytes"),
                          measured(f, SEEP_SPLAT_LAZY_CACHED, "ssim_bytes"));

    return (measured(f, SEEP_SPLAT_LAZY_CACHED, "pass_bytes") + scratch) / f->photo_bytes + 4;
}

/* seep's own count, to the step: that of its peak is the first with all of them. */
static void judge_all_touched(struct figures *f, double photos)
{
    const json_t *report = f->outcomes[SEEP_SPLAT_LAZY_CACHED].report, *site;
    double pictures = 0, step = NAN;
    char expected[64];
    size_t i;

    json_array_foreach (json_object_get(report, "sites"), i, site) {
        if (!seep_rows_is_made_by(site, "load_camera", f->space))
            continue;
        pictures += seep_rows_number(site, "peak_bytes") / f->photo_bytes;
        step = fmax(step, seep_rows_number(site, "peak_step"));
    }
    snprintf(expected, sizeof expected, "%g, first in step %g", photos, photos);
    seep_rows_add(f->rows, fabs(pictures - photos) < 0.01 && step == photos,
                  "lazy-cached: most pictures at once", expected, "%.6g, first in step %.6g",
                  pictures, step);
}

static void judge_first_touch(struct figures *f, double scale)
{
    enum seep_splat_variant v = SEEP_SPLAT_LAZY_CACHED;
    static const struct {
        double share; /* of the N steps of the first epoch */
        const char *name;
    } moments[] = {
        {0.25, "lazy-cached, from step N / 4 on: pictures kept"},
        {0.5, "lazy-cached, from N / 2 on: pictures kept"},
        {0.75, "lazy-cached, from 3 N / 4 on: pictures kept"},
        {0.97, "lazy-cached, shortly before N: pictures kept"},
        {1, "lazy-cached, shortly after N: pictures kept"},
    };
    static const double window = 0.03;
    double kept = measured(f, v, "gaussian_kept_bytes"), end = of_space(f, v, "retained_bytes");
    double n = f->photos, steps = measured(f, v, "steps"), noise = 0.01 * n;

    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        double from = floor(moments[i].share * n) + 1, to = from + fmax(1, window * n);
        struct level row = first_row(f, v, from, moments[i].share < 1 ? fmin(to, n - 1) : to);
        /* A run of a fraction of a second has few rows: its memory at the end must do instead. */
        if (isnan(row.step) && (scale < 0.01 || steps < to))
            continue;
        double fewer =
            measured(f, v, "gaussians_last") - gaussians_at(f->outcomes[v].measured, row.step);
        double pictures = n - (end - kept * fewer - row.bytes) / f->photo_bytes;
        double touched = fmin(row.step, n);
        char expected[64];
        snprintf(expected, sizeof expected, "%g, and at most one step's more", touched);
        add_between(f, moments[i].name, pictures, touched - noise,
                    touched + noise + pictures_of_a_step(f), expected, "pictures");
    }
    judge_all_touched(f, n);
    add_between(f, "lazy-cached, at the end: how many fewer pictures than eager",
                (of_space(f, SEEP_SPLAT_EAGER, "retained_bytes") - end) / f->photo_bytes, -0.5, 0.5,
                "0", "pictures");
}

static void judge_residents(struct figures *f)
{
    static const struct {
        enum seep_splat_variant variant;
        const char *name;
        double least, most;
        const char *expected;
    } residents[] = {
        {SEEP_SPLAT_LAZY_EVICTING, "lazy-evicting: most pictures resident at once", 1, 1, "1"},
        {SEEP_SPLAT_LAZY_CARRYING, "lazy-carrying: most pictures resident at once", 2, 2, "2"},
        {SEEP_SPLAT_HOST_RESIDENT, "host-resident: most float pictures resident at once", 1, 1,
         "1"},
    };

    for (size_t i = 0; i < sizeof residents / sizeof *residents; i++) {
        const json_t *report = f->outcomes[residents[i].variant].report;
        add_between(f, residents[i].name,
                    seep_rows_peak_of(report, "load_camera", f->space) / f->photo_bytes,
                    residents[i].least - 0.01, residents[i].most + 0.01, residents[i].expected,
                    "pictures");
    }
    double slope = of_space(f, SEEP_SPLAT_LAZY_EVICTING, "growth_bytes_per_step.value");
    add_between(f, "lazy-evicting: growth over an epoch after the first",
                slope * f->photos / f->photo_bytes, -0.5, 0.5, "0", "pictures");
    add_between(f, "eager - lazy-evicting: difference at the end",
                (of_space(f, SEEP_SPLAT_EAGER, "retained_bytes") -
                 of_space(f, SEEP_SPLAT_LAZY_EVICTING, "retained_bytes")) /
                    f->photos_bytes,
                0.98, 1.02, "all pictures ± 2 %", "of all pictures");
}

/* ---- findings -------------------------------------------------------------------------------- */

static const json_t *find(const struct figures *f, enum seep_splat_variant variant,
                          const char *pattern)
{
    return seep_trial_finding(f->outcomes[variant].report, pattern);
}

static void judge_densification(struct figures *f, enum seep_splat_variant variant)
{
    const struct seep_outcome *outcome = &f->outcomes[variant];
    const json_t *grown = find(f, variant, "legitimate-growth");
    const char *severity = grown ? seep_rows_text(grown, "severity") : NULL;
    char name[96];

    snprintf(name, sizeof name, "%s: seep judges densification as", outcome->variant->name);
    seep_rows_add(f->rows, severity && strcmp(severity, "info") == 0, name,
                  "legitimate-growth, info", "%s%s", grown ? "legitimate-growth, " : "no finding",
                  severity ? severity : "");
    double last = seep_rows_number(outcome->measured, "last_densification");
    snprintf(name, sizeof name, "%s: step in which seep sees densification end",
             outcome->variant->name);
    seep_rows_add_near(f->rows, name, seep_rows_number(grown, "plateau_step"), last, 0.02, "");
}

static void judge_findings(struct figures *f)
{
    const json_t *eager = find(f, SEEP_SPLAT_EAGER, "eager-retention");
    const json_t *cached = find(f, SEEP_SPLAT_LAZY_CACHED, "first-touch-cache");
    const json_t *host = find(f, SEEP_SPLAT_HOST_RESIDENT, "eager-retention");
    const char *part = eager ? seep_rows_text(eager, "part") : NULL;

    seep_rows_add(f->rows, part && strcmp(part, "camera") == 0,
                  "eager: part of the line that keeps the pictures", "camera", "%s",
                  part ? part : "unknown");
    seep_rows_add_near(f->rows, "eager: pictures kept", seep_rows_number(eager, "count"), f->photos,
                       0, "pictures");
    seep_rows_add_near(f->rows, "lazy-cached: pictures kept at the end",
                       seep_rows_number(cached, "count"), f->photos, 0.01, "pictures");
    seep_rows_add_near(f->rows, "lazy-cached: step in which seep sees it full",
                       seep_rows_number(cached, "plateau_step"), f->photos, 0.05, "");
    add_between(f, "eager : host-resident, bytes kept",
                seep_rows_number(eager, "live_bytes") / seep_rows_number(host, "live_bytes"), 3.9,
                4.1, "4 ± 0.1", "times");
    judge_densification(f, SEEP_SPLAT_EAGER);
    judge_densification(f, SEEP_SPLAT_LAZY_CACHED);
    judge_densification(f, SEEP_SPLAT_LAZY_EVICTING);
}

/* Whether the finding's sites include blocks of `function`. */
static bool is_about(const json_t *report, const json_t *finding, const char *function,
                     const char *space)
{
    const json_t *site, *id;
    size_t i, k;

    json_array_foreach (json_object_get(report, "sites"), i, site) {
        const char *own = seep_rows_text(site, "id");
        json_array_foreach (json_object_get(finding, "sites"), k, id) {
            const char *its = json_string_value(id);
            if (own && its && strcmp(own, its) == 0 && seep_rows_is_made_by(site, function, space))
                return true;
        }
    }
    return false;
}

/* What a step leaves to the next (its picture, and what its pass made) is worth a word from 1 MiB
 * and 3 % of the peak on. The pass is the larger part, and its line the one that is named. */
static void judge_carry_over(struct figures *f)
{
    const json_t *report = f->outcomes[SEEP_SPLAT_LAZY_CARRYING].report;
    double carried = of_space(f, SEEP_SPLAT_LAZY_CARRYING, "retained_bytes") -
                     of_space(f, SEEP_SPLAT_LAZY_EVICTING, "retained_bytes");
    double peak = of_space(f, SEEP_SPLAT_LAZY_CARRYING, "peak_bytes");
    const json_t *finding = find(f, SEEP_SPLAT_LAZY_CARRYING, "carry-over");
    bool host = strcmp(f->space, "host") == 0;

    if (!host || !(carried >= 1.25 * 1048576 && carried >= 0.04 * peak))
        return;
    bool picture = is_about(report, finding, "load_camera", f->space);
    seep_rows_add(f->rows, finding && picture, "lazy-carrying: memory carried over",
                  "carry-over, with the picture", "%s, %s the picture",
                  finding ? "carry-over" : "none", picture ? "with" : "without");
}

/* ---- Gaussians and pictures ------------------------------------------------------------------ */

static void judge_gaussians(struct figures *f)
{
    enum seep_splat_variant v = SEEP_SPLAT_LAZY_EVICTING;
    double kept = measured(f, v, "gaussian_kept_bytes");
    double whole =
        kept + measured(f, v, "gaussian_pass_bytes") + measured(f, v, "gaussian_scratch_bytes");
    double seen = seep_rows_number(find(f, v, "legitimate-growth"), "live_bytes");

    seep_rows_add_near(f->rows, "kept for a Gaussian between steps, as seep sees it",
                       seen / measured(f, v, "gaussians_last"), kept, 0.01, "B");
    add_between(f, "a Gaussian with its share of pass and scratch (the document: about 1580 B)",
                whole, kept, SEEP_SPLAT_SEED_GAUSSIAN_BYTES, "at most 1580 B", "B");
}

static void judge_training(struct figures *f)
{
    enum seep_splat_variant v = SEEP_SPLAT_LAZY_EVICTING;
    double gain = measured(f, v, "psnr_last") - measured(f, v, "psnr_first");
    double loss = measured(f, v, "loss_last") / measured(f, v, "loss_first"), apart = 0;
    bool cuda = strcmp(f->space, "host") != 0;

    add_between(f, "training raises PSNR by", gain, 3, INFINITY, "at least 3 dB", "dB");
    add_between(f, "training lowers the loss to", loss, 0, 0.7, "at most 0.7 of the first",
                "of the first");
    if (!cuda)
        add_between(f, "training raises SSIM by",
                    measured(f, v, "ssim_last") - measured(f, v, "ssim_first"), 0.05, 1,
                    "at least 0.05", "");
    for (int i = 0; i <= SEEP_SPLAT_HOST_RESIDENT; i++) {
        double psnr = measured(f, (enum seep_splat_variant)i, "psnr_last");
        double off = fabs(psnr - measured(f, v, "psnr_last"));
        apart = isnan(off) || isnan(apart) ? NAN : fmax(apart, off);
    }
    /* On a GPU the order in which gradients are added up differs from run to run. */
    add_between(f, "largest difference between the variants' results", apart, 0, cuda ? 0.5 : 0,
                cuda ? "0.5 dB" : "0 dB: only their memory differs", "dB");
}

/* ---- further variants ------------------------------------------------------------------------ */

static void judge_further(struct figures *f)
{
    static const char host_peak[] = "spaces.host.peak_bytes";
    const json_t *floats = find(f, SEEP_SPLAT_HOST_FLOATS, "eager-retention");
    const json_t *bytes = find(f, SEEP_SPLAT_HOST_RESIDENT, "eager-retention");
    const json_t *decoded = find(f, SEEP_SPLAT_LAZY_DECODED, "first-touch-cache");
    const json_t *all = find(f, SEEP_SPLAT_EAGER_EVAL, "eager-retention");
    double cameras = measured(f, SEEP_SPLAT_EAGER_EVAL, "cameras");

    add_between(f, "host-floats : host-resident, bytes kept",
                seep_rows_number(floats, "live_bytes") / seep_rows_number(bytes, "live_bytes"), 3.9,
                4.1, "4 ± 0.1", "times");
    add_between(f, "host-floats : host-resident, peak of the host (OpenSplat: 7.85 : 2.67 GiB)",
                seep_rows_number(f->outcomes[SEEP_SPLAT_HOST_FLOATS].report, host_peak) /
                    seep_rows_number(f->outcomes[SEEP_SPLAT_HOST_RESIDENT].report, host_peak),
                1.2, 4, "1.2 to 4", "times");
    seep_rows_add_near(f->rows, "lazy-decoded: photos kept at the end",
                       seep_rows_number(decoded, "count"), f->photos, 0.01, "photos");
    seep_rows_add_near(f->rows, "lazy-decoded: step in which seep sees it full",
                       seep_rows_number(decoded, "plateau_step"), f->photos, 0.1, "");
    seep_rows_add_near(f->rows, "eager-eval: pictures kept, with tests' and smaller ones",
                       seep_rows_number(all, "count"), cameras, 0, "pictures");
    add_between(f, "eager-eval : eager, bytes of pictures",
                seep_rows_number(all, "live_bytes") /
                    seep_rows_number(find(f, SEEP_SPLAT_EAGER, "eager-retention"), "live_bytes"),
                1.23, 1.27, "1.25 ± 0.02", "times");
    /* Parameters, two moments, scales and opacities: 181 floats. */
    add_between(f, "eager-eval: checkpoint, bytes a Gaussian",
                measured(f, SEEP_SPLAT_EAGER_EVAL, "checkpoint_bytes") /
                    measured(f, SEEP_SPLAT_EAGER_EVAL, "gaussians_last"),
                724, 725, "724", "B");
    add_between(f, "eager-eval: PSNR of test cameras over that before training",
                measured(f, SEEP_SPLAT_EAGER_EVAL, "psnr_tested") -
                    measured(f, SEEP_SPLAT_EAGER_EVAL, "psnr_first"),
                3, INFINITY, "at least 3 dB", "dB");
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* The finding of that pattern whose line is in the function. */
static const json_t *find_in(const json_t *report, const char *pattern, const char *function)
{
    const json_t *finding;
    size_t i;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        const char *its = seep_rows_text(finding, "pattern");
        const char *where = seep_rows_text(finding, "frame.function");
        if (its && where && strcmp(its, pattern) == 0 && strcmp(where, function) == 0)
            return finding;
    }
    return NULL;
}

/* Two lines have the spike: the list of pairs, and the room that the way back needs for their
 * gradients, which is the larger one. */
static void judge_pairs(struct figures *f)
{
    enum seep_splat_variant spike = SEEP_SPLAT_PAIR_SPIKE, clamped = SEEP_SPLAT_CLAMPED;
    double most = measured(f, spike, "pairs_largest"), tiles = measured(f, spike, "tiles");
    const json_t *found = find_in(f->outcomes[spike].report, "size-spike", "bin");

    add_between(f, "pair-spike: most pairs of a step over all there can be",
                most / (tiles * measured(f, spike, "gaussians_last")), 0.9, 1, "0.9 to 1",
                "of all");
    add_between(f, "pair-spike: most pairs of a step over those before",
                most / measured(f, spike, "pairs_usual"), 16, INFINITY, "at least 16 times",
                "times");
    /* It says by how much the list is longer than usual, and a usual one is shorter by far. */
    add_between(f, "pair-spike: size-spike in bin over the largest list of pairs",
                seep_rows_number(found, "saving_bytes") / (sizeof(uint32_t) * most), 0.85, 1,
                "0.85 to 1", "of its bytes");
    add_between(f, "clamped: most pairs of a step over those before",
                measured(f, clamped, "pairs_largest") / measured(f, clamped, "pairs_usual"), 1, 8,
                "1 to 8 times: no spike", "times");
}

/* ---- Adam for what is seen ------------------------------------------------------------------- */

static void judge_sparse_adam(struct figures *f)
{
    enum seep_splat_variant v = SEEP_SPLAT_SPARSE_ADAM;
    double n = measured(f, v, "gaussians_last"), seen = measured(f, v, "seen_checked");
    double share = measured(f, v, "seen_share");
    double bytes = seep_gaussians_adam_seen_bytes(share * n, n) / n;
    char expected[64];

    seep_rows_add(f->rows, seen >= 1 && measured(f, v, "seen_apart") == 0,
                  "sparse-adam: Gaussians of a picture that a step of all would step otherwise",
                  "0: the same bits", "%.6g of %.6g", measured(f, v, "seen_apart"), seen);
    seep_rows_add(f->rows, n >= seen && measured(f, v, "unseen_moved") == 0,
                  "sparse-adam: Gaussians beside the picture that a step changes", "0",
                  "%.6g of %.6g", measured(f, v, "unseen_moved"), n - seen);
    snprintf(expected, sizeof expected, "%g of each that is seen, not of all, and 8",
             seep_gaussians_adam_bytes(1));
    seep_rows_add(f->rows, share > 0 && share < 1,
                  "sparse-adam: bytes that a step of Adam moves, over all Gaussians", expected,
                  "%.5g B: %.4g %% are seen", bytes, 100 * share);
    add_between(f, "sparse-adam: training raises PSNR by",
                measured(f, v, "psnr_last") - measured(f, v, "psnr_first"), 3, INFINITY,
                "at least 3 dB", "dB");
}

static void judge_pictures(struct figures *f, double scale)
{
    judge_peaks(f);
    judge_first_touch(f, scale);
    judge_residents(f);
    judge_findings(f);
    judge_carry_over(f);
    judge_gaussians(f);
    judge_training(f);
    judge_further(f);
    judge_pairs(f);
    judge_sparse_adam(f);
}

void seep_splat_judge(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    const json_t *eager = outcomes[SEEP_SPLAT_EAGER].measured;
    struct figures f = {.outcomes = outcomes,
                        .rows = rows,
                        .space = seep_rows_text(eager, "space"),
                        .photos = seep_rows_number(eager, "photos"),
                        .photo_bytes = seep_rows_number(eager, "photo_bytes"),
                        .photos_bytes = seep_rows_number(eager, "photos_bytes")};

    if (f.space)
        judge_pictures(&f, scale);
    else
        seep_rows_add(rows, false, "measured figures", "figures of each variant", "none");
    seep_splat_judge_card(outcomes, rows);
}

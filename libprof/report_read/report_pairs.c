#include "libprof/report_read/report_pairs.h"

#include "libprof/base/text.h"
#include "libprof/report_read/pair_key.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Iterations of a loop are counted only once it is known to be the main loop. That takes a quarter
 * of a second, and no step is faster than 2 ms. */
enum { LOOP_FOUND_LATER = 125 };

bool seep_compare_grown(double before, double after, const struct seep_tolerance *tolerance)
{
    return after - before > fmax(tolerance->bytes, tolerance->share * before);
}

bool seep_compare_growth_grown(const struct seep_slope *before, const struct seep_slope *after,
                               double steps, const struct seep_tolerance *tolerance)
{
    double more = after->value - before->value;

    return after->low > before->high && more > tolerance->share * fabs(before->value) &&
           more * steps > tolerance->bytes;
}

/* ---- what is the same -------------------------------------------------------------------- */

static struct seep_pair_key key_of_place(const struct seep_report_finding *f)
{
    struct seep_pair_key key = seep_pair_key_begin(seep_get_space_class(f->space));

    seep_pair_key_add_frame(&key, f->frame);
    return key;
}

uint64_t seep_compare_fingerprint(const struct seep_report_finding *f)
{
    struct seep_pair_key key = key_of_place(f);

    seep_pair_key_add(&key, f->pattern);
    return key.a ^ key.b;
}

/* ---- findings ---------------------------------------------------------------------------- */

enum likeness { LIKE_LINE, LIKE_PATTERN, LIKE_PLACE, N_LIKENESSES };

static bool alike(const json_t *before, const json_t *after, enum likeness likeness)
{
    const struct seep_report_finding a = seep_report_finding_read(before),
                                     b = seep_report_finding_read(after);
    struct seep_pair_key p = key_of_place(&a), q = key_of_place(&b);

    if (p.a != q.a || p.b != q.b)
        return false;
    if (likeness == LIKE_PLACE)
        return true;
    if (strcmp(a.pattern, b.pattern) != 0)
        return false;
    return likeness == LIKE_PATTERN ||
           seep_get_number(a.frame, "line") == seep_get_number(b.frame, "line");
}

/* to[i]: 1 + the index in `after` of the partner of before[i]; taken[k]: whether after[k] has a
 * partner. */
static void match(const json_t *before, const json_t *after, enum likeness likeness, size_t *to,
                  bool *taken)
{
    for (size_t i = 0; i < json_array_size(before); i++) {
        for (size_t k = 0; !to[i] && k < json_array_size(after); k++) {
            if (!taken[k] && alike(json_array_get(before, i), json_array_get(after, k), likeness)) {
                to[i] = k + 1;
                taken[k] = true;
            }
        }
    }
}

static int add_pair(json_t *pairs, json_t *before, json_t *after)
{
    return json_array_append_new(pairs,
                                 json_pack("{s:O?, s:O?}", "before", before, "after", after));
}

int seep_compare_findings(const json_t *before, const json_t *after, json_t **pairs)
{
    const json_t *a = json_object_get(before, "findings"), *b = json_object_get(after, "findings");
    size_t n = json_array_size(a), n_after = json_array_size(b);
    size_t *to = calloc(n + 1, sizeof *to);
    bool *taken = calloc(n_after + 1, sizeof *taken);
    json_t *list = json_array();
    int failed = !to || !taken || !list;

    for (int likeness = 0; likeness < N_LIKENESSES && !failed; likeness++)
        match(a, b, (enum likeness)likeness, to, taken);
    for (size_t i = 0; i < n && !failed; i++)
        failed = add_pair(list, json_array_get(a, i), to[i] ? json_array_get(b, to[i] - 1) : NULL);
    for (size_t k = 0; k < n_after && !failed; k++) {
        if (!taken[k])
            failed = add_pair(list, NULL, json_array_get(b, k));
    }
    free(to);
    free(taken);
    if (failed) {
        json_decref(list);
        return -SEEP_ENOMEM;
    }
    *pairs = list;
    return 0;
}

/* ---- spaces ------------------------------------------------------------------------------ */

static json_t *space_side(const json_t *space)
{
    json_t *growth = json_object_get(space, "growth_bytes_per_step");

    if (!json_is_object(space))
        return json_null();
    return json_pack("{s:O?, s:o}", "peak_bytes", json_object_get(space, "peak_bytes"),
                     "growth_bytes_per_step",
                     json_is_object(growth) ? json_deep_copy(growth) : json_null());
}

json_t *seep_compare_spaces(const json_t *before, const json_t *after)
{
    const json_t *spaces[] = {json_object_get(before, "spaces"), json_object_get(after, "spaces")};
    json_t *list = json_array(), *space;
    const char *name;

    for (int side = 0; side < 2; side++) {
        json_object_foreach ((json_t *)spaces[side], name, space) {
            if (side == 1 && json_object_get(spaces[0], name))
                continue;
            if (json_array_append_new(
                    list, json_pack("{s:s, s:o, s:o}", "space", name, "before",
                                    space_side(json_object_get(spaces[0], name)), "after",
                                    space_side(json_object_get(spaces[1], name))))) {
                json_decref(list);
                return NULL;
            }
        }
    }
    return list;
}

/* ---- jobs -------------------------------------------------------------------------------- */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);

    return n > n_end && strcmp(text + n - n_end, end) == 0;
}

/* What a command runs: its script or module, else its program. */
static const char *job_name(const json_t *report)
{
    const json_t *command = seep_get_job(report).command;
    size_t n = json_array_size(command);

    for (size_t i = 1; i < n; i++) {
        const char *word = json_string_value(json_array_get(command, i));
        const char *next = json_string_value(json_array_get(command, i + 1));
        if (word && ends_in(word, ".py"))
            return seep_text_base(word);
        if (word && next && strcmp(word, "-m") == 0)
            return next;
    }
    const char *program = json_string_value(json_array_get(command, 0));
    return program ? seep_text_base(program) : "";
}

static int count_ranks(const json_t *report)
{
    json_t *process;
    size_t i;
    int n = 0;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        if (strcmp(seep_report_process_read(process).role, "rank") == 0)
            n++;
    }
    return n;
}

bool seep_compare_ran_out(const json_t *report)
{
    json_t *finding;
    size_t i, at = 0;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        if (strcmp(seep_report_finding_read(finding).pattern, "out-of-memory") == 0)
            return seep_get_failed(report, &at) != NULL;
    }
    return false;
}

int seep_compare_jobs(const json_t *before, const json_t *after, struct seep_error *err)
{
    const struct seep_report_job a = seep_get_job(before), b = seep_get_job(after);
    const char *source = a.step_source, *other = b.step_source;
    const double steps = (double)a.steps, others = (double)b.steps;
    int ranks = count_ranks(before), other_ranks = count_ranks(after);
    const bool cut_short = seep_compare_ran_out(steps < others ? before : after);

    if (strcmp(job_name(before), job_name(after)) != 0)
        return seep_error_set(
            err, SEEP_EINVAL, "", 0,
            "not the same job: one ran %.80s, the other %.80s: compare two runs of "
            "one script",
            job_name(before), job_name(after));
    if (strcmp(source, other) != 0)
        return seep_error_set(
            err, SEEP_EINVAL, "", 0,
            "not the same job: steps by %.20s in one, by %.20s in the other: call "
            "seep.step() once a step in both",
            source, other);
    if (strcmp(source, "time") != 0 && !cut_short &&
        fabs(steps - others) >
            0.1 * fmax(steps, others) + (strcmp(source, "loop") == 0 ? LOOP_FOUND_LATER : 0))
        return seep_error_set(
            err, SEEP_EINVAL, "", 0,
            "not the same job: %.0f steps in one, %.0f in the other: run both for as "
            "many steps",
            steps, others);
    if (ranks != other_ranks)
        return seep_error_set(
            err, SEEP_EINVAL, "", 0,
            "not the same job: %d ranks in one, %d in the other: start both with as "
            "many",
            ranks, other_ranks);
    return 0;
}

int seep_compare_usable(const json_t *report, bool allow_incomplete, struct seep_error *err)
{
    const struct seep_report_job job = seep_get_job(report);
    json_t *one;
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, one) {
        const struct seep_report_process process = seep_report_process_read(one);
        if (!allow_incomplete && strcmp(seep_report_exit_read(process.exit).kind, "running") == 0)
            return seep_error_set(err, SEEP_ENODATA, "", 0,
                                  "the job still runs (process %llu): wait for its end, or add "
                                  "--allow-incomplete",
                                  (unsigned long long)process.pid);
    }
    if (!allow_incomplete && !job.complete)
        return seep_error_set(err, SEEP_ENODATA, "", 0,
                              "the profile is incomplete: `seep report` says what is missing, and "
                              "--allow-incomplete judges the rest");
    if (!job.steps)
        return seep_error_set(err, SEEP_ENODATA, "", 0,
                              "no training step was seen: call seep.step() once a step; see "
                              "`seep help run`");
    return 0;
}

int seep_compare_long_enough(const json_t *report, struct seep_error *err)
{
    const struct seep_report_job job = seep_get_job(report);
    struct seep_slope growth;
    const char *name;
    json_t *space;

    if (seep_compare_ran_out(report))
        return 0;
    json_object_foreach (json_object_get(report, "spaces"), name, space) {
        if (seep_get_slope(space, "growth_bytes_per_step", &growth))
            return 0;
    }
    return seep_error_set(err, SEEP_ENODATA, "", 0,
                          "%.0f %ss are too few to tell growth from the warm-up: record more",
                          (double)job.steps, seep_get_step_unit(&job));
}

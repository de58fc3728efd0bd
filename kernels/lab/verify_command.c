/* `seep-lab verify`: all variants of scenarios under seep, and the table of what was expected and
 * what came out. */
#include "kernels/lab/judges.h"
#include "kernels/lab/lab.h"
#include "kernels/lab/table.h"
#include "kernels/lab/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_VARIANTS = 16, NAME_BYTES = 128, LINE_BYTES = 512 };

struct verification {
    const struct seep_lab_arguments *a;
    char folder[PATH_MAX / 2]; /* of all of it */
    struct seep_rows rows;
    json_t *measured;
};

/* FOLDER/SCENARIO/NAMEend. */
static int path_of(char path[PATH_MAX], const struct verification *v,
                   const struct seep_scenario *scenario, const char *name, const char *end,
                   struct seep_error *err)
{
    int n = snprintf(path, PATH_MAX, "%s/%s/%s%s", v->folder, scenario->name, name, end);

    if (n > 0 && n < PATH_MAX)
        return 0;
    return seep_error_set(err, SEEP_EIO, v->folder, 0, "the path is too long");
}

/* The last line that the job said; "" where it said nothing. */
static void last_line(const char *log, char line[LINE_BYTES])
{
    FILE *f = fopen(log, "re");
    char text[LINE_BYTES];

    line[0] = '\0';
    while (f && fgets(text, sizeof text, f)) {
        text[strcspn(text, "\n")] = '\0';
        if (text[0])
            strcpy(line, text);
    }
    if (f)
        fclose(f);
}

static int run_variant(struct verification *v, const struct seep_scenario *s,
                       const struct seep_variant *variant, const char *data,
                       struct seep_outcome *outcome, struct seep_error *err)
{
    char profile[PATH_MAX], log[PATH_MAX], line[LINE_BYTES];
    struct seep_trial t = {.scenario = s,
                           .variant = variant,
                           .profile = profile,
                           .log = log,
                           .data = data,
                           .device = s->uses_device ? v->a->device : SEEP_DEVICE_CPU,
                           .scale = v->a->scale,
                           .seed = v->a->seed,
                           .epochs = v->a->epochs,
                           .capacity = s->has_capacity ? v->a->capacity : 0};
    int rc = path_of(profile, v, s, variant->name, ".d", err);

    if (!rc)
        rc = path_of(log, v, s, variant->name, ".log", err);
    if (rc)
        return rc;
    seep_lab_progress("%s: %s …", s->name, variant->name);
    rc = seep_trial_run(&t, outcome, err);
    seep_lab_progress(NULL);
    bool failed = !WIFEXITED(outcome->status) || WEXITSTATUS(outcome->status);
    last_line(log, line);
    if (failed && line[0] && (rc || (!variant->fails && !variant->may_fail)) &&
        !seep_lab_interrupted())
        seep_lab_complain("%s %s said \"%s\": it should %s", s->name, variant->name, line,
                          variant->fails ? "fail with its own error" : "succeed");
    return rc;
}

/* ---- fixes --------------------------------------------------------------------------------- */

/* "why" of what `seep verify` wrote, or else its last word.
 * Allocates the result (free() it); NULL without memory. */
static char *read_why(const json_t *verdict, const char *log)
{
    char line[LINE_BYTES];
    const char *text = seep_rows_text(verdict, "why");

    if (!text)
        last_line(log, line);
    return strdup(text ? text : line);
}

/* `seep verify BEFORE AFTER`, and a line on how it ended. Its document, or NULL, is the caller's.
 */
static int verify_pair(struct verification *v, const struct seep_scenario *s, const char *before,
                       const char *after, int expected, json_t **verdict, struct seep_error *err)
{
    char seep[PATH_MAX], from[PATH_MAX], to[PATH_MAX], document[PATH_MAX], log[PATH_MAX];
    char name[NAME_BYTES], stem[NAME_BYTES];
    char *argv[] = {seep, "verify", "--format", "json", "-o", document, from, to, NULL};
    int status = 0, rc = seep_lab_find_seep(seep, err);

    *verdict = NULL;
    snprintf(stem, sizeof stem, "%s-to-%s", before, after);
    if (!rc)
        rc = path_of(from, v, s, before, ".d", err);
    if (!rc)
        rc = path_of(to, v, s, after, ".d", err);
    if (!rc)
        rc = path_of(document, v, s, stem, ".json", err);
    if (!rc)
        rc = path_of(log, v, s, stem, ".log", err);
    if (!rc)
        rc = seep_lab_spawn(argv, log, &status, err);
    if (rc)
        return rc;
    *verdict = json_load_file(document, 0, NULL);
    char *why = read_why(*verdict, log);
    int ended = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    snprintf(name, sizeof name, "seep verify %s %s", before, after);
    seep_rows_add(&v->rows, ended == expected, name,
                  expected ? "status 1, not fixed" : "status 0, fixed", "status %d, %s", ended,
                  why ? why : "no memory");
    free(why);
    return 0;
}

static int verify_fix(struct verification *v, const struct seep_scenario *s,
                      const struct seep_fix *fix, struct seep_error *err)
{
    json_t *verdict;
    int rc = verify_pair(v, s, fix->before, fix->after, seep_fix_status(fix), &verdict, err);

    if (!rc)
        seep_fix_judge(fix, verdict, &v->rows);
    json_decref(verdict);
    if (!rc) {
        rc = verify_pair(v, s, fix->after, fix->before, 1, &verdict, err);
        json_decref(verdict);
    }
    return rc;
}

/* ---- a scenario ------------------------------------------------------------------------------ */

static int run_variants(struct verification *v, const struct seep_scenario *s, const char *data,
                        struct seep_outcome outcomes[MAX_VARIANTS], struct seep_error *err)
{
    json_t *measured = json_object();
    int rc = 0;

    for (size_t i = 0; s->variants[i].name && i < MAX_VARIANTS && !rc; i++) {
        rc = run_variant(v, s, &s->variants[i], data, &outcomes[i], err);
        if (rc)
            break;
        seep_trial_judge(&outcomes[i], &v->rows);
        json_object_set(measured, s->variants[i].name, outcomes[i].measured);
    }
    json_object_set_new(v->measured, s->name, measured);
    return rc;
}

static int verify_scenario(struct verification *v, const struct seep_scenario *s,
                           struct seep_error *err)
{
    struct seep_outcome outcomes[MAX_VARIANTS] = {{0}};
    char folder[PATH_MAX], room[PATH_MAX];
    const char *data;
    int rc = path_of(folder, v, s, "", "", err);

    v->rows.scenario = s->name;
    if (!rc)
        rc = path_of(room, v, s, "data", "", err);
    if (!rc)
        rc = seep_lab_make_folder(folder, err);
    if (!rc)
        rc = seep_trial_data(s, v->a->data, room, v->a->scale, v->a->seed, &data, err);
    if (!rc)
        rc = run_variants(v, s, data, outcomes, err);
    for (const struct seep_fix *fix = s->fixes; fix && fix->before && !rc; fix++) {
        if (fix->on_host && s->uses_device && v->a->device != SEEP_DEVICE_CPU)
            continue;
        if (v->a->scale >= fix->least_scale)
            rc = verify_fix(v, s, fix, err);
    }
    if (!rc && s->judge)
        s->judge(outcomes, v->a->scale, &v->rows);
    if (!rc && s->survey)
        s->survey(&v->rows);
    if (!rc && v->rows.lost)
        rc = -SEEP_ENOMEM;
    for (size_t i = 0; i < MAX_VARIANTS; i++)
        seep_trial_fini(&outcomes[i]);
    return rc;
}

/* ---- all ---------------------------------------------------------------------------------------
 */

/* Keeps an old file unchanged until there is something to write. */
static FILE *open_output(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

    if (!out && fd >= 0)
        close(fd);
    return out;
}

static int print_rows(const struct verification *v, FILE *out, bool complete)
{
    const json_t *rows = v->rows.rows;

    if (v->a->out && ftruncate(fileno(out), 0) && errno != EINVAL) /* it may be a pipe */
        return -SEEP_EIO;
    if (v->a->json) {
        json_t *document =
            json_pack("{s:s, s:i, s:s, s:f, s:b, s:i, s:i, s:O, s:O}", "format", "seep-lab-verify",
                      "version", 1, "seep", SEEP_VERSION, "scale", v->a->scale, "complete",
                      complete, "rows_total", (int)json_array_size(rows), "rows_failed",
                      (int)v->rows.n_failed, "rows", rows, "measured", v->measured);
        json_dumpf(document, out, JSON_INDENT(1));
        putc('\n', out);
        json_decref(document);
    } else {
        seep_table_print_verdicts(rows, out);
        if (!complete)
            fputs("the run ended early: missing rows were not tried\n", out);
    }
    if (!fflush(out) && !ferror(out))
        return 0;
    seep_lab_complain("cannot write the table: check the free space there");
    return -SEEP_EIO;
}

static bool words_are_scenarios(const struct seep_lab_arguments *a)
{
    for (int i = 0; i < a->n_words; i++) {
        if (!seep_lab_find_scenario(a->words[i])) {
            seep_lab_complain("unknown scenario %s: `seep-lab list` shows them all", a->words[i]);
            return false;
        }
    }
    if (a->data && a->n_words != 1) {
        seep_lab_complain("--data is the input of one scenario: name that scenario");
        return false;
    }
    for (const struct seep_scenario *const *s = seep_scenarios; *s; s++) {
        if (seep_lab_is_chosen(a, (*s)->name) && !seep_lab_takes_capacity(a, *s))
            return false;
    }
    return true;
}

static bool uses_device(const struct seep_lab_arguments *a)
{
    for (const struct seep_scenario *const *s = seep_scenarios; *s; s++) {
        if (seep_lab_is_chosen(a, (*s)->name) && (*s)->uses_device)
            return true;
    }
    return false;
}

/* The folder must hold one run only: reports and inputs of two would mix. */
static int prepare_folder(struct verification *v, struct seep_error *err)
{
    const char *keep = v->a->keep;
    char path[PATH_MAX];
    int rc = 0;

    if (!keep)
        return seep_lab_make_temporary(v->folder, sizeof v->folder, err);
    if ((size_t)snprintf(v->folder, sizeof v->folder, "%s", keep) >= sizeof v->folder)
        return seep_error_set(err, SEEP_EIO, keep, 0, "the path is too long");
    for (const struct seep_scenario *const *s = seep_scenarios; *s && !rc; s++) {
        rc = path_of(path, v, *s, "", "", err);
        if (!rc && seep_lab_is_chosen(v->a, (*s)->name) && !seep_lab_is_empty(path))
            rc = seep_error_set(err, SEEP_EIO, path, 0, "not an empty folder");
    }
    return rc ? rc : seep_lab_make_folder(keep, err);
}

static int verify_all(struct verification *v, struct seep_error *err)
{
    int rc = prepare_folder(v, err);

    for (const struct seep_scenario *const *s = seep_scenarios; *s && !rc; s++) {
        if (seep_lab_is_chosen(v->a, (*s)->name))
            rc = verify_scenario(v, *s, err);
    }
    if (!v->a->keep)
        seep_lab_remove(v->folder);
    return rc;
}

int seep_lab_verify_main(int argc, char **argv)
{
    struct seep_lab_arguments a;
    struct verification v = {.a = &a};
    struct seep_error err = {0};
    int status = seep_lab_read_arguments(argc, argv, "dsDSecfjok", &a);

    if (status >= 0)
        return status;
    seep_lab_hold_signals();
    if (!words_are_scenarios(&a) || (uses_device(&a) && !seep_lab_has_device(a.device)))
        return SEEP_LAB_UNUSABLE;
    /* Opened before the work: a failure afterwards would lose all of it. */
    FILE *out = a.out ? open_output(a.out) : stdout;
    if (!out) {
        seep_lab_complain("cannot write %s (%s): give another file", a.out, strerror(errno));
        return SEEP_LAB_UNUSABLE;
    }
    v.rows.rows = json_array();
    v.measured = json_object();
    int rc = verify_all(&v, &err);
    if (rc && !seep_lab_interrupted())
        seep_lab_complain_error(rc, &err, "see `seep-lab --help`");
    if (!rc || json_array_size(v.rows.rows))
        rc = print_rows(&v, out, rc == 0) ? -SEEP_EIO : rc;
    json_decref(v.rows.rows);
    json_decref(v.measured);
    if (a.out && fclose(out) && !rc) {
        seep_lab_complain("cannot write %s: check the free space there", a.out);
        rc = -SEEP_EIO;
    }
    return rc ? SEEP_LAB_UNUSABLE : v.rows.n_failed ? SEEP_LAB_UNEXPECTED : SEEP_LAB_EXPECTED;
}

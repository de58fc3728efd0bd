/* `seep-lab verify`: all variants of scenarios under seep, and the table of what was expected and
 * what came out. */
#include "kernels/harness/fix_judge.h"
#include "kernels/harness/lab.h"
#include "kernels/harness/table.h"
#include "kernels/harness/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MAX_VARIANTS = 16 };

struct verification {
    const struct seep_lab_arguments *a;
    char folder[PATH_MAX / 2]; /* of all of it */
    json_t *rows, *measured;
    unsigned n_failed;
};

static const char *path_of(char path[PATH_MAX], const struct verification *v,
                           const struct seep_scenario *scenario, const char *name)
{
    int n = snprintf(path, PATH_MAX, "%s/%s/%s", v->folder, scenario->name, name);

    return n > 0 && n < PATH_MAX ? path : "";
}

/* The last line that the job said, for an error's text. */
static void last_line(const char *log, char *line, size_t capacity)
{
    FILE *f = fopen(log, "re");
    char text[512];

    line[0] = '\0';
    while (f && fgets(text, sizeof text, f)) {
        text[strcspn(text, "\n")] = '\0';
        if (text[0])
            snprintf(line, capacity, "%.*s", (int)capacity - 1, text);
    }
    if (f)
        fclose(f);
}

static int run_variant(struct verification *v, const struct seep_scenario *s,
                       const struct seep_variant *variant, const char *data,
                       struct seep_outcome *outcome, struct seep_error *err)
{
    char profile[PATH_MAX], log[PATH_MAX], line[256], name[128];
    struct seep_trial t = {.scenario = s,
                           .variant = variant,
                           .data = data,
                           .device = v->a->device,
                           .scale = v->a->scale,
                           .seed = v->a->seed,
                           .epochs = v->a->epochs};

    snprintf(name, sizeof name, "%s.d", variant->name);
    t.profile = path_of(profile, v, s, name);
    snprintf(name, sizeof name, "%s.log", variant->name);
    t.log = path_of(log, v, s, name);
    seep_lab_progress("%s: %s …", s->name, variant->name);
    int rc = seep_trial_run(&t, outcome, err);
    seep_lab_progress(NULL);
    bool failed = !WIFEXITED(outcome->status) || WEXITSTATUS(outcome->status);
    if (failed && !variant->fails) {
        last_line(log, line, sizeof line);
        if (line[0])
            seep_lab_complain("%s %s said \"%.150s\": it is expected to end well", s->name,
                              variant->name, line);
    }
    return rc;
}

/* ---- fixes --------------------------------------------------------------------------------- */

/* `seep verify BEFORE AFTER`: its exit status, −1 where there is none; its document, or NULL, for
 * the caller to give back, and the document's "why". */
static int verify_pair(struct verification *v, const struct seep_scenario *s, const char *before,
                       const char *after, json_t **verdict, char *why, size_t capacity,
                       struct seep_error *err)
{
    char seep[PATH_MAX], from[PATH_MAX], to[PATH_MAX], document[PATH_MAX], log[PATH_MAX];
    char name[128];
    int status = 0;

    snprintf(name, sizeof name, "%s.d", before);
    path_of(from, v, s, name);
    snprintf(name, sizeof name, "%s.d", after);
    path_of(to, v, s, name);
    snprintf(name, sizeof name, "%s-to-%s.json", before, after);
    path_of(document, v, s, name);
    snprintf(name, sizeof name, "%s-to-%s.log", before, after);
    path_of(log, v, s, name);
    char *argv[] = {seep, "verify", "--format", "json", "-o", document, from, to, NULL};
    *verdict = NULL;
    snprintf(why, capacity, "seep could not be started");
    if (seep_lab_find_seep(seep, err) || seep_lab_spawn(argv, log, &status, err))
        return -1;
    *verdict = json_load_file(document, 0, NULL);
    const char *text = seep_rows_text(*verdict, "why");
    if (text)
        snprintf(why, capacity, "%s", text);
    else
        last_line(log, why, capacity);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void verify_fix(struct verification *v, const struct seep_scenario *s,
                       const struct seep_fix *fix, struct seep_rows *rows)
{
    struct seep_error err = {0};
    char name[128], why[160];
    int expected = seep_fix_status(fix);
    json_t *verdict;

    snprintf(name, sizeof name, "seep verify %s %s", fix->before, fix->after);
    int status = verify_pair(v, s, fix->before, fix->after, &verdict, why, sizeof why, &err);
    seep_rows_add(rows, status == expected, name,
                  expected ? "status 1, not fixed" : "status 0, fixed", "status %d, %s", status,
                  why);
    seep_fix_judge(fix, verdict, rows);
    json_decref(verdict);
    snprintf(name, sizeof name, "seep verify %s %s", fix->after, fix->before);
    status = verify_pair(v, s, fix->after, fix->before, &verdict, why, sizeof why, &err);
    seep_rows_add(rows, status == 1, name, "status 1, not fixed", "status %d, %s", status, why);
    json_decref(verdict);
}

/* ---- a scenario ------------------------------------------------------------------------------ */

static void judge_scenario(struct verification *v, const struct seep_scenario *s,
                           const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    json_t *measured = json_object();
    size_t n = 0;

    for (; s->variants[n].name; n++) {
        seep_trial_judge(&outcomes[n], rows);
        json_object_set(measured, s->variants[n].name, outcomes[n].measured);
    }
    json_object_set_new(v->measured, s->name, measured);
    for (const struct seep_fix *fix = s->fixes; fix && fix->before; fix++) {
        if (v->a->scale >= fix->least_scale)
            verify_fix(v, s, fix, rows);
    }
    if (s->judge && s->judge(outcomes, v->a->scale, rows))
        seep_rows_add(rows, false, "figures", "can be judged", "cannot");
}

static int verify_scenario(struct verification *v, const struct seep_scenario *s,
                           struct seep_error *err)
{
    struct seep_outcome outcomes[MAX_VARIANTS] = {{0}};
    struct seep_rows rows = {.scenario = s->name, .rows = v->rows};
    char room[PATH_MAX];
    const char *data;
    size_t n = 0;
    int rc = seep_lab_make_folder(path_of(room, v, s, ""), err);

    if (!rc)
        rc = seep_trial_data(s, v->a->data, path_of(room, v, s, "data"), v->a->scale, v->a->seed,
                             &data, err);
    for (; !rc && s->variants[n].name && n < MAX_VARIANTS; n++)
        rc = run_variant(v, s, &s->variants[n], data, &outcomes[n], err);
    if (!rc)
        judge_scenario(v, s, outcomes, &rows);
    v->n_failed += rows.n_failed;
    for (size_t i = 0; i < n; i++)
        seep_trial_fini(&outcomes[i]);
    return rc;
}

/* ---- all ---------------------------------------------------------------------------------------
 */

static int print_rows(const struct verification *v)
{
    FILE *out = v->a->out ? fopen(v->a->out, "we") : stdout;

    if (!out) {
        seep_lab_complain("%s cannot be written: name another file", v->a->out);
        return -SEEP_EIO;
    }
    if (v->a->json) {
        json_t *document = json_pack(
            "{s:s, s:i, s:s, s:f, s:i, s:i, s:O, s:O}", "format", "seep-lab-verify", "version", 1,
            "seep", SEEP_VERSION, "scale", v->a->scale, "rows_total", (int)json_array_size(v->rows),
            "rows_failed", (int)v->n_failed, "rows", v->rows, "measured", v->measured);
        json_dumpf(document, out, JSON_INDENT(1));
        putc('\n', out);
        json_decref(document);
    } else {
        seep_table_print_verdicts(v->rows, out);
    }
    bool bad = fflush(out) || ferror(out);
    if (v->a->out)
        bad |= fclose(out) != 0;
    if (bad)
        seep_lab_complain("the table cannot be written: check the room there");
    return bad ? -SEEP_EIO : 0;
}

static bool is_chosen(const struct seep_lab_arguments *a, const char *name)
{
    bool chosen = a->n_words == 0;

    for (int i = 0; i < a->n_words; i++)
        chosen |= strcmp(a->words[i], name) == 0;
    return chosen;
}

static bool words_are_scenarios(const struct seep_lab_arguments *a)
{
    for (int i = 0; i < a->n_words; i++) {
        if (!seep_lab_find_scenario(a->words[i])) {
            seep_lab_complain("%s is no scenario: `seep-lab list` names them", a->words[i]);
            return false;
        }
    }
    if (a->data && a->n_words != 1) {
        seep_lab_complain("--data is the input of one scenario: name it");
        return false;
    }
    return true;
}

int seep_lab_verify_main(int argc, char **argv)
{
    struct seep_lab_arguments a;
    struct verification v = {.a = &a};
    struct seep_error err = {0};
    int status = seep_lab_read_arguments(argc, argv, "dsDSefjok", &a), rc = 0;

    if (status >= 0)
        return status;
    if (!words_are_scenarios(&a) || !seep_lab_has_device(a.device))
        return SEEP_LAB_UNUSABLE;
    if (!a.keep)
        rc = seep_lab_make_temporary(v.folder, sizeof v.folder, &err);
    else if ((size_t)snprintf(v.folder, sizeof v.folder, "%s", a.keep) >= sizeof v.folder)
        rc = seep_error_set(&err, SEEP_EIO, a.keep, 0, "the path is too long");
    else
        rc = seep_lab_make_folder(a.keep, &err);
    v.rows = json_array();
    v.measured = json_object();
    for (const struct seep_scenario *const *s = seep_scenarios; *s && !rc; s++) {
        if (is_chosen(&a, (*s)->name))
            rc = verify_scenario(&v, *s, &err);
    }
    if (rc)
        seep_lab_complain_error(rc, &err, "see `seep-lab --help`");
    else
        rc = print_rows(&v);
    json_decref(v.rows);
    json_decref(v.measured);
    if (!a.keep)
        seep_lab_remove(v.folder);
    return rc ? SEEP_LAB_UNUSABLE : v.n_failed ? SEEP_LAB_UNEXPECTED : SEEP_LAB_EXPECTED;
}

#include "kernels/lab/verification.h"

#include "kernels/lab/child_pool.h"
#include "kernels/lab/judges.h"
#include "kernels/lab/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_SCENARIOS = 8, MAX_VARIANTS = 16, MAX_FIXES = 16, NAME_BYTES = 128, LINE_BYTES = 512 };

/* A scenario, while it is verified. */
struct course {
    const struct seep_verification *v;
    const struct seep_scenario *scenario;
    const char *data;    /* given, or `room` */
    char room[PATH_MAX]; /* for an input that is made */
    struct seep_outcome outcomes[MAX_VARIANTS];
    int rc; /* of the first thing that failed */
    struct seep_error err;
};

/* A thing to be done for it, in a child. */
struct step {
    struct course *course;
    const struct seep_variant *variant;
    const struct seep_fix *fix;
    const char *before, *after;
    char name[NAME_BYTES];
};

static bool has_failed(struct course *c, int rc, const struct seep_error *err)
{
    if (rc < 0 && !c->rc) {
        c->rc = rc;
        c->err = *err;
    }
    return rc < 0;
}

/* FOLDER/SCENARIO/NAMEend. */
static int path_of(char path[PATH_MAX], const struct course *c, const char *name, const char *end,
                   struct seep_error *err)
{
    int n = snprintf(path, PATH_MAX, "%s/%s/%s%s", c->v->folder, c->scenario->name, name, end);

    if (n > 0 && n < PATH_MAX)
        return 0;
    return seep_error_set(err, SEEP_EIO, c->v->folder, 0, "the path is too long");
}

/* Does all steps; several at once where that is safe: not where each may want most of the machine,
 * or of its GPU. */
static void do_steps(const struct seep_verification *v, const char *what, seep_lab_work *work,
                     bool spawns, struct step *steps, size_t n, struct seep_lab_task *tasks)
{
    const double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    const bool alone = v->a->scale > 0.05 || v->a->device != SEEP_DEVICE_CPU || cpus < 2;

    for (size_t i = 0; i < n; i++)
        tasks[i] = (struct seep_lab_task){
            .name = steps[i].name, .work = work, .arg = &steps[i], .spawns = spawns};
    seep_lab_do_tasks(what, tasks, n, v->a->jobs ? v->a->jobs : alone ? 1 : (size_t)cpus);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static int make_input(void *arg, struct seep_error *err)
{
    const struct course *c = ((const struct step *)arg)->course;

    return c->scenario->make_data(c->room, c->v->a->scale, c->v->a->seed, err);
}

static int prepare(struct course *c, struct seep_error *err)
{
    char folder[PATH_MAX];
    const char *given = c->v->a->data;
    int rc = path_of(folder, c, "", "", err);

    if (!rc)
        rc = path_of(c->room, c, "data", "", err);
    if (!rc)
        rc = seep_lab_make_folder(folder, err);
    if (!rc && given && access(given, R_OK | X_OK))
        rc = seep_error_set(err, SEEP_EIO, given, 0, "not a readable folder");
    if (!rc && !given)
        rc = seep_lab_make_folder(c->room, err);
    c->data = given ? given : c->room;
    return rc;
}

static void make_inputs(const struct seep_verification *v, struct course *courses, size_t n)
{
    struct step steps[MAX_SCENARIOS];
    struct seep_lab_task tasks[MAX_SCENARIOS];
    size_t n_steps = 0;

    for (size_t i = 0; i < n; i++) {
        struct course *c = &courses[i];
        struct seep_error err = {0};
        if (has_failed(c, prepare(c, &err), &err) || v->a->data || !c->scenario->make_data)
            continue;
        steps[n_steps] = (struct step){.course = c};
        snprintf(steps[n_steps++].name, NAME_BYTES, "%s", c->scenario->name);
    }
    do_steps(v, "inputs", make_input, false, steps, n_steps, tasks);
    for (size_t i = 0; i < n_steps; i++)
        has_failed(steps[i].course, tasks[i].rc, &tasks[i].err);
}

/* ---- variants -------------------------------------------------------------------------------- */

/* Its texts are in `paths`. */
static int trial_of(const struct step *s, char paths[2][PATH_MAX], struct seep_trial *t,
                    struct seep_error *err)
{
    const struct course *c = s->course;
    const struct seep_lab_arguments *a = c->v->a;
    int rc = path_of(paths[0], c, s->variant->name, ".d", err);

    *t = (struct seep_trial){.scenario = c->scenario,
                             .variant = s->variant,
                             .profile = paths[0],
                             .log = paths[1],
                             .data = c->data,
                             .device = c->scenario->uses_device ? a->device : SEEP_DEVICE_CPU,
                             .scale = a->scale,
                             .seed = a->seed,
                             .epochs = a->epochs,
                             .capacity = c->scenario->has_capacity ? a->capacity : 0};
    return rc ? rc : path_of(paths[1], c, s->variant->name, ".log", err);
}

/* Returns the job's wait status. */
static int try_variant(void *arg, struct seep_error *err)
{
    char paths[2][PATH_MAX];
    struct seep_trial t;
    int status = 0, rc = trial_of(arg, paths, &t, err);

    if (!rc)
        rc = seep_trial_spawn(&t, &status, err);
    return rc ? rc : status;
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

static void take_outcome(const struct step *s, const struct seep_lab_task *task)
{
    struct course *c = s->course;
    struct seep_outcome *outcome = &c->outcomes[s->variant - c->scenario->variants];
    char paths[2][PATH_MAX], line[LINE_BYTES];
    struct seep_error err = task->err;
    struct seep_trial t;
    int rc = task->rc;

    if (rc >= 0 && !trial_of(s, paths, &t, &err)) {
        rc = seep_trial_read(&t, task->rc, outcome, &err);
        const bool failed = !WIFEXITED(task->rc) || WEXITSTATUS(task->rc);
        last_line(t.log, line);
        if (failed && line[0] && (rc || (!s->variant->fails && !s->variant->may_fail)) &&
            !seep_lab_interrupted())
            seep_lab_complain("%s %s said \"%s\": it should %s", c->scenario->name,
                              s->variant->name, line,
                              s->variant->fails ? "fail with its own error" : "succeed");
    }
    outcome->variant = has_failed(c, rc, &err) ? NULL : s->variant;
}

static void try_variants(const struct seep_verification *v, struct course *courses, size_t n)
{
    static struct step steps[MAX_SCENARIOS * MAX_VARIANTS];
    static struct seep_lab_task tasks[MAX_SCENARIOS * MAX_VARIANTS];
    size_t n_steps = 0;

    for (size_t i = 0; i < n; i++) {
        const struct seep_variant *variants = courses[i].scenario->variants;
        for (size_t k = 0; !courses[i].rc && variants[k].name && k < MAX_VARIANTS; k++) {
            struct step *s = &steps[n_steps++];
            *s = (struct step){.course = &courses[i], .variant = &variants[k]};
            snprintf(s->name, NAME_BYTES, "%s %s", courses[i].scenario->name, variants[k].name);
        }
    }
    do_steps(v, "variants", try_variant, true, steps, n_steps, tasks);
    for (size_t i = 0; i < n_steps; i++)
        take_outcome(&steps[i], &tasks[i]);
}

/* ---- fixes ----------------------------------------------------------------------------------- */

/* `seep verify BEFORE AFTER`; what it writes is in STEM.json, what it says in STEM.log. Returns its
 * wait status. */
static int try_fix(void *arg, struct seep_error *err)
{
    const struct step *s = arg;
    char seep[PATH_MAX], from[PATH_MAX], to[PATH_MAX], document[PATH_MAX], log[PATH_MAX];
    char stem[NAME_BYTES];
    char *argv[] = {seep, "verify", "--format", "json", "-o", document, from, to, NULL};
    int status = 0, rc = seep_lab_find_seep(seep, err);

    snprintf(stem, sizeof stem, "%s-to-%s", s->before, s->after);
    if (!rc)
        rc = path_of(from, s->course, s->before, ".d", err);
    if (!rc)
        rc = path_of(to, s->course, s->after, ".d", err);
    if (!rc)
        rc = path_of(document, s->course, stem, ".json", err);
    if (!rc)
        rc = path_of(log, s->course, stem, ".log", err);
    if (!rc)
        rc = seep_lab_spawn(argv, log, &status, err);
    return rc ? rc : status;
}

static bool is_held(const struct course *c, const struct seep_fix *fix)
{
    const bool on_device = c->scenario->uses_device && c->v->a->device != SEEP_DEVICE_CPU;

    return !c->rc && c->v->a->scale >= fix->least_scale && !(fix->on_host && on_device);
}

static size_t list_fixes(struct course *courses, size_t n, struct step *steps)
{
    size_t n_steps = 0;

    for (size_t i = 0; i < n; i++) {
        const struct seep_fix *fix = courses[i].scenario->fixes;
        for (size_t k = 0; fix && fix[k].before && k < MAX_FIXES; k++) {
            if (!is_held(&courses[i], &fix[k]))
                continue;
            steps[n_steps++] =
                (struct step){&courses[i], NULL, &fix[k], fix[k].before, fix[k].after, ""};
            steps[n_steps++] =
                (struct step){&courses[i], NULL, &fix[k], fix[k].after, fix[k].before, ""};
        }
    }
    for (size_t i = 0; i < n_steps; i++)
        snprintf(steps[i].name, NAME_BYTES, "%s %s", steps[i].before, steps[i].after);
    return n_steps;
}

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

static void judge_fix(const struct step *s, const struct seep_lab_task *task,
                      struct seep_rows *rows)
{
    const bool forth = strcmp(s->before, s->fix->before) == 0;
    const int expected = forth ? seep_fix_status(s->fix) : 1;
    const int ended = task->rc >= 0 && WIFEXITED(task->rc) ? WEXITSTATUS(task->rc) : -1;
    char name[NAME_BYTES + 16], stem[NAME_BYTES], document[PATH_MAX], log[PATH_MAX];

    snprintf(stem, sizeof stem, "%s-to-%s", s->before, s->after);
    if (path_of(document, s->course, stem, ".json", NULL) ||
        path_of(log, s->course, stem, ".log", NULL))
        return;
    json_t *verdict = json_load_file(document, 0, NULL);
    char *why = read_why(verdict, log);
    snprintf(name, sizeof name, "seep verify %s %s", s->before, s->after);
    seep_rows_add(rows, ended == expected, name,
                  expected ? "status 1, not fixed" : "status 0, fixed", "status %d, %s", ended,
                  why ? why : "no memory");
    if (forth)
        seep_fix_judge(s->fix, verdict, rows);
    free(why);
    json_decref(verdict);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* The rows of a scenario; of its fixes those that were tried. */
static void judge(struct seep_verification *v, struct course *c, const struct step *fixes,
                  const struct seep_lab_task *tasks, size_t n_fixes)
{
    json_t *measured = json_object();

    v->rows.scenario = c->scenario->name;
    for (size_t i = 0; c->scenario->variants[i].name && i < MAX_VARIANTS; i++) {
        const struct seep_outcome *o = &c->outcomes[i];
        if (!o->variant)
            continue; /* it could not be run */
        seep_trial_judge(o, v->a->scale, &v->rows);
        json_object_set(measured, o->variant->name, o->measured);
    }
    for (size_t i = 0; i < n_fixes; i++) {
        if (fixes[i].course == c && !has_failed(c, tasks[i].rc, &tasks[i].err))
            judge_fix(&fixes[i], &tasks[i], &v->rows);
    }
    if (!c->rc && c->scenario->judge)
        c->scenario->judge(c->outcomes, v->a->scale, &v->rows);
    if (!c->rc && c->scenario->survey)
        c->scenario->survey(&v->rows);
    json_object_set_new(v->measured, c->scenario->name, measured);
}

int seep_verification_run(struct seep_verification *v, struct seep_error *err)
{
    static struct course courses[MAX_SCENARIOS];
    static struct step fixes[2 * MAX_SCENARIOS * MAX_FIXES];
    static struct seep_lab_task tasks[2 * MAX_SCENARIOS * MAX_FIXES];
    size_t n = 0;
    int rc = 0;

    for (const struct seep_scenario *const *s = seep_scenarios; *s && n < MAX_SCENARIOS; s++) {
        if (seep_lab_is_chosen(v->a, (*s)->name))
            courses[n++] = (struct course){.v = v, .scenario = *s};
    }
    make_inputs(v, courses, n);
    try_variants(v, courses, n);
    const size_t n_fixes = list_fixes(courses, n, fixes);
    do_steps(v, "verdicts on fixes", try_fix, true, fixes, n_fixes, tasks);
    for (size_t i = 0; i < n; i++) {
        judge(v, &courses[i], fixes, tasks, n_fixes);
        if (courses[i].rc && !rc) {
            rc = courses[i].rc;
            *err = courses[i].err;
        }
        for (size_t k = 0; k < MAX_VARIANTS; k++)
            seep_trial_fini(&courses[i].outcomes[k]);
    }
    return rc ? rc : v->rows.lost ? -SEEP_ENOMEM : 0;
}

#include "kernels/harness/trial.h"

#include "kernels/harness/lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 32, NUMBER_BYTES = 32, SEEP_FAILED = 125 };

struct command {
    char *argv[MAX_ARGUMENTS];
    size_t n;
    char seep[PATH_MAX], self[PATH_MAX], measured[PATH_MAX];
    char scale[NUMBER_BYTES], seed[NUMBER_BYTES], epochs[NUMBER_BYTES];
};

static void add(struct command *c, const char *word)
{
    if (c->n + 1 < MAX_ARGUMENTS)
        c->argv[c->n++] = (char *)word;
}

static void add_option(struct command *c, const char *name, const char *value)
{
    if (value) {
        add(c, name);
        add(c, value);
    }
}

static int compose(const struct seep_trial *t, struct command *c, struct seep_error *err)
{
    int rc = seep_lab_find_seep(c->seep, err);

    if (!rc)
        rc = seep_lab_find_self(c->self, err);
    if (rc)
        return rc;
    if ((size_t)snprintf(c->measured, PATH_MAX, "%s/measured.json", t->profile) >= PATH_MAX)
        return seep_error_set(err, SEEP_EIO, t->profile, 0, "the path is too long");
    snprintf(c->scale, NUMBER_BYTES, "%.17g", t->scale);
    snprintf(c->seed, NUMBER_BYTES, "%" PRIu64, t->seed);
    snprintf(c->epochs, NUMBER_BYTES, "%u", t->epochs);
    add(c, c->seep);
    add(c, "run");
    add(c, "-q");
    add_option(c, "-o", t->profile);
    add(c, "--");
    add(c, c->self);
    add(c, "job");
    add(c, t->scenario->name);
    add_option(c, "--variant", t->variant->name);
    add_option(c, "--device", t->device == SEEP_DEVICE_CUDA ? "cuda" : "cpu");
    add_option(c, "--scale", c->scale);
    add_option(c, "--seed", c->seed);
    add_option(c, "--epochs", t->epochs ? c->epochs : NULL);
    add_option(c, "--data", t->data);
    add_option(c, "--pictures", t->pictures);
    add_option(c, "--measured", c->measured);
    return 0;
}

static json_t *read_json(const char *folder, const char *name)
{
    char path[PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return NULL;
    return json_load_file(path, 0, NULL);
}

int seep_trial_run(const struct seep_trial *t, struct seep_outcome *outcome, struct seep_error *err)
{
    struct command *c = calloc(1, sizeof *c);

    *outcome = (struct seep_outcome){.variant = t->variant};
    if (!c)
        return -SEEP_ENOMEM;
    int rc = compose(t, c, err);
    if (!rc)
        rc = seep_lab_spawn(c->argv, t->log, &outcome->status, err);
    if (!rc && WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) >= SEEP_FAILED &&
        WEXITSTATUS(outcome->status) < 128)
        rc = seep_error_set(err, SEEP_EIO, c->seep, 0, "could not run the job");
    if (!rc && WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) == SEEP_LAB_UNUSABLE)
        rc = seep_error_set(err, SEEP_EIO, t->profile, 0, "%s %s cannot be run here",
                            t->scenario->name, t->variant->name);
    free(c);
    if (rc)
        return rc;
    outcome->report = read_json(t->profile, "report.json");
    outcome->measured = read_json(t->profile, "measured.json");
    if (!outcome->report)
        return seep_error_set(err, SEEP_ENODATA, t->profile, 0, "seep left no report");
    return 0;
}

void seep_trial_fini(struct seep_outcome *outcome)
{
    json_decref(outcome->report);
    json_decref(outcome->measured);
    outcome->report = outcome->measured = NULL;
}

int seep_trial_data(const struct seep_scenario *scenario, const char *given, const char *room,
                    double scale, uint64_t seed, const char **data, struct seep_error *err)
{
    *data = given ? given : room;
    if (given && access(given, R_OK | X_OK))
        return seep_error_set(err, SEEP_EIO, given, 0, "no folder that can be read");
    if (given)
        return 0;
    int rc = seep_lab_make_folder(room, err);
    if (rc || !scenario->make_data)
        return rc;
    seep_lab_progress("%s: making the input …", scenario->name);
    rc = scenario->make_data(room, scale, seed, err);
    seep_lab_progress(NULL);
    return rc;
}

/* ---- what seep found ----------------------------------------------------------------------- */

const json_t *seep_trial_finding(const json_t *report, const char *pattern)
{
    const json_t *finding;
    size_t i;

    /* Most severe and largest first. */
    json_array_foreach(json_object_get(report, "findings"), i, finding)
    {
        const char *name = seep_rows_text(finding, "pattern");
        if (name && strcmp(name, pattern) == 0)
            return finding;
    }
    return NULL;
}

const char *seep_trial_function(const json_t *finding)
{
    const char *function = seep_rows_text(finding, "frame.function");

    return function ? function : "";
}

static bool is_serious(const json_t *finding)
{
    const char *severity = seep_rows_text(finding, "severity");

    return severity && (strcmp(severity, "leak") == 0 || strcmp(severity, "retention") == 0);
}

/* The patterns of the findings, each once, the serious ones with their lines. */
static void list_findings(const json_t *report, bool only_serious, char *text, size_t capacity)
{
    const json_t *finding;
    size_t i, n = 0;

    snprintf(text, capacity, "none");
    json_array_foreach(json_object_get(report, "findings"), i, finding)
    {
        const char *pattern = seep_rows_text(finding, "pattern");
        if (!pattern || (only_serious && !is_serious(finding)) || n + 1 >= capacity)
            continue;
        int more = snprintf(text + n, capacity - n, "%s%s in %s", n ? ", " : "", pattern,
                            seep_trial_function(finding));
        n += more > 0 ? (size_t)more : 0;
    }
}

static void judge_status(const struct seep_outcome *o, struct seep_rows *rows)
{
    char name[128], measured[128];
    bool good = WIFEXITED(o->status) && WEXITSTATUS(o->status) == 0;

    snprintf(name, sizeof name, "%s: the job", o->variant->name);
    if (WIFEXITED(o->status))
        snprintf(measured, sizeof measured, "ends with status %d", WEXITSTATUS(o->status));
    else
        snprintf(measured, sizeof measured, "is ended by signal %d", WTERMSIG(o->status));
    /* One that must fail fails by its own word, not by a crash. */
    bool failed = WIFEXITED(o->status) && WEXITSTATUS(o->status) == SEEP_LAB_UNEXPECTED;
    seep_rows_add(rows, o->variant->fails ? failed : good, name,
                  o->variant->fails ? "fails (status 1)" : "ends with status 0", "%s", measured);
}

bool seep_trial_judge(const struct seep_outcome *o, struct seep_rows *rows)
{
    char name[128], found[160];
    unsigned before = rows->n_failed;
    const struct seep_variant *v = o->variant;

    judge_status(o, rows);
    snprintf(name, sizeof name, "%s: seep finds", v->name);
    if (!v->pattern) {
        list_findings(o->report, true, found, sizeof found);
        seep_rows_add(rows, strcmp(found, "none") == 0, name, "no leak, no retention", "%s", found);
        return rows->n_failed == before;
    }
    const json_t *finding = seep_trial_finding(o->report, v->pattern);
    list_findings(o->report, false, found, sizeof found);
    seep_rows_add(rows, finding != NULL, name, v->pattern, "%s", finding ? v->pattern : found);
    if (finding && v->function) {
        snprintf(name, sizeof name, "%s: in the line", v->name);
        seep_rows_add(rows, strcmp(seep_trial_function(finding), v->function) == 0, name,
                      v->function, "%s", seep_trial_function(finding));
    }
    return rows->n_failed == before;
}

#include "kernels/lab/trial.h"

#include "kernels/lab/lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The machine for which a full-size scenario is meant unless it says so itself, and what a process
 * takes however small its data. */
#define MACHINE_BYTES     (UINT64_C(64) << 30)
#define MIN_MACHINE_BYTES (UINT64_C(64) << 20)

enum { MAX_ARGUMENTS = 40, NUMBER_BYTES = 32, SEEP_FAILED = 125 };

struct command {
    char *argv[MAX_ARGUMENTS];
    size_t n;
    char seep[PATH_MAX], self[PATH_MAX], measured[PATH_MAX];
    char scale[NUMBER_BYTES], seed[NUMBER_BYTES], epochs[NUMBER_BYTES], memory[NUMBER_BYTES];
    char capacity[NUMBER_BYTES];
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

/* Scaled-down data are judged as on a machine scaled down likewise. */
static uint64_t machine_of(const struct seep_scenario *scenario, double scale)
{
    const double whole =
        (double)(scenario->machine_bytes ? scenario->machine_bytes : MACHINE_BYTES);
    const double bytes = scale < 1 ? scale * whole : whole;

    return bytes > (double)MIN_MACHINE_BYTES ? (uint64_t)bytes : MIN_MACHINE_BYTES;
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
    snprintf(c->capacity, NUMBER_BYTES, "%" PRIu64, t->capacity);
    snprintf(c->memory, NUMBER_BYTES, "%" PRIu64, machine_of(t->scenario, t->scale));
    add(c, c->seep);
    add(c, "run");
    add(c, "-q");
    add_option(c, "--memory-limit", c->memory);
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
    add_option(c, "--capacity", t->capacity ? c->capacity : NULL);
    add_option(c, "--data", t->scenario->make_data ? t->data : NULL);
    add_option(c, "--images", t->images);
    add_option(c, "--pictures", t->pictures);
    add_option(c, "--save", t->save);
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

/* `seep run` would leave it alone and record beside it, and the older run would be judged. */
static int refuse_taken(const char *folder, struct seep_error *err)
{
    char path[PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "%s/job.seepjob", folder) < sizeof path &&
        access(path, F_OK) == 0)
        return seep_error_set(err, SEEP_EINVAL, folder, 0, "already holds a profile");
    return 0;
}

int seep_trial_spawn(const struct seep_trial *t, int *status, struct seep_error *err)
{
    struct command *c = calloc(1, sizeof *c);

    if (!c)
        return -SEEP_ENOMEM;
    int rc = refuse_taken(t->profile, err);
    if (!rc)
        rc = compose(t, c, err);
    if (!rc)
        rc = seep_lab_spawn(c->argv, t->log, status, err);
    if (!rc && WIFEXITED(*status) && WEXITSTATUS(*status) >= SEEP_FAILED &&
        WEXITSTATUS(*status) < 128)
        rc = seep_error_set(err, SEEP_EIO, c->seep, 0, "could not run the job");
    free(c);
    return rc;
}

int seep_trial_read(const struct seep_trial *t, int status, struct seep_outcome *outcome,
                    struct seep_error *err)
{
    *outcome = (struct seep_outcome){.variant = t->variant, .status = status};
    if (WIFEXITED(status) && WEXITSTATUS(status) == SEEP_LAB_UNUSABLE)
        return seep_error_set(err, SEEP_EIO, t->data, 0, "cannot run %s %s here", t->scenario->name,
                              t->variant->name);
    outcome->report = read_json(t->profile, "report.json");
    outcome->measured = read_json(t->profile, "measured.json");
    return 0;
}

void seep_trial_fini(struct seep_outcome *outcome)
{
    json_decref(outcome->report);
    json_decref(outcome->measured);
    outcome->report = outcome->measured = NULL;
}

struct making {
    const struct seep_scenario *scenario;
    const char *folder;
    double scale;
    uint64_t seed;
};

static int make_data(void *arg, struct seep_error *err)
{
    const struct making *m = arg;

    return m->scenario->make_data(m->folder, m->scale, m->seed, err);
}

int seep_trial_data(const struct seep_scenario *scenario, const char *given, const char *room,
                    double scale, uint64_t seed, const char **data, struct seep_error *err)
{
    struct making m = {.scenario = scenario, .folder = room, .scale = scale, .seed = seed};

    *data = given ? given : room;
    if (given && access(given, R_OK | X_OK))
        return seep_error_set(err, SEEP_EIO, given, 0, "not a readable folder");
    if (given)
        return 0;
    int rc = seep_lab_make_folder(room, err);
    if (rc || !scenario->make_data)
        return rc;
    seep_lab_progress("%s: making the input …", scenario->name);
    rc = seep_lab_in_child(make_data, &m, err);
    seep_lab_progress(NULL);
    return rc;
}

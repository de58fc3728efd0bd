/* `seep-lab run`: one variant under seep, and whether it shows what it should. */
#include "kernels/lab/judges.h"
#include "kernels/lab/lab.h"
#include "kernels/lab/trial.h"

#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_finding(const json_t *finding, const char *cwd)
{
    char live[SEEP_SIZE_TEXT], growth[SEEP_SIZE_TEXT];
    char *frame = seep_get_frame_text(json_object_get(finding, "frame"), cwd);
    struct seep_slope slope;

    printf("  %-10s %-20s %-9s %s  %s", seep_get_text(finding, "severity", ""),
           seep_get_text(finding, "pattern", ""), seep_get_text(finding, "space", ""),
           frame ? frame : "", seep_text_size(seep_get_number(finding, "live_bytes"), live));
    if (seep_get_slope(finding, "growth_bytes_per_step", &slope) && slope.value > 0)
        printf(", +%s a step", seep_text_size(slope.value, growth));
    putchar('\n');
    free(frame);
}

static void print_outcome(const struct seep_outcome *o, const struct seep_rows *rows,
                          const char *profile)
{
    const json_t *findings = json_object_get(o->report, "findings"), *item;
    const char *cwd = seep_get_text(json_object_get(o->report, "job"), "cwd", ""), *key;
    json_t *measured;
    size_t i;

    printf("%s %s: %zu finding%s (%s)\n", rows->scenario, o->variant->name,
           json_array_size(findings), json_array_size(findings) == 1 ? "" : "s", profile);
    json_array_foreach (findings, i, item)
        print_finding(item, cwd);
    json_object_foreach (o->measured, key, measured) {
        if (json_is_number(measured))
            printf("  %-32s %.6g\n", key, json_number_value(measured));
    }
    json_array_foreach (rows->rows, i, item)
        printf("%s  %s: %s (expected: %s)\n",
               json_is_true(json_object_get(item, "pass")) ? "PASS" : "FAIL",
               seep_get_text(item, "name", ""), seep_get_text(item, "measured", ""),
               seep_get_text(item, "expected", ""));
}

static void print_json(const struct seep_outcome *o, const struct seep_rows *rows)
{
    json_t *document =
        json_pack("{s:s, s:s, s:O?, s:O?, s:O}", "scenario", rows->scenario, "variant",
                  o->variant->name, "findings", json_object_get(o->report, "findings"), "measured",
                  o->measured, "rows", rows->rows);

    json_dumpf(document, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(document);
}

static int judge_and_print(const struct seep_trial *t, const struct seep_outcome *outcome,
                           bool json)
{
    struct seep_rows rows = {.scenario = t->scenario->name, .rows = json_array()};
    int status =
        seep_trial_judge(outcome, t->scale, &rows) ? SEEP_LAB_EXPECTED : SEEP_LAB_UNEXPECTED;

    if (json)
        print_json(outcome, &rows);
    else
        print_outcome(outcome, &rows, t->profile);
    if (rows.lost || fflush(stdout) || ferror(stdout))
        status = SEEP_LAB_UNUSABLE;
    json_decref(rows.rows);
    return status;
}

/* Runs in a temporary folder, which is removed before anything is printed: the reader of the output
 * may be gone. */
static int run_trial(struct seep_trial *t, const struct seep_lab_arguments *a,
                     struct seep_outcome *outcome, struct seep_error *err)
{
    char room[PATH_MAX / 2], data[PATH_MAX];
    int rc = a->pictures ? seep_lab_make_folder(a->pictures, err) : 0;

    if (!rc)
        rc = seep_lab_make_temporary(room, sizeof room, err);
    if (rc)
        return rc;
    snprintf(data, sizeof data, "%s/data", room);
    rc = seep_trial_data(t->scenario, a->data, data, a->scale, a->seed, &t->data, err);
    if (!rc && !seep_lab_interrupted()) {
        seep_lab_progress("%s %s …", t->scenario->name, t->variant->name);
        int job_status = 0;
        rc = seep_trial_spawn(t, &job_status, err);
        seep_lab_progress(NULL);
        if (!rc)
            rc = seep_trial_read(t, job_status, outcome, err);
    }
    seep_lab_remove(room);
    return rc;
}

int seep_lab_run_main(int argc, char **argv)
{
    struct seep_lab_arguments a;
    struct seep_error err = {0};
    struct seep_trial t = {0};
    struct seep_outcome outcome = {0};
    char profile[PATH_MAX];
    int status = seep_lab_read_arguments(argc, argv, "vdsDSecopiafj", &a);

    if (status >= 0)
        return status;
    if (!seep_lab_take_variant(argv[0], &a, &t.scenario, &t.variant))
        return SEEP_LAB_UNUSABLE;
    seep_lab_hold_signals();
    if (!seep_lab_has_device(a.device))
        return SEEP_LAB_UNUSABLE;
    snprintf(profile, sizeof profile, "seep.%s-%s.%d.d", t.scenario->name, t.variant->name,
             (int)getpid());
    t.profile = a.out ? a.out : profile;
    t.pictures = a.pictures;
    t.images = a.images;
    t.save = a.save;
    t.device = a.device;
    t.scale = a.scale;
    t.seed = a.seed;
    t.epochs = a.epochs;
    t.capacity = a.capacity;
    int rc = run_trial(&t, &a, &outcome, &err);
    if (!rc && !seep_lab_interrupted())
        status = judge_and_print(&t, &outcome, a.json);
    else
        status = SEEP_LAB_UNUSABLE;
    /* A job that cannot be run reports why itself. */
    bool said = WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == SEEP_LAB_UNUSABLE;
    if (rc && !said && !seep_lab_interrupted())
        seep_lab_complain_error(rc, &err, "see `seep-lab --help`");
    seep_trial_fini(&outcome);
    return status;
}

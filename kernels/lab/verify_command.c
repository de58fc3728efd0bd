/* `seep-lab verify`: the table of what was expected of scenarios and what came out. */
#include "kernels/lab/table.h"
#include "kernels/lab/verification.h"

#include "kernels/compute/stopwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Keeps an old file unchanged until there is something to write. */
static FILE *open_output(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

    if (!out && fd >= 0)
        close(fd);
    return out;
}

static int print_rows(const struct seep_verification *v, FILE *out, bool complete, double seconds)
{
    const json_t *rows = v->rows.rows;

    if (v->a->out && ftruncate(fileno(out), 0) && errno != EINVAL) /* it may be a pipe */
        return -SEEP_EIO;
    if (v->a->json) {
        json_t *document = json_pack("{s:s, s:i, s:s, s:f, s:f, s:b, s:i, s:i, s:O, s:O}", "format",
                                     "seep-lab-verify", "version", 1, "seep", SEEP_VERSION, "scale",
                                     v->a->scale, "seconds", seconds, "complete", complete,
                                     "rows_total", (int)json_array_size(rows), "rows_failed",
                                     (int)v->rows.n_failed, "rows", rows, "measured", v->measured);
        json_dumpf(document, out, JSON_INDENT(1));
        putc('\n', out);
        json_decref(document);
    } else {
        seep_table_print_verdicts(rows, seconds, out);
        if (!complete)
            fputs("the run ended early: missing rows were not tried\n", out);
    }
    if (!fflush(out) && !ferror(out))
        return 0;
    seep_lab_complain("cannot write the table: check the free space there");
    return -SEEP_EIO;
}

/* What is said of a scenario must be meant for it. */
static bool fits(const struct seep_lab_arguments *a, const char *word)
{
    const struct seep_scenario *scenario = seep_lab_find_scenario(word);

    if (!scenario)
        seep_lab_complain("unknown scenario %s: `seep-lab list` shows them all", word);
    return scenario && seep_lab_takes_device(scenario, a) && seep_lab_takes_data(scenario, a);
}

static bool words_are_scenarios(const struct seep_lab_arguments *a)
{
    if (a->data && a->n_words != 1) {
        seep_lab_complain("--data is the input of one scenario: name that scenario");
        return false;
    }
    for (int i = 0; i < a->n_words; i++) {
        if (!fits(a, a->words[i]))
            return false;
    }
    for (const struct seep_scenario *const *s = seep_scenarios; *s; s++) {
        if (seep_lab_is_chosen(a, (*s)->name) && !seep_lab_takes_capacity(*s, a))
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
static int prepare_folder(struct seep_verification *v, struct seep_error *err)
{
    const char *keep = v->a->keep;
    char path[PATH_MAX];
    int rc = 0;

    if (!keep)
        return seep_lab_make_temporary(v->folder, sizeof v->folder, err);
    if ((size_t)snprintf(v->folder, sizeof v->folder, "%s", keep) >= sizeof v->folder)
        return seep_error_set(err, SEEP_EIO, keep, 0, "the path is too long");
    for (const struct seep_scenario *const *s = seep_scenarios; *s && !rc; s++) {
        const int n = snprintf(path, sizeof path, "%s/%s/", keep, (*s)->name);
        if (n < 0 || (size_t)n >= sizeof path)
            rc = seep_error_set(err, SEEP_EIO, keep, 0, "the path is too long");
        if (!rc && seep_lab_is_chosen(v->a, (*s)->name) && !seep_lab_is_empty(path))
            rc = seep_error_set(err, SEEP_EIO, path, 0, "not an empty folder");
    }
    return rc ? rc : seep_lab_make_folder(keep, err);
}

static int verify_all(struct seep_verification *v, struct seep_error *err)
{
    int rc = prepare_folder(v, err);

    if (!rc)
        rc = seep_verification_run(v, err);
    if (!v->a->keep)
        seep_lab_remove(v->folder);
    return rc;
}

int seep_lab_verify_main(int argc, char **argv)
{
    struct seep_lab_arguments a;
    struct seep_verification v = {.a = &a};
    struct seep_error err = {0};
    int status = seep_lab_read_arguments(argc, argv, "dsDSecfjokJ", &a);
    const double begin = seep_clock_s(CLOCK_MONOTONIC);

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
        seep_lab_complain_error(rc, &err, seep_lab_advice(rc));
    if (!rc || json_array_size(v.rows.rows))
        rc = print_rows(&v, out, rc == 0, seep_clock_s(CLOCK_MONOTONIC) - begin) ? -SEEP_EIO : rc;
    json_decref(v.rows.rows);
    json_decref(v.measured);
    if (a.out && fclose(out) && !rc) {
        seep_lab_complain("cannot write %s: check the free space there", a.out);
        rc = -SEEP_EIO;
    }
    return rc ? SEEP_LAB_UNUSABLE : v.rows.n_failed ? SEEP_LAB_UNEXPECTED : SEEP_LAB_EXPECTED;
}

/* The seep-lab program: its subcommands and what they share. */
#ifndef SEEP_KERNELS_LAB_H
#define SEEP_KERNELS_LAB_H

#include "kernels/lab/scenario.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    SEEP_LAB_EXPECTED = 0,   /* the expected was shown */
    SEEP_LAB_UNEXPECTED = 1, /* it was not; for `job`: the variant failed */
    SEEP_LAB_UNUSABLE = 2,   /* could not be done: usage, no seep, no device, no room */
};

/* One line on stderr, "seep-lab: what went wrong: what to do". */
void seep_lab_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same of a failed call: its file and text, or the name of the code. */
void seep_lab_complain_error(int rc, const struct seep_error *err, const char *what_to_do);

/* NULL where there is none of that name. */
const struct seep_scenario *seep_lab_find_scenario(const char *name);
const struct seep_variant *seep_lab_find_variant(const struct seep_scenario *scenario,
                                                 const char *name);

/* The command line, whatever the subcommand. */
struct seep_lab_arguments {
    double scale;
    uint64_t seed;
    unsigned epochs;
    uint64_t capacity; /* 0: not given */
    unsigned jobs;     /* that run at once; 0: as many as there are CPUs, where that is safe */
    enum seep_device device;
    const char *variant, *data, *images, *out, *pictures, *save, *measured, *keep;
    bool json;
    char **words; /* what is no option */
    int n_words;
};

/* Reads what follows the name of the subcommand, argv[0]. `allowed`: the options it takes, by their
 * letter in arguments.c. Returns −1 to go on, or the exit status after help or a complaint.
 * Allocates nothing: texts are argv's. */
int seep_lab_read_arguments(int argc, char **argv, const char *allowed,
                            struct seep_lab_arguments *a);

/* SCENARIO --variant V, as `run` and `job` take them, and what that scenario can do. False after a
 * complaint. */
bool seep_lab_take_variant(const char *command, const struct seep_lab_arguments *a,
                           const struct seep_scenario **scenario,
                           const struct seep_variant **variant);

/* Whether --device, --data and --capacity have a meaning for it; false after a complaint. */
bool seep_lab_takes_device(const struct seep_scenario *scenario,
                           const struct seep_lab_arguments *a);
bool seep_lab_takes_data(const struct seep_scenario *scenario, const struct seep_lab_arguments *a);
bool seep_lab_takes_capacity(const struct seep_scenario *scenario,
                             const struct seep_lab_arguments *a);

/* Whether the command line names it, or nothing at all. */
bool seep_lab_is_chosen(const struct seep_lab_arguments *a, const char *name);

/* The page of the manual, on stdout. Returns an exit status. */
int seep_lab_help(void);

/* argv[0] is the name of the subcommand; the exit status is returned. */
int seep_lab_list_main(int argc, char **argv);
int seep_lab_run_main(int argc, char **argv);
int seep_lab_job_main(int argc, char **argv);
int seep_lab_verify_main(int argc, char **argv);
int seep_lab_data_main(int argc, char **argv);
int seep_lab_bench_main(int argc, char **argv);

/* False after a complaint where the device cannot be had. Asks in a child; signals must be held. */
bool seep_lab_has_device(enum seep_device device);

/* ---- children and signals -------------------------------------------------------------------- */

/* From here on a SIGHUP, SIGINT, SIGQUIT or SIGTERM that is not ignored does not end this process:
 * it is passed on to the running child, and the caller cleans up. */
void seep_lab_hold_signals(void);

/* Whether one has come. A caller that runs several children checks this between them, and stops. */
bool seep_lab_interrupted(void);

/* Ends this process by the signal that came, if one did. */
void seep_lab_release_signals(void);

/* Runs argv[0] and waits; stdout goes to /dev/null, stderr to the file `log` unless NULL. Its
 * wait status in *status. 0, -SEEP_EIO. Signals must be held. */
SEEP_MUST_CHECK int seep_lab_spawn(char *const *argv, const char *log, int *status,
                                   struct seep_error *err);

/* Calls `work` in a fork, so that its memory is not this process's and signals can end it. Returns
 * what it returned, and its *err; -SEEP_EIO, -SEEP_ENOMEM. Signals must be held. */
typedef int seep_lab_work(void *arg, struct seep_error *err);
SEEP_MUST_CHECK int seep_lab_in_child(seep_lab_work *work, void *arg, struct seep_error *err);

/* The same without waiting. `spawns`: the work calls seep_lab_spawn(), so that signals are its to
 * pass on. NULL without memory or process, with *err. */
struct seep_lab_child;
struct seep_lab_child *seep_lab_child_begin(seep_lab_work *work, void *arg, bool spawns,
                                            struct seep_error *err);

/* Whether it has ended; then *rc and *err are as above, and it is gone. */
bool seep_lab_child_ended(struct seep_lab_child *child, int *rc, struct seep_error *err);
void seep_lab_child_signal(const struct seep_lab_child *child, int number);

/* Waits for a child to end or for a signal, at most so long. Returns the signal to pass on, or 0.
 */
int seep_lab_wait_signal(double seconds);

/* ---- folders and programs ------------------------------------------------------------------ */

/* Makes a temporary folder below TMPDIR; removes one with its contents (a missing one is no error).
 * 0 or -SEEP_EIO. */
SEEP_MUST_CHECK int seep_lab_make_temporary(char *path, size_t capacity, struct seep_error *err);
void seep_lab_remove(const char *folder);

/* mkdir -p. 0, -SEEP_EIO. */
SEEP_MUST_CHECK int seep_lab_make_folder(const char *path, struct seep_error *err);

/* True also for a folder that does not exist. */
bool seep_lab_is_empty(const char *folder);

/* This executable; `seep` beside it, else in PATH. 0 or -SEEP_ENODATA. */
SEEP_MUST_CHECK int seep_lab_find_self(char path[PATH_MAX], struct seep_error *err);
SEEP_MUST_CHECK int seep_lab_find_seep(char path[PATH_MAX], struct seep_error *err);

/* Writes a line on stderr where that is a terminal, cut to its width, over the one before; NULL
 * clears it. Children write none. */
void seep_lab_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void seep_lab_progress_off(void);

/* Columns of the terminal behind a stream; 0: it is none. */
int seep_lab_columns(FILE *stream);

/* What to do about an error of a job or its input, by its code. */
const char *seep_lab_advice(int rc);

#endif

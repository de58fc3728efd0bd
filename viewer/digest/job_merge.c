#include "viewer/digest/job_merge.h"

#include "libprof/base/clock.h"
#include "libprof/read/loaded_modules.h"
#include "viewer/program.h"
#include "viewer/viewer.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SAID_AFTER_S = 60,       /* that it waits */
    WITHIN_IF_FAILED_S = 60, /* of the job */
    ENDS_WITHIN_MS = 5000,   /* seep-mpi, when it is told to */
    MAX_WORDS = 16,          /* of its command */
    MAX_DIGESTS = 1000,      /* in one folder */
};

/* Reading one folder may take as long as the report of it. */
#define PATIENCE_S "300"

extern char **environ;

/* MPI, and what process managers offer to it. A second process that is the same rank ends the
 * launch with Open MPI, and its launcher with MPICH. */
static const char *const mpi_libraries[] = {"libmpi",  "libmpich", "libmpi_cray", "libpmi",
                                            "libpmi2", "libpmix",  NULL};

/* ---- before ------------------------------------------------------------------------------ */

/* The rank that MPI_Init() will find; −1: the launcher offers nothing to MPI. */
static int rank_of_launcher(void)
{
    static const char *const names[] = {"PMIX_RANK", "PMI_RANK"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        char *end;
        const long rank = text ? strtol(text, &end, 10) : -1;
        if (rank >= 0 && rank <= INT_MAX && end != text && !*end)
            return (int)rank;
    }
    return -1;
}

static char **copy_environment(void)
{
    size_t n = 0;

    while (environ[n])
        n++;
    char **copy = calloc(n + 1, sizeof *copy);
    if (copy)
        memcpy(copy, environ, n * sizeof *copy);
    return copy;
}

/* Beside seep, else where PATH says. */
static bool find_program(char program[PATH_MAX])
{
    static struct seep_program found;
    const ssize_t n = readlink("/proc/self/exe", program, PATH_MAX - 16);
    char *slash;

    program[n > 0 ? n : 0] = '\0';
    if ((slash = strrchr(program, '/'))) {
        strcpy(slash + 1, "seep-mpi");
        if (access(program, X_OK) == 0)
            return true;
    }
    seep_program_find("seep-mpi", &found);
    memcpy(program, found.path, sizeof found.path);
    return found.state == SEEP_PROGRAM_OK;
}

bool seep_job_merge_prepare(struct seep_job_merge *m, const struct seep_run_options *options)
{
    m->options = options;
    m->rank = rank_of_launcher();
    if (m->rank < 0)
        seep_complain(
            "--merge has no effect: the launcher offers no MPI (neither PMIX_RANK nor "
            "PMI_RANK is set): start with mpirun or `srun --mpi=pmix`, or use `seep merge`");
    else if (!find_program(m->program))
        seep_complain(
            "--merge has no effect: seep-mpi is neither beside seep nor in PATH: build it "
            "where mpicc is, or use `seep merge` when the job has ended");
    else if (!(m->environment = copy_environment()))
        seep_complain("--merge has no effect: not enough memory: use `seep merge` when the job has "
                      "ended");
    else
        return true;
    return false;
}

/* ---- after ------------------------------------------------------------------------------- */

/* The folder that all of them were given: that above this one's. */
static void name_above(const struct seep_job_folder *folder, char *above, size_t capacity)
{
    char *slash;

    snprintf(above, capacity, "%s", folder->path[0] ? folder->path : ".");
    if (folder->within && (slash = strrchr(above, '/')) && slash != above)
        *slash = '\0';
}

/* The digest of an earlier job stays. */
static void name_digest(const char *above, char *digest, size_t capacity)
{
    snprintf(digest, capacity, "%s/job.digest", above);
    for (int i = 2; access(digest, F_OK) == 0 && i <= MAX_DIGESTS; i++)
        snprintf(digest, capacity, "%s/job.%d.digest", above, i);
}

bool seep_job_merge_may(const struct seep_job_merge *m, const struct seep_job_folder *folder)
{
    char above[SEEP_PATH_BYTES];

    if (!folder->path[0] || !seep_loaded_any(folder->path, mpi_libraries))
        return true;
    name_above(folder, above, sizeof above);
    if (m->rank == 0)
        seep_complain(
            "nothing is merged, for the job uses MPI itself, and no second process can be "
            "the same rank: use `seep merge %s -o job.digest`, or seep-mpi as a step of "
            "its own",
            above);
    return false;
}

/* Fills argv with the command. */
static void name_command(const struct seep_job_merge *m, const char *folder, const char *digest,
                         const char *argv[MAX_WORDS])
{
    int n = 0;

    argv[n++] = m->program;
    argv[n++] = "merge";
    argv[n++] = "--own";
    argv[n++] = "--patience";
    argv[n++] = PATIENCE_S;
    argv[n++] = "-o";
    argv[n++] = digest;
    if (!m->options->quiet && !m->options->no_report)
        argv[n++] = "--summary";
    if (m->options->roles) {
        argv[n++] = "--roles";
        argv[n++] = m->options->roles;
    }
    argv[n++] = "--";
    if (*folder)
        argv[n++] = folder;
    argv[n] = NULL;
}

/* Returns 0 or an errno. */
static int start(const struct seep_job_merge *m, const char *const *argv, pid_t *pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t none, plain;

    sigemptyset(&none);
    sigemptyset(&plain);
    sigaddset(&plain, SIGPIPE);
    sigaddset(&plain, SIGXFSZ);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &plain);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions);
    /* What the job printed stays all that its output has. */
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    const int error =
        posix_spawn(pid, m->program, &actions, &attributes, (char *const *)argv, m->environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static bool ends_programs(int signal)
{
    return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
}

/* Returns whether it has ended. */
static bool has_ended(pid_t pid, int *status)
{
    const pid_t ended = waitpid(pid, status, WNOHANG);

    return ended == pid || (ended < 0 && errno != EINTR);
}

static void end(pid_t pid, int *status)
{
    kill(pid, SIGTERM);
    for (int ms = 0; ms < ENDS_WITHIN_MS; ms += 10) {
        if (has_ended(pid, status))
            return;
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
}

/* Launchers end the jobs of all ranks when one leaves MPI_Init() without the others; srun does so
 * with PMIx, not with PMI 2. Open MPI's does so at once when a job has failed, too, so there the
 * others are not kept for long. */
static double seconds_to_wait(const struct seep_job_merge *m, bool job_failed)
{
    if (m->options->merge_within_s > 0)
        return m->options->merge_within_s;
    return job_failed && getenv("OMPI_COMM_WORLD_SIZE") ? WITHIN_IF_FAILED_S : HUGE_VAL;
}

/* Returns NULL with the wait status, or why it was given up. */
static const char *wait_for(const struct seep_job_merge *m, pid_t pid, const sigset_t *waited,
                            double within_s, int *status)
{
    const uint64_t begin_ns = seep_clock_ns(CLOCK_MONOTONIC);
    bool said = m->rank != 0;

    while (!has_ended(pid, status)) {
        const double s = (double)(seep_clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e9;
        if (s >= within_s) {
            end(pid, status);
            return "others have not ended in time";
        }
        if (s >= SAID_AFTER_S && !said) {
            seep_complain(
                "rank 0 waits until the jobs of the other ranks have ended, to merge what "
                "they recorded");
            said = true;
        }
        if (ends_programs(sigtimedwait(waited, NULL, &(struct timespec){.tv_sec = 1}))) {
            end(pid, status);
            return "a signal came";
        }
    }
    return NULL;
}

/* Rank 0 exits with 1 where others fell silent, which it has said. So do MPI libraries where they
 * cannot begin. */
static bool has_merged(const struct seep_job_merge *m, const char *digest, int status)
{
    if (!WIFEXITED(status))
        return false;
    return WEXITSTATUS(status) == 0 ||
           (WEXITSTATUS(status) == 1 && m->rank == 0 && access(digest, F_OK) == 0);
}

void seep_job_merge(const struct seep_job_merge *m, const struct seep_job_folder *folder,
                    const sigset_t *waited, bool job_failed)
{
    char above[SEEP_PATH_BYTES], digest[SEEP_PATH_BYTES + 32];
    const char *argv[MAX_WORDS], *why = NULL;
    int status = 0;
    pid_t pid;

    name_above(folder, above, sizeof above);
    name_digest(above, digest, sizeof digest);
    name_command(m, folder->path, digest, argv);
    const int error = start(m, argv, &pid);
    if (error)
        why = strerror(error);
    else
        why = wait_for(m, pid, waited, seconds_to_wait(m, job_failed), &status);
    if (!why && !has_merged(m, digest, status))
        why = "seep-mpi failed";
    if (why)
        seep_complain(
            "rank %d did not take part in merging (%s): use `seep merge %s -o job.digest` "
            "when all have ended",
            m->rank, why, above);
}

#include "libprof/analysis.h"
#include "libprof/format/profile_format.h"
#include "libprof/format/wake_format.h"
#include "libprof/runtime/program/cluster.h"
#include "libprof/runtime/program/memory_room.h"
#include "viewer/digest/job_merge.h"
#include "viewer/job_folder.h"
#include "viewer/launch.h"
#include "viewer/output.h"
#include "viewer/program.h"
#include "viewer/run_options.h"
#include "viewer/top/top_beside.h"
#include "viewer/viewer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <seep_variables.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LABEL_BYTES = 64,
    NAME_BYTES = LABEL_BYTES + 2 * SEEP_JOB_ID_BYTES + 16,
    ANALYSIS_SECONDS = 300, /* then the analysis is given up; it usually takes less than one
                             * second */
};

static bool set_number(const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, value);
    return setenv(name, text, 1) == 0;
}

/* Sets a list "first:second"; without the colon where either is empty. */
static bool set_list(const char *name, const char *first, const char *second)
{
    size_t capacity = strlen(first) + strlen(second) + 2;
    char *both = malloc(capacity);

    if (!both)
        return false;
    snprintf(both, capacity, "%s%s%s", first, *first && *second ? ":" : "", second);
    bool good = setenv(name, both, 1) == 0;
    free(both);
    return good;
}

/* Puts the shim first in LD_PRELOAD, before what was there. */
static bool set_preload(const char *shim)
{
    const char *old = getenv("LD_PRELOAD");
    size_t n = strlen(shim);

    if (old && strncmp(old, shim, n) == 0 && (!old[n] || strchr(" :", old[n])))
        return true;
    return set_list("LD_PRELOAD", shim, old ? old : "");
}

/* Puts the folder of the Python module last in PYTHONPATH, so that `import seep` works. */
static bool set_python_path(const char *shim)
{
    char folder[SEEP_PATH_BYTES + 16];
    const char *old = getenv("PYTHONPATH"), *slash = strrchr(shim, '/');

    snprintf(folder, sizeof folder, "%.*s/python", (int)(slash ? slash - shim : 0), shim);
    if (strchr(folder, ':') || access(folder, R_OK | X_OK) < 0 || (old && strstr(old, folder)))
        return true;
    return set_list("PYTHONPATH", old ? old : "", folder);
}

/* NVTX and CUDA load the one tool that the variable names. A job that already sets it keeps its
 * own. */
static bool set_tool(const char *variable, const char *shim, const char *option)
{
    const char *theirs = getenv(variable);

    if (!theirs || !*theirs)
        return setenv(variable, shim, 1) == 0;
    if (strcmp(theirs, shim) != 0)
        seep_complain("%s is set to %s, so %s has no effect: unset it", variable, theirs, option);
    return true;
}

static bool set_tools(const struct seep_run_options *o, const char *shim)
{
    bool good = o->step_nvtx ? setenv(SEEP_VARIABLE_STEP_NVTX, o->step_nvtx, 1) == 0 &&
                                   set_tool("NVTX_INJECTION64_PATH", shim, "--step-nvtx")
                             : unsetenv(SEEP_VARIABLE_STEP_NVTX) == 0;

    return good &&
           (strcmp(o->gpu, "cupti") != 0 || set_tool("CUDA_INJECTION64_PATH", shim, "--gpu=cupti"));
}

static bool set_environment(const struct seep_run_options *o, const char *shim, const char *folder)
{
    bool good = setenv(SEEP_VARIABLE_OUT, folder, 1) == 0 && set_python_path(shim) &&
                unsetenv(SEEP_VARIABLE_WAIT) == 0;

    if (o->sample_bytes)
        good &= set_number(SEEP_VARIABLE_SAMPLE, o->sample_bytes);
    else
        good &= unsetenv(SEEP_VARIABLE_SAMPLE) == 0;
    if (o->overhead)
        good &= setenv(SEEP_VARIABLE_OVERHEAD, o->overhead, 1) == 0;
    else
        good &= unsetenv(SEEP_VARIABLE_OVERHEAD) == 0;
    if (o->max_profile_bytes)
        good &= set_number(SEEP_VARIABLE_MAX_PROFILE, o->max_profile_bytes);
    good &= set_number(SEEP_VARIABLE_MAX_FOLDER, o->max_folder_bytes);
    if (o->full_helpers)
        good &= setenv(SEEP_VARIABLE_HELPERS, "full", 1) == 0;
    else
        good &= unsetenv(SEEP_VARIABLE_HELPERS) == 0;
    good &= setenv(SEEP_VARIABLE_HOLDERS, o->holders, 1) == 0 &&
            setenv(SEEP_VARIABLE_GPU, o->gpu, 1) == 0;
    if (o->python_allocators)
        good &= setenv(SEEP_VARIABLE_PYTHON_ALLOCATORS, "1", 1) == 0 &&
                setenv("PYTHONMALLOC", "malloc", 0) == 0;
    good = good && set_tools(o, shim) && set_preload(shim); /* last: without it nothing is loaded */
    if (!good)
        seep_complain("not enough memory for the job's environment; the job runs without seep: end "
                      "other programs, or raise the limit");
    return good;
}

enum part { SAVED = 1, PRINTED = 2 };

/* The report of a folder or digest. Runs in a process of its own, which ends then: the report is
 * not taken apart. Returns its exit status. */
static int analyse(const struct seep_run_options *o, const char *name, int parts)
{
    struct seep_analysis_options options = {.roles_file = o->roles};
    struct seep_error err = {0};
    json_t *report = NULL;
    char path[SEEP_PATH_BYTES];

    if (seep_analyse(&name, 1, &options, &report, &err) < 0) {
        seep_complain("%s gave no report (%s): try `seep report %s`", name, err.text, name);
        return 1;
    }
    snprintf(path, sizeof path, "%s/report.json", name);
    if ((parts & SAVED) && seep_output_replace(report, seep_output_json, path, 0600, &err) < 0)
        seep_complain("%s %s: the profile is complete; free some disk space and run `seep report`",
                      path, err.text);
    if (parts & PRINTED)
        seep_output_summary(report, name);
    return 0;
}

/* Runs in a process of its own, so that no failure of the analysis changes the job's exit
 * status. */
static void report_job(const struct seep_run_options *o, const char *name, int parts)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        sigset_t none;
        (void)seep_memory_volunteer(); /* what the job has left behind may need the memory */
        sigemptyset(&none);
        signal(SIGALRM, SIG_DFL); /* seep may have been started with SIGALRM ignored */
        alarm(ANALYSIS_SECONDS);
        sigprocmask(SIG_SETMASK, &none, NULL);
        _exit(analyse(o, name, parts));
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid < 0)
        seep_complain("the report could not be started (%s): try `seep report %s`", strerror(errno),
                      name);
    else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGINT)
        seep_complain("signal %d ended the analysis: try `seep report %s`", WTERMSIG(status), name);
}

static int start(struct seep_launch *launch, const struct seep_program *program,
                 char *const *command)
{
    int r = seep_launch_start(launch, program->path, command);

    if (r == 0)
        return 0;
    if (r == -ENOENT || r == -EACCES || r == -ENOEXEC || r == -E2BIG || r == -ELOOP ||
        r == -EPERM) {
        seep_complain("%s cannot be run (%s): check the program", program->path, strerror(-r));
        return SEEP_EXIT_CANNOT_RUN;
    }
    seep_complain("the job cannot be started (%s): check this account's limits", strerror(-r));
    return SEEP_EXIT_FAILED;
}

/* A job whose standard streams are closed must find them closed; our own files must not take their
 * place. */
static void guard_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

static int check_program(const struct seep_program *program)
{
    if (program->state == SEEP_PROGRAM_OK)
        return 0;
    seep_complain("%s", program->why);
    if (program->state == SEEP_PROGRAM_NOT_FOUND)
        return SEEP_EXIT_NOT_FOUND;
    return program->state == SEEP_PROGRAM_NOT_EXECUTABLE ? SEEP_EXIT_CANNOT_RUN : SEEP_EXIT_FAILED;
}

static const char *variable(const char *name)
{
    return getenv(name);
}

static void name_part(const struct seep_cluster *cluster, char part[SEEP_CLUSTER_FOLDER_BYTES])
{
    char host[SEEP_NAME_BYTES + 1] = "";

    (void)gethostname(host, sizeof host - 1);
    seep_cluster_folder(host, cluster->part, part);
}

/* Launchers of one launch must all find the same name, so it has the number of the launch there, or
 * that of the process that has started them on this node. */
static void name_folder(char *const *command, const struct seep_cluster *cluster,
                        char name[NAME_BYTES])
{
    char label[LABEL_BYTES];
    struct seep_rank_notes notes = {0};
    const struct seep_cluster step = {.job_id = cluster->step_id};
    struct seep_rank_notes steps = {0};

    seep_program_label(command, label, sizeof label);
    seep_cluster_note(cluster, &notes);
    seep_cluster_note(&step, &steps);
    if (cluster->part < 0)
        snprintf(name, NAME_BYTES, "seep.%s.%d.d", label, (int)getpid());
    else if (!notes.job_id[0] || strchr(notes.job_id, '/') || strchr(steps.job_id, '/'))
        snprintf(name, NAME_BYTES, "seep.%s.%d.d", label, (int)getppid());
    else
        snprintf(name, NAME_BYTES, "seep.%s.%s%s%s.d", label, notes.job_id,
                 steps.job_id[0] ? "." : "", steps.job_id);
}

/* Whether the job's first program died in the start of seep's library: then nothing of the job has
 * run, and it can be run again without seep. The library says so in the job's folder
 * (preload/life/first_start.h). */
enum { PATH_BYTES = SEEP_PATH_BYTES + 32 };

static void name_offered(const struct seep_job_folder *folder, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%s", folder->path, SEEP_STARTING_FILE);
}

/* Makes the file that the library takes. Without it a job is never run twice. */
static void offer_start(const struct seep_job_folder *folder)
{
    char path[PATH_BYTES];

    name_offered(folder, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

/* Removes that file. True: the process `job` has taken it, and did not come to the end of
 * its start. */
static bool was_crash_in_start(const struct seep_job_folder *folder, pid_t job)
{
    char offered[PATH_BYTES], taken[PATH_BYTES];

    if (!folder->path[0])
        return false;
    name_offered(folder, offered);
    snprintf(taken, sizeof taken, "%s/%s-%d", folder->path, SEEP_STARTING_FILE, (int)job);
    unlink(offered);
    return unlink(taken) == 0;
}

/* Everything that is needed to record the job. False: it cannot be recorded, and that was said. */
static bool prepare(const struct seep_run_options *options, struct seep_job_folder *folder,
                    struct seep_copies *holders, struct seep_launch *launch)
{
    static const char *const runs = "the job runs without seep";
    char shim[SEEP_PATH_BYTES], name[NAME_BYTES], part[SEEP_CLUSTER_FOLDER_BYTES];
    struct seep_cluster cluster;
    struct seep_error err = {0};

    if (seep_program_part(SEEP_PART_SHIM, shim, sizeof shim, &err) < 0) {
        seep_complain("%s: %s; %s: install seep again, or run it from its build folder", err.file,
                      err.text, runs);
        return false;
    }
    if (strpbrk(shim, " :")) {
        seep_complain("%s has a space or colon in its path, which LD_PRELOAD does not allow; %s: "
                      "move seep",
                      shim, runs);
        return false;
    }
    seep_cluster_read(variable, &cluster);
    name_part(&cluster, part);
    name_folder(options->command, &cluster, name);
    if (seep_job_folder_make(folder, options->out ? options->out : name,
                             cluster.part >= 0 ? part : NULL, options->command, &err) < 0) {
        seep_complain("%s %s; %s: choose another folder with -o DIR", err.file, err.text, runs);
        return false;
    }
    if (!set_environment(options, shim, folder->path)) {
        seep_job_folder_undo(folder);
        return false;
    }
    folder->job->max_folder_bytes = options->max_folder_bytes;
    seep_job_folder_limit(folder, options->memory_limit_bytes);
    offer_start(folder);
    if (strcmp(options->holders, "off") != 0)
        seep_copies_open(holders, folder, options->roles, options->holder_keys);
    if (strcmp(options->gpu, "auto") == 0)
        launch->devices.folder = folder;
    holders->hurries = strcmp(options->holders, "auto") != 0;
    holders->tells = !options->quiet && isatty(STDERR_FILENO);
    return true;
}

static uint32_t steps_made(const struct seep_job *job)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < job->n_processes && i < SEEP_MAX_PROCESSES; i++) {
        const struct seep_process *p = &job->processes[i];
        const uint32_t n = p->steps ? p->steps : p->period; /* without steps, slices of time */
        most = n > most ? n : most;
    }
    return most;
}

/* Steps of --holders after which nobody looked, for there were none. */
static void say_unreached(const struct seep_run_options *options, const struct seep_job *job)
{
    const uint32_t made = steps_made(job);
    uint32_t first = 0, n = 0;

    for (const char *at = options->holders + strspn(options->holders, ",");
         *at >= '0' && *at <= '9';) {
        char *end;
        const unsigned long step = strtoul(at, &end, 10);
        at = end + strspn(end, ",");
        if (step <= made)
            continue;
        first = !n || step < first ? (uint32_t)step : first;
        n++;
    }
    if (n == 1)
        seep_complain("step %" PRIu32 " of --holders was not reached: the job made %" PRIu32
                      " steps",
                      first, made);
    else if (n)
        seep_complain("%" PRIu32 " steps of --holders were not reached, the first of them %" PRIu32
                      ": the job made %" PRIu32 " steps",
                      n, first, made);
}

/* What a program does to itself; other signals are somebody's wish. */
static bool is_crash(int status)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
    bool is_one = false;

    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        is_one |= WIFSIGNALED(status) && WTERMSIG(status) == crashes[i];
    return is_one;
}

/* The environment's lines are never changed, only replaced: a copy of the list keeps them. NULL:
 * there is no memory. */
static char **copy_environment(void)
{
    size_t n = 0;

    while (environ[n])
        n++;
    char **copy = malloc((n + 1) * sizeof *copy);
    if (copy)
        memcpy(copy, environ, (n + 1) * sizeof *copy);
    return copy;
}

/* Waits for the job. If its first program crashed in the start of the library, before anything of
 * the job had run, the job is run again as if there were no seep. Sets *recorded. */
static int stay_with(struct seep_launch *launch, struct seep_job_folder *folder,
                     const struct seep_program *program, char *const *command, char **plain,
                     bool *recorded)
{
    struct seep_copies none = {0};
    int status = seep_launch_wait(launch, folder);

    if (!was_crash_in_start(folder, launch->pid) || !is_crash(status) || !plain)
        return status;
    seep_complain("%s crashed in the start of seep's library (signal %d), before anything of the "
                  "job had run; the job now runs without seep: try `seep doctor`",
                  program->path, WTERMSIG(status));
    seep_job_folder_undo(folder);
    *launch = (struct seep_launch){.holders = &none};
    *recorded = false;
    environ = plain;
    if (seep_job_folder_none(folder) < 0)
        return status;
    const int failed = start(launch, program, command);
    return failed ? W_EXITCODE(failed, 0) : seep_launch_wait(launch, folder);
}

/* A job may have run for days since it was said that something is not as it was asked for. */
static void say_again(const struct seep_run_options *options, const struct seep_job_folder *folder,
                      bool recorded)
{
    if (recorded && !options->quiet)
        say_unreached(options, folder->job);
    if (!recorded)
        seep_complain("nothing was recorded of this job: seep said why before it began");
    else if (folder->beside && options->out)
        seep_complain("%s already held a profile: that of this job is in %s", folder->asked,
                      folder->path);
}

/* What seep makes of the record when the job has ended. `merge`: with those of the other ranks,
 * which wait for this one even where it has recorded nothing; NULL: alone. */
static void conclude(const struct seep_run_options *o, struct seep_job_merge *merge,
                     const struct seep_job_folder *folder, const sigset_t *waited, int job_status)
{
    const int printed = o->quiet || o->no_report ? 0 : PRINTED;
    const bool merges = merge && seep_job_merge_may(merge, folder);

    if (folder->path[0] && !o->no_report)
        report_job(o, folder->path, SAVED | (merges ? 0 : printed));
    if (merges)
        seep_job_merge(merge, folder, waited, job_status != 0);
}

int seep_run_main(int argc, char **argv)
{
    static struct seep_program program;
    static struct seep_job_merge merge;
    struct seep_run_options options = {0};
    struct seep_job_folder folder;
    struct seep_copies holders = {0};
    struct seep_launch launch = {.holders = &holders};

    guard_streams();
    int status = seep_run_options_read(argc, argv, &options);
    if (status >= 0)
        return status;
    seep_program_find(options.command[0], &program);
    status = check_program(&program);
    if (status)
        return status;
    if (options.top && !seep_top_beside(&status))
        return status;
    const bool merges = options.merge && seep_job_merge_prepare(&merge, &options);
    char **const plain = copy_environment();
    bool recorded = prepare(&options, &folder, &holders, &launch);
    if (!recorded && seep_job_folder_none(&folder) < 0)
        return execvp(program.path, options.command), SEEP_EXIT_CANNOT_RUN;
    status = start(&launch, &program, options.command);
    if (status) {
        (void)was_crash_in_start(&folder, 0);
        seep_job_folder_undo(&folder);
        return status;
    }
    const int job_status = stay_with(&launch, &folder, &program, options.command, plain, &recorded);
    conclude(&options, merges ? &merge : NULL, &folder, &launch.waited, job_status);
    say_again(&options, &folder, recorded);
    return WIFSIGNALED(job_status) ? 128 + WTERMSIG(job_status) : WEXITSTATUS(job_status);
}

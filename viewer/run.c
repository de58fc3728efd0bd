#include "libprof/analysis.h"
#include "libprof/base/size_parse.h"
#include "libprof/base/text.h"
#include "libprof/code/part_rules.h"
#include "libprof/export/report_text.h"
#include "libprof/format/profile_format.h"
#include "viewer/job_folder.h"
#include "viewer/launch.h"
#include "viewer/output.h"
#include "viewer/program.h"
#include "viewer/viewer.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_FOLDER_LEAST  (UINT64_C(4) << 20)
#define MAX_FOLDER_MOST   (UINT64_C(1) << 50)
#define MAX_FOLDER        (UINT64_C(4) << 30)
#define MAX_PROFILE_LEAST (UINT64_C(1) << 20)
#define MAX_PROFILE_MOST  ((uint64_t)SEEP_MAX_CHUNKS * SEEP_CHUNK_BYTES)

enum {
    LABEL_BYTES = 64,
    MAX_STEPS_TEXT = 2048,  /* the library takes no longer list */
    ANALYSIS_SECONDS = 300, /* then it is given up; it takes well below one */
};

struct run_options {
    const char *out;     /* NULL: a name of our own */
    const char *roles;   /* NULL: the shipped ones */
    const char *holders; /* "auto", "off" or steps */
    const char *gpu;     /* "auto", "runtime" or "off" */
    bool holder_keys;    /* texts of dict keys are shown */
    bool quiet;
    bool no_report;
    bool python_allocators;
    uint64_t sample_bytes;      /* 0: every allocation */
    uint64_t max_profile_bytes; /* 0: the shim's default */
    uint64_t max_folder_bytes;
    bool full_helpers; /* record them whole */
    char *const *command;
};

enum {
    OPT_SAMPLE = 256,
    OPT_MAX_PROFILE,
    OPT_MAX_FOLDER,
    OPT_HELPERS,
    OPT_HOLDERS,
    OPT_GPU,
    OPT_PYTHON_ALLOCATORS,
    OPT_HOLDER_KEYS,
    OPT_NO_REPORT,
    OPT_ROLES,
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"sample", required_argument, NULL, OPT_SAMPLE},
    {"max-profile", required_argument, NULL, OPT_MAX_PROFILE},
    {"max-folder", required_argument, NULL, OPT_MAX_FOLDER},
    {"helpers", required_argument, NULL, OPT_HELPERS},
    {"holders", required_argument, NULL, OPT_HOLDERS},
    {"gpu", required_argument, NULL, OPT_GPU},
    {"holder-keys", no_argument, NULL, OPT_HOLDER_KEYS},
    {"python-allocators", no_argument, NULL, OPT_PYTHON_ALLOCATORS},
    {"no-report", no_argument, NULL, OPT_NO_REPORT},
    {"roles", required_argument, NULL, OPT_ROLES},
    {NULL, 0, NULL, 0},
};

static bool take_size(const char *from, const char *text, uint64_t least, uint64_t most,
                      uint64_t *bytes)
{
    char low[SEEP_SIZE_TEXT], high[SEEP_SIZE_TEXT];

    if (seep_size_parse(text, bytes) < 0) {
        seep_complain("%s %s is not a size: write it as 64MiB, 1.5GB or 4096", from, text);
        return false;
    }
    if (*bytes < least || *bytes > most) {
        seep_complain("%s %s is out of bounds: choose between %s and %s", from, text,
                      seep_text_size((double)least, low), seep_text_size((double)most, high));
        return false;
    }
    return true;
}

static bool take_sample(const char *from, const char *text, struct run_options *o)
{
    return take_size(from, text, 0, UINT64_C(1) << 40, &o->sample_bytes);
}

static bool take_max_profile(const char *from, const char *text, struct run_options *o)
{
    return take_size(from, text, MAX_PROFILE_LEAST, MAX_PROFILE_MOST, &o->max_profile_bytes);
}

static bool take_max_folder(const char *from, const char *text, struct run_options *o)
{
    return take_size(from, text, MAX_FOLDER_LEAST, MAX_FOLDER_MOST, &o->max_folder_bytes);
}

static bool take_helpers(const char *from, const char *text, struct run_options *o)
{
    o->full_helpers = strcmp(text, "full") == 0;
    if (o->full_helpers || strcmp(text, "count") == 0)
        return true;
    seep_complain("%s %s is not known: choose count or full", from, text);
    return false;
}

static bool take_holders(const char *from, const char *text, struct run_options *o)
{
    o->holders = text;
    if (strlen(text) >= MAX_STEPS_TEXT) {
        seep_complain("%s has too many steps: name fewer, of most %d characters", from,
                      MAX_STEPS_TEXT - 1);
        return false;
    }
    if (strcmp(text, "auto") == 0 || strcmp(text, "off") == 0 ||
        (strspn(text, "0123456789,") == strlen(text) && strpbrk(text, "123456789")))
        return true;
    seep_complain("%s %s is not known: choose auto, off, or steps as in 10,100,1000", from, text);
    return false;
}

static bool take_gpu(const char *from, const char *text, struct run_options *o)
{
    o->gpu = text;
    if (strcmp(text, "auto") == 0 || strcmp(text, "runtime") == 0 || strcmp(text, "off") == 0)
        return true;
    seep_complain("%s %s is not known: choose auto, runtime or off", from, text);
    return false;
}

/* True where seep itself runs under seep: SEEP_OUT is then that of the outer run. */
static bool is_nested(void)
{
    const char *preload = getenv("LD_PRELOAD");

    return preload && strstr(preload, "libseep.so");
}

/* Wrong rules are told before the job runs for days. */
static bool take_roles(const char *from, const char *file, struct run_options *o)
{
    struct seep_part_rules *roles = NULL;
    struct seep_error err = {0};

    if (seep_part_rules_load(&roles, file, &err) < 0) {
        seep_complain("%s %s: %s: correct the rules; roles.toml says how they are written", from,
                      file, err.text[0] ? err.text : "no memory");
        return false;
    }
    seep_part_rules_free(roles);
    o->roles = file;
    return true;
}

static bool read_variables(struct run_options *o)
{
    const char *roles = getenv("SEEP_ROLES");
    const char *out = getenv("SEEP_OUT"), *sample = getenv("SEEP_SAMPLE");
    const char *max_profile = getenv("SEEP_MAX_PROFILE"), *max_folder = getenv("SEEP_MAX_FOLDER");
    const char *helpers = getenv("SEEP_HELPERS"), *holders = getenv("SEEP_HOLDERS");
    const char *gpu = getenv("SEEP_GPU");

    o->holders = "auto";
    o->gpu = "auto";
    o->max_folder_bytes = MAX_FOLDER;
    o->out = out && *out && !is_nested() ? out : NULL;
    o->quiet = seep_env_flag("SEEP_QUIET");
    o->no_report = seep_env_flag("SEEP_NO_REPORT");
    o->python_allocators = seep_env_flag("SEEP_PYTHON_ALLOCATORS");
    o->holder_keys = seep_env_flag("SEEP_HOLDER_KEYS");
    return (!sample || !*sample || take_sample("SEEP_SAMPLE", sample, o)) &&
           (!roles || !*roles || take_roles("SEEP_ROLES", roles, o)) &&
           (!max_profile || !*max_profile ||
            take_max_profile("SEEP_MAX_PROFILE", max_profile, o)) &&
           (!max_folder || !*max_folder || take_max_folder("SEEP_MAX_FOLDER", max_folder, o)) &&
           (!helpers || !*helpers || take_helpers("SEEP_HELPERS", helpers, o)) &&
           (!holders || !*holders || take_holders("SEEP_HOLDERS", holders, o)) &&
           (!gpu || !*gpu || take_gpu("SEEP_GPU", gpu, o));
}

static bool take_output(const char *text, struct run_options *o)
{
    o->out = text;
    if (!*text)
        seep_complain("the name of the profile folder is empty: give -o a name");
    return *text;
}

/* One option that has a value. False: said what is wrong. */
static bool take_value(int c, struct run_options *o)
{
    switch (c) {
    case 'o':
        return take_output(optarg, o);
    case OPT_SAMPLE:
        return take_sample("--sample", optarg, o);
    case OPT_MAX_PROFILE:
        return take_max_profile("--max-profile", optarg, o);
    case OPT_MAX_FOLDER:
        return take_max_folder("--max-folder", optarg, o);
    case OPT_HELPERS:
        return take_helpers("--helpers", optarg, o);
    case OPT_HOLDERS:
        return take_holders("--holders", optarg, o);
    case OPT_GPU:
        return take_gpu("--gpu", optarg, o);
    default:
        return take_roles("--roles", optarg, o);
    }
}

/* Returns −1 to go on, or the exit status. */
static int read_options(int argc, char **argv, struct run_options *o)
{
    if (!read_variables(o))
        return SEEP_EXIT_FAILED;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "+:o:qh", long_options, NULL)) != -1;) {
        switch (c) {
        case 'q':
            o->quiet = true;
            break;
        case 'h':
            return seep_help_print("run");
        case OPT_PYTHON_ALLOCATORS:
            o->python_allocators = true;
            break;
        case OPT_HOLDER_KEYS:
            o->holder_keys = true;
            break;
        case OPT_NO_REPORT:
            o->no_report = true;
            break;
        case '?':
        case ':':
            seep_complain_option("run", c, argv);
            return SEEP_EXIT_FAILED;
        default:
            if (!take_value(c, o))
                return SEEP_EXIT_FAILED;
        }
    }
    if (optind >= argc) {
        seep_complain("no job is given: try `seep run -- python train.py`");
        return SEEP_EXIT_FAILED;
    }
    o->command = argv + optind;
    return -1;
}

static bool set_number(const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, value);
    return setenv(name, text, 1) == 0;
}

/* Sets a list "first:second", without the colon where one of them is empty. */
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

/* The shim first in LD_PRELOAD, what was there behind it. */
static bool set_preload(const char *shim)
{
    const char *old = getenv("LD_PRELOAD");
    size_t n = strlen(shim);

    if (old && strncmp(old, shim, n) == 0 && (!old[n] || strchr(" :", old[n])))
        return true;
    return set_list("LD_PRELOAD", shim, old ? old : "");
}

/* The folder of the Python module last in PYTHONPATH, so that `import seep` works. */
static bool set_python_path(const char *shim)
{
    char folder[SEEP_PATH_BYTES + 16];
    const char *old = getenv("PYTHONPATH"), *slash = strrchr(shim, '/');

    snprintf(folder, sizeof folder, "%.*s/python", (int)(slash ? slash - shim : 0), shim);
    if (strchr(folder, ':') || access(folder, R_OK | X_OK) < 0 || (old && strstr(old, folder)))
        return true;
    return set_list("PYTHONPATH", old ? old : "", folder);
}

static bool set_environment(const struct run_options *o, const char *shim, const char *folder)
{
    bool good = setenv("SEEP_OUT", folder, 1) == 0 && set_python_path(shim) && set_preload(shim);

    if (o->sample_bytes)
        good &= set_number("SEEP_SAMPLE", o->sample_bytes);
    else
        good &= unsetenv("SEEP_SAMPLE") == 0;
    if (o->max_profile_bytes)
        good &= set_number("SEEP_MAX_PROFILE", o->max_profile_bytes);
    good &= set_number("SEEP_MAX_FOLDER", o->max_folder_bytes);
    if (o->full_helpers)
        good &= setenv("SEEP_HELPERS", "full", 1) == 0;
    else
        good &= unsetenv("SEEP_HELPERS") == 0;
    good &= setenv("SEEP_HOLDERS", o->holders, 1) == 0 && setenv("SEEP_GPU", o->gpu, 1) == 0;
    if (o->python_allocators)
        good &= setenv("SEEP_PYTHON_ALLOCATORS", "1", 1) == 0 &&
                setenv("PYTHONMALLOC", "malloc", 0) == 0;
    if (!good)
        seep_complain("no memory for the job's environment: free some, or raise the limit");
    return good;
}

/* Runs in a process of its own. Returns its exit status. */
static int analyse(const struct run_options *o, const char *folder)
{
    const char *dirs[] = {folder};
    struct seep_analysis_options options = {.roles_file = o->roles};
    struct seep_error err = {0};
    json_t *report = NULL;
    char path[SEEP_PATH_BYTES];

    if (seep_analyse(dirs, 1, &options, &report, &err) < 0) {
        seep_complain("no report could be made of %s (%s): see `seep report %s`", folder, err.text,
                      folder);
        return 1;
    }
    snprintf(path, sizeof path, "%s/report.json", folder);
    if (seep_output_replace(report, seep_output_json, path, 0600, &err) < 0)
        seep_complain("%s %s: the profile is there; make room and call `seep report`", path,
                      err.text);
    if (!o->quiet) {
        /* Its own stream: stderr has no buffer, and a text that comes in one piece does not mix. */
        FILE *out = fdopen(dup(STDERR_FILENO), "w");
        if (out) {
            fputc('\n', out);
            if (seep_report_text(report, out, seep_output_colour(stderr)) < 0)
                fputs("seep: the summary could not be printed in full: see `seep report`\n", out);
            fprintf(out, "Profile: %s (`seep report` shows this again)\n", folder);
            fclose(out);
        }
    }
    json_decref(report);
    return 0;
}

/* A process of its own, so that nothing that happens to the analysis is the job's exit status. */
static void report_job(const struct run_options *o, const char *folder)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        signal(SIGALRM, SIG_DFL); /* seep may have been started with it ignored */
        alarm(ANALYSIS_SECONDS);
        sigprocmask(SIG_SETMASK, &none, NULL);
        _exit(analyse(o, folder));
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid < 0)
        seep_complain("no process for the report (%s): try `seep report %s`", strerror(errno),
                      folder);
    else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGINT)
        seep_complain("the analysis ended by signal %d: try `seep report %s`", WTERMSIG(status),
                      folder);
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
    seep_complain("the job cannot be started (%s): check the limits of this account", strerror(-r));
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

int seep_run_main(int argc, char **argv)
{
    static struct seep_program program;
    struct run_options options = {0};
    struct seep_job_folder folder;
    struct seep_copies holders = {0};
    struct seep_launch launch = {.holders = &holders};
    struct seep_error err = {0};
    char shim[SEEP_PATH_BYTES], label[LABEL_BYTES], name[LABEL_BYTES + 32];

    guard_streams();
    int status = read_options(argc, argv, &options);
    if (status >= 0)
        return status;
    seep_program_find(options.command[0], &program);
    status = check_program(&program);
    if (status)
        return status;
    if (seep_program_shim(shim, sizeof shim, &err) < 0) {
        seep_complain("%s: %s: install seep again, or run it from its build folder", err.file,
                      err.text);
        return SEEP_EXIT_FAILED;
    }
    if (strpbrk(shim, " :")) {
        seep_complain(
            "%s has a blank or colon in its path, which LD_PRELOAD cannot hold: move seep", shim);
        return SEEP_EXIT_FAILED;
    }
    seep_program_label(options.command, label, sizeof label);
    snprintf(name, sizeof name, "seep.%s.%d.d", label, (int)getpid());
    if (seep_job_folder_make(&folder, options.out ? options.out : name, !options.out,
                             options.command, &err) < 0) {
        seep_complain("%s %s: choose another folder with -o DIR", err.file, err.text);
        return SEEP_EXIT_FAILED;
    }
    folder.job->max_folder_bytes = options.max_folder_bytes;
    if (strcmp(options.holders, "off") != 0)
        seep_copies_open(&holders, &folder, options.roles, options.holder_keys);
    holders.tells = !options.quiet && isatty(STDERR_FILENO);
    status = set_environment(&options, shim, folder.path)
                 ? start(&launch, &program, options.command)
                 : SEEP_EXIT_FAILED;
    if (status) {
        seep_job_folder_undo(&folder);
        return status;
    }
    int job_status = seep_launch_wait(&launch, &folder);
    if (!options.no_report)
        report_job(&options, folder.path);
    return WIFSIGNALED(job_status) ? 128 + WTERMSIG(job_status) : WEXITSTATUS(job_status);
}

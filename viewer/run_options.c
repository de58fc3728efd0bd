#include "viewer/run_options.h"

#include "libprof/base/size_parse.h"
#include "libprof/base/text.h"
#include "libprof/code/part_rules.h"
#include "libprof/format/profile_format.h"
#include "libprof/regex/regex.h"
#include "viewer/viewer.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FOLDER_LEAST   (UINT64_C(4) << 20)
#define MAX_FOLDER_MOST    (UINT64_C(1) << 50)
#define MAX_FOLDER         (UINT64_C(4) << 30)
#define MEMORY_LIMIT_LEAST (UINT64_C(1) << 20)
#define MEMORY_LIMIT_MOST  (UINT64_C(1) << 50)
#define MAX_PROFILE_LEAST  (UINT64_C(1) << 20)
#define MAX_PROFILE_MOST   ((uint64_t)SEEP_MAX_CHUNKS * SEEP_CHUNK_BYTES)

enum { MAX_STEPS_TEXT = 2048 }; /* the library takes no longer list of --holders */

enum {
    OPT_SAMPLE = 256,
    OPT_MAX_PROFILE,
    OPT_MAX_FOLDER,
    OPT_MEMORY_LIMIT,
    OPT_HELPERS,
    OPT_HOLDERS,
    OPT_GPU,
    OPT_STEP_NVTX,
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
    {"memory-limit", required_argument, NULL, OPT_MEMORY_LIMIT},
    {"helpers", required_argument, NULL, OPT_HELPERS},
    {"holders", required_argument, NULL, OPT_HOLDERS},
    {"gpu", required_argument, NULL, OPT_GPU},
    {"step-nvtx", required_argument, NULL, OPT_STEP_NVTX},
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

static bool take_sample(const char *from, const char *text, struct seep_run_options *o)
{
    return take_size(from, text, 0, UINT64_C(1) << 40, &o->sample_bytes);
}

static bool take_max_profile(const char *from, const char *text, struct seep_run_options *o)
{
    return take_size(from, text, MAX_PROFILE_LEAST, MAX_PROFILE_MOST, &o->max_profile_bytes);
}

static bool take_max_folder(const char *from, const char *text, struct seep_run_options *o)
{
    return take_size(from, text, MAX_FOLDER_LEAST, MAX_FOLDER_MOST, &o->max_folder_bytes);
}

static bool take_memory_limit(const char *from, const char *text, struct seep_run_options *o)
{
    return take_size(from, text, MEMORY_LIMIT_LEAST, MEMORY_LIMIT_MOST, &o->memory_limit_bytes);
}

static bool take_helpers(const char *from, const char *text, struct seep_run_options *o)
{
    o->full_helpers = strcmp(text, "full") == 0;
    if (o->full_helpers || strcmp(text, "count") == 0)
        return true;
    seep_complain("%s %s is not known: choose count or full", from, text);
    return false;
}

static bool take_holders(const char *from, const char *text, struct seep_run_options *o)
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

static bool take_gpu(const char *from, const char *text, struct seep_run_options *o)
{
    o->gpu = text;
    if (strcmp(text, "auto") == 0 || strcmp(text, "runtime") == 0 || strcmp(text, "cupti") == 0 ||
        strcmp(text, "off") == 0)
        return true;
    seep_complain("%s %s is not known: choose auto, runtime, cupti or off", from, text);
    return false;
}

static bool take_step_nvtx(const char *from, const char *text, struct seep_run_options *o)
{
    static struct seep_regex regex;
    const char *wrong = *text ? seep_regex_compile(&regex, text) : "it is empty";

    o->step_nvtx = text;
    if (wrong)
        seep_complain("%s %s: %s: write a POSIX extended regular expression", from, text, wrong);
    return !wrong;
}

/* True where seep itself runs under seep: SEEP_OUT is then that of the outer run. */
static bool is_nested(void)
{
    const char *preload = getenv("LD_PRELOAD");

    return preload && strstr(preload, "libseep.so");
}

/* Wrong rules are told before the job runs for days. */
static bool take_roles(const char *from, const char *file, struct seep_run_options *o)
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

static bool read_variables(struct seep_run_options *o)
{
    const char *roles = getenv("SEEP_ROLES");
    const char *out = getenv("SEEP_OUT"), *sample = getenv("SEEP_SAMPLE");
    const char *max_profile = getenv("SEEP_MAX_PROFILE"), *max_folder = getenv("SEEP_MAX_FOLDER");
    const char *memory_limit = getenv("SEEP_MEMORY_LIMIT");
    const char *helpers = getenv("SEEP_HELPERS"), *holders = getenv("SEEP_HOLDERS");
    const char *gpu = getenv("SEEP_GPU");
    const char *step_nvtx = getenv("SEEP_STEP_NVTX");

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
           (!memory_limit || !*memory_limit ||
            take_memory_limit("SEEP_MEMORY_LIMIT", memory_limit, o)) &&
           (!helpers || !*helpers || take_helpers("SEEP_HELPERS", helpers, o)) &&
           (!holders || !*holders || take_holders("SEEP_HOLDERS", holders, o)) &&
           (!gpu || !*gpu || take_gpu("SEEP_GPU", gpu, o)) &&
           (!step_nvtx || !*step_nvtx || take_step_nvtx("SEEP_STEP_NVTX", step_nvtx, o));
}

static bool take_output(const char *text, struct seep_run_options *o)
{
    o->out = text;
    if (!*text)
        seep_complain("the name of the profile folder is empty: give -o a name");
    return *text;
}

/* One option that has a value. False: said what is wrong. */
static bool take_value(int c, struct seep_run_options *o)
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
    case OPT_MEMORY_LIMIT:
        return take_memory_limit("--memory-limit", optarg, o);
    case OPT_HELPERS:
        return take_helpers("--helpers", optarg, o);
    case OPT_HOLDERS:
        return take_holders("--holders", optarg, o);
    case OPT_GPU:
        return take_gpu("--gpu", optarg, o);
    case OPT_STEP_NVTX:
        return take_step_nvtx("--step-nvtx", optarg, o);
    default:
        return take_roles("--roles", optarg, o);
    }
}

int seep_run_options_read(int argc, char **argv, struct seep_run_options *o)
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

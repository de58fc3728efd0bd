#include "viewer/run_options.h"

#include "libprof/base/size_parse.h"
#include "libprof/base/text.h"
#include "libprof/code/part_rules.h"
#include "libprof/format/profile_format.h"
#include "libprof/runtime/regex/regex.h"
#include "viewer/options/options.h"
#include "viewer/viewer.h"

#include <seep_variables.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OVERHEAD_LEAST     (UINT64_C(1) << 20)
#define MAX_FOLDER_LEAST   (UINT64_C(4) << 20)
#define MAX_FOLDER_MOST    (UINT64_C(1) << 50)
#define MAX_FOLDER         (UINT64_C(4) << 30)
#define MEMORY_LIMIT_LEAST (UINT64_C(1) << 20)
#define MEMORY_LIMIT_MOST  (UINT64_C(1) << 50)
#define MAX_PROFILE_LEAST  (UINT64_C(1) << 20)
#define MAX_PROFILE_MOST   ((uint64_t)SEEP_MAX_CHUNKS * SEEP_CHUNK_BYTES)

enum { MAX_STEPS_TEXT = 2048 }; /* the library accepts no longer list of --holders */

static bool take_size(const struct seep_option_given *given, uint64_t least, uint64_t most,
                      uint64_t *bytes)
{
    char low[SEEP_SIZE_TEXT], high[SEEP_SIZE_TEXT];

    if (seep_size_parse(given->value, bytes) < 0) {
        seep_complain("%s %s is not a size: write it as 64MiB, 1.5GB or 4096", given->from,
                      given->value);
        return false;
    }
    if (*bytes < least || *bytes > most) {
        seep_complain("%s %s is out of range: choose between %s and %s", given->from, given->value,
                      seep_text_size((double)least, low), seep_text_size((double)most, high));
        return false;
    }
    return true;
}

static bool take_holders(const struct seep_option_given *given, struct seep_run_options *o)
{
    const char *text = o->holders = given->value;

    if (strlen(text) >= MAX_STEPS_TEXT) {
        seep_complain("%s has too many steps: name fewer, in at most %d characters", given->from,
                      MAX_STEPS_TEXT - 1);
        return false;
    }
    if (strcmp(text, "auto") == 0 || strcmp(text, "off") == 0 ||
        (strspn(text, "0123456789,") == strlen(text) && strpbrk(text, "123456789")))
        return true;
    seep_complain("%s %s is not known: choose auto, off, or steps as in 10,100,1000", given->from,
                  text);
    return false;
}

/* The two parts of a budget, each at most once and in this order. */
static bool read_overhead(const char *text, double *share, uint64_t *bytes)
{
    const size_t n = strspn(text, "0123456789.");
    char *end;

    if (n && text[n] == '%') {
        *share = strtod(text, &end);
        if (end != text + n || !(*share > 0 && *share <= 100) || (end[1] && end[1] != ','))
            return false;
        text += n + 1;
        if (!*text++)
            return true;
    }
    return seep_size_parse(text, bytes) == 0 && *bytes >= OVERHEAD_LEAST;
}

/* The library gets the size in bytes. */
static bool take_overhead(const struct seep_option_given *given, struct seep_run_options *o)
{
    static char text[64];
    double share = 0;
    uint64_t bytes = 0;
    int n = 0;

    o->overhead = text;
    if (strcmp(given->value, "off") == 0) {
        strcpy(text, "off");
        return true;
    }
    if (!read_overhead(given->value, &share, &bytes)) {
        seep_complain("%s %s is no budget: write it as 3%%, 64MiB (1MiB or more), 3%%,64MiB or off",
                      given->from, given->value);
        return false;
    }
    if (share > 0)
        n = snprintf(text, sizeof text, "%.6g%%", share);
    if (bytes)
        snprintf(text + n, sizeof text - (size_t)n, "%s%llu", n ? "," : "",
                 (unsigned long long)bytes);
    return true;
}

static bool take_step_nvtx(const struct seep_option_given *given, struct seep_run_options *o)
{
    static struct seep_regex regex;
    const char *wrong = *given->value ? seep_regex_compile(&regex, given->value) : "it is empty";

    o->step_nvtx = given->value;
    if (wrong)
        seep_complain("%s %s: %s: write a POSIX extended regular expression", given->from,
                      given->value, wrong);
    return !wrong;
}

/* Wrong rules are reported now, not after the job has run for days. */
static bool take_roles(const struct seep_option_given *given, struct seep_run_options *o)
{
    struct seep_part_rules *roles = NULL;
    struct seep_error err = {0};

    o->roles = given->value;
    if (seep_part_rules_load(&roles, o->roles, &err) < 0) {
        seep_complain("%s %s: %s: correct the rules; the built-in roles.toml shows how",
                      given->from, o->roles, err.text[0] ? err.text : "no memory");
        return false;
    }
    seep_part_rules_free(roles);
    return true;
}

/* True where seep itself runs under seep: SEEP_OUT is then the outer run's. */
static bool is_nested(void)
{
    const char *preload = getenv("LD_PRELOAD");

    return preload && strstr(preload, "libseep.so");
}

static bool take_output(const struct seep_option_given *given, struct seep_run_options *o)
{
    if (strcmp(given->from, SEEP_VARIABLE_OUT) == 0 && is_nested())
        return true;
    o->out = given->value;
    if (!*o->out)
        seep_complain("the name of the profile folder is empty: name one with -o DIR");
    return *o->out;
}

static bool take(void *to, const struct seep_option_given *given)
{
    struct seep_run_options *o = to;

    switch (given->option) {
    case SEEP_OPTION_RUN_OUTPUT:
        return take_output(given, o);
    case SEEP_OPTION_QUIET:
        return o->quiet = true;
    case SEEP_OPTION_TOP:
        return o->top = true;
    case SEEP_OPTION_NO_REPORT:
        return o->no_report = true;
    case SEEP_OPTION_MERGE:
        return o->merge = true;
    case SEEP_OPTION_MERGE_WITHIN:
        return seep_option_seconds(given, 1, 604800, &o->merge_within_s);
    case SEEP_OPTION_SAMPLE:
        return take_size(given, 0, UINT64_C(1) << 40, &o->sample_bytes);
    case SEEP_OPTION_OVERHEAD:
        return take_overhead(given, o);
    case SEEP_OPTION_MAX_PROFILE:
        return take_size(given, MAX_PROFILE_LEAST, MAX_PROFILE_MOST, &o->max_profile_bytes);
    case SEEP_OPTION_MAX_FOLDER:
        return take_size(given, MAX_FOLDER_LEAST, MAX_FOLDER_MOST, &o->max_folder_bytes);
    case SEEP_OPTION_MEMORY_LIMIT:
        return take_size(given, MEMORY_LIMIT_LEAST, MEMORY_LIMIT_MOST, &o->memory_limit_bytes);
    case SEEP_OPTION_HELPERS:
        o->full_helpers = strcmp(given->value, "full") == 0;
        return seep_option_word(given) >= 0;
    case SEEP_OPTION_GPU:
        o->gpu = given->value;
        return seep_option_word(given) >= 0;
    case SEEP_OPTION_RUN_HOLDERS:
        return take_holders(given, o);
    case SEEP_OPTION_STEP_NVTX:
        return take_step_nvtx(given, o);
    case SEEP_OPTION_HOLDER_KEYS:
        return o->holder_keys = true;
    case SEEP_OPTION_RUN_ROLES:
        return take_roles(given, o);
    case SEEP_OPTION_PYTHON_ALLOCATORS:
        return o->python_allocators = true;
    default:
        return false;
    }
}

int seep_run_options_read(int argc, char **argv, struct seep_run_options *o)
{
    o->holders = "auto";
    o->gpu = "auto";
    o->max_folder_bytes = MAX_FOLDER;
    if (!seep_options_read_variables("run", take, o))
        return SEEP_EXIT_FAILED;
    int status = seep_options_read(argc, argv, take, o);
    if (status >= 0)
        return status ? SEEP_EXIT_FAILED : 0;
    if (optind >= argc) {
        seep_complain("no job is given: try `seep run -- python train.py`");
        return SEEP_EXIT_FAILED;
    }
    o->command = argv + optind;
    return -1;
}

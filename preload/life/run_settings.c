#include "preload/life/run_settings.h"

#include <seep_variables.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "libprof/format/profile_format.h"
#include "libprof/runtime/store/os.h"

#define OVERHEAD_DEFAULT .05 /* of a job longer than a minute */

struct seep_run_settings seep_run_settings = {
    .max_bytes = UINT64_C(256) << 20,
    .max_folder_bytes = UINT64_C(4) << 30,
    .overhead_share = OVERHEAD_DEFAULT,
};

/* By hand, as `seep run` does (libprof/base/size_parse.c): strtod() would follow the locale, and
 * its code would be four pages that most programs of a job do not touch otherwise. */
static double parse_number(const char **text)
{
    double value = 0, scale = 1;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9'; at++)
        value = value * 10 + (*at - '0');
    for (at += *at == '.'; *at >= '0' && *at <= '9'; at++)
        value += (scale /= 10) * (*at - '0');
    *text = at;
    return value;
}

static uint64_t parse_size(const char *text)
{
    double value = parse_number(&text);
    double unit = 1;
    bool binary = text[0] && text[1] == 'i';
    switch (text[0]) {
    case 'k':
    case 'K':
        unit = binary ? 1024. : 1e3;
        break;
    case 'M':
        unit = binary ? 1048576. : 1e6;
        break;
    case 'G':
        unit = binary ? 1073741824. : 1e9;
        break;
    default:
        break;
    }
    return value > 0 && value * unit < 1e18 ? (uint64_t)(value * unit) : 0;
}

/* The environment with which the program began: libc has not set its own when the constructor
 * runs. */
static char *const *environment;

const char *seep_run_settings_variable(const char *name)
{
    for (char *const *at = environ ? environ : environment; at && *at; at++) {
        size_t n = 0; /* most differ in the first letter: a call for each would take longer */
        while (name[n] && (*at)[n] == name[n])
            n++;
        if (!name[n] && (*at)[n] == '=')
            return *at + n + 1;
    }
    return NULL;
}

static void read_size(const char *name, uint64_t *bytes)
{
    const char *text = seep_run_settings_variable(name);
    if (text && parse_size(text))
        *bytes = parse_size(text);
}

/* "3%", "64MiB", "3%,64MiB" or "off". */
static void read_overhead(void)
{
    const char *text = seep_run_settings_variable(SEEP_VARIABLE_OVERHEAD);
    if (text && strcmp(text, "off") == 0)
        seep_run_settings.overhead_share = 0;
    while (text && *text) {
        const char *at = text;
        const double number = parse_number(&at);
        if (at != text && *at == '%')
            seep_run_settings.overhead_share = number < 100 ? number / 100 : 1;
        else if (at != text)
            seep_run_settings.overhead_bytes = parse_size(text);
        text = strchr(text, ',');
        text += text != NULL;
    }
}

/* Cuts what does not fit. */
static void read_text(const char *name, char *text, size_t capacity)
{
    const char *given = seep_run_settings_variable(name);
    if (given)
        strncpy(text, given, capacity - 1);
}

/* For a folder outside the process's root the kernel's answer begins differently. */
static void begin_with_cwd(void)
{
    if (seep_os_call3(SYS_getcwd, (long)seep_run_settings.dir, sizeof(seep_run_settings.dir) - 1,
                      0) > 0 &&
        seep_run_settings.dir[0] == '/')
        strcat(seep_run_settings.dir, "/");
    else
        seep_run_settings.dir[0] = '\0';
}

void seep_run_settings_read(char *const *given, const char *folder)
{
    environment = given;
    const char *dir = folder ? folder : seep_run_settings_variable(SEEP_VARIABLE_OUT),
               *helpers = seep_run_settings_variable(SEEP_VARIABLE_HELPERS),
               *gpu = seep_run_settings_variable(SEEP_VARIABLE_GPU);
    if (!dir || !*dir)
        return;
    if (dir[0] != '/')
        begin_with_cwd();
    if (strlen(seep_run_settings.dir) + strlen(dir) >= sizeof(seep_run_settings.dir) - 64) {
        seep_run_settings.dir[0] = '\0';
        return;
    }
    strcat(seep_run_settings.dir, dir);
    read_size(SEEP_VARIABLE_MAX_PROFILE, &seep_run_settings.max_bytes);
    read_size(SEEP_VARIABLE_MAX_FOLDER, &seep_run_settings.max_folder_bytes);
    read_size(SEEP_VARIABLE_SAMPLE, &seep_run_settings.sample_bytes);
    read_overhead();
    read_text(SEEP_VARIABLE_HOLDERS, seep_run_settings.holders, sizeof(seep_run_settings.holders));
    const char *step_nvtx = seep_run_settings_variable(SEEP_VARIABLE_STEP_NVTX);
    if (step_nvtx && *step_nvtx)
        (void)seep_regex_compile(&seep_run_settings.step_nvtx, step_nvtx);
    seep_run_settings.record_bystanders = helpers && strcmp(helpers, "full") == 0;
    seep_run_settings.no_devices = gpu && strcmp(gpu, "off") == 0;
    seep_run_settings.with_cupti = gpu && strcmp(gpu, "cupti") == 0;
    /* That many bytes are also reserved as address space. */
    struct rlimit limit;
    if (seep_os_call6(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0) == 0 &&
        limit.rlim_cur != RLIM_INFINITY && seep_run_settings.max_bytes > limit.rlim_cur / 8)
        seep_run_settings.max_bytes = limit.rlim_cur / 8;
    uint64_t most = (uint64_t)SEEP_MAX_CHUNKS * SEEP_CHUNK_BYTES;
    uint64_t least = SEEP_HEADER_BYTES + 16 * SEEP_CHUNK_BYTES;
    if (seep_run_settings.max_bytes > most)
        seep_run_settings.max_bytes = most;
    if (seep_run_settings.max_bytes < least)
        seep_run_settings.max_bytes = least;
}

/* `seep look`: what holds the memory of a process that runs, and was not started under seep. */
#include "libprof/base/clock.h"
#include "libprof/base/json_build.h"
#include "libprof/print/look_text.h"
#include "viewer/job_limits.h"
#include "viewer/look/take_look.h"
#include "viewer/options/options.h"
#include "viewer/output.h"
#include "viewer/viewer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVERY_S = 60, MOST_ARGUMENTS = 4096, GROWS = 1 /* exit status */ };

struct look_options {
    const struct seep_output_format *format;
    const char *out; /* NULL: standard output */
    enum seep_look_way way;
    double every_s;
    long times; /* 0: as many as `every_s` asks for */
};

static const struct seep_output_format formats[] = {
    {"text", seep_look_text}, {"json", seep_output_json}, {NULL, NULL}};

static bool take_seconds(const struct seep_option_given *given, double *to)
{
    char *end;

    *to = strtod(given->value, &end);
    if (end > given->value && (!*end || strcmp(end, "s") == 0) && *to >= 0.1 && *to <= 86400)
        return true;
    seep_complain("%s: \"%s\" is no time between looks: give seconds, 0.1 to 86400", given->from,
                  given->value);
    return false;
}

static bool take_times(const struct seep_option_given *given, long *to)
{
    char *end;

    *to = strtol(given->value, &end, 10);
    if (end > given->value && !*end && *to >= 1 && *to <= SEEP_MOST_LOOKS)
        return true;
    seep_complain("%s: \"%s\" is no number of looks: give 1 to %d", given->from, given->value,
                  SEEP_MOST_LOOKS);
    return false;
}

static bool take_option(void *to, const struct seep_option_given *given)
{
    struct look_options *o = to;

    switch (given->option) {
    case SEEP_OPTION_LOOK_FORMAT:
        return (o->format = seep_output_choose(formats, given));
    case SEEP_OPTION_OUTPUT:
        return (o->out = given->value);
    case SEEP_OPTION_EVERY:
        return take_seconds(given, &o->every_s);
    case SEEP_OPTION_TIMES:
        return take_times(given, &o->times);
    case SEEP_OPTION_BY_COPY:
        return (o->way = SEEP_LOOK_BY_COPY) != SEEP_LOOK_CHOSEN;
    case SEEP_OPTION_BY_STOP:
        return (o->way = SEEP_LOOK_BY_STOP) != SEEP_LOOK_CHOSEN;
    case SEEP_OPTION_LIVE:
        return (o->way = SEEP_LOOK_LIVE) != SEEP_LOOK_CHOSEN;
    default:
        return false;
    }
}

/* Returns −1 to go on, or the exit status. */
static int read_options(int argc, char **argv, struct look_options *o, pid_t *pid)
{
    int status = seep_options_read(argc, argv, take_option, o);
    char *end;

    if (status >= 0)
        return status;
    if (optind + 1 != argc) {
        seep_complain("%s: try `seep look PID`",
                      optind == argc ? "no process is given" : "only one process can be looked at");
        return SEEP_EXIT_UNUSABLE;
    }
    const long number = strtol(argv[optind], &end, 10);
    if (end == argv[optind] || *end || number < 1 || number > INT32_MAX) {
        seep_complain("\"%s\" is no number of a process: try `seep look PID`", argv[optind]);
        return SEEP_EXIT_UNUSABLE;
    }
    *pid = (pid_t)number;
    if (!o->times)
        o->times = o->every_s > 0 ? 3 : 1;
    if (o->every_s <= 0)
        o->every_s = EVERY_S;
    return -1;
}

/* The words of its command line, with spaces between them. */
static json_t *command_of(pid_t pid)
{
    char path[64], words[MOST_ARGUMENTS];

    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(words, 1, sizeof words, file) : 0;
    if (file)
        fclose(file);
    while (n && !words[n - 1])
        n--;
    for (size_t i = 0; i < n; i++)
        if (!words[i])
            words[i] = ' ';
    return seep_json_text_n(words, n);
}

static json_t *limit_json(void)
{
    struct seep_limits limits;
    const char *kind;

    seep_limits_read(&limits);
    const uint64_t bytes = seep_limits_tightest(&limits, &kind);
    return bytes ? json_pack("{s:o, s:s}", "bytes", seep_json_count(bytes), "kind", kind)
                 : json_null();
}

static json_t *document(const struct seep_look_course *course, pid_t pid)
{
    json_t *json = seep_look_json(course);
    bool failed = !json;

    seep_json_set(json, "format", json_string("seep-look"), &failed);
    seep_json_set(json, "version", json_integer(1), &failed);
    seep_json_set(json, "seep", json_string(SEEP_VERSION), &failed);
    seep_json_set(json, "pid", json_integer(pid), &failed);
    seep_json_set(json, "command", command_of(pid), &failed);
    seep_json_set(json, "limit", limit_json(), &failed);
    return seep_json_whole(json, failed);
}

static void sleep_s(double seconds)
{
    struct timespec rest = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (nanosleep(&rest, &rest) < 0 && errno == EINTR) {
    }
}

/* Looks as often as wanted. One that ends between two looks is told by those that there were. */
static int look(pid_t pid, const struct look_options *o, struct seep_look_course *course)
{
    const uint64_t began = seep_clock_ns(CLOCK_MONOTONIC);
    struct seep_error err = {0};

    for (long i = 0; i < o->times; i++) {
        struct seep_look_moment *moment = &course->moments[course->n];
        const double due = (double)i * o->every_s;
        const double now = (double)(seep_clock_ns(CLOCK_MONOTONIC) - began) / 1e9;
        if (due > now)
            sleep_s(due - now);
        const double at = (double)(seep_clock_ns(CLOCK_MONOTONIC) - began) / 1e9;
        int rc = seep_take_look(pid, o->way, moment, &err);
        moment->t_s = at;
        if (rc) {
            seep_look_holders_fini(&moment->holders);
            seep_complain("%s", err.text);
            return course->n ? 0 : -1;
        }
        course->n++;
        if (o->times > 1 && isatty(STDERR_FILENO))
            fprintf(stderr, "seep: look %ld of %ld\n", i + 1, o->times);
    }
    return 0;
}

static bool grows_endlessly(const json_t *document)
{
    const json_t *holders = json_object_get(document, "holders"), *holder;
    size_t i;

    json_array_foreach (holders, i, holder) {
        if (strcmp(json_string_value(json_object_get(holder, "growth")), "endless") == 0)
            return true;
    }
    return false;
}

int seep_look_main(int argc, char **argv)
{
    struct look_options options = {.format = formats};
    struct seep_look_course *course = calloc(1, sizeof *course);
    pid_t pid;
    int status = read_options(argc, argv, &options, &pid);

    if (status < 0 && (!course || look(pid, &options, course)))
        status = SEEP_EXIT_UNUSABLE;
    if (status < 0) {
        json_t *json = document(course, pid);
        status = json ? seep_output(json, options.format->print, options.out) : SEEP_EXIT_UNUSABLE;
        if (!status && grows_endlessly(json))
            status = GROWS;
        json_decref(json);
    }
    if (course)
        seep_look_course_fini(course);
    free(course);
    return status;
}

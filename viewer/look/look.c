/* `seep look`: what holds the memory of a process that runs, or of a core file. */
#include "libprof/base/clock.h"
#include "libprof/base/json_build.h"
#include "libprof/look/look_tree.h"
#include "libprof/print/look_text.h"
#include "libprof/runtime/program/memory_room.h"
#include "viewer/job_limits.h"
#include "viewer/look/take_look.h"
#include "viewer/look/target_end.h"
#include "viewer/options/options.h"
#include "viewer/output.h"
#include "viewer/viewer.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 4096, MAX_PROCESSES = 64, GROWS_OR_ENDED = 1 /* exit status */ };

/* ---- what is asked for ----------------------------------------------------------------------- */

struct look_options {
    pid_t pid;
    const char *core;    /* a core file to look at instead; NULL: the process */
    const char *program; /* the file of its program; NULL: where it was */
    const struct seep_output_format *format;
    const char *out; /* NULL: standard output */
    enum seep_look_way way;
    double every_s; /* between two looks */
    long times;
    bool each_line; /* a look for each line of standard input, `times` at most */
    bool tree;      /* its descendants, too */
    bool open;      /* as a page in a browser, as well */
};

enum { EVERY_S = 60, MAX_S = 7 * 86400 };

static const struct seep_output_format formats[] = {
    {"text", seep_look_text}, {"json", seep_output_json}, {NULL, NULL}};

/* "90", "90s", "1.5m", "2h". */
static bool take_time(const struct seep_option_given *given, double *to)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
    char *end;
    const double n = strtod(given->value, &end);

    for (size_t i = 0; i < sizeof units / sizeof *units && end > given->value; i++) {
        *to = n * units[i].seconds;
        if (strcmp(end, units[i].unit) == 0 && *to >= 0.1 && *to <= MAX_S)
            return true;
    }
    seep_complain("%s: \"%s\" is no time: give seconds, or 90s, 10m, 2h; 0.1 seconds to a week",
                  given->from, given->value);
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
        return take_time(given, &o->every_s);
    case SEEP_OPTION_TIMES:
        return take_times(given, &o->times);
    case SEEP_OPTION_EACH_LINE:
        return (o->each_line = true);
    case SEEP_OPTION_EXE:
        return (o->program = given->value);
    case SEEP_OPTION_OPEN:
        return (o->open = true);
    case SEEP_OPTION_TREE:
        return (o->tree = true);
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

/* When to look, where not all of it was said. */
static void settle(struct look_options *o)
{
    if (!o->times)
        o->times = o->each_line ? SEEP_MOST_LOOKS : o->every_s > 0 ? 3 : 1;
    if (o->every_s <= 0)
        o->every_s = EVERY_S;
}

/* A number is a process; a core file with such a name is given as ./1234. */
static bool take_what(struct look_options *o, const char *word)
{
    char *end;
    const long number = strtol(word, &end, 10);

    if (end > word && !*end && number >= 1 && number <= INT32_MAX) {
        o->pid = (pid_t)number;
        return true;
    }
    if (access(word, F_OK) == 0)
        return (o->core = word);
    seep_complain(
        "\"%s\" is no number of a process, and there is no such core file: try `seep look "
        "PID`",
        word);
    return false;
}

static bool is_timed(const struct look_options *o)
{
    return o->times || o->every_s > 0;
}

/* What only a process or only a core file can be asked. */
static bool fits(const struct look_options *o)
{
    if (o->core && (o->way != SEEP_LOOK_CHOSEN || o->tree || o->each_line || is_timed(o)))
        seep_complain("%s: a core file is looked at once, by itself: give no other option than "
                      "--exe, --format and --output",
                      o->core);
    else if (!o->core && o->program)
        seep_complain("--exe: process %d has its program: give --exe for a core file", (int)o->pid);
    else if (o->each_line && is_timed(o))
        seep_complain("--each-line: the lines say when to look: leave out --every and --times");
    else
        return true;
    return false;
}

/* Reads the command line. Returns −1 to go on, or the exit status. */
static int read_options(int argc, char **argv, struct look_options *o)
{
    *o = (struct look_options){.format = formats};
    const int status = seep_options_read(argc, argv, take_option, o);
    if (status >= 0)
        return status;
    if (optind + 1 != argc) {
        seep_complain("%s: try `seep look PID`",
                      optind == argc ? "no process is given" : "only one process can be looked at");
        return SEEP_EXIT_UNUSABLE;
    }
    if (!take_what(o, argv[optind]) || !fits(o))
        return SEEP_EXIT_UNUSABLE;
    settle(o);
    return -1;
}

/* A process that was looked at: once or more, or never with success. */
struct looked {
    struct seep_process_stat stat;
    json_t *command;
    struct seep_look_course *course;
    struct seep_error err;     /* of the last look, if that failed or the process ended in it */
    struct seep_target before; /* how it was before the first look */
    bool is_over, is_told;     /* it has ended, and that was said */
};

struct looks {
    const struct look_options *options;
    struct looked list[MAX_PROCESSES]; /* the process that was asked for comes first */
    size_t n;
    struct seep_core_file core; /* if it is one that was asked for */
    uint64_t began_ns;
    double began_unix_s;
    bool left_out; /* there were more processes */
    bool harmed;   /* one ended in a look, or was killed between two */
};

/* ---- what is said --------------------------------------------------------------------------- */

/* The words of its command line, with spaces between them. */
static json_t *command_of(pid_t pid)
{
    char path[64], words[MAX_ARGUMENTS];

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

/* Of this machine, which a core file need not be of. */
static json_t *limit_json(void)
{
    struct seep_limits limits;
    const char *kind;

    seep_limits_read("/proc", &limits);
    const uint64_t bytes = seep_limits_tightest(&limits, &kind);
    return bytes ? json_pack("{s:o, s:s}", "bytes", seep_json_count(bytes), "kind", kind)
                 : json_null();
}

static json_t *process_json(const struct looked *its)
{
    json_t *json = its->course->n ? seep_look_json(its->course)
                                  : json_pack("{s:[], s:[]}", "looks", "holders");
    bool failed = !json;

    seep_json_set(json, "pid", json_integer(its->stat.pid), &failed);
    seep_json_set(json, "parent", json_integer(its->stat.parent), &failed);
    seep_json_set(json, "command", json_incref(its->command), &failed);
    seep_json_set(json, "error", seep_json_text_or_null(its->err.text), &failed);
    return seep_json_whole(json, failed);
}

static json_t *tree_json(const struct looks *looks)
{
    json_t *processes = json_array();
    bool failed = !processes;

    for (size_t i = 0; i < looks->n; i++)
        seep_json_append(processes, process_json(&looks->list[i]), &failed);
    json_t *holders = failed ? NULL : seep_look_tree_holders(processes);
    return json_pack("{s:o, s:o, s:b}", "processes", processes, "holders", holders, "complete",
                     !looks->left_out);
}

static json_t *core_json(const struct looks *looks)
{
    const char *file = looks->options->core;

    return file ? json_pack("{s:o, s:o}", "file", seep_json_text_or_null(file), "bytes",
                            seep_json_count(looks->core.size))
                : json_null();
}

static json_t *document(const struct looks *looks)
{
    json_t *json = process_json(looks->list);
    bool failed = !json;

    seep_json_set(json, "format", json_string("seep-look"), &failed);
    seep_json_set(json, "version", json_integer(1), &failed);
    seep_json_set(json, "seep", json_string(SEEP_VERSION), &failed);
    seep_json_set(json, "looked_unix_s", json_real(looks->began_unix_s), &failed);
    seep_json_set(json, "limit", looks->options->core ? json_null() : limit_json(), &failed);
    seep_json_set(json, "core", core_json(looks), &failed);
    if (looks->options->tree)
        seep_json_set(json, "tree", tree_json(looks), &failed);
    return seep_json_whole(json, failed);
}

extern char **environ;

/* The page is made by what is linked with it. Returns its exit status. */
static int view_page(const char *look, const char *page)
{
    char *words[] = {"seep", "view", "--open", "-o", (char *)page, (char *)look, NULL};
    int status = 0;
    pid_t child;

    const int error = posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ);
    if (error) {
        seep_complain("`seep view` cannot be run (%s)", strerror(error));
        return SEEP_EXIT_UNUSABLE;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : SEEP_EXIT_UNUSABLE;
}

/* Has `seep view` write the page of a look document to look-PID.html, and open it. Returns 0, or
 * SEEP_EXIT_UNUSABLE after a complaint. */
static int open_page(const json_t *document, pid_t pid)
{
    const char *folder = getenv("TMPDIR");
    char look[PATH_MAX], page[64];

    snprintf(page, sizeof page, "look-%d.html", (int)pid);
    snprintf(look, sizeof look, "%s/seep-look-XXXXXX", folder && *folder ? folder : "/tmp");
    const int file = mkstemp(look);
    if (file < 0) {
        seep_complain("%s cannot be written (%s): set TMPDIR", look, strerror(errno));
        return SEEP_EXIT_UNUSABLE;
    }
    close(file);
    int status = seep_output(document, seep_output_json, look);
    if (!status)
        status = view_page(look, page);
    unlink(look);
    return status;
}

/* ---- looking -------------------------------------------------------------------------------- */

static double now_s(const struct looks *looks)
{
    return (double)(seep_clock_ns(CLOCK_MONOTONIC) - looks->began_ns) / 1e9;
}

static void sleep_until(const struct looks *looks, double due_s)
{
    const double seconds = due_s - now_s(looks);
    struct timespec rest = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (seconds > 0 && nanosleep(&rest, &rest) < 0 && errno == EINTR) {
    }
}

/* False at the end of standard input. */
static bool await_line(void)
{
    char c;
    ssize_t n;

    do
        n = read(STDIN_FILENO, &c, 1);
    while ((n == 1 && c != '\n') || (n < 0 && errno == EINTR));
    return n == 1;
}

/* Its entry, a new one where it was not looked at before; NULL: there is no room. */
static struct looked *entry_of(struct looks *looks, const struct seep_process_stat *stat)
{
    for (size_t i = 0; i < looks->n; i++)
        if (looks->list[i].stat.pid == stat->pid && looks->list[i].stat.started == stat->started)
            return &looks->list[i];
    struct looked *its = &looks->list[looks->n];
    if (looks->n < MAX_PROCESSES)
        *its = (struct looked){.stat = *stat,
                               .command = command_of(stat->pid),
                               .course = calloc(1, sizeof *its->course)};
    if (looks->n < MAX_PROCESSES) {
        seep_target_note(&its->before, stat->pid);
        its->is_over = seep_process_is_over(&its->before.stat);
    }
    if (looks->n == MAX_PROCESSES || !its->course) {
        if (looks->n < MAX_PROCESSES)
            json_decref(its->command);
        looks->left_out = true;
        return NULL;
    }
    looks->n++;
    return its;
}

/* False where it ended, or could not be looked at. */
static bool look_at(struct looks *looks, struct looked *its, uint32_t round)
{
    struct seep_look_moment *moment = &its->course->moments[its->course->n];
    const double at = now_s(looks);

    its->err = (struct seep_error){0};
    const int rc = seep_take_look(its->stat.pid, looks->options->way, moment, &its->err);
    moment->t_s = at;
    moment->round = round;
    if (rc)
        seep_look_holders_fini(&moment->holders);
    else
        its->course->n++;
    return !rc;
}

/* Looks at the process, and at its children if they are asked for. False where it could not be
 * looked at. */
static bool look_once(struct looks *looks, uint32_t round)
{
    struct seep_process_stat found[MAX_PROCESSES] = {{.pid = looks->options->pid}};
    bool more = false, there = false;
    size_t n = seep_process_tree(looks->options->pid, found,
                                 looks->options->tree ? MAX_PROCESSES : 1, &more);

    looks->left_out = looks->left_out || (looks->options->tree && more);
    for (size_t i = 0; i < (n ? n : 1); i++) {
        struct looked *its = entry_of(looks, &found[i]);
        const bool was_seen = its && look_at(looks, its, round);
        there = i ? there : was_seen;
    }
    return there;
}

/* Says who ended. That children end by themselves is usual, and not told. */
static void note_ends(struct looks *looks, const char *when, bool in_look)
{
    for (struct looked *its = looks->list; its < looks->list + looks->n; its++) {
        struct seep_error ended;
        if (its->is_over)
            continue;
        const enum seep_target_end end = seep_target_ended(&its->before, when, &ended);
        its->is_over = end != SEEP_TARGET_LIVES;
        if (end != SEEP_TARGET_KILLED && (!its->is_over || its != looks->list))
            continue;
        its->err = ended;
        its->is_told = true;
        looks->harmed = looks->harmed || in_look || end == SEEP_TARGET_KILLED;
        seep_complain("%s", ended.text);
    }
}

/* One round. False: it was the last, since the process has ended or cannot be looked at. */
static bool look_round(struct looks *looks, uint32_t round)
{
    note_ends(looks, "between two looks", false);
    const bool seen = (!looks->n || !looks->list[0].is_over) && look_once(looks, round);
    note_ends(looks, "while it was looked at", true);
    if (!seen && !(looks->n && looks->list[0].is_told))
        seep_complain("%s", looks->n ? looks->list[0].err.text : "no memory");
    return seen && !looks->list[0].is_over;
}

/* Looks as often as wanted. One that ends before is told by the looks that there were. */
static int look(struct looks *looks)
{
    const struct look_options *o = looks->options;

    looks->began_ns = seep_clock_ns(CLOCK_MONOTONIC);
    looks->began_unix_s = (double)seep_clock_ns(CLOCK_REALTIME) / 1e9;
    for (long i = 0; i < o->times; i++) {
        if (!o->each_line)
            sleep_until(looks, (double)i * o->every_s);
        else if (!await_line())
            break;
        if (!look_round(looks, (uint32_t)i))
            return looks->n && looks->list[0].course->n ? 0 : -1;
        if (o->each_line)
            fprintf(stderr, "seep: look %ld\n", i + 1);
        else if (o->times > 1 && isatty(STDERR_FILENO))
            fprintf(stderr, "seep: look %ld of %ld\n", i + 1, o->times);
    }
    if (!looks->n)
        seep_complain("--each-line: no line came: write one to standard input for each look");
    return looks->n ? 0 : -1;
}

static int look_at_core(struct looks *looks)
{
    struct looked *its = looks->list;
    int rc =
        seep_core_file_open(&looks->core, looks->options->core, looks->options->program, &its->err);

    *its =
        (struct looked){.stat = {.pid = looks->core.notes.pid, .parent = looks->core.notes.parent},
                        .command = json_string(looks->core.notes.command),
                        .course = calloc(1, sizeof *its->course),
                        .err = its->err};
    looks->n = 1;
    if (!rc && its->course)
        rc = seep_take_core_look(&looks->core, its->course->moments, &its->err);
    if (!rc && its->course) {
        its->course->n = 1;
        return 0;
    }
    seep_complain("%s%s%s", its->err.file, its->err.file[0] ? ": " : "",
                  its->err.text[0] ? its->err.text : "no memory");
    return -1;
}

static void end(struct looks *looks)
{
    for (size_t i = 0; looks && i < looks->n; i++) {
        seep_look_course_fini(looks->list[i].course);
        free(looks->list[i].course);
        json_decref(looks->list[i].command);
    }
    if (looks)
        seep_core_file_close(&looks->core);
    free(looks);
}

static bool grows_endlessly(const json_t *document)
{
    const json_t *tree = json_object_get(document, "tree"), *holder;
    size_t i;

    json_array_foreach (json_object_get(tree ? tree : document, "holders"), i, holder) {
        if (strcmp(json_string_value(json_object_get(holder, "growth")), "endless") == 0)
            return true;
    }
    return false;
}

int seep_look_main(int argc, char **argv)
{
    struct look_options options;
    struct looks *looks = calloc(1, sizeof *looks);

    (void)seep_memory_volunteer();
    if (looks)
        looks->core.fd = -1;
    int status = read_options(argc, argv, &options);

    if (looks)
        looks->options = &options;
    if (status < 0 && (!looks || (options.core ? look_at_core(looks) : look(looks))))
        status = looks && looks->harmed ? GROWS_OR_ENDED : SEEP_EXIT_UNUSABLE;
    if (status < 0) {
        json_t *json = document(looks);
        status = json ? seep_output(json, options.format->print, options.out) : SEEP_EXIT_UNUSABLE;
        if (!status && options.open)
            status = open_page(json, looks->list[0].stat.pid);
        if (!status && (looks->harmed || grows_endlessly(json)))
            status = GROWS_OR_ENDED;
        json_decref(json);
    }
    end(looks);
    return status;
}

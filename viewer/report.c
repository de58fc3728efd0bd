/* `seep report`: the report of profile folders, in any format. */
#include "libprof/analysis.h"
#include "libprof/digest/digest_read.h"
#include "libprof/foreign/foreign_file.h"
#include "libprof/gate/gate.h"
#include "libprof/print/check_printers.h"
#include "libprof/print/report_text.h"
#include "libprof/read/part_folders.h"
#include "viewer/colour.h"
#include "viewer/options/options.h"
#include "viewer/output.h"
#include "viewer/viewer.h"
#include "viewer/watch/ask.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct report_options {
    const struct seep_sites_format *format;
    const char *out;   /* NULL: standard output */
    const char *roles; /* NULL: the shipped ones */
    bool all, brief;
    uint32_t pid; /* 0: all */
    bool series;
    bool layouts;
    bool holders; /* ask the running job now what holds its memory */
};

/* A printer is given nothing but the report, so the command's own wishes are passed here. */
static struct seep_report_look wanted;

static int print_text(const json_t *report, struct seep_json_stream *sites, FILE *out)
{
    wanted.colour = seep_colour_of(out);
    return seep_report_text(report, sites, out, &wanted);
}

/* For formats that show verdicts: those of `seep check` without budgets, which look at no site. */
static int print_judged(const json_t *report, seep_printer *print, FILE *out)
{
    json_t *check = NULL;
    int rc = seep_gate_describe(report, &check);

    if (!rc)
        rc = print(check, out, false);
    json_decref(check);
    return rc;
}

#define SEEP_CHECK_FORMAT(name)                                                                    \
    static int print_##name(const json_t *report, struct seep_json_stream *sites, FILE *out)       \
    {                                                                                              \
        (void)sites;                                                                               \
        return print_judged(report, seep_check_##name, out);                                       \
    }
#include "libprof/print/check_formats.def"
#undef SEEP_CHECK_FORMAT

static const struct seep_sites_format formats[] = {
    {"text", print_text},
    {"json", seep_output_json_streamed},
#define SEEP_CHECK_FORMAT(name) {#name, print_##name},
#include "libprof/print/check_formats.def"
#undef SEEP_CHECK_FORMAT
    {NULL, NULL},
};

static bool take_pid(const char *text, struct report_options *o)
{
    char *end;
    long pid = strtol(text, &end, 10);

    o->pid = (uint32_t)pid;
    if (*text && !*end && pid > 0 && pid <= INT32_MAX)
        return true;
    seep_complain("%s is not a process: give its number, as `seep report` shows it", text);
    return false;
}

static bool take(void *to, const struct seep_option_given *given)
{
    struct report_options *o = to;

    switch (given->option) {
    case SEEP_OPTION_REPORT_FORMAT:
        return (o->format = seep_output_choose_of(formats, sizeof *formats, given));
    case SEEP_OPTION_OUTPUT:
        return (o->out = given->value);
    case SEEP_OPTION_REPORT_ROLES:
        return (o->roles = given->value);
    case SEEP_OPTION_ALL:
        return o->all = true;
    case SEEP_OPTION_BRIEF:
        return o->brief = true;
    case SEEP_OPTION_PROCESS:
        return take_pid(given->value, o);
    case SEEP_OPTION_SERIES:
        return o->series = true;
    case SEEP_OPTION_LAYOUTS:
        return o->layouts = true;
    case SEEP_OPTION_HOLDERS:
        return o->holders = true;
    default:
        return false;
    }
}

/* Returns −1 to go on, or the exit status. */
static int read_options(int argc, char **argv, struct report_options *o)
{
    int status = seep_options_read(argc, argv, take, o);

    if (status >= 0 || optind < argc)
        return status;
    seep_complain("no profile is given: try `seep report DIR`");
    return SEEP_EXIT_UNUSABLE;
}

/* Why a digest cannot be read. False: it can be. */
static bool is_bad_digest(const char *name, struct seep_error *err)
{
    struct seep_digest digest;

    if (seep_digest_read(&digest, name, err))
        return true;
    seep_digest_fini(&digest);
    return false;
}

/* The report of the remaining folders is still a report; a message names those that are missing. */
static void complain_unreadable(const char *const *dirs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct seep_error err = {0};
        DIR *stream = opendir(dirs[i]);
        if (stream)
            closedir(stream);
        else if (errno != ENOTDIR)
            seep_complain("%s cannot be read (%s): the report covers the other folders", dirs[i],
                          strerror(errno));
        else if (!seep_foreign_is_at(dirs[i]) && is_bad_digest(dirs[i], &err))
            seep_complain("%s: %s: the report is of the others", dirs[i], err.text);
    }
}

/* Where the job cannot be asked, the report lacks only the holders. */
static void ask_holders(const char *dir)
{
    struct seep_asked asked;
    struct seep_error err = {0};

    if (seep_ask_holders(dir, &asked, &err) < 0)
        seep_complain("%s: %s: the report has what earlier looks saw", err.file[0] ? err.file : dir,
                      err.text);
    else if (asked.n_answered < asked.n_asked)
        seep_complain("%s: %zu of %zu processes did not answer: try again while they allocate", dir,
                      asked.n_asked - asked.n_answered, asked.n_asked);
}

/* Asks each running part of the job, and names folders that cannot be read. */
static void ask_and_complain(const char *const *dirs, size_t n, bool ask)
{
    struct seep_part_folders parts;

    if (seep_part_folders_find(dirs, n, &parts) == 0) {
        for (size_t i = 0; ask && i < parts.n; i++)
            ask_holders(parts.dirs[i]);
        if (!ask)
            complain_unreadable((const char *const *)parts.dirs, parts.n);
    }
    seep_part_folders_fini(&parts);
}

/* ---- the command ------------------------------------------------------------------------- */

struct asked {
    const char *const *dirs;
    size_t n_dirs;
    const struct report_options *options;
    int status;
};

/* A seep_json_stream_user: writes the report while its sites are made. */
static int put_report(void *context, json_t *report, struct seep_json_stream *sites)
{
    struct asked *asked = context;

    ask_and_complain(asked->dirs, asked->n_dirs, false);
    asked->status =
        seep_output_sites(report, sites, asked->options->format->print, asked->options->out);
    return 0;
}

int seep_report_main(int argc, char **argv)
{
    struct report_options options = {.format = formats};
    struct seep_error err = {0};
    int status = read_options(argc, argv, &options);

    if (status >= 0)
        return status;
    struct seep_analysis_options analysis = {.all_sites = options.all,
                                             .brief = options.brief,
                                             .pid = options.pid,
                                             .series = options.series,
                                             .layouts = options.layouts,
                                             .roles_file = options.roles};
    struct asked asked = {.dirs = (const char *const *)(argv + optind),
                          .n_dirs = (size_t)(argc - optind),
                          .options = &options};
    wanted.all = options.all;
    wanted.folder = asked.n_dirs == 1 ? asked.dirs[0] : NULL;
    if (options.holders)
        ask_and_complain(asked.dirs, asked.n_dirs, true);
    if (seep_analyse_streamed(asked.dirs, asked.n_dirs, &analysis, put_report, &asked, &err) == 0)
        return asked.status;
    seep_output_complain_analysis(&err, asked.dirs[0], options.roles);
    return SEEP_EXIT_UNUSABLE;
}

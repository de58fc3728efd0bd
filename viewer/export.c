/* `seep export`: a profile in the formats of other tools. */
#include "libprof/base/text.h"
#include "libprof/export/export_formats.h"
#include "libprof/export/sites.h"
#include "viewer/options/options.h"
#include "viewer/output.h"
#include "viewer/viewer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct format {
    const char *name;
    seep_export *write;
} formats[] = {
#define SEEP_EXPORT_FORMAT(function, name, ...) {name, seep_export_##function},
#include "libprof/export/export_formats.def"
#undef SEEP_EXPORT_FORMAT
    {NULL, NULL},
};

enum { TEXT, BINARY };
static const char kinds[] = {
#define SEEP_EXPORT_FORMAT(function, name, kind, text) kind,
#include "libprof/export/export_formats.def"
#undef SEEP_EXPORT_FORMAT
};

/* What the formats are told of the command. */
static int64_t left_out;
static struct seep_export_options wanted = {.left_out = &left_out};

struct export_options {
    const struct format *format;
    const char *out, *roles;
};

static bool take_measure(const struct seep_option_given *given)
{
    int place = seep_option_choose(given, seep_measure_names, SEEP_N_MEASURES);

    wanted.measure = place < 0 ? SEEP_MEASURE_RETAINED : (enum seep_measure)place;
    return place >= 0;
}

static bool take(void *to, const struct seep_option_given *given)
{
    struct export_options *o = to;

    switch (given->option) {
    case SEEP_OPTION_EXPORT_FORMAT:
        return (o->format = seep_output_choose_of(formats, sizeof *formats, given));
    case SEEP_OPTION_MEASURE:
        return take_measure(given);
    case SEEP_OPTION_TENSORS:
        return wanted.tensors = true;
    case SEEP_OPTION_OUTPUT:
        return (o->out = given->value);
    case SEEP_OPTION_ROLES:
        return (o->roles = given->value);
    default:
        return false;
    }
}

/* Returns −1 to go on, or the exit status. */
static int read_options(int argc, char **argv, struct export_options *o)
{
    int status = seep_options_read(argc, argv, take, o);

    if (status >= 0)
        return status;
    if (optind + 1 != argc)
        seep_complain("export takes one folder: try `seep export DIR --format speedscope`");
    else if (!o->format)
        seep_complain("no format is given: add --format; `seep help export` lists the formats");
    else if (!o->out && kinds[o->format - formats] == BINARY && isatty(STDOUT_FILENO))
        seep_complain("%s is binary and would garble the terminal: write it to a file with -o FILE",
                      o->format->name);
    else
        return -1;
    return SEEP_EXIT_UNUSABLE;
}

static void tell_what_is_left_out(const char *format)
{
    char size[SEEP_SIZE_TEXT];

    if (left_out)
        seep_complain("%s leaves out %s of tensors, because they lie inside memory that the GPU's "
                      "driver gave: add --tensors to write them instead",
                      format, seep_text_size((double)left_out, size));
}

/* ---- the command ------------------------------------------------------------------------- */

struct exporting {
    const char *dir;
    const struct export_options *options;
    json_t *report; /* while it is written */
    struct seep_json_stream *sites;
    int said; /* what the format returned */
    int status;
};

static int write_format(void *what, FILE *out)
{
    struct exporting *e = what;

    return e->said = e->options->format->write(e->report, e->sites, &wanted, out);
}

/* A seep_json_stream_user. */
static int put_export(void *context, json_t *report, struct seep_json_stream *sites)
{
    struct exporting *e = context;
    struct seep_error err = {0};
    const char *format = e->options->format->name;
    char *name = seep_output_name_of(e->dir);

    e->report = report;
    e->sites = sites;
    wanted.profile = name ? name : "profile";
    wanted.read_unix_s = (double)time(NULL);
    e->status = SEEP_EXIT_UNUSABLE;
    if (seep_output_write(write_format, e, e->options->out, &err) == 0) {
        tell_what_is_left_out(format);
        e->status = 0;
    } else if (e->said == -SEEP_ENODATA)
        seep_complain("%s has nothing that %s can show: choose another --measure or format", e->dir,
                      format);
    else if (e->said == -SEEP_ENOMEM)
        seep_complain("not enough memory to write %s as %s: end other programs", e->dir, format);
    else
        seep_complain("%s %s: free some disk space, or choose another place", err.file, err.text);
    free(name);
    return 0;
}

int seep_export_main(int argc, char **argv)
{
    struct export_options options = {0};
    struct seep_error err = {0};
    int status = read_options(argc, argv, &options);

    if (status >= 0)
        return status;
    const struct seep_analysis_options analysis = {
        .all_sites = true, .series = true, .layouts = true, .roles_file = options.roles};
    struct exporting e = {.dir = argv[optind], .options = &options};
    if (seep_analyse_streamed(&e.dir, 1, &analysis, put_export, &e, &err) == 0)
        return e.status;
    seep_output_complain_analysis(&err, e.dir, options.roles);
    return SEEP_EXIT_UNUSABLE;
}

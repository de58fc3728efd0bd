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

/* A printer is given nothing but the report, so the command's own facts are passed here. */
static int64_t left_out;
static struct seep_export_options wanted = {.left_out = &left_out};
static int said; /* what the format returned */

#define SEEP_EXPORT_FORMAT(function, ...)                                                          \
    static int print_##function(const json_t *report, FILE *out, bool colour)                      \
    {                                                                                              \
        (void)colour;                                                                              \
        return said = seep_export_##function(report, &wanted, out);                                \
    }
#include "libprof/export/export_formats.def"
#undef SEEP_EXPORT_FORMAT

static const struct seep_output_format formats[] = {
#define SEEP_EXPORT_FORMAT(function, name, ...) {name, print_##function},
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

struct export_options {
    const struct seep_output_format *format;
    const char *out, *roles;
};

static bool take_measure(const struct seep_option_given *given)
{
    int place = seep_option_choose(given, seep_measure_names, SEEP_N_MEASURES);

    wanted.is_measure_chosen = true;
    wanted.measure = place < 0 ? SEEP_MEASURE_RETAINED : (enum seep_measure)place;
    return place >= 0;
}

static bool take(void *to, const struct seep_option_given *given)
{
    struct export_options *o = to;

    switch (given->option) {
    case SEEP_OPTION_EXPORT_FORMAT:
        return (o->format = seep_output_choose(formats, given));
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

static void tell_what_is_left_out(const struct seep_output_format *format)
{
    char size[SEEP_SIZE_TEXT];

    if (left_out)
        seep_complain("%s leaves out %s of tensors, because they lie inside memory that the GPU's "
                      "driver gave: add --tensors to write them instead",
                      format->name, seep_text_size((double)left_out, size));
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
    const char *dir = argv[optind];
    json_t *report = seep_output_report_of(dir, &analysis);
    if (!report)
        return SEEP_EXIT_UNUSABLE;
    char *name = seep_output_name_of(dir);
    wanted.profile = name ? name : "profile";
    wanted.read_unix_s = (double)time(NULL);
    status = SEEP_EXIT_UNUSABLE;
    if (seep_output_write(report, options.format->print, options.out, 0666, &err) == 0) {
        tell_what_is_left_out(options.format);
        status = 0;
    } else if (said == -SEEP_ENODATA)
        seep_complain("%s has nothing that %s can show: choose another --measure or format", dir,
                      options.format->name);
    else if (said == -SEEP_ENOMEM)
        seep_complain("not enough memory to write %s as %s: end other programs", dir,
                      options.format->name);
    else
        seep_complain("%s %s: free some disk space, or choose another place", err.file, err.text);
    free(name);
    json_decref(report);
    return status;
}

/* `seep verify` and `seep diff`: two runs of one job. */
#include "libprof/gate/fix_verdict.h"
#include "libprof/gate/site_diff.h"
#include "libprof/print/diff_text.h"
#include "libprof/print/fix_text.h"
#include "viewer/colour.h"
#include "viewer/options/options.h"
#include "viewer/output.h"
#include "viewer/viewer.h"

#include <string.h>
#include <unistd.h>

enum { EXIT_NOT_FIXED = 1 };

struct pair_options {
    const struct seep_output_format *format; /* of verify */
    const struct seep_sites_format *diff_format;
    const char *out, *roles;
    bool allow_incomplete, by_growth;
};

static const struct seep_output_format verify_formats[] = {
    {"text", seep_fix_text}, {"json", seep_output_json}, {NULL, NULL}};

static int print_diff(const json_t *diff, struct seep_json_stream *sites, FILE *out)
{
    return seep_diff_text(diff, sites, out, seep_colour_of(out));
}

static const struct seep_sites_format diff_formats[] = {
    {"text", print_diff}, {"json", seep_output_json_streamed}, {NULL, NULL}};

static bool take(void *to, const struct seep_option_given *given)
{
    struct pair_options *o = to;

    switch (given->option) {
    case SEEP_OPTION_SORT:
        o->by_growth = strcmp(given->value, "growth") == 0;
        return seep_option_word(given) >= 0;
    case SEEP_OPTION_VERIFY_FORMAT:
        return (o->format = seep_output_choose(verify_formats, given));
    case SEEP_OPTION_DIFF_FORMAT:
        return (o->diff_format = seep_output_choose_of(diff_formats, sizeof *diff_formats, given));
    case SEEP_OPTION_OUTPUT:
        return (o->out = given->value);
    case SEEP_OPTION_ROLES:
        return (o->roles = given->value);
    case SEEP_OPTION_ALLOW_INCOMPLETE:
        return o->allow_incomplete = true;
    default:
        return false;
    }
}

/* Returns −1 to go on, or the exit status. `names` are the names of the two folders. */
static int read_options(int argc, char **argv, const char *names, struct pair_options *o)
{
    int status = seep_options_read(argc, argv, take, o);

    if (status >= 0 || optind + 2 == argc)
        return status;
    seep_complain("%s takes two folders: try `seep %s %s`", argv[0], argv[0], names);
    return SEEP_EXIT_UNUSABLE;
}

static bool read_both(char **dirs, const char *roles, json_t **reports)
{
    const struct seep_analysis_options options = {.roles_file = roles};

    reports[0] = seep_output_report_of(dirs[0], &options);
    reports[1] = reports[0] ? seep_output_report_of(dirs[1], &options) : NULL;
    return reports[1] != NULL;
}

int seep_verify_main(int argc, char **argv)
{
    struct pair_options o = {.format = verify_formats};
    struct seep_error err = {0};
    json_t *reports[2], *verdict = NULL;
    int status = read_options(argc, argv, "BEFORE AFTER", &o);

    if (status >= 0)
        return status;
    status = SEEP_EXIT_UNUSABLE;
    if (!read_both(argv + optind, o.roles, reports))
        ;
    else if (seep_verify(reports[0], reports[1], o.allow_incomplete, &verdict, &err) < 0)
        seep_complain("%s and %s: %s", argv[optind], argv[optind + 1],
                      err.text[0] ? err.text : "out of memory: end other programs");
    else if (seep_output(verdict, o.format->print, o.out) == 0)
        status = strcmp(json_string_value(json_object_get(verdict, "verdict")), "fixed") == 0
                     ? 0
                     : EXIT_NOT_FIXED;
    json_decref(verdict);
    json_decref(reports[0]);
    json_decref(reports[1]);
    return status;
}

/* ---- seep diff --------------------------------------------------------------------------- */

/* Both runs are in memory while they are compared, and the sites of neither. */
struct comparing {
    char **dirs;
    const struct pair_options *options;
    struct seep_compared runs[2];
    int status;
};

/* A seep_json_stream_user. */
static int put_diff(void *context, json_t *diff, struct seep_json_stream *sites)
{
    struct comparing *c = context;

    c->status = seep_output_sites(diff, sites, c->options->diff_format->print, c->options->out);
    return 0;
}

static void read_run(struct comparing *c, int run);

/* A seep_json_stream_user: with the first run, reads the second, and with it compares both. */
static int with_first(void *context, json_t *report, struct seep_json_stream *sites)
{
    struct comparing *c = context;

    c->runs[0] = (struct seep_compared){report, sites};
    read_run(c, 1);
    return 0;
}

static int with_second(void *context, json_t *report, struct seep_json_stream *sites)
{
    struct comparing *c = context;

    c->runs[1] = (struct seep_compared){report, sites};
    if (seep_diff(c->runs, c->options->by_growth, put_diff, c))
        seep_complain("not enough memory to compare %s and %s: end other programs", c->dirs[0],
                      c->dirs[1]);
    return 0;
}

/* Complains where it cannot be read. */
static void read_run(struct comparing *c, int run)
{
    const struct seep_analysis_options options = {.all_sites = true,
                                                  .roles_file = c->options->roles};
    const char *dir = c->dirs[run];
    struct seep_error err = {0};

    if (seep_analyse_streamed(&dir, 1, &options, run ? with_second : with_first, c, &err))
        seep_output_complain_analysis(&err, dir, options.roles_file);
}

int seep_diff_main(int argc, char **argv)
{
    struct pair_options o = {.diff_format = diff_formats};
    int status = read_options(argc, argv, "BASE NEW", &o);

    if (status >= 0)
        return status;
    struct comparing c = {.dirs = argv + optind, .options = &o, .status = SEEP_EXIT_UNUSABLE};
    read_run(&c, 0);
    return c.status;
}

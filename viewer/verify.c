/* `seep verify` and `seep diff`: two runs of one job. */
#include "libprof/gate/fix_verdict.h"
#include "libprof/gate/site_diff.h"
#include "libprof/print/diff_text.h"
#include "libprof/print/fix_text.h"
#include "viewer/output.h"
#include "viewer/viewer.h"

#include <getopt.h>
#include <string.h>

enum { EXIT_NOT_FIXED = 1 };

struct pair_options {
    const struct seep_output_format *format;
    const char *out, *roles;
    bool allow_incomplete, by_growth;
};

static const struct option verify_options[] = {
    {"allow-incomplete", no_argument, NULL, 'i'},
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"roles", required_argument, NULL, 'r'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const struct option diff_options[] = {
    {"sort", required_argument, NULL, 's'},   {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'}, {"roles", required_argument, NULL, 'r'},
    {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
};

static const struct seep_output_format verify_formats[] = {
    {"text", seep_fix_text}, {"json", seep_output_json}, {NULL, NULL}};
static const struct seep_output_format diff_formats[] = {
    {"text", seep_diff_text}, {"json", seep_output_json}, {NULL, NULL}};

static bool take_sort(const char *text, struct pair_options *o)
{
    o->by_growth = strcmp(text, "growth") == 0;
    if (o->by_growth || strcmp(text, "retained") == 0)
        return true;
    seep_complain("%s is nothing to sort by: choose retained or growth", text);
    return false;
}

/* Returns −1 to go on, or the exit status. `formats`: the first is the default. */
static int read_options(int argc, char **argv, const struct option *list,
                        const struct seep_output_format *formats, const char *names,
                        struct pair_options *o)
{
    opterr = 0;
    o->format = formats;
    for (int c; (c = getopt_long(argc, argv, ":o:h", list, NULL)) != -1;) {
        bool good = true;
        switch (c) {
        case 'i':
            o->allow_incomplete = true;
            break;
        case 's':
            good = take_sort(optarg, o);
            break;
        case 'f':
            o->format = seep_output_choose(formats, optarg);
            good = o->format != NULL;
            break;
        case 'o':
            o->out = optarg;
            break;
        case 'r':
            o->roles = optarg;
            break;
        case 'h':
            return seep_help_print(argv[0]);
        default:
            seep_complain_option(argv[0], c, argv);
            return SEEP_EXIT_UNUSABLE;
        }
        if (!good)
            return SEEP_EXIT_UNUSABLE;
    }
    if (optind + 2 == argc)
        return -1;
    seep_complain("%s takes two folders: try `seep %s %s`", argv[0], argv[0], names);
    return SEEP_EXIT_UNUSABLE;
}

static bool read_both(char **dirs, bool all_sites, const char *roles, json_t **reports)
{
    const struct seep_analysis_options options = {.all_sites = all_sites, .roles_file = roles};

    reports[0] = seep_output_report_of(dirs[0], &options);
    reports[1] = reports[0] ? seep_output_report_of(dirs[1], &options) : NULL;
    return reports[1] != NULL;
}

int seep_verify_main(int argc, char **argv)
{
    struct pair_options o = {0};
    struct seep_error err = {0};
    json_t *reports[2], *verdict = NULL;
    int status = read_options(argc, argv, verify_options, verify_formats, "BEFORE AFTER", &o);

    if (status >= 0)
        return status;
    status = SEEP_EXIT_UNUSABLE;
    if (!read_both(argv + optind, false, o.roles, reports))
        ;
    else if (seep_verify(reports[0], reports[1], o.allow_incomplete, &verdict, &err) < 0)
        seep_complain("%s and %s: %s: record both whole, with the same steps", argv[optind],
                      argv[optind + 1], err.text[0] ? err.text : "no memory");
    else if (seep_output(verdict, o.format->print, o.out) == 0)
        status = strcmp(json_string_value(json_object_get(verdict, "verdict")), "fixed") == 0
                     ? 0
                     : EXIT_NOT_FIXED;
    json_decref(verdict);
    json_decref(reports[0]);
    json_decref(reports[1]);
    return status;
}

int seep_diff_main(int argc, char **argv)
{
    struct pair_options o = {0};
    json_t *reports[2], *diff = NULL;
    int status = read_options(argc, argv, diff_options, diff_formats, "BASE NEW", &o);

    if (status >= 0)
        return status;
    status = SEEP_EXIT_UNUSABLE;
    if (!read_both(argv + optind, true, o.roles, reports))
        ;
    else if (seep_diff(reports[0], reports[1], o.by_growth, &diff) < 0)
        seep_complain("no memory to compare %s and %s: free some", argv[optind], argv[optind + 1]);
    else
        status = seep_output(diff, o.format->print, o.out);
    json_decref(diff);
    json_decref(reports[0]);
    json_decref(reports[1]);
    return status;
}

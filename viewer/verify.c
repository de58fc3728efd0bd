/* `seep verify` and `seep diff`: two runs of one job. */
#include "libprof/gate/fix_verdict.h"
#include "libprof/gate/site_diff.h"
#include "libprof/print/diff_text.h"
#include "libprof/print/fix_text.h"
#include "viewer/options/options.h"
#include "viewer/output.h"
#include "viewer/viewer.h"

#include <string.h>
#include <unistd.h>

enum { EXIT_NOT_FIXED = 1 };

struct pair_options {
    const struct seep_output_format *format;
    const char *out, *roles;
    bool allow_incomplete, by_growth;
};

static const struct seep_output_format verify_formats[] = {
    {"text", seep_fix_text}, {"json", seep_output_json}, {NULL, NULL}};
static const struct seep_output_format diff_formats[] = {
    {"text", seep_diff_text}, {"json", seep_output_json}, {NULL, NULL}};

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
        return (o->format = seep_output_choose(diff_formats, given));
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

static bool read_both(char **dirs, bool all_sites, const char *roles, json_t **reports)
{
    const struct seep_analysis_options options = {.all_sites = all_sites, .roles_file = roles};

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
    if (!read_both(argv + optind, false, o.roles, reports))
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

int seep_diff_main(int argc, char **argv)
{
    struct pair_options o = {.format = diff_formats};
    json_t *reports[2], *diff = NULL;
    int status = read_options(argc, argv, "BASE NEW", &o);

    if (status >= 0)
        return status;
    status = SEEP_EXIT_UNUSABLE;
    if (!read_both(argv + optind, true, o.roles, reports))
        ;
    else if (seep_diff(reports[0], reports[1], o.by_growth, &diff) < 0)
        seep_complain("not enough memory to compare %s and %s: end other programs", argv[optind],
                      argv[optind + 1]);
    else
        status = seep_output(diff, o.format->print, o.out);
    json_decref(diff);
    json_decref(reports[0]);
    json_decref(reports[1]);
    return status;
}

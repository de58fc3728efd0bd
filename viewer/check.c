/* `seep check`: the gate of a CI job. */
#include "libprof/gate/gate.h"
#include "libprof/print/check_printers.h"
#include "viewer/output.h"
#include "viewer/viewer.h"

#include <getopt.h>
#include <string.h>

enum { EXIT_VIOLATED = 1 };

struct check_options {
    const struct seep_output_format *format;
    const char *out, *roles, *budget_file, *baseline;
    bool allow_incomplete;
};

static const struct option long_options[] = {
    {"budget", required_argument, NULL, 'b'},
    {"max-growth", required_argument, NULL, 'g'},
    {"max-peak", required_argument, NULL, 'p'},
    {"max-findings", required_argument, NULL, 'n'},
    {"baseline", required_argument, NULL, 'l'},
    {"allow-incomplete", no_argument, NULL, 'i'},
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"roles", required_argument, NULL, 'r'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const struct seep_output_format formats[] = {
    {"text", seep_check_text},   {"json", seep_output_json},  {"markdown", seep_check_markdown},
    {"sarif", seep_check_sarif}, {"junit", seep_check_junit}, {NULL, NULL},
};

static bool take(struct seep_budget *budget, enum seep_budget_kind kind, const char *option,
                 const char *text)
{
    struct seep_error err = {0};

    if (seep_budget_add(budget, kind, text, &err) == 0)
        return true;
    seep_complain("--%s: %s", option, err.text[0] ? err.text : "no memory: free some");
    return false;
}

/* What options say wins over the file: they are taken in a second pass, after it. */
static bool take_budget(int c, struct seep_budget *budget)
{
    switch (c) {
    case 'g':
        return take(budget, SEEP_BUDGET_GROWTH, "max-growth", optarg);
    case 'p':
        return take(budget, SEEP_BUDGET_PEAK, "max-peak", optarg);
    case 'n':
        return take(budget, SEEP_BUDGET_FINDINGS, "max-findings", optarg);
    default:
        return true;
    }
}

static int read_options(int argc, char **argv, struct check_options *o)
{
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1;) {
        switch (c) {
        case 'b':
            o->budget_file = optarg;
            break;
        case 'g':
        case 'p':
        case 'n':
            break;
        case 'l':
            o->baseline = optarg;
            break;
        case 'i':
            o->allow_incomplete = true;
            break;
        case 'f':
            o->format = seep_output_choose(formats, optarg);
            if (!o->format)
                return SEEP_EXIT_UNUSABLE;
            break;
        case 'o':
            o->out = optarg;
            break;
        case 'r':
            o->roles = optarg;
            break;
        case 'h':
            return seep_help_print("check");
        default:
            seep_complain_option("check", c, argv);
            return SEEP_EXIT_UNUSABLE;
        }
    }
    if (optind + 1 != argc) {
        seep_complain("check takes one folder: try `seep check DIR`");
        return SEEP_EXIT_UNUSABLE;
    }
    return -1;
}

static bool read_budget(int argc, char **argv, const struct check_options *o,
                        struct seep_budget *budget)
{
    struct seep_error err = {0};

    if (o->budget_file && seep_budget_read(budget, o->budget_file, &err) < 0) {
        seep_complain("%s: %s: correct the budget; `seep help check` says how it is written",
                      o->budget_file, err.text[0] ? err.text : "no memory");
        return false;
    }
    budget->allow_incomplete = budget->allow_incomplete || o->allow_incomplete;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1;) {
        if (!take_budget(c, budget))
            return false;
    }
    return true;
}

static void complain(const char *dir, const struct check_options *o, const struct seep_error *err,
                     int rc)
{
    if (rc == -SEEP_EINVAL)
        seep_complain("%s and %s: %s: take a baseline of the same job", o->baseline, dir,
                      err->text);
    else
        seep_complain("%s: %s: record the whole job, with more steps, or see `seep help check`",
                      dir, err->text[0] ? err->text : "no memory");
}

static int check(const char *dir, const struct check_options *o, const struct seep_budget *budget)
{
    struct seep_error err = {0};
    json_t *verdict = NULL, *baseline = NULL;
    int status = SEEP_EXIT_UNUSABLE;
    const struct seep_analysis_options options = {.all_sites = o->baseline, .roles_file = o->roles};
    json_t *report = seep_output_report_of(dir, &options);

    if (report && o->baseline)
        baseline = seep_output_report_of(o->baseline, &options);
    if (report && (baseline || !o->baseline)) {
        struct seep_gate gate = {.report = report, .baseline = baseline, .budget = budget};
        int rc = seep_gate_check(&gate, &verdict, &err);
        if (rc)
            complain(dir, o, &err, rc);
        else if (seep_output(verdict, o->format->print, o->out) == 0)
            status = strcmp(json_string_value(json_object_get(verdict, "verdict")), "holds") == 0
                         ? 0
                         : EXIT_VIOLATED;
    }
    json_decref(verdict);
    json_decref(baseline);
    json_decref(report);
    return status;
}

int seep_check_main(int argc, char **argv)
{
    struct check_options options = {.format = formats};
    struct seep_budget budget = {0};
    int status = read_options(argc, argv, &options);

    if (status >= 0)
        return status;
    const char *dir = argv[optind];
    status = read_budget(argc, argv, &options, &budget) ? check(dir, &options, &budget)
                                                        : SEEP_EXIT_UNUSABLE;
    seep_budget_fini(&budget);
    return status;
}

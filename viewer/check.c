/* `seep check`: the gate of a CI job. */
#include "libprof/gate/gate.h"
#include "libprof/print/check_printers.h"
#include "viewer/options/options.h"
#include "viewer/output.h"
#include "viewer/viewer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_VIOLATED = 1 };

struct check_options {
    const struct seep_output_format *format;
    const char *out, *roles, *budget_file, *baseline;
    bool allow_incomplete;
    struct seep_option_given *budgets; /* has room for every word of the command line */
    size_t n_budgets;
};

static const struct seep_output_format formats[] = {
    {"text", seep_check_text},
    {"json", seep_output_json},
#define SEEP_CHECK_FORMAT(name) {#name, seep_check_##name},
#include "libprof/print/check_formats.def"
#undef SEEP_CHECK_FORMAT
    {NULL, NULL},
};

static bool take(void *to, const struct seep_option_given *given)
{
    struct check_options *o = to;

    switch (given->option) {
    case SEEP_OPTION_BUDGET:
        return (o->budget_file = given->value);
    case SEEP_OPTION_BASELINE:
        return (o->baseline = given->value);
    case SEEP_OPTION_ALLOW_INCOMPLETE:
        return o->allow_incomplete = true;
    case SEEP_OPTION_CHECK_FORMAT:
        return (o->format = seep_output_choose(formats, given));
    case SEEP_OPTION_OUTPUT:
        return (o->out = given->value);
    case SEEP_OPTION_ROLES:
        return (o->roles = given->value);
    case SEEP_OPTION_MAX_GROWTH:
    case SEEP_OPTION_MAX_PEAK:
    case SEEP_OPTION_MAX_FINDINGS:
        o->budgets[o->n_budgets++] = *given;
        return true;
    default:
        return false;
    }
}

/* Returns −1 to go on, or the exit status. */
static int read_options(int argc, char **argv, struct check_options *o)
{
    int status = seep_options_read(argc, argv, take, o);

    if (status >= 0 || optind + 1 == argc)
        return status;
    seep_complain("check takes one folder: try `seep check DIR`");
    return SEEP_EXIT_UNUSABLE;
}

static bool add(struct seep_budget *budget, const struct seep_option_given *given)
{
    enum seep_budget_kind kind = given->option == SEEP_OPTION_MAX_GROWTH ? SEEP_BUDGET_GROWTH
                                 : given->option == SEEP_OPTION_MAX_PEAK ? SEEP_BUDGET_PEAK
                                                                         : SEEP_BUDGET_FINDINGS;
    struct seep_error err = {0};

    if (seep_budget_add(budget, kind, given->value, &err) == 0)
        return true;
    seep_complain("%s: %s", given->from,
                  err.text[0] ? err.text : "out of memory: end other programs");
    return false;
}

/* Options are added after the file, so they win over it. */
static bool read_budget(const struct check_options *o, struct seep_budget *budget)
{
    struct seep_error err = {0};

    if (o->budget_file && seep_budget_read(budget, o->budget_file, &err) < 0) {
        seep_complain("%s: %s: correct the budget; `seep help check` says how it is written",
                      o->budget_file, err.text[0] ? err.text : "no memory");
        return false;
    }
    budget->allow_incomplete = budget->allow_incomplete || o->allow_incomplete;
    for (size_t i = 0; i < o->n_budgets; i++) {
        if (!add(budget, &o->budgets[i]))
            return false;
    }
    return true;
}

static void complain(const char *dir, const struct check_options *o, const struct seep_error *err,
                     int rc)
{
    const char *text = err->text[0] ? err->text : "out of memory: end other programs";

    if (rc == -SEEP_EINVAL)
        seep_complain("%s and %s: %s", o->baseline, dir, text);
    else
        seep_complain("%s: %s", dir, text);
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

    options.budgets = calloc((size_t)argc, sizeof *options.budgets);
    if (!options.budgets) {
        seep_complain("out of memory: end other programs");
        return SEEP_EXIT_UNUSABLE;
    }
    int status = read_options(argc, argv, &options);
    if (status < 0)
        status = read_budget(&options, &budget) ? check(argv[optind], &options, &budget)
                                                : SEEP_EXIT_UNUSABLE;
    seep_budget_fini(&budget);
    free(options.budgets);
    return status;
}

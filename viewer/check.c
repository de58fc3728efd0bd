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

/* The runs are in memory while they are judged, but not their sites. */
struct checking {
    const char *dir;
    const struct check_options *options;
    const struct seep_budget *budget;
    struct seep_compared report;
    int status;
};

/* Says why nobody can tell: beside the document, whose reader may look at nothing but the status.
 */
static int end(const struct checking *c, const json_t *check)
{
    const char *verdict = json_string_value(json_object_get(check, "verdict"));

    if (strcmp(verdict, "unknown") != 0)
        return strcmp(verdict, "holds") == 0 ? 0 : EXIT_VIOLATED;
    seep_complain("%s: %s", c->dir, json_string_value(json_object_get(check, "reason")));
    return SEEP_EXIT_UNUSABLE;
}

static void judge(struct checking *c, const struct seep_compared *baseline)
{
    const struct seep_gate gate = {.report = c->report.report,
                                   .sites = c->report.sites,
                                   .baseline = *baseline,
                                   .budget = c->budget};
    struct seep_error err = {0};
    json_t *verdict = NULL;
    int rc = seep_gate_check(&gate, &verdict, &err);

    if (rc)
        complain(c->dir, c->options, &err, rc);
    else if (seep_output(verdict, c->options->format->print, c->options->out) == 0)
        c->status = end(c, verdict);
    json_decref(verdict);
}

/* Complains where it cannot be read. */
static void read_run(struct checking *c, const char *dir, seep_json_stream_user *use)
{
    const struct seep_analysis_options options = {.all_sites = c->options->baseline,
                                                  .roles_file = c->options->roles};
    struct seep_error err = {0};

    if (seep_analyse_streamed(&dir, 1, &options, use, c, &err))
        seep_output_complain_analysis(&err, dir, options.roles_file);
}

/* A seep_json_stream_user. */
static int with_baseline(void *context, json_t *report, struct seep_json_stream *sites)
{
    judge(context, &(struct seep_compared){report, sites});
    return 0;
}

/* A seep_json_stream_user. */
static int with_report(void *context, json_t *report, struct seep_json_stream *sites)
{
    struct checking *c = context;

    c->report = (struct seep_compared){report, sites};
    if (c->options->baseline)
        read_run(c, c->options->baseline, with_baseline);
    else
        judge(c, &(struct seep_compared){0});
    return 0;
}

static int check(const char *dir, const struct check_options *o, const struct seep_budget *budget)
{
    struct checking c = {.dir = dir, .options = o, .budget = budget, .status = SEEP_EXIT_UNUSABLE};

    read_run(&c, dir, with_report);
    return c.status;
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

#include "libprof/analysis.h"

#include "libprof/code/function_kinds.h"
#include "libprof/code/part_rules.h"
#include "libprof/judge/diagnosis.h"
#include "libprof/judge/process_findings.h"
#include "libprof/judge/resident_findings.h"
#include "libprof/model/model_build.h"
#include "libprof/read/part_folders.h"
#include "libprof/report/report_json.h"

#include <stdlib.h>

/* The results of the analysis, and what it needs for them. */
struct analysis {
    struct seep_part_rules *rules;
    struct seep_function_kinds kinds;
    struct seep_stack_lines lines;
    struct seep_code code;
    struct seep_findings findings;
    struct seep_rss_table rss;
    struct seep_holders holders;
    struct seep_line_holders line_holders;
};

static int read_code(struct analysis *a, const struct seep_model *m, bool outside)
{
    struct seep_symbols *symbols = seep_symbols_create(&m->dict, outside);

    a->code = (struct seep_code){.model = m, .lines = &a->lines, .symbols = symbols};
    if (!symbols)
        return -SEEP_ENOMEM;
    int rc = seep_function_kinds_init(&a->kinds, &m->dict, a->rules, symbols);
    return rc ? rc : seep_stack_lines_init(&a->lines, &m->dict, a->rules, &a->kinds, symbols);
}

static int complete(const struct analysis *a, struct seep_model *m, bool outside, bool all_sites)
{
    bool *loops = seep_function_kinds_marks(&a->kinds, m->dict.n_frames, SEEP_FUNCTION_WORKER_LOOP);
    struct seep_model_options options = {
        .is_worker_loop = loops, .may_open = outside, .all_sites = all_sites};
    int rc = loops ? seep_model_complete(m, &options) : -SEEP_ENOMEM;

    free(loops);
    return rc;
}

static int judge(struct analysis *a, const struct seep_model *m)
{
    int rc = seep_diagnose(&a->code, &a->line_holders, &a->findings);

    if (!rc)
        rc = seep_rss_measure(m, &a->findings.span, &a->rss);
    if (!rc)
        rc = seep_rss_judge(m, &a->rss, &a->findings);
    return rc ? rc : seep_processes_judge(m, &a->findings);
}

static int read_holders(struct analysis *a, const char *const *dirs, size_t n_dirs)
{
    struct seep_holders_files files;
    int rc = seep_holders_open(dirs, n_dirs, &files);

    if (!rc)
        rc = seep_holders_merge(&files, &a->holders);
    seep_holders_files_fini(&files);
    return rc ? rc : seep_line_holders_init(&a->line_holders, &a->holders, &a->code);
}

static int report_of(const struct analysis *a, bool outside,
                     const struct seep_analysis_options *opts, json_t **report)
{
    struct seep_report_pieces pieces = {.code = &a->code,
                                        .findings = &a->findings,
                                        .rss = &a->rss,
                                        .holders = &a->holders,
                                        .line_holders = &a->line_holders,
                                        .may_open = outside,
                                        .all_sites = opts && opts->all_sites,
                                        .brief = opts && opts->brief,
                                        .series = opts && opts->series,
                                        .layouts = opts && opts->layouts};

    return seep_report_json(&pieces, report);
}

/* Makes the report of a merged model. `dirs`: the folders it is from; NULL: from none. */
static int analyse(struct seep_model *m, const struct seep_analysis_options *opts,
                   const char *const *dirs, size_t n_dirs, json_t **report, struct seep_error *err)
{
    struct analysis a = {0};
    const bool outside = dirs;
    bool all_sites = opts && opts->all_sites;
    int rc = seep_part_rules_load(&a.rules, opts ? opts->roles_file : NULL, err);

    if (!rc)
        rc = read_code(&a, m, outside);
    if (!rc)
        rc = complete(&a, m, outside, all_sites);
    if (!rc)
        rc = read_holders(&a, dirs, n_dirs);
    if (!rc)
        rc = judge(&a, m);
    if (!rc)
        rc = report_of(&a, outside, opts, report);
    if (rc)
        seep_error_set(err, -rc, "", 0, "no memory for the analysis: free some");
    seep_line_holders_fini(&a.line_holders);
    seep_holders_fini(&a.holders);
    seep_findings_fini(&a.findings);
    seep_rss_fini(&a.rss);
    seep_symbols_destroy(a.code.symbols);
    seep_stack_lines_fini(&a.lines);
    seep_function_kinds_fini(&a.kinds);
    seep_part_rules_free(a.rules);
    return rc;
}

int seep_analyse(const char *const *dirs, size_t n_dirs, const struct seep_analysis_options *opts,
                 json_t **report, struct seep_error *err)
{
    struct seep_model *m;

    if (!n_dirs)
        return seep_error_set(err, SEEP_EINVAL, "", 0, "no folder given");
    m = calloc(1, sizeof *m);
    if (!m)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory: free some");
    m->only_pid = opts ? opts->pid : 0;
    struct seep_part_folders parts;
    int rc = seep_part_folders_find(dirs, n_dirs, &parts);
    const char *const *all = (const char *const *)parts.dirs;
    if (rc)
        seep_error_set(err, -rc, "", 0, "no memory: free some");
    else if (parts.more)
        seep_model_not_read(m, dirs[0], SEEP_EINVAL,
                            "more folders than one report takes: the rest is left out");
    if (!rc)
        rc = seep_model_merge_folders(m, all, parts.n, err);
    if (!rc)
        rc = analyse(m, opts, all, parts.n, report, err);
    seep_part_folders_fini(&parts);
    seep_model_fini(m);
    free(m);
    return rc;
}

int seep_analyse_profiles(struct seep_profile **profiles, size_t n, struct seep_job *job,
                          const struct seep_analysis_options *opts, json_t **report,
                          struct seep_error *err)
{
    struct seep_model *m = calloc(1, sizeof *m);

    if (!m) {
        for (size_t i = 0; i < n; i++)
            seep_profile_close(profiles[i]);
        free(job);
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory: free some");
    }
    int rc = seep_model_merge_profiles(m, profiles, n, job, err);
    if (!rc)
        rc = analyse(m, opts, NULL, 0, report, err);
    seep_model_fini(m);
    free(m);
    return rc;
}

#include "libprof/analysis.h"

#include "libprof/code/function_kinds.h"
#include "libprof/code/part_rules.h"
#include "libprof/judge/diagnosis.h"
#include "libprof/judge/resident_findings.h"
#include "libprof/model/live_level.h"
#include "libprof/model/merge.h"
#include "libprof/model/open_folders.h"
#include "libprof/model/process_facts.h"
#include "libprof/report/report_json.h"

#include <stdlib.h>

static int analyse(struct seep_model *m, const struct seep_analysis_options *opts, bool outside,
                   json_t **report, struct seep_error *err)
{
    struct seep_stack_lines frames = {0};
    struct seep_function_kinds kinds = {0};
    struct seep_findings findings = {0};
    struct seep_rss_table rss = {0};
    struct seep_symbols *symbols = NULL;
    struct seep_part_rules *rules = NULL;
    int rc = seep_part_rules_load(&rules, opts ? opts->roles_file : NULL, err);

    if (!rc)
        rc = seep_merge(m, err);
    if (rc)
        goto fail;
    symbols = seep_symbols_create(&m->dict, outside);
    rc = symbols ? seep_function_kinds_init(&kinds, &m->dict, rules, symbols) : -SEEP_ENOMEM;
    if (rc)
        goto fail;
    seep_function_kinds_mark_workers(&kinds, m);
    rc = seep_process_facts_compute(m, outside);
    if (!rc)
        rc = seep_processes_add_spaces(m);
    if (!rc)
        rc = seep_level_raise_peaks(m, opts && opts->all_sites);
    if (!rc)
        rc = seep_stack_lines_init(&frames, &m->dict, rules, &kinds, symbols);
    if (!rc)
        rc = seep_diagnose(m, &frames, symbols, &findings);
    if (!rc)
        rc = seep_rss_measure(m, &findings.span, &rss);
    if (!rc)
        rc = seep_rss_judge(m, &rss, &findings);
    if (rc)
        goto fail;
    struct seep_report_pieces pieces = {.m = m,
                                        .frames = &frames,
                                        .symbols = symbols,
                                        .findings = &findings,
                                        .rss = &rss,
                                        .may_look = outside,
                                        .all_sites = opts && opts->all_sites};
    rc = seep_report_json(&pieces, report);
fail:
    if (rc)
        seep_error_set(err, -rc, "", 0, "no memory for the analysis");
    seep_findings_fini(&findings);
    seep_rss_fini(&rss);
    seep_symbols_destroy(symbols);
    seep_stack_lines_fini(&frames);
    seep_function_kinds_fini(&kinds);
    seep_part_rules_free(rules);
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
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    int rc = seep_folder_read(dirs, n_dirs, m, err);
    if (!rc)
        rc = analyse(m, opts, true, report, err);
    seep_model_fini(m);
    free(m);
    return rc;
}

int seep_analyse_profiles(struct seep_profile **profiles, size_t n, struct seep_job *job,
                          const struct seep_analysis_options *opts, json_t **report,
                          struct seep_error *err)
{
    struct seep_model *m = calloc(1, sizeof *m);
    int rc = m ? seep_folder_adopt(profiles, n, job, m) : -SEEP_ENOMEM;

    if (rc) {
        for (size_t i = 0; i < n; i++)
            seep_profile_close(profiles[i]);
        free(job);
        seep_error_set(err, -rc, "", 0, "%s", seep_error_name(rc));
    } else {
        rc = analyse(m, opts, false, report, err);
    }
    if (m)
        seep_model_fini(m);
    free(m);
    return rc;
}

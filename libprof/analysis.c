#include "libprof/analysis.h"

#include "libprof/code/function_kinds.h"
#include "libprof/code/part_rules.h"
#include "libprof/digest/digest_merge.h"
#include "libprof/digest/digest_read.h"
#include "libprof/digest/digest_report.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/digest/fill/digest_fill.h"
#include "libprof/measure/resident/heap_headers.h"
#include "libprof/model/stages/model_build.h"
#include "libprof/read/part_folders.h"
#include "libprof/report/report_json.h"
#include "libprof/verdict/diagnosis.h"

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
    return rc ? rc : seep_heap_headers_add(m);
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

/* Who takes the report. */
struct user {
    seep_json_stream_user *use;
    void *context;
};

/* A seep_json_stream_user: keeps the report, with its sites in it, in the json_t * at `to`. */
static int keep(void *to, json_t *report, struct seep_json_stream *sites)
{
    if (json_object_set_new(report, "sites", seep_json_stream_all(sites)))
        return -SEEP_ENOMEM;
    *(json_t **)to = json_incref(report);
    return 0;
}

/* Gives a report that is in memory to its user, and drops it. */
static int give(json_t *report, const struct user *user)
{
    struct seep_json_stream_of_list sites;
    json_t *list = json_incref(json_object_get(report, "sites"));
    int rc = json_object_set_new(report, "sites", json_array()) ? -SEEP_ENOMEM : 0;

    seep_json_stream_of_list(&sites, list);
    if (!rc)
        rc = user->use(user->context, report, &sites.stream);
    json_decref(list);
    json_decref(report);
    return rc;
}

static int report_of(const struct analysis *a, bool outside,
                     const struct seep_analysis_options *opts, const struct user *user)
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

    return seep_report_json(&pieces, user->use, user->context);
}

static int digest_of(const struct analysis *a, bool outside,
                     const struct seep_analysis_options *opts, struct seep_digest *digest)
{
    json_t *report = NULL;
    int rc = report_of(a, outside, opts, &(struct user){keep, &report});

    if (!rc && seep_digest_fill(digest, &a->code, &a->findings, report))
        rc = -SEEP_ENOMEM;
    json_decref(report);
    return rc;
}

/* Gives the report of a merged model to its user, or makes its digest where `user` is NULL. `dirs`:
 * the folders it is from; NULL: from none. */
static int analyse(struct seep_model *m, const struct seep_analysis_options *opts,
                   const char *const *dirs, size_t n_dirs, const struct user *user,
                   struct seep_digest *digest, struct seep_error *err)
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
    seep_stack_lines_judged(&a.lines);
    if (!rc)
        rc = user ? report_of(&a, outside, opts, user) : digest_of(&a, outside, opts, digest);
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

/* `dirs`: as many as there are, or the first of `more`. */
static int analyse_folders(const char *const *dirs, size_t n_dirs, bool more,
                           const struct seep_analysis_options *opts, const struct user *user,
                           struct seep_digest *digest, struct seep_error *err)
{
    struct seep_model *m = calloc(1, sizeof *m);

    if (!m)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory: free some");
    m->only_pid = opts ? opts->pid : 0;
    if (more)
        seep_model_not_read(m, dirs[0], SEEP_EINVAL,
                            "more folders than one report takes: the rest is left out");
    int rc = seep_model_merge_folders(m, dirs, n_dirs, err);
    if (!rc)
        rc = analyse(m, opts, dirs, n_dirs, user, digest, err);
    seep_model_fini(m);
    free(m);
    return rc;
}

int seep_analyse_digest(const char *dir, const struct seep_analysis_options *opts,
                        struct seep_digest *digest, struct seep_error *err)
{
    return analyse_folders(&dir, 1, false, opts, NULL, digest, err);
}

/* ---- digests ----------------------------------------------------------------------------- */

static bool has_digest(const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (seep_digest_is_at(names[i]))
            return true;
    return false;
}

/* Adds a digest or a folder of profiles. One that is in it already counts once; of one that is in
 * it in part, the rest cannot be had. */
static int add_to_digest(struct seep_digest *all, const char *name,
                         const struct seep_analysis_options *opts, struct seep_error *err)
{
    const bool is_digest = seep_digest_is_at(name);
    struct seep_digest one;
    int rc = is_digest ? seep_digest_read(&one, name, err) : seep_digest_init(&one);

    if (rc)
        return rc;
    if (!is_digest)
        rc = seep_analyse_digest(name, opts, &one, err);
    const size_t shared = rc ? 0 : seep_digest_shared(all, &one);
    if (!rc && !shared)
        rc = seep_digest_merge(all, &one);
    else if (shared && shared < one.sources.n)
        rc = -SEEP_EINVAL;
    seep_digest_fini(&one);
    return rc;
}

/* How many of the names given are beyond what one report takes; where they stand for folders, at
 * least one. */
static size_t left_out(const struct seep_part_folders *parts, size_t n_given)
{
    return !parts->more ? 0 : n_given > parts->n ? n_given - parts->n : 1;
}

/* The report of digests; what cannot be read is counted in it, unless nothing can be, and so is
 * what was left out. */
static int report_of_digests(const char *const *names, size_t n, size_t n_left_out,
                             const struct seep_analysis_options *opts, json_t **report,
                             struct seep_error *err)
{
    struct seep_digest all;
    size_t n_added = 0;
    int rc = seep_digest_init(&all), why = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        const int its = add_to_digest(&all, names[i], opts, err);
        n_added += !its;
        why = why ? why : its;
        rc = its == -SEEP_ENOMEM ? its : 0;
        if (its)
            seep_digest_add_to(&all, SEEP_DIGEST_NUMBER_NOT_MERGED, 1);
    }
    seep_digest_add_to(&all, SEEP_DIGEST_NUMBER_NOT_MERGED, n_left_out);
    if (!rc)
        rc = n_added ? seep_digest_report(&all, opts && opts->series, report) : why;
    seep_digest_fini(&all);
    if (rc == -SEEP_ENOMEM)
        seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory for the digests: free some");
    else if (rc)
        seep_error_set(err, -rc, names[0], 0, "holds no process: make a digest of a profile");
    return rc;
}

static int analyse_any(const char *const *dirs, size_t n_dirs,
                       const struct seep_analysis_options *opts, const struct user *user,
                       struct seep_error *err)
{
    json_t *merged = NULL;
    struct seep_part_folders parts;

    if (!n_dirs)
        return seep_error_set(err, SEEP_EINVAL, "", 0, "no folder given");
    int rc = seep_part_folders_find(dirs, n_dirs, &parts);
    const char *const *all = (const char *const *)parts.dirs;
    if (rc)
        seep_error_set(err, -rc, "", 0, "no memory: free some");
    else if (has_digest(dirs, n_dirs))
        rc = report_of_digests(all, parts.n, left_out(&parts, n_dirs), opts, &merged, err);
    else
        rc = analyse_folders(all, parts.n, parts.more, opts, user, NULL, err);
    seep_part_folders_fini(&parts);
    return merged ? give(merged, user) : rc;
}

int seep_analyse(const char *const *dirs, size_t n_dirs, const struct seep_analysis_options *opts,
                 json_t **report, struct seep_error *err)
{
    return analyse_any(dirs, n_dirs, opts, &(struct user){keep, report}, err);
}

int seep_analyse_streamed(const char *const *dirs, size_t n_dirs,
                          const struct seep_analysis_options *opts, seep_json_stream_user *use,
                          void *context, struct seep_error *err)
{
    return analyse_any(dirs, n_dirs, opts, &(struct user){use, context}, err);
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
        rc = analyse(m, opts, NULL, 0, &(struct user){keep, report}, NULL, err);
    seep_model_fini(m);
    free(m);
    return rc;
}

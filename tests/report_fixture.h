/* What the suites of the report share: two profiles and a report made of them. */
#ifndef SEEP_TESTS_REPORT_FIXTURE_H
#define SEEP_TESTS_REPORT_FIXTURE_H

#include "libprof/analysis.h"
#include "libprof/base/text.h"
#include "libprof/print/report_text.h"
#include "libprof/read/profile_read.h"
#include "tests/profile_builder.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { START = 1000000000 };

static struct builder a, c;
static json_t *report;
static const char *beside, *beside_text; /* a file that lies beside the profiles */

static inline void setup(void)
{
    unsetenv("COLUMNS"); /* texts are as wide as where nobody says how wide */
    builder_init(&a, 100, START);
    builder_init(&c, 200, START + UINT64_C(1000000000));
    builder_header(&c)->ppid = 100;
    builder_header(&c)->process_plus_1 = 2;
    report = NULL;
    beside = beside_text = NULL;
}

static inline void teardown(void)
{
    json_decref(report);
    builder_fini(&a);
    builder_fini(&c);
}

static inline struct seep_profile *open_one(const struct builder *b)
{
    struct seep_profile *p = NULL;

    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b->bytes, b->n_bytes, &p, NULL), 0);
    return p;
}

static inline void analyse(size_t n, struct seep_job *job, bool all)
{
    struct seep_profile *p[] = {open_one(&a), n > 1 ? open_one(&c) : NULL};
    struct seep_analysis_options opts = {.all_sites = all};

    ck_assert_int_eq(seep_analyse_profiles(p, n, job, &opts, &report, NULL), 0);
}

static inline void write_beside(const char *dir)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", dir, beside);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(beside_text, f);
    fclose(f);
}

/* By way of files, so that /proc and the files of modules are looked at. */
static inline void analyse_folder(struct seep_job *job, bool all)
{
    char dir[] = "/tmp/seep-report-XXXXXX", command[64];
    const char *const dirs[] = {dir};
    struct seep_analysis_options opts = {.all_sites = all};

    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(builder_write(&a, dir, "100-1.seep"), 0);
    if (job)
        ck_assert_int_eq(builder_write_job(job, dir), 0);
    free(job);
    if (beside_text)
        write_beside(dir);
    int rc = seep_analyse(dirs, 1, &opts, &report, NULL);
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(rc, 0);
}

static inline const json_t *at(const json_t *root, const char *path)
{
    char part[64];

    while (root && *path) {
        size_t n = strcspn(path, "/");
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        root = json_is_array(root) ? json_array_get(root, (size_t)atoi(part))
                                   : json_object_get(root, part);
        path += n + (path[n] == '/');
    }
    return root;
}

static inline double number(const char *path)
{
    const json_t *value = at(report, path);

    ck_assert_msg(json_is_number(value), "%s is no number", path);
    return json_number_value(value);
}

static inline const char *string(const char *path)
{
    const char *text = json_string_value(at(report, path));

    ck_assert_msg(text != NULL, "%s is no string", path);
    return text;
}

static inline uint32_t python_stack(struct builder *b, const char *file, unsigned line)
{
    return builder_stack(b, 0, builder_python(b, file, "work", line));
}

static inline uint64_t two_a_step(uint32_t period, void *arg)
{
    (void)arg;
    return period >= 5 ? 2 * (period - 4) : 0;
}

static inline void leaking_job(bool all)
{
    builder_level(&a, python_stack(&a, "/home/user/project/train.py", 40), 0, 4096, 105, two_a_step,
                  NULL);
    builder_timeline(&a, 105, 50 << 20);
    builder_header(&a)->limit_ram_bytes = UINT64_C(1) << 30;
    analyse(1, builder_job(100, START, 100, 5), all);
}

#endif

/* A made-up profile judged beside snapshots of who holds what. */
#ifndef SEEP_TESTS_VERDICT_BESIDE_SNAPSHOTS_H
#define SEEP_TESTS_VERDICT_BESIDE_SNAPSHOTS_H

#include "tests/verdict/pattern_fixture.h"

#include <stdio.h>

/* Of process 100, into the folder of its profile. */
static inline void write_snapshot(const char *dir, int step, const json_t *document)
{
    char path[128];

    snprintf(path, sizeof path, "%s/holders-100-%d.json", dir, step);
    ck_assert_int_eq(json_dump_file(document, path, 0), 0);
}

/* The first finding; write() adds the snapshots. Borrowed. */
static inline const json_t *judged_beside(void (*write)(const char *dir), uint32_t last,
                                          uint64_t resident_bytes)
{
    char dir[] = "/tmp/seep-evidence-XXXXXX", command[64];
    const char *const dirs[] = {dir};

    ck_assert_ptr_nonnull(mkdtemp(dir));
    builder_timeline(&b, last, resident_bytes);
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    ck_assert_int_eq(builder_write_job(job, dir), 0);
    free(job);
    write(dir);
    int rc = seep_analyse(dirs, 1, NULL, &report, NULL);
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(rc, 0);
    return json_array_get(json_object_get(report, "findings"), 0);
}

static inline void expect_finding(const json_t *f, const char *pattern, const char *severity,
                                  const char *said)
{
    char *all = json_dumps(json_object_get(report, "findings"), JSON_INDENT(1));

    ck_assert_msg(f && strcmp(text(f, "pattern"), pattern) == 0, "%s", all);
    ck_assert_msg(strcmp(text(f, "severity"), severity) == 0, "%s", all);
    ck_assert_msg(strstr(all, said) != NULL, "%s", all);
    free(all);
}

#endif

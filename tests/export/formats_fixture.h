/* What suites of formats share: a made-up report, and the output of a format for it. */
#ifndef SEEP_TESTS_FORMATS_FORMATS_FIXTURE_H
#define SEEP_TESTS_FORMATS_FORMATS_FIXTURE_H

#include "libprof/export/sites.h"
#include "tests/gate/gate_fixture.h"

static char *text;
static size_t n_text;

static inline int write_as(seep_export *format, enum seep_measure measure)
{
    static int64_t left_out;
    const struct seep_export_options o = {
        .measure = measure, .profile = "train.d", .left_out = &left_out};

    struct seep_json_stream_of_list sites;

    free(text);
    text = NULL;
    seep_json_stream_of_list(&sites, json_object_get(report, "sites"));
    FILE *out = open_memstream(&text, &n_text);
    int rc = format(report, &sites.stream, &o, out);
    fclose(out);
    return rc;
}

static inline void fini(void)
{
    free(text);
    text = NULL;
    teardown();
}

#endif

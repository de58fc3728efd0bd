/* What suites of formats share: a made-up report, and what a format writes of it. */
#ifndef SEEP_TESTS_FORMATS_FORMATS_FIXTURE_H
#define SEEP_TESTS_FORMATS_FORMATS_FIXTURE_H

#include "libprof/export/sites.h"
#include "tests/gate/gate_fixture.h"

static char *text;
static size_t n_text;

static inline int write_as(seep_export *format, enum seep_measure measure)
{
    const struct seep_export_options o = {.measure = measure, .profile = "train.d"};

    free(text);
    text = NULL;
    FILE *out = open_memstream(&text, &n_text);
    int rc = format(report, &o, out);
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

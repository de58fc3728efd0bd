/* What the suites of coverage share: a job with samples of its resident memory, and what is said.
 */
#ifndef SEEP_TESTS_REPORT_COVERAGE_FIXTURE_H
#define SEEP_TESTS_REPORT_COVERAGE_FIXTURE_H

#include "tests/report_fixture.h"

#define MIB (UINT64_C(1) << 20)

enum { STEPS = 100, FIRST = 5 };

static inline bool not_seen(const char *what)
{
    const json_t *list = at(report, "coverage/not_seen");

    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strstr(json_string_value(json_array_get(list, i)), what))
            return true;
    }
    return false;
}

static inline char *printed(bool all)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    ck_assert_int_eq(seep_report_text(report, NULL, out, &(struct seep_report_look){.all = all}),
                     0);
    fclose(out);
    return text;
}

/* Lines are broken where they are long. */
static inline void join_lines(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        if (*from == '\n' || (*from == ' ' && to > text && to[-1] == ' '))
            *to = to > text && to[-1] == ' ' ? 0 : ' ';
        else
            *to = *from;
        to += *to != 0;
    }
    *to = 0;
}

static inline bool prints(const char *what, bool all)
{
    char *text = printed(all);

    join_lines(text);
    bool found = strstr(text, what) != NULL;

    free(text);
    return found;
}

static inline struct seep_rss_sample sample_at(uint32_t step, uint64_t unexplained,
                                               uint64_t heap_free)
{
    return (struct seep_rss_sample){
        .t_ns = START + (FIRST + step) * UINT64_C(100000000),
        .period = FIRST + step - 1,
        .rss_bytes = 400 * MIB + unexplained + heap_free,
        .heap_live_bytes = 200 * MIB,
        .heap_free_bytes = heap_free,
        .maps_bytes = 100 * MIB,
        .shm_bytes = 50 * MIB,
        .stacks_bytes = 10 * MIB,
        .files_bytes = 30 * MIB,
        .seep_bytes = 10 * MIB,
        .unexplained_bytes = unexplained,
    };
}

static inline void add_sample(struct builder *b, struct seep_rss_sample sample)
{
    struct seep_header *h = builder_header(b);

    h->rss_samples[h->n_rss_samples++] = sample;
    if (sample.rss_bytes > h->rss_peak.rss_bytes)
        h->rss_peak = sample;
}

/* Some of the job's own, so that the report has lines. */
static inline struct seep_job *stepped_job(void)
{
    builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1, 1000, 0, 0, 1);
    builder_timeline(&a, FIRST + STEPS, 500 * MIB);
    return builder_job(100, START, STEPS, FIRST);
}

#endif

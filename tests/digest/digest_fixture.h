/* Made-up digests. */
#ifndef SEEP_TESTS_DIGEST_DIGEST_FIXTURE_H
#define SEEP_TESTS_DIGEST_DIGEST_FIXTURE_H

#include "libprof/digest/digest_fit.h"
#include "libprof/digest/digest_merge.h"
#include "libprof/digest/digest_names.h"
#include "libprof/digest/digest_read.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/digest/digest_words.h"
#include "libprof/digest/digest_write.h"
#include "tests/suite.h"

#include <string.h>

static uint64_t dice = 1;

static inline uint64_t roll(uint64_t n) /* 0 … n − 1 */
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (dice >> 20) % n;
}

static inline struct seep_digest_who who_of(struct seep_digest *d, int rank, uint64_t value)
{
    char host[32];

    snprintf(host, sizeof host, "node%03d", rank / 8);
    return (struct seep_digest_who){.value = value,
                                    .rank = rank,
                                    .local_rank = rank % 8,
                                    .host = seep_digest_text(d, host),
                                    .pid = (uint32_t)(1000 + rank)};
}

static inline uint32_t frame_of(struct seep_digest *d, int number)
{
    char text[1024];

    snprintf(text, sizeof text,
             "{\"file\":\"/data/%0600d.py\",\"function\":\"f%d\",\"kind\":\"python\","
             "\"line\":%d}",
             number % 7, number, number + 1);
    return seep_digest_text(d, text);
}

static inline uint32_t stack_of(struct seep_digest *d, int number)
{
    uint32_t frames[5];

    for (int i = 0; i < 5; i++)
        frames[i] = frame_of(d, i < 2 ? number : number / (10 * i));
    return seep_digest_stack(
        d, &(struct seep_digest_stack){.part = (uint8_t)(number % SEEP_N_PARTS), .n = 5}, frames);
}

static inline void add_site(struct seep_digest *d, int number, int rank, uint64_t value)
{
    struct seep_digest_row row = {
        .key = {.kind = SEEP_DIGEST_SITES,
                .role = SEEP_DIGEST_ROLE_RANK,
                .bucket = seep_digest_bucket(value),
                .subject = seep_digest_text(d, number % 3 ? "host" : "tensor:0"),
                .about = stack_of(d, number)},
        .n = 1,
        .sum = value,
        .max = who_of(d, rank, value)};

    for (int i = 0; i < SEEP_DIGEST_COURSE; i++)
        row.course[i] = value * (uint64_t)(i + 1) >> 10;
    seep_digest_add_row(d, &row, NULL, d->step_shift);
}

static inline void add_finding(struct seep_digest *d, int line, int rank, uint64_t value)
{
    const struct seep_digest_about about = {.pattern = (uint8_t)(line % SEEP_N_PATTERNS),
                                            .severity = (uint8_t)(line % SEEP_N_SEVERITIES),
                                            .space = seep_digest_text(d, "host"),
                                            .frame = frame_of(d, line)};
    const struct seep_digest_row row = {.key = {.kind = SEEP_DIGEST_FINDINGS,
                                                .role = SEEP_DIGEST_ROLE_RANK,
                                                .bucket = seep_digest_bucket(value),
                                                .about = seep_digest_about(d, &about)},
                                        .n = 1,
                                        .sum = value,
                                        .max = who_of(d, rank, value)};
    char example[64];

    snprintf(example, sizeof example, "{\"title\":\"line %d of rank %d\"}", line, rank);
    const struct seep_digest_found found = {.growth_sum = value,
                                            .growth_most = value,
                                            .first_step = (uint64_t)line,
                                            .ranks = 1,
                                            .least_rank = rank,
                                            .most_rank = rank,
                                            .least_host = row.max.host,
                                            .most_host = row.max.host,
                                            .example = seep_digest_text(d, example)};
    seep_digest_add_row(d, &row, &found, d->step_shift);
}

static inline void add_space(struct seep_digest *d, const char *space, int rank, uint64_t value)
{
    const struct seep_digest_row row = {.key = {.kind = SEEP_DIGEST_SPACES,
                                                .role = SEEP_DIGEST_ROLE_RANK,
                                                .bucket = seep_digest_bucket(value),
                                                .subject = seep_digest_text(d, space)},
                                        .n = 1,
                                        .sum = value,
                                        .max = who_of(d, rank, value),
                                        .course = {value >> 10}};

    seep_digest_add_row(d, &row, NULL, d->step_shift);
}

static inline void add_process(struct seep_digest *d, int rank, uint64_t rss)
{
    const uint32_t measure = seep_digest_text(d, seep_digest_measures[SEEP_DIGEST_MEASURE_RSS]);
    const struct seep_digest_row row = {.key = {.kind = SEEP_DIGEST_PROCESSES,
                                                .role = SEEP_DIGEST_ROLE_RANK,
                                                .bucket = seep_digest_bucket(rss),
                                                .subject = measure},
                                        .n = 1,
                                        .sum = rss,
                                        .max = who_of(d, rank, rss)};
    const struct seep_digest_cell cell = {.node = (uint32_t)rank / 8 >> d->node_shift,
                                          .local_rank = (uint32_t)rank % 8,
                                          .n = 1,
                                          .sum = {rss},
                                          .most = {rss}};

    seep_digest_add_row(d, &row, NULL, d->step_shift);
    seep_digest_add_top(d, SEEP_DIGEST_ROLE_RANK, measure, false, &row.max);
    seep_digest_add_top(d, SEEP_DIGEST_ROLE_RANK, measure, true, &row.max);
    seep_digest_add_cell(d, &cell);
    seep_digest_add_rank(d, (uint64_t)rank);
    seep_digest_add_to(d, SEEP_DIGEST_NUMBER_PROCESSES, 1);
    seep_digest_add_to(d, SEEP_DIGEST_NUMBER_WORLD, (uint64_t)rank + 1);
    seep_digest_add_number(d, &d->sources, (uint64_t)rank, SEEP_DIGEST_SOURCES);
    seep_digest_add_text(d, &d->hosts, row.max.host, SEEP_DIGEST_HOSTS);
}

/* As written; free() it. */
static inline char *bytes_of(const struct seep_digest *d)
{
    json_t *json = seep_digest_json(d);
    ck_assert_ptr_nonnull(json);
    char *bytes = json_dumps(json, JSON_COMPACT);

    ck_assert_ptr_nonnull(bytes);
    json_decref(json);
    return bytes;
}

/* The sum over all rows of some kinds, a bit for each. */
static inline uint64_t sum_of(const struct seep_digest *d, unsigned kinds)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < d->n_rows; i++)
        if (kinds >> d->rows[i].key.kind & 1)
            sum += d->rows[i].sum;
    return sum;
}

#endif

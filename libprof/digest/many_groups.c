/* Rows put together, and what is said of processes. */
#include "libprof/digest/many_parts.h"

#include "libprof/base/statistics.h"
#include "libprof/digest/digest_order.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/words/findings/many_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *seep_digest_place(const struct seep_digest *d, const struct seep_digest_who *who,
                              char text[SEEP_DIGEST_PLACE_TEXT])
{
    if (who->rank >= 0)
        snprintf(text, SEEP_DIGEST_PLACE_TEXT, SEEP_DIGEST_RANK_ON_TEXT, who->rank, who->pid,
                 d->texts[who->host]);
    else
        snprintf(text, SEEP_DIGEST_PLACE_TEXT, SEEP_DIGEST_PROCESS_ON_TEXT, who->pid,
                 d->texts[who->host]);
    return text;
}

const char *seep_digest_role_words(uint8_t role, uint64_t n)
{
    static const char *const words[SEEP_N_DIGEST_ROLES][2] = {
        [SEEP_DIGEST_ROLE_HELPER] = {"helper", "helpers"},
        [SEEP_DIGEST_ROLE_TRAINER] = {"trainer", "trainers"},
        [SEEP_DIGEST_ROLE_WORKER] = {"loader worker", "loader workers"},
        [SEEP_DIGEST_ROLE_RANK] = {"rank", "ranks"},
    };

    return words[role][n != 1];
}

uint64_t seep_digest_count(const struct seep_digest *d, uint8_t role)
{
    uint64_t n = 0;

    for (size_t i = 0; i < d->n_rows; i++) {
        const struct seep_digest_key *key = &d->rows[i].key;
        if (key->kind == SEEP_DIGEST_ENDS && key->role == role)
            n = seep_digest_sum(n, d->rows[i].n);
    }
    return n;
}

/* ---- courses ----------------------------------------------------------------------------- */

size_t seep_digest_levels(const struct seep_digest *d, const uint64_t *course, double *bytes,
                          uint64_t *step)
{
    const uint64_t last = d->numbers[SEEP_DIGEST_NUMBER_STEPS_MOST];
    const uint64_t wide = UINT64_C(1) << (d->step_shift < 32 ? d->step_shift : 32);
    size_t n = 0;

    for (; n < SEEP_DIGEST_COURSE && n * wide < last; n++) {
        const uint64_t end = (n + 1) * wide < last ? (n + 1) * wide : last;
        bytes[n] = (double)course[n] * 1024 / (double)(end - n * wide);
        step[n] = end;
    }
    return n;
}

json_t *seep_digest_slope(const struct seep_digest *d, const uint64_t *course)
{
    double bytes[SEEP_DIGEST_COURSE];
    uint64_t step[SEEP_DIGEST_COURSE];
    struct seep_slope slope = {0};
    size_t n = seep_digest_levels(d, course, bytes, step);

    n -= n > 1; /* a job that ends frees what it had; the last cell may be a short one */
    const size_t warm = n / 4;
    if (n - warm >= SEEP_STATISTICS_MIN &&
        seep_slope_estimate(bytes + warm, 1, n - warm, (double)(step[1] - step[0]), &slope))
        slope = (struct seep_slope){0};
    return json_pack("{s:f, s:f, s:f}", "value", slope.value, "low", slope.low, "high", slope.high);
}

/* ---- groups ------------------------------------------------------------------------------ */

static void add_row(const struct seep_digest *d, struct seep_digest_group *g,
                    const struct seep_digest_row *row)
{
    const bool is_larger = !g->n || seep_digest_compare_who(d, &row->max, &g->max) < 0;

    if (row->found && !g->n)
        g->found = d->founds[row->found - 1];
    else if (row->found)
        seep_digest_add_found(d, &g->found, &d->founds[row->found - 1]);
    if (row->found && is_larger)
        g->found.example = d->founds[row->found - 1].example;
    if (is_larger)
        g->max = row->max;
    g->n = seep_digest_sum(g->n, row->n);
    g->sum = seep_digest_sum(g->sum, row->sum);
    g->buckets[row->key.bucket] = seep_digest_sum(g->buckets[row->key.bucket], row->n);
    if (row->key.role < SEEP_N_DIGEST_ROLES)
        g->n_by_role[row->key.role] = seep_digest_sum(g->n_by_role[row->key.role], row->n);
    for (size_t i = 0; i < SEEP_DIGEST_COURSE; i++)
        g->course[i] = seep_digest_course_sum(g->course[i], row->course[i]);
}

int seep_digest_groups(const struct seep_digest *d, enum seep_digest_kind kind,
                       struct seep_digest_group **groups, size_t *n)
{
    struct seep_digest_order order;
    size_t capacity = 0;
    int rc = seep_digest_order_init(&order, d);

    *groups = NULL;
    *n = 0;
    for (size_t i = 0; i < d->n_rows && !rc; i++) {
        const struct seep_digest_row *row = &d->rows[order.rows[i]];
        const struct seep_digest_group *last = *n ? &(*groups)[*n - 1] : NULL;
        if (row->key.kind != kind)
            continue;
        if (!last || last->subject != row->key.subject || last->about != row->key.about) {
            rc = seep_grow(groups, &capacity, *n + 1, sizeof **groups);
            if (rc)
                break;
            (*groups)[(*n)++] = (struct seep_digest_group){
                .kind = kind, .subject = row->key.subject, .about = row->key.about};
        }
        add_row(d, &(*groups)[*n - 1], row);
    }
    seep_digest_order_fini(&order);
    if (rc) {
        free(*groups);
        *groups = NULL;
    }
    return rc;
}

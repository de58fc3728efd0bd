/* The field `digest` of a report: what many processes show together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/json_build.h"
#include "libprof/base/statistics.h"
#include "libprof/base/text.h"
#include "libprof/digest/digest_order.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/digest/digest_write.h"
#include "libprof/digest/many_parts.h"
#include "libprof/report_read/report_fields.h"

/* Rows put together, and what is said of processes. */

const char *seep_digest_place(const struct seep_digest *d, const struct seep_digest_who *who,
                              char text[SEEP_DIGEST_PLACE_TEXT])
{
    if (who->rank >= 0)
        snprintf(text, SEEP_DIGEST_PLACE_TEXT, "rank %d (process %u on %s)", who->rank, who->pid,
                 d->texts[who->host]);
    else
        snprintf(text, SEEP_DIGEST_PLACE_TEXT, "process %u on %s", who->pid, d->texts[who->host]);
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

struct seep_slope seep_digest_slope(const struct seep_digest *d, const uint64_t *course)
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
    return slope;
}

/* ---- groups ------------------------------------------------------------------------------ */

static void add_row(const struct seep_digest *d, struct seep_digest_group *g,
                    const struct seep_digest_row *row)
{
    const bool is_larger = !g->n || seep_digest_compare_who(d, &row->max, &g->max) < 0;

    if (row->found && !g->n)
        g->found = d->finding_rows[row->found - 1];
    else if (row->found)
        seep_digest_add_found(d, &g->found, &d->finding_rows[row->found - 1]);
    if (row->found && is_larger)
        g->found.example = d->finding_rows[row->found - 1].example;
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

enum { MAX_LINE = 512, MAX_RUNS = 12 };

json_t *seep_digest_histogram_json(const uint64_t *buckets)
{
    json_t *list = json_array();
    bool failed = false;

    for (int i = 0; i < SEEP_DIGEST_BUCKETS; i++)
        if (buckets[i])
            seep_json_append(list,
                             SEEP_REPORT_JSON(class, .at_least = i ? UINT64_C(1) << (i - 1) : 0,
                                              .n = buckets[i]),
                             &failed);
    return seep_json_whole(list, failed);
}

/* ---- distributions ----------------------------------------------------------------------- */

static json_t *top_json(const struct seep_digest *d, uint8_t role, uint32_t subject, bool low)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < d->n_tops; i++) {
        const struct seep_digest_top *top = &d->extremes[i];
        if (top->role != role || top->subject != subject || top->low != low)
            continue;
        for (uint32_t k = 0; k < top->n; k++)
            seep_json_append(list, seep_digest_who_json(d, &top->who[k]), &failed);
    }
    return seep_json_whole(list, failed);
}

/* The rows of one role, kind and subject from rows[at] on; sets *next behind them. */
static json_t *distribution_json(const struct seep_digest *d, const uint32_t *rows, size_t at,
                                 size_t *next)
{
    const struct seep_digest_key *key = &d->rows[rows[at]].key;
    uint64_t n = 0, sum = 0, buckets[SEEP_DIGEST_BUCKETS] = {0};

    for (*next = at; *next < d->n_rows; ++*next) {
        const struct seep_digest_row *row = &d->rows[rows[*next]];
        if (row->key.kind != key->kind || row->key.role != key->role ||
            row->key.subject != key->subject)
            break;
        n = seep_digest_sum(n, row->n);
        sum = seep_digest_sum(sum, row->sum);
        buckets[row->key.bucket] = row->n;
    }
    const struct seep_digest_row *last = &d->rows[rows[*next - 1]]; /* of the highest bucket */
    const bool has_tops = key->kind == SEEP_DIGEST_PROCESSES;
    bool failed = false;
    json_t *json = SEEP_REPORT_JSON(
        distribution, .of = d->texts[key->subject], .role = seep_digest_roles[key->role],
        .processes = n, .sum = sum, .histogram = seep_digest_histogram_json(buckets),
        .most = has_tops ? top_json(d, key->role, key->subject, false)
                         : json_pack("[o]", seep_digest_who_json(d, &last->max)),
        .least =
            has_tops ? seep_json_made(top_json(d, key->role, key->subject, true), &failed) : NULL);
    return seep_json_whole(json, failed);
}

static json_t *distributions_json(const struct seep_digest *d)
{
    struct seep_digest_order order;
    json_t *list = json_array();
    bool failed = seep_digest_order_init(&order, d);

    for (size_t i = 0; i < d->n_rows && !failed;) {
        const uint8_t kind = d->rows[order.rows[i]].key.kind;
        if (kind == SEEP_DIGEST_PROCESSES || kind == SEEP_DIGEST_SPACES)
            seep_json_append(list, distribution_json(d, order.rows, i, &i), &failed);
        else
            i++;
    }
    seep_digest_order_fini(&order);
    return seep_json_whole(list, failed);
}

static json_t *ends_json(const struct seep_digest *d)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < d->n_rows; i++) {
        const struct seep_digest_row *row = &d->rows[i];
        if (row->key.kind == SEEP_DIGEST_ENDS)
            seep_json_append(list,
                             SEEP_REPORT_JSON(end, .end = d->texts[row->key.subject],
                                              .role = seep_digest_roles[row->key.role],
                                              .processes = row->n,
                                              .first = seep_digest_who_json(d, &row->max)),
                             &failed);
    }
    return seep_json_whole(list, failed);
}

static json_t *cells_json(const struct seep_digest *d)
{
    struct seep_digest_order order;
    json_t *list = json_array();
    bool failed = seep_digest_order_init(&order, d);

    for (size_t i = 0; i < d->n_cells && !failed; i++) {
        const struct seep_digest_cell *cell = &d->cells[order.cells[i]];
        json_t *json = SEEP_REPORT_JSON(cell, .node = (uint64_t)cell->node << d->node_shift,
                                        .local_rank = cell->local_rank, .ranks = cell->n);
        for (int k = 0; k < SEEP_N_DIGEST_MEASURES; k++)
            seep_json_set(
                json, seep_digest_measures[k],
                json_pack("[o, o]", seep_json_count(cell->sum[k]), seep_json_count(cell->most[k])),
                &failed);
        seep_json_append(list, json, &failed);
    }
    seep_digest_order_fini(&order);
    return seep_json_whole(list, failed);
}

/* ---- ranks ------------------------------------------------------------------------------- */

static bool has_rank(const struct seep_digest *d, uint64_t rank)
{
    return d->ranks[rank / 8] >> rank % 8 & 1;
}

/* Ranks that a launcher has told of, as far as they can be told apart. */
static uint64_t n_known(const struct seep_digest *d)
{
    const uint64_t world = d->numbers[SEEP_DIGEST_NUMBER_WORLD];

    return world < SEEP_DIGEST_RANKS ? world : SEEP_DIGEST_RANKS;
}

static uint64_t digest_missing(const struct seep_digest *d, char text[SEEP_DIGEST_RANKS_TEXT])
{
    const uint64_t known = n_known(d);
    uint64_t missing = 0;
    size_t n = 0, runs = 0;

    text[0] = '\0';
    for (uint64_t first = 0; first < known; first++) {
        uint64_t last = first;
        if (has_rank(d, first))
            continue;
        while (last + 1 < known && !has_rank(d, last + 1))
            last++;
        missing += last - first + 1;
        if (++runs <= MAX_RUNS && last > first)
            n += (size_t)snprintf(text + n, SEEP_DIGEST_RANKS_TEXT - n, "%s%llu to %llu",
                                  n ? ", " : "", (unsigned long long)first,
                                  (unsigned long long)last);
        else if (runs <= MAX_RUNS)
            n += (size_t)snprintf(text + n, SEEP_DIGEST_RANKS_TEXT - n, "%s%llu", n ? ", " : "",
                                  (unsigned long long)first);
        first = last;
    }
    if (runs > MAX_RUNS)
        snprintf(text + n, SEEP_DIGEST_RANKS_TEXT - n, " and more");
    return missing;
}

static json_t *ranks_json(const struct seep_digest *d)
{
    char text[SEEP_DIGEST_RANKS_TEXT];
    const uint64_t missing = digest_missing(d, text);

    return SEEP_REPORT_JSON(ranks, .world = d->numbers[SEEP_DIGEST_NUMBER_WORLD],
                            .missing = missing, .missing_ranks = text);
}

/* ---- remarks ----------------------------------------------------------------------------- */

/* A process is worth a remark if it is so much behind the others, or so far above their average. */
static const double BEHIND = 0.9, ABOVE = 1.5;

static const struct seep_digest_top *top_of(const struct seep_digest *d, uint8_t role,
                                            enum seep_digest_measure measure, bool low)
{
    for (size_t i = 0; i < d->n_tops; i++)
        if (d->extremes[i].role == role && d->extremes[i].low == low && d->extremes[i].n &&
            strcmp(d->texts[d->extremes[i].subject], seep_digest_measures[measure]) == 0)
            return &d->extremes[i];
    return NULL;
}

static double mean_of(const struct seep_digest *d, uint8_t role, uint32_t subject)
{
    double n = 0, sum = 0;

    for (size_t i = 0; i < d->n_rows; i++) {
        const struct seep_digest_row *row = &d->rows[i];
        if (row->key.kind != SEEP_DIGEST_PROCESSES || row->key.role != role ||
            row->key.subject != subject)
            continue;
        n += (double)row->n;
        sum += (double)row->sum;
    }
    return n > 0 ? sum / n : 0;
}

static void add_behind(const struct seep_digest *d, json_t *list, bool *failed)
{
    const uint8_t role = SEEP_DIGEST_ROLE_RANK;
    const struct seep_digest_top *least = top_of(d, role, SEEP_DIGEST_MEASURE_STEPS, true);
    const struct seep_digest_top *most = top_of(d, role, SEEP_DIGEST_MEASURE_STEPS, false);
    char place[SEEP_DIGEST_PLACE_TEXT], line[MAX_LINE], few[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT];

    for (uint32_t i = 0; least && most && i < 3 && i < least->n; i++) {
        if ((double)least->who[i].value >= BEHIND * (double)most->who[0].value)
            break;
        snprintf(line, sizeof line, "%s has made %s of %s steps",
                 seep_digest_place(d, &least->who[i], place),
                 seep_text_count(least->who[i].value, few),
                 seep_text_count(most->who[0].value, all));
        seep_json_append(list, seep_json_text(line), failed);
    }
}

static void add_above(const struct seep_digest *d, enum seep_digest_measure measure,
                      const char *name, json_t *list, bool *failed)
{
    const struct seep_digest_top *most = top_of(d, SEEP_DIGEST_ROLE_RANK, measure, false);
    const double mean = most ? mean_of(d, SEEP_DIGEST_ROLE_RANK, most->subject) : 0;
    char place[SEEP_DIGEST_PLACE_TEXT], line[MAX_LINE], size[SEEP_SIZE_TEXT], usual[SEEP_SIZE_TEXT];

    for (uint32_t i = 0; most && i < 3 && i < most->n; i++) {
        if ((double)most->who[i].value <= ABOVE * mean)
            break;
        snprintf(line, sizeof line, "%s has %s of %s at its peak, the average is %s",
                 seep_digest_place(d, &most->who[i], place),
                 seep_text_size((double)most->who[i].value, size), name,
                 seep_text_size(mean, usual));
        seep_json_append(list, seep_json_text(line), failed);
    }
}

static json_t *remarks_json(const struct seep_digest *d)
{
    json_t *list = json_array();
    bool failed = false;

    add_behind(d, list, &failed);
    add_above(d, SEEP_DIGEST_MEASURE_RSS, "RSS", list, &failed);
    add_above(d, SEEP_DIGEST_MEASURE_DEVICE, "GPU memory", list, &failed);
    add_above(d, SEEP_DIGEST_MEASURE_COLLECTIVE, "memory for collectives", list, &failed);
    return seep_json_whole(list, failed);
}

/* ---- as a whole -------------------------------------------------------------------------- */

json_t *seep_digest_not_seen_json(const struct seep_digest *d)
{
    char line[MAX_LINE], n[SEEP_SIZE_TEXT], of[SEEP_SIZE_TEXT], ranks[SEEP_DIGEST_RANKS_TEXT];
    json_t *list = json_array();
    bool failed = false;
    const uint64_t missing = digest_missing(d, ranks), *numbers = d->numbers;

    if (missing) {
        snprintf(line, sizeof line, "%s of %s ranks have no profile here: %s",
                 seep_text_count(missing, n),
                 seep_text_count(numbers[SEEP_DIGEST_NUMBER_WORLD], of), ranks);
        seep_json_append(list, json_string(line), &failed);
    }
    if (numbers[SEEP_DIGEST_NUMBER_NOT_MERGED]) {
        snprintf(line, sizeof line, "%s digests could not be merged",
                 seep_text_count(numbers[SEEP_DIGEST_NUMBER_NOT_MERGED], n));
        seep_json_append(list, json_string(line), &failed);
    }
    if (numbers[SEEP_DIGEST_NUMBER_BY_TIME]) {
        snprintf(line, sizeof line,
                 "%s of %s folders have no steps: their courses are by time slices",
                 seep_text_count(numbers[SEEP_DIGEST_NUMBER_BY_TIME], n),
                 seep_text_count(numbers[SEEP_DIGEST_NUMBER_FOLDERS], of));
        seep_json_append(list, json_string(line), &failed);
    }
    if (d->site_level) {
        snprintf(
            line, sizeof line,
            "Stacks of which no process had %s or more are counted together: there were too many",
            seep_text_size((double)(UINT64_C(1) << (d->site_level - 1)), n));
        seep_json_append(list, json_string(line), &failed);
    }
    seep_json_append(list,
                     json_string("A digest has no peak of a sum: the peaks of spaces and stacks "
                                 "are the sums of each process's own peaks"),
                     &failed);
    return seep_json_whole(list, failed);
}

json_t *seep_digest_many_json(const struct seep_digest *d)
{
    json_t *json = SEEP_REPORT_JSON(
        many, .hosts = d->hosts.n, .ranks = ranks_json(d), .remarks = remarks_json(d),
        .ends = ends_json(d), .distributions = distributions_json(d),
        .nodes_per_cell = UINT64_C(1) << (d->node_shift < 32 ? d->node_shift : 32),
        .cells = cells_json(d));
    bool failed = false;

    for (int i = 0; i < SEEP_N_DIGEST_NUMBERS; i++)
        seep_json_set(json, seep_digest_numbers[i], seep_json_count(d->numbers[i]), &failed);
    return seep_json_whole(json, failed);
}

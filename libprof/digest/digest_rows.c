#include "libprof/digest/digest_rows.h"

#include <stdlib.h>
#include <string.h>

/* ---- processes --------------------------------------------------------------------------- */

/* By name alone: two values of one process do not compare equal elsewhere. */
static int compare_names(const struct seep_digest *d, const struct seep_digest_who *a,
                         const struct seep_digest_who *b)
{
    if (a->rank != b->rank)
        return (uint32_t)a->rank < (uint32_t)b->rank ? -1 : 1; /* without a rank: last */
    if (a->host != b->host)
        return strcmp(d->texts[a->host], d->texts[b->host]);
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->local_rank > b->local_rank) - (a->local_rank < b->local_rank);
}

int seep_digest_compare_who(const struct seep_digest *d, const struct seep_digest_who *a,
                            const struct seep_digest_who *b)
{
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return compare_names(d, a, b);
}

static struct seep_digest_top *top_of(struct seep_digest *d, uint8_t role, uint32_t subject,
                                      bool low)
{
    for (size_t i = 0; i < d->n_tops; i++)
        if (d->extremes[i].subject == subject && d->extremes[i].role == role &&
            d->extremes[i].low == low)
            return &d->extremes[i];
    if (seep_grow(&d->extremes, &d->tops_capacity, d->n_tops + 1, sizeof *d->extremes)) {
        d->failed = true;
        return NULL;
    }
    d->extremes[d->n_tops] = (struct seep_digest_top){.role = role, .subject = subject, .low = low};
    return &d->extremes[d->n_tops++];
}

void seep_digest_add_top(struct seep_digest *d, uint8_t role, uint32_t subject, bool low,
                         const struct seep_digest_who *who)
{
    struct seep_digest_top *top = top_of(d, role, subject, low);
    uint32_t at = top ? top->n : 0;

    while (at) {
        const struct seep_digest_who *before = &top->who[at - 1];
        int order = seep_digest_compare_who(d, before, who);
        if (low && before->value != who->value)
            order = -order;
        if (order <= 0)
            break;
        at--;
    }
    if (!top || at == SEEP_DIGEST_TOPS)
        return;
    if (top->n < SEEP_DIGEST_TOPS)
        top->n++;
    memmove(&top->who[at + 1], &top->who[at], (top->n - at - 1) * sizeof *who);
    top->who[at] = *who;
}

/* ---- rows -------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct seep_digest_key *key)
{
    return seep_hash_two((uint64_t)key->subject << 32 | key->about,
                         (uint64_t)key->kind << 16 | (uint64_t)key->role << 8 | key->bucket);
}

struct seep_digest_row *seep_digest_row(struct seep_digest *d, const struct seep_digest_key *key)
{
    const uint64_t hash = hash_of(key);
    uint32_t at = seep_hash_begin(&d->row_index, hash), id;

    while ((id = seep_hash_next(&d->row_index, hash, &at)) != SEEP_HASH_NONE) {
        const struct seep_digest_key *its = &d->rows[id].key;
        if (its->kind == key->kind && its->role == key->role && its->bucket == key->bucket &&
            its->subject == key->subject && its->about == key->about)
            return &d->rows[id];
    }
    if (d->n_rows >= SEEP_HASH_NONE - 1 ||
        seep_grow(&d->rows, &d->rows_capacity, d->n_rows + 1, sizeof *d->rows) ||
        seep_hash_add(&d->row_index, hash, (uint32_t)d->n_rows)) {
        d->failed = true;
        return NULL;
    }
    d->rows[d->n_rows] = (struct seep_digest_row){.key = *key};
    return &d->rows[d->n_rows++];
}

static struct seep_digest_found *found_of(struct seep_digest *d, struct seep_digest_row *row)
{
    if (row->found)
        return &d->finding_rows[row->found - 1];
    if (seep_grow(&d->finding_rows, &d->founds_capacity, d->n_founds + 1,
                  sizeof *d->finding_rows)) {
        d->failed = true;
        return NULL;
    }
    d->finding_rows[d->n_founds] = (struct seep_digest_found){.least_rank = -1, .most_rank = -1};
    row->found = (uint32_t)++d->n_founds;
    return &d->finding_rows[d->n_founds - 1];
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void seep_digest_add_found(const struct seep_digest *d, struct seep_digest_found *f,
                           const struct seep_digest_found *more)
{
    f->growth_sum = seep_digest_sum(f->growth_sum, more->growth_sum);
    f->growth_most = most(f->growth_most, more->growth_most);
    f->blocks = seep_digest_sum(f->blocks, more->blocks);
    f->first_step = least(f->first_step, more->first_step);
    f->ranks = seep_digest_sum(f->ranks, more->ranks);
    f->least_rank = (int32_t)least((uint32_t)f->least_rank, (uint32_t)more->least_rank);
    if (more->most_rank > f->most_rank)
        f->most_rank = more->most_rank;
    if (strcmp(d->texts[more->least_host], d->texts[f->least_host]) < 0)
        f->least_host = more->least_host;
    if (strcmp(d->texts[more->most_host], d->texts[f->most_host]) > 0)
        f->most_host = more->most_host;
}

/* `order`: how the old row's largest process and the new one's compare; 0 for equal ones. */
static void add_found(struct seep_digest *d, struct seep_digest_row *row,
                      const struct seep_digest_found *more, int order)
{
    const bool is_new = !row->found;
    struct seep_digest_found *f = found_of(d, row);

    if (!f)
        return;
    if (is_new) {
        *f = *more;
        return;
    }
    seep_digest_add_found(d, f, more);
    if (order > 0 || (order == 0 && strcmp(d->texts[more->example], d->texts[f->example]) < 0))
        f->example = more->example;
}

void seep_digest_add_row(struct seep_digest *d, const struct seep_digest_row *more,
                         const struct seep_digest_found *found, uint32_t shift)
{
    struct seep_digest_row *row = seep_digest_row(d, &more->key);

    if (!row)
        return;
    const int order = row->n ? seep_digest_compare_who(d, &row->max, &more->max) : 1;
    if (found)
        add_found(d, row, found, order);
    if (order > 0)
        row->max = more->max;
    row->n = seep_digest_sum(row->n, more->n);
    row->sum = seep_digest_sum(row->sum, more->sum);
    const uint32_t by = d->step_shift - shift;
    for (size_t i = 0; i < SEEP_DIGEST_COURSE; i++) {
        uint64_t *cell = &row->course[by < 32 ? i >> by : 0];
        *cell = seep_digest_course_sum(*cell, more->course[i]);
    }
}

void seep_digest_widen(struct seep_digest *d, uint32_t shift)
{
    const uint32_t by = shift > d->step_shift ? shift - d->step_shift : 0;

    for (size_t k = 0; by && k < d->n_rows; k++) {
        uint64_t course[SEEP_DIGEST_COURSE] = {0};
        for (size_t i = 0; i < SEEP_DIGEST_COURSE; i++) {
            uint64_t *cell = &course[by < 32 ? i >> by : 0];
            *cell = seep_digest_course_sum(*cell, d->rows[k].course[i]);
        }
        memcpy(d->rows[k].course, course, sizeof course);
    }
    d->step_shift += by;
}

/* ---- cells, sets, numbers ---------------------------------------------------------------- */

void seep_digest_add_cell(struct seep_digest *d, const struct seep_digest_cell *more)
{
    const uint64_t hash = seep_hash_two(more->node, more->local_rank);
    uint32_t at = seep_hash_begin(&d->cell_index, hash), id;

    while ((id = seep_hash_next(&d->cell_index, hash, &at)) != SEEP_HASH_NONE)
        if (d->cells[id].node == more->node && d->cells[id].local_rank == more->local_rank)
            break;
    if (id == SEEP_HASH_NONE) {
        if (d->n_cells >= SEEP_HASH_NONE - 1 ||
            seep_grow(&d->cells, &d->cells_capacity, d->n_cells + 1, sizeof *d->cells) ||
            seep_hash_add(&d->cell_index, hash, (uint32_t)d->n_cells)) {
            d->failed = true;
            return;
        }
        id = (uint32_t)d->n_cells++;
        d->cells[id] =
            (struct seep_digest_cell){.node = more->node, .local_rank = more->local_rank};
    }
    struct seep_digest_cell *cell = &d->cells[id];
    cell->n = seep_digest_sum(cell->n, more->n);
    for (size_t i = 0; i < SEEP_N_DIGEST_MEASURES; i++) {
        cell->sum[i] = seep_digest_sum(cell->sum[i], more->sum[i]);
        cell->most[i] = most(cell->most[i], more->most[i]);
    }
}

/* Inserts at `at`, and lets the last go if there are too many. */
static void insert(struct seep_digest *d, struct seep_digest_set *set, size_t at, uint64_t value,
                   size_t limit)
{
    if (at == limit)
        return;
    if (seep_grow(&set->list, &set->capacity, set->n + 1, sizeof *set->list)) {
        d->failed = true;
        return;
    }
    memmove(set->list + at + 1, set->list + at, (set->n - at) * sizeof *set->list);
    set->list[at] = value;
    set->n += set->n < limit;
}

void seep_digest_add_number(struct seep_digest *d, struct seep_digest_set *set, uint64_t number,
                            size_t limit)
{
    size_t low = 0, high = set->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (set->list[middle] == number)
            return;
        if (set->list[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    insert(d, set, low, number, limit);
}

void seep_digest_add_text(struct seep_digest *d, struct seep_digest_set *set, uint32_t text,
                          size_t limit)
{
    size_t low = 0, high = set->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(d->texts[set->list[middle]], d->texts[text]);
        if (!order)
            return;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    insert(d, set, low, text, limit);
}

void seep_digest_add_to(struct seep_digest *d, enum seep_digest_number number, uint64_t value)
{
    enum how { SUM, MOST, LEAST };
    static const enum how hows[] = {
#define SEEP_DIGEST_NUMBER(id, name, how, ...) how,
#include "libprof/digest/digest_numbers.def"
#undef SEEP_DIGEST_NUMBER
    };
    uint64_t *it = &d->numbers[number];

    value = least(value, SEEP_DIGEST_MOST);
    if (hows[number] == SUM)
        *it = seep_digest_sum(*it, value);
    else if (hows[number] == MOST)
        *it = most(*it, value);
    else if (value && (!*it || value < *it))
        *it = value;
}

void seep_digest_add_rank(struct seep_digest *d, uint64_t rank)
{
    if (rank < SEEP_DIGEST_RANKS)
        d->ranks[rank / 8] |= (uint8_t)(1u << rank % 8);
    else
        seep_digest_add_to(d, SEEP_DIGEST_NUMBER_RANKS_BEYOND, 1);
}

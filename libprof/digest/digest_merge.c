#include "libprof/digest/digest_merge.h"

#include "libprof/digest/digest_fit.h"
#include "libprof/digest/digest_names.h"
#include "libprof/digest/digest_rows.h"

static struct seep_digest_who map_who(struct seep_digest_map *map,
                                      const struct seep_digest_who *who)
{
    struct seep_digest_who now = *who;

    now.host = seep_digest_map_text(map, who->host);
    return now;
}

static struct seep_digest_found map_found(struct seep_digest_map *map,
                                          const struct seep_digest_found *found)
{
    struct seep_digest_found now = *found;

    now.least_host = seep_digest_map_text(map, found->least_host);
    now.most_host = seep_digest_map_text(map, found->most_host);
    now.example = seep_digest_map_text(map, found->example);
    return now;
}

static bool is_about_stack(enum seep_digest_kind kind)
{
    return kind == SEEP_DIGEST_SITES;
}

static void merge_row(struct seep_digest_map *map, const struct seep_digest_row *row)
{
    struct seep_digest *d = map->into;
    struct seep_digest_row now = *row;
    struct seep_digest_found found;

    now.key.subject = seep_digest_map_text(map, row->key.subject);
    now.key.about = is_about_stack(row->key.kind) ? seep_digest_map_stack(map, row->key.about)
                                                  : seep_digest_map_about(map, row->key.about);
    now.max = map_who(map, &row->max);
    if (d->failed)
        return;
    if (row->found)
        found = map_found(map, &map->from->finding_rows[row->found - 1]);
    now = seep_digest_level_row(d, &now);
    if (!d->failed)
        seep_digest_add_row(d, &now, now.found ? &found : NULL, map->from->step_shift);
}

static void merge_set(struct seep_digest_map *map, struct seep_digest_set *to,
                      const struct seep_digest_set *from, size_t most)
{
    for (size_t i = 0; i < from->n && !map->into->failed; i++)
        seep_digest_add_text(map->into, to, seep_digest_map_text(map, (uint32_t)from->list[i]),
                             most);
}

static void merge_tables(struct seep_digest_map *map)
{
    const struct seep_digest *from = map->from;
    struct seep_digest *d = map->into;

    for (size_t i = 0; i < from->n_rows && !d->failed; i++)
        merge_row(map, &from->rows[i]);
    for (size_t i = 0; i < from->n_tops; i++) {
        const struct seep_digest_top *top = &from->extremes[i];
        const uint32_t subject = seep_digest_map_text(map, top->subject);
        for (uint32_t k = 0; k < top->n && !d->failed; k++) {
            const struct seep_digest_who who = map_who(map, &top->who[k]);
            seep_digest_add_top(d, top->role, subject, top->low, &who);
        }
    }
    const uint32_t by = d->node_shift - from->node_shift;
    for (size_t i = 0; i < from->n_cells && !d->failed; i++) {
        struct seep_digest_cell cell = from->cells[i];
        cell.node = by < 32 ? cell.node >> by : 0;
        seep_digest_add_cell(d, &cell);
    }
}

int seep_digest_merge(struct seep_digest *d, const struct seep_digest *more)
{
    struct seep_digest_map map;

    if (seep_digest_map_init(&map, d, more))
        return -SEEP_ENOMEM;
    seep_digest_raise(d, more);
    merge_tables(&map);
    for (int i = 0; i < SEEP_N_DIGEST_NUMBERS; i++)
        seep_digest_add_to(d, (enum seep_digest_number)i, more->numbers[i]);
    for (size_t i = 0; i < SEEP_DIGEST_RANKS / 8; i++)
        d->ranks[i] |= more->ranks[i];
    for (size_t i = 0; i < more->sources.n && !d->failed; i++)
        seep_digest_add_number(d, &d->sources, more->sources.list[i], SEEP_DIGEST_SOURCES);
    merge_set(&map, &d->hosts, &more->hosts, SEEP_DIGEST_HOSTS);
    merge_set(&map, &d->commands, &more->commands, SEEP_DIGEST_FEW);
    merge_set(&map, &d->job_ids, &more->job_ids, SEEP_DIGEST_FEW);
    merge_set(&map, &d->versions, &more->versions, SEEP_DIGEST_FEW);
    merge_set(&map, &d->step_sources, &more->step_sources, SEEP_DIGEST_FEW);
    merge_set(&map, &d->cwds, &more->cwds, SEEP_DIGEST_FEW);
    seep_digest_map_fini(&map);
    if (!d->failed)
        seep_digest_fit(d);
    return d->failed ? -SEEP_ENOMEM : 0;
}

size_t seep_digest_shared(const struct seep_digest *a, const struct seep_digest *b)
{
    size_t shared = 0;

    for (size_t i = 0, k = 0; i < a->sources.n && k < b->sources.n;) {
        const uint64_t one = a->sources.list[i], other = b->sources.list[k];
        shared += one == other;
        i += one <= other;
        k += other <= one;
    }
    return shared;
}

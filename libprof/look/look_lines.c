#include "libprof/look/look_lines.h"

#include "libprof/base/json_build.h"
#include "libprof/who/find/profile_chain.h"

#include <stdlib.h>

static struct seep_look_share *share_of(struct seep_look_lines *l, uint32_t holder, uint32_t line)
{
    const uint64_t pair = seep_hash_two(holder, line);
    uint32_t at = seep_hash_begin(&l->by_pair, pair), i;

    while ((i = seep_hash_next(&l->by_pair, pair, &at)) != SEEP_HASH_NONE)
        if (l->shares[i].holder == holder && l->shares[i].line == line)
            return &l->shares[i];
    if (seep_grow(&l->shares, &l->capacity, l->n + 1, sizeof *l->shares) ||
        seep_hash_add(&l->by_pair, pair, (uint32_t)l->n))
        return NULL;
    l->shares[l->n] = (struct seep_look_share){.holder = holder, .line = line};
    return &l->shares[l->n++];
}

static int count_block(struct seep_look_lines *l, const struct seep_look_holder *list,
                       uint32_t holder, uint32_t line, uint64_t bytes)
{
    for (; holder != SEEP_LOOK_NO_HOLDER; holder = list[holder].within) {
        struct seep_look_share *share = share_of(l, holder, line);
        if (!share)
            return -SEEP_ENOMEM;
        share->bytes += bytes;
    }
    return 0;
}

static int by_holder(const void *a, const void *b)
{
    const struct seep_look_share *x = a, *y = b;

    return x->holder != y->holder ? (x->holder < y->holder ? -1 : 1)
           : x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1)
                                  : (x->line > y->line) - (x->line < y->line);
}

static int count(struct seep_look_lines *l, const struct seep_taken *taken,
                 const struct seep_heap *heap, const struct seep_look_holder *list,
                 const uint32_t *holder)
{
    int rc = 0;

    for (uint32_t i = 0; i < heap->n_blocks && !rc; i++) {
        const size_t at = seep_live_set_find(&taken->live, heap->nodes[i].start);
        const uint32_t line =
            at < taken->live.n
                ? l->groups.of_site[seep_site_sums_find(&l->sites, taken->live.blocks[at].site)]
                : SEEP_NO_LINE;
        if (line != SEEP_NO_LINE)
            rc = count_block(l, list, holder[i], line, heap->nodes[i].bytes);
    }
    if (l->n)
        qsort(l->shares, l->n, sizeof *l->shares, by_holder);
    return rc;
}

int seep_look_lines_count(struct seep_look_lines *l, const struct seep_taken *taken,
                          const struct seep_heap *heap, const struct seep_look_holder *list,
                          const uint32_t *holder)
{
    const struct seep_process_profile *its = &taken->profile;
    struct seep_profile *profile = NULL;
    struct seep_error ignored = {0};

    *l = (struct seep_look_lines){0};
    if (!taken->live.n ||
        seep_profile_chain_open(its->folder, its->pid, its->start_ns, &profile, &ignored))
        return 0;
    int rc = 0;
    for (size_t i = 0; i < taken->live.n && !rc; i++)
        rc = seep_site_sums_add(&l->sites, taken->live.blocks[i].site, taken->live.blocks[i].bytes,
                                1);
    if (!rc)
        rc = seep_line_groups_init(&l->groups, profile, &l->sites, NULL, &ignored);
    seep_profile_chain_close(profile);
    l->known = !rc;
    if (rc)
        return rc == -SEEP_ENOMEM ? rc : 0;
    return count(l, taken, heap, list, holder);
}

void seep_look_lines_fini(struct seep_look_lines *l)
{
    seep_line_groups_fini(&l->groups);
    seep_site_sums_fini(&l->sites);
    seep_hash_fini(&l->by_pair);
    free(l->shares);
    *l = (struct seep_look_lines){0};
}

json_t *seep_look_lines_json(const struct seep_look_lines *l, uint32_t holder)
{
    json_t *list = l->known ? json_array() : json_null();
    bool failed = !list;
    size_t i = 0;

    while (l->known && i < l->n && l->shares[i].holder < holder)
        i++;
    for (size_t k = 0; i < l->n && l->shares[i].holder == holder && k < SEEP_LOOK_LINES; i++, k++) {
        json_t *one =
            json_pack("{s:o, s:o}", "frame", seep_line_groups_frame(&l->groups, l->shares[i].line),
                      "bytes", seep_json_count(l->shares[i].bytes));
        seep_json_append(list, one, &failed);
    }
    return seep_json_whole(list, failed);
}

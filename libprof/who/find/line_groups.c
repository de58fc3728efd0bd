#include "libprof/who/find/line_groups.h"

#include <stdlib.h>
#include <string.h>

#include "libprof/code/frame_json.h"
#include "libprof/code/part_rules.h"
#include "libprof/model/stack_import.h"

size_t seep_site_sums_find(const struct seep_site_sums *sums, uint32_t site)
{
    const uint64_t hash = seep_hash_two(site, 0);
    uint32_t at = seep_hash_begin(&sums->by_site, hash), id;

    while ((id = seep_hash_next(&sums->by_site, hash, &at)) != SEEP_HASH_NONE)
        if (sums->list[id].site == site)
            return id;
    return sums->n;
}

int seep_site_sums_add(struct seep_site_sums *sums, uint32_t site, uint64_t bytes, uint32_t n)
{
    const size_t i = seep_site_sums_find(sums, site);

    if (i == sums->n) {
        if (seep_grow(&sums->list, &sums->capacity, i + 1, sizeof *sums->list) ||
            seep_hash_add(&sums->by_site, seep_hash_two(site, 0), (uint32_t)i))
            return -SEEP_ENOMEM;
        sums->list[sums->n++] = (struct seep_site_sum){.site = site};
    }
    sums->list[i].blocks += n;
    sums->list[i].bytes += bytes < (INT64_MAX - sums->list[i].bytes) / n ? n * bytes : 0;
    return 0;
}

void seep_site_sums_fini(struct seep_site_sums *sums)
{
    free(sums->list);
    seep_hash_fini(&sums->by_site);
    *sums = (struct seep_site_sums){0};
}

enum { SITE_BYTES = 64, REFS_PER_SITE = SITE_BYTES / 8 };

/* 0: unknown. A site is looked up once: its memo holds the stack + 1. */
static uint32_t stack_of_site(struct seep_resolver *r, struct seep_profile *profile, uint32_t index)
{
    struct seep_profile *found_in = NULL;
    uint32_t ref = index < UINT32_MAX / REFS_PER_SITE ? index * REFS_PER_SITE : 0;
    const struct seep_site *site =
        ref ? seep_profile_at(profile, ref, SEEP_CHUNK_SITES, SITE_BYTES, &found_in) : NULL;
    uint32_t *memo = site ? seep_profile_memo(found_in, ref) : NULL;

    if (!memo || !site->slot_plus_1)
        return 0;
    if (!*memo)
        *memo = 1 + seep_resolve_stack(r, found_in, site->stack);
    return *memo - 1;
}

static int read_code(struct seep_line_groups *g, const char *roles_file, struct seep_error *err)
{
    int rc = seep_part_rules_load(&g->rules, roles_file, err);

    if (rc)
        return rc;
    g->symbols = seep_symbols_create(&g->dict, true);
    if (!g->symbols)
        return -SEEP_ENOMEM;
    rc = seep_function_kinds_init(&g->kinds, &g->dict, g->rules, g->symbols);
    return rc ? rc : seep_stack_lines_init(&g->stacks, &g->dict, g->rules, &g->kinds, g->symbols);
}

/* of_site[] first holds stacks; each is replaced by its line. */
static void count(struct seep_line_groups *g, const struct seep_site_sum *sites,
                  uint32_t *line_of_frame)
{
    for (size_t i = 0; i < g->n_sites; i++) {
        uint32_t stack = g->of_site[i];
        uint32_t frame = stack && !g->stacks.importing[stack] ? g->stacks.shown[stack] : 0;
        g->of_site[i] = SEEP_NO_LINE;
        if (!frame)
            continue;
        if (!line_of_frame[frame]) {
            g->lines[g->n_lines].frame = frame;
            line_of_frame[frame] = (uint32_t)++g->n_lines;
        }
        struct seep_line_group *line = &g->lines[line_of_frame[frame] - 1];
        line->blocks += sites[i].blocks;
        line->bytes += sites[i].bytes < INT64_MAX - line->bytes ? sites[i].bytes : 0;
        g->of_site[i] = line_of_frame[frame] - 1;
    }
}

static int compare_lines(const void *a, const void *b)
{
    const struct seep_line_group *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void sort(struct seep_line_groups *g, uint32_t *line_of_frame)
{
    /* The index of each line before they were sorted. */
    for (size_t i = 0; i < g->n_sites; i++)
        g->of_site[i] = g->of_site[i] == SEEP_NO_LINE ? 0 : g->lines[g->of_site[i]].frame;
    qsort(g->lines, g->n_lines, sizeof *g->lines, compare_lines);
    for (size_t i = 0; i < g->n_lines; i++)
        line_of_frame[g->lines[i].frame] = (uint32_t)i;
    for (size_t i = 0; i < g->n_sites; i++)
        g->of_site[i] = g->of_site[i] ? line_of_frame[g->of_site[i]] : SEEP_NO_LINE;
}

int seep_line_groups_init(struct seep_line_groups *g, struct seep_profile *profile,
                          const struct seep_site_sums *sites, const char *roles_file,
                          struct seep_error *err)
{
    *g = (struct seep_line_groups){.n_sites = sites->n};
    struct seep_resolver resolver = {.dict = &g->dict};
    int rc = seep_dictionary_init(&g->dict);

    g->of_site = calloc(sites->n + 1, sizeof *g->of_site);
    if (!rc && !g->of_site)
        rc = -SEEP_ENOMEM;
    for (size_t i = 0; i < sites->n && !rc; i++)
        g->of_site[i] = stack_of_site(&resolver, profile, sites->list[i].site);
    if (!rc && g->dict.failed)
        rc = -SEEP_ENOMEM;
    if (!rc)
        rc = read_code(g, roles_file, err);
    if (rc)
        return rc;
    uint32_t *line_of_frame = calloc(g->dict.n_frames, sizeof *line_of_frame);
    g->lines = calloc(g->dict.n_frames, sizeof *g->lines);
    if (!line_of_frame || !g->lines) {
        free(line_of_frame);
        return -SEEP_ENOMEM;
    }
    count(g, sites->list, line_of_frame);
    sort(g, line_of_frame);
    free(line_of_frame);
    return 0;
}

void seep_line_groups_fini(struct seep_line_groups *g)
{
    seep_stack_lines_fini(&g->stacks);
    seep_function_kinds_fini(&g->kinds);
    seep_symbols_destroy(g->symbols);
    seep_part_rules_free(g->rules);
    seep_dictionary_fini(&g->dict);
    free(g->lines);
    free(g->of_site);
    *g = (struct seep_line_groups){0};
}

json_t *seep_line_groups_frame(const struct seep_line_groups *g, size_t line)
{
    const uint32_t frame = g->lines[line].frame;
    json_t *frames = seep_frames_json(&g->dict, g->symbols, frame);
    json_t *one = frames ? seep_line_frame_json(frames, g->kinds.named_by[frame]) : NULL;

    json_decref(frames);
    return one;
}

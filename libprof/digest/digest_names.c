#include "libprof/digest/digest_names.h"

#include "libprof/base/text.h"

#include <stdlib.h>
#include <string.h>

static uint32_t fail(struct seep_digest *d)
{
    d->failed = true;
    return 0;
}

uint32_t seep_digest_text(struct seep_digest *d, const char *text)
{
    const size_t n = strnlen(text, SEEP_DIGEST_TEXT - 1);
    const uint64_t hash = seep_hash_bytes(text, n);
    uint32_t at = seep_hash_begin(&d->text_index, hash), id;

    while ((id = seep_hash_next(&d->text_index, hash, &at)) != SEEP_HASH_NONE)
        if (strncmp(d->texts[id], text, n) == 0 && !d->texts[id][n])
            return id;
    if (d->n_texts >= SEEP_HASH_NONE ||
        seep_grow(&d->texts, &d->texts_capacity, d->n_texts + 1, sizeof *d->texts))
        return fail(d);
    char *copy = strndup(text, n);
    if (!copy || seep_hash_add(&d->text_index, hash, (uint32_t)d->n_texts)) {
        free(copy);
        return fail(d);
    }
    d->texts[d->n_texts] = copy;
    return (uint32_t)d->n_texts++;
}

uint32_t seep_digest_clean_text(struct seep_digest *d, const char *text, size_t bytes)
{
    char copy[SEEP_DIGEST_TEXT];
    const size_t n = strnlen(text, bytes - 1);

    memcpy(copy, text, n);
    copy[seep_text_clean_in_place(copy, n)] = '\0';
    for (char *at = copy; bytes <= SEEP_DIGEST_HOST_TEXT && *at; at++)
        if (*at == '"' || *at == '\\')
            *at = '?';
    return seep_digest_text(d, copy);
}

static bool same_stack(const struct seep_digest *d, uint32_t id,
                       const struct seep_digest_stack *stack, const uint32_t *frames)
{
    const struct seep_digest_stack *its = &d->stacks[id];

    return its->part == stack->part && its->look_at == stack->look_at && its->n == stack->n &&
           memcmp(d->stack_frames + its->at, frames, stack->n * sizeof *frames) == 0;
}

uint32_t seep_digest_stack(struct seep_digest *d, const struct seep_digest_stack *stack,
                           const uint32_t *frames)
{
    const uint64_t hash = seep_hash_two(seep_hash_bytes(frames, stack->n * sizeof *frames),
                                        (uint64_t)stack->part << 32 | (uint16_t)stack->look_at);
    uint32_t at = seep_hash_begin(&d->stack_index, hash), id;

    while ((id = seep_hash_next(&d->stack_index, hash, &at)) != SEEP_HASH_NONE)
        if (same_stack(d, id, stack, frames))
            return id + 1;
    if (d->n_stacks >= SEEP_HASH_NONE - 1 ||
        seep_grow(&d->stacks, &d->stacks_capacity, d->n_stacks + 1, sizeof *d->stacks) ||
        seep_grow(&d->stack_frames, &d->stack_frames_capacity, d->n_stack_frames + stack->n + 1,
                  sizeof *d->stack_frames) ||
        seep_hash_add(&d->stack_index, hash, (uint32_t)d->n_stacks))
        return fail(d);
    d->stacks[d->n_stacks] = *stack;
    d->stacks[d->n_stacks].at = d->n_stack_frames;
    memcpy(d->stack_frames + d->n_stack_frames, frames, stack->n * sizeof *frames);
    d->n_stack_frames += stack->n;
    return (uint32_t)++d->n_stacks;
}

uint32_t seep_digest_about(struct seep_digest *d, const struct seep_digest_about *about)
{
    const uint64_t hash = seep_hash_two((uint64_t)about->space << 32 | about->frame,
                                        (uint64_t)about->pattern << 16 |
                                            (uint64_t)about->severity << 8 | about->part);
    uint32_t at = seep_hash_begin(&d->about_index, hash), id;

    while ((id = seep_hash_next(&d->about_index, hash, &at)) != SEEP_HASH_NONE) {
        const struct seep_digest_about *its = &d->subjects[id];
        if (its->pattern == about->pattern && its->severity == about->severity &&
            its->part == about->part && its->space == about->space && its->frame == about->frame)
            return id + 1;
    }
    if (d->n_abouts >= SEEP_HASH_NONE - 1 ||
        seep_grow(&d->subjects, &d->abouts_capacity, d->n_abouts + 1, sizeof *d->subjects) ||
        seep_hash_add(&d->about_index, hash, (uint32_t)d->n_abouts))
        return fail(d);
    d->subjects[d->n_abouts] = *about;
    return (uint32_t)++d->n_abouts;
}

int seep_digest_map_init(struct seep_digest_map *map, struct seep_digest *into,
                         const struct seep_digest *from)
{
    *map = (struct seep_digest_map){.from = from, .into = into};
    map->texts = calloc(from->n_texts + 1, sizeof *map->texts);
    map->stacks = calloc(from->n_stacks + 1, sizeof *map->stacks);
    map->subjects = calloc(from->n_abouts + 1, sizeof *map->subjects);
    if (map->texts && map->stacks && map->subjects)
        return 0;
    seep_digest_map_fini(map);
    return -SEEP_ENOMEM;
}

void seep_digest_map_fini(struct seep_digest_map *map)
{
    free(map->texts);
    free(map->stacks);
    free(map->subjects);
    map->texts = map->stacks = map->subjects = NULL;
}

uint32_t seep_digest_map_text(struct seep_digest_map *map, uint32_t text)
{
    if (!map->texts[text])
        map->texts[text] = seep_digest_text(map->into, map->from->texts[text]) + 1;
    return map->texts[text] - 1;
}

uint32_t seep_digest_map_stack(struct seep_digest_map *map, uint32_t stack)
{
    uint32_t frames[SEEP_DIGEST_DEPTH];

    if (!stack)
        return 0;
    if (!map->stacks[stack - 1]) {
        const struct seep_digest_stack *its = &map->from->stacks[stack - 1];
        for (size_t i = 0; i < its->n; i++)
            frames[i] = seep_digest_map_text(map, map->from->stack_frames[its->at + i]);
        map->stacks[stack - 1] = seep_digest_stack(map->into, its, frames) + 1;
    }
    return map->stacks[stack - 1] - 1;
}

uint32_t seep_digest_map_about(struct seep_digest_map *map, uint32_t about)
{
    if (!about)
        return 0;
    if (!map->subjects[about - 1]) {
        struct seep_digest_about its = map->from->subjects[about - 1];
        its.space = seep_digest_map_text(map, its.space);
        its.frame = seep_digest_map_text(map, its.frame);
        map->subjects[about - 1] = seep_digest_about(map->into, &its) + 1;
    }
    return map->subjects[about - 1] - 1;
}

/* ---- the whole --------------------------------------------------------------------------- */

int seep_digest_init(struct seep_digest *d)
{
    memset(d, 0, sizeof *d);
    d->ranks = calloc(SEEP_DIGEST_RANKS / 8, 1);
    d->failed = !d->ranks;
    (void)seep_digest_text(d, ""); /* 0 */
    return d->failed ? -SEEP_ENOMEM : 0;
}

void seep_digest_fini(struct seep_digest *d)
{
    for (size_t i = 0; i < d->n_texts; i++)
        free(d->texts[i]);
    free(d->texts);
    free(d->stacks);
    free(d->stack_frames);
    free(d->subjects);
    free(d->rows);
    free(d->finding_rows);
    free(d->extremes);
    free(d->cells);
    free(d->ranks);
    free(d->sources.list);
    free(d->hosts.list);
    free(d->commands.list);
    free(d->job_ids.list);
    free(d->versions.list);
    free(d->step_sources.list);
    free(d->cwds.list);
    seep_hash_fini(&d->text_index);
    seep_hash_fini(&d->stack_index);
    seep_hash_fini(&d->about_index);
    seep_hash_fini(&d->row_index);
    seep_hash_fini(&d->cell_index);
    memset(d, 0, sizeof *d);
}

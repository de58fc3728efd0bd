#include "libprof/model/dictionary.h"

#include <stdlib.h>
#include <string.h>

/* A hostile file may refer to a few bytes as thousands of overlapping strings. */
enum { MAX_STRING_BYTES = 4096, MAX_TEXT_BYTES = 1 << 29 };

int seep_dictionary_init(struct seep_dictionary *d)
{
    *d = (struct seep_dictionary){0};
    if (seep_grow(&d->text, &d->text_capacity, 4096, 1) ||
        seep_grow(&d->string_at, &d->strings_capacity, 1, sizeof *d->string_at) ||
        seep_grow(&d->modules, &d->modules_capacity, 1, sizeof *d->modules) ||
        seep_grow(&d->frames, &d->frames_capacity, 1, sizeof *d->frames) ||
        seep_grow(&d->stacks, &d->stacks_capacity, 1, sizeof *d->stacks) ||
        seep_grow(&d->depths, &d->depths_capacity, 1, sizeof *d->depths)) {
        seep_dictionary_fini(d);
        return -SEEP_ENOMEM;
    }
    d->text[0] = 0;
    d->text_bytes = 1;
    d->string_at[0] = 0;
    d->modules[0] = (struct seep_dict_module){0};
    d->frames[0] = (struct seep_dict_frame){0};
    d->stacks[0] = (struct seep_dict_stack){0};
    d->depths[0] = 0;
    d->n_strings = d->n_modules = d->n_frames = d->n_stacks = 1;
    return 0;
}

void seep_dictionary_seal(struct seep_dictionary *d)
{
    seep_hash_fini(&d->string_index);
    seep_hash_fini(&d->module_index);
    seep_hash_fini(&d->frame_index);
    seep_pair_fini(&d->stack_index);
    free(d->depths);
    d->depths = NULL;
}

void seep_dictionary_fini(struct seep_dictionary *d)
{
    free(d->text);
    free(d->string_at);
    free(d->modules);
    free(d->frames);
    free(d->stacks);
    seep_dictionary_seal(d);
    *d = (struct seep_dictionary){0};
}

static uint32_t fail(struct seep_dictionary *d)
{
    d->failed = true;
    return 0;
}

const char *seep_dictionary_text(const struct seep_dictionary *d, uint32_t string)
{
    return d->text + d->string_at[string];
}

uint32_t seep_dictionary_string(struct seep_dictionary *d, const char *text, size_t n)
{
    n = strnlen(text, n < MAX_STRING_BYTES ? n : MAX_STRING_BYTES);
    if (n == 0 || d->text_bytes > MAX_TEXT_BYTES)
        return 0;
    uint64_t hash = seep_hash_bytes(text, n);
    uint32_t at = seep_hash_begin(&d->string_index, hash), id;

    while ((id = seep_hash_next(&d->string_index, hash, &at)) != SEEP_HASH_NONE) {
        const char *known = seep_dictionary_text(d, id);
        if (strncmp(known, text, n) == 0 && known[n] == 0)
            return id;
    }
    id = (uint32_t)d->n_strings;
    if (seep_grow(&d->text, &d->text_capacity, d->text_bytes + n + 1, 1) ||
        seep_grow(&d->string_at, &d->strings_capacity, d->n_strings + 1, sizeof *d->string_at) ||
        seep_hash_add(&d->string_index, hash, id))
        return fail(d);
    memcpy(d->text + d->text_bytes, text, n);
    d->text[d->text_bytes + n] = 0;
    d->string_at[d->n_strings++] = d->text_bytes;
    d->text_bytes += n + 1;
    return id;
}

uint32_t seep_dictionary_module(struct seep_dictionary *d, uint32_t path, uint32_t build_id)
{
    uint64_t hash = seep_hash_two(path, build_id);
    uint32_t at = seep_hash_begin(&d->module_index, hash), id;

    while ((id = seep_hash_next(&d->module_index, hash, &at)) != SEEP_HASH_NONE) {
        if (d->modules[id].path == path && d->modules[id].build_id == build_id)
            return id;
    }
    id = (uint32_t)d->n_modules;
    if (seep_grow(&d->modules, &d->modules_capacity, d->n_modules + 1, sizeof *d->modules) ||
        seep_hash_add(&d->module_index, hash, id))
        return fail(d);
    d->modules[d->n_modules++] = (struct seep_dict_module){path, build_id};
    return id;
}

static bool is_frame(const struct seep_dict_frame *k, const struct seep_dict_frame *f)
{
    return k->kind == f->kind && k->pseudo == f->pseudo && k->source == f->source &&
           k->where == f->where && k->function == f->function && k->qualname == f->qualname;
}

uint32_t seep_dictionary_frame(struct seep_dictionary *d, const struct seep_dict_frame *f)
{
    uint32_t id = seep_hash_expected(&d->frame_index);

    if (id < d->n_frames && is_frame(&d->frames[id], f))
        return seep_hash_found(&d->frame_index, id);
    uint64_t hash = seep_hash_two(seep_hash_two((uint64_t)f->kind << 32 | f->source, f->where),
                                  (uint64_t)f->function << 32 | f->qualname);
    uint32_t at = seep_hash_begin(&d->frame_index, hash);
    while ((id = seep_hash_next(&d->frame_index, hash, &at)) != SEEP_HASH_NONE) {
        if (is_frame(&d->frames[id], f))
            return seep_hash_found(&d->frame_index, id);
    }
    id = (uint32_t)d->n_frames;
    if (seep_grow(&d->frames, &d->frames_capacity, d->n_frames + 1, sizeof *d->frames) ||
        seep_hash_add(&d->frame_index, hash, id))
        return fail(d);
    d->frames[d->n_frames++] = *f;
    return id;
}

static struct seep_pairs nodes_of(const struct seep_dictionary *d)
{
    return (struct seep_pairs){d->stacks, sizeof *d->stacks};
}

unsigned seep_dictionary_depth(const struct seep_dictionary *d, uint32_t stack)
{
    unsigned depth = 0;

    for (; stack; stack = d->stacks[stack].parent)
        depth++;
    return depth;
}

uint32_t seep_dictionary_stack(struct seep_dictionary *d, uint32_t parent, uint32_t frame)
{
    uint32_t id = seep_pair_find(&d->stack_index, nodes_of(d), parent, frame);

    if (id != SEEP_HASH_NONE)
        return id;
    if (d->depths[parent] >= SEEP_MAX_STACK_DEPTH)
        return parent;
    id = (uint32_t)d->n_stacks;
    if (frame > INT32_MAX ||
        seep_grow(&d->stacks, &d->stacks_capacity, d->n_stacks + 1, sizeof *d->stacks) ||
        seep_grow(&d->depths, &d->depths_capacity, d->n_stacks + 1, sizeof *d->depths))
        return fail(d);
    d->depths[id] = (uint16_t)(d->depths[parent] + 1);
    d->stacks[d->n_stacks++] =
        (struct seep_dict_stack){.parent = parent, .frame = frame & INT32_MAX};
    return seep_pair_add(&d->stack_index, nodes_of(d), id) ? fail(d) : id;
}

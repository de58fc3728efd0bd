#include "libprof/runtime/store/intern.h"

#include <string.h>

#include "libprof/runtime/store/ref_index.h"

static struct seep_ref_index strings, modules, codes, frames, stacks;

static uint32_t text_hash(const char *text, uint32_t n)
{
    uint64_t h = 0xcbf29ce484222325u ^ n;
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return (uint32_t)(h ^ (h >> 32));
}

struct text {
    const char *bytes;
    uint32_t n, hash;
};

static uint32_t string_hash(uint32_t ref)
{
    return ((const struct seep_string *)seep_arena_at(ref))->hash;
}

static bool same_string(uint32_t ref, const void *key)
{
    const struct seep_string *s = seep_arena_at(ref);
    const struct text *text = key;
    return s->hash == text->hash && s->n_bytes == text->n &&
           memcmp(s->text, text->bytes, text->n) == 0;
}

uint32_t seep_intern_string(const char *bytes, uint32_t n_bytes)
{
    if (n_bytes > 4095)
        n_bytes = 4095;
    if (!n_bytes || !seep_ref_index_reserve(&strings, string_hash))
        return 0;
    const struct text text = {bytes, n_bytes, text_hash(bytes, n_bytes)};
    uint32_t ref = seep_ref_index_find(&strings, text.hash, same_string, &text);
    if (ref || !(ref = seep_arena_take(SEEP_CHUNK_STRINGS, (8 + n_bytes + 1 + 7) & ~7u, 8)))
        return ref;
    struct seep_string *s = seep_arena_at(ref);
    memcpy(s->text, bytes, n_bytes);
    s->hash = text.hash;
    __atomic_store_n(&s->n_bytes, n_bytes, __ATOMIC_RELEASE);
    seep_ref_index_add(&strings, text.hash, ref);
    return ref;
}

static uint32_t module_key(const struct seep_module *m)
{
    return seep_hash_mix(m->start ^ m->path);
}

static uint32_t module_hash(uint32_t ref)
{
    return module_key(seep_arena_at(ref));
}

static bool same_module(uint32_t ref, const void *key)
{
    const struct seep_module *m = seep_arena_at(ref), *module = key;
    return m->path == module->path && m->start == module->start && m->end == module->end &&
           m->bias == module->bias && m->build_id == module->build_id;
}

uint32_t seep_intern_module(const struct seep_module *module)
{
    if (!module->path || !seep_ref_index_reserve(&modules, module_hash))
        return 0;
    uint32_t hash = module_key(module);
    uint32_t ref = seep_ref_index_find(&modules, hash, same_module, module);
    if (ref || !(ref = seep_arena_take(SEEP_CHUNK_MODULES, sizeof(*module), 8)))
        return ref;
    struct seep_module *m = seep_arena_at(ref);
    m->build_id = module->build_id;
    m->bias = module->bias;
    m->start = module->start;
    m->end = module->end;
    __atomic_store_n(&m->path, module->path, __ATOMIC_RELEASE);
    seep_ref_index_add(&modules, hash, ref);
    return ref;
}

static uint32_t code_key(const struct seep_code_object *c)
{
    uint64_t x = (uint64_t)c->file << 32 | c->function;
    return seep_hash_mix(x ^ (uint64_t)c->first_line << 16 ^ (uint64_t)c->qualname << 24);
}

static uint32_t code_hash(uint32_t ref)
{
    return code_key(seep_arena_at(ref));
}

static bool same_code(uint32_t ref, const void *key)
{
    const struct seep_code_object *c = seep_arena_at(ref), *code = key;
    return c->file == code->file && c->function == code->function &&
           c->qualname == code->qualname && c->first_line == code->first_line;
}

uint32_t seep_intern_code(const struct seep_code_object *code)
{
    if (!code->file || !seep_ref_index_reserve(&codes, code_hash))
        return 0;
    uint32_t hash = code_key(code);
    uint32_t ref = seep_ref_index_find(&codes, hash, same_code, code);
    if (ref || !(ref = seep_arena_take(SEEP_CHUNK_CODES, sizeof(*code), 8)))
        return ref;
    struct seep_code_object *c = seep_arena_at(ref);
    c->function = code->function;
    c->qualname = code->qualname;
    c->first_line = code->first_line;
    c->flags = code->flags;
    __atomic_store_n(&c->file, code->file, __ATOMIC_RELEASE);
    seep_ref_index_add(&codes, hash, ref);
    return ref;
}

static uint32_t frame_key(const struct seep_frame *f)
{
    return seep_hash_mix(f->where * 31 + ((uint64_t)f->source << 20 ^ f->kind));
}

static uint32_t frame_hash(uint32_t ref)
{
    return frame_key(seep_arena_at(ref));
}

static bool same_frame(uint32_t ref, const void *key)
{
    const struct seep_frame *f = seep_arena_at(ref), *frame = key;
    return f->where == frame->where && f->source == frame->source && f->kind == frame->kind;
}

uint32_t seep_intern_frame(enum seep_frame_kind kind, uint32_t owner, uint64_t where)
{
    if (!seep_ref_index_reserve(&frames, frame_hash))
        return 0;
    const struct seep_frame frame = {.kind = kind, .source = owner, .where = where};
    uint32_t hash = frame_key(&frame);
    uint32_t ref = seep_ref_index_find(&frames, hash, same_frame, &frame);
    if (ref || !(ref = seep_arena_take(SEEP_CHUNK_FRAMES, sizeof(frame), 8)))
        return ref;
    struct seep_frame *f = seep_arena_at(ref);
    f->source = owner;
    f->where = where;
    __atomic_store_n(&f->kind, kind, __ATOMIC_RELEASE);
    seep_ref_index_add(&frames, hash, ref);
    return ref;
}

static uint32_t stack_key(const struct seep_stack *s)
{
    return seep_hash_mix((uint64_t)s->parent << 32 | s->frame);
}

static uint32_t stack_hash(uint32_t ref)
{
    return stack_key(seep_arena_at(ref));
}

static bool same_stack(uint32_t ref, const void *key)
{
    const struct seep_stack *s = seep_arena_at(ref), *stack = key;
    return s->frame == stack->frame && s->parent == stack->parent;
}

uint32_t seep_intern_stack(uint32_t parent, uint32_t frame)
{
    if (!frame || !seep_ref_index_reserve(&stacks, stack_hash))
        return 0;
    const struct seep_stack stack = {.parent = parent, .frame = frame};
    uint32_t hash = stack_key(&stack);
    uint32_t ref = seep_ref_index_find(&stacks, hash, same_stack, &stack);
    if (ref || !(ref = seep_arena_take(SEEP_CHUNK_STACKS, sizeof(stack), 8)))
        return ref;
    struct seep_stack *s = seep_arena_at(ref);
    s->parent = parent;
    __atomic_store_n(&s->frame, frame, __ATOMIC_RELEASE);
    seep_ref_index_add(&stacks, hash, ref);
    return ref;
}

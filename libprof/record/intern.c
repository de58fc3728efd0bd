#include "libprof/record/intern.h"

#include <string.h>

/* An open-addressed set of refs; equality is decided on the records themselves. */
struct index {
    uint32_t *refs;
    uint32_t mask; /* capacity − 1, or 0 */
    uint32_t n;
};

static struct index strings, modules, codes, frames, stacks;

typedef uint32_t hash_fn(uint32_t ref);

static bool grow(struct index *index, hash_fn *hash)
{
    uint32_t capacity = index->mask ? (index->mask + 1) * 2 : 4096;
    uint32_t *refs = seep_os_pages((size_t)capacity * sizeof(*refs));
    if (!refs)
        return false;
    for (uint32_t i = 0; index->mask && i <= index->mask; i++) {
        uint32_t ref = index->refs[i];
        if (!ref)
            continue;
        uint32_t at = hash(ref) & (capacity - 1);
        while (refs[at])
            at = (at + 1) & (capacity - 1);
        refs[at] = ref;
    }
    uint32_t *old = index->refs;
    uint32_t old_mask = index->mask;
    __atomic_store_n(&index->refs, refs, __ATOMIC_RELEASE); /* the larger one first */
    __atomic_store_n(&index->mask, capacity - 1, __ATOMIC_RELEASE);
    if (old)
        seep_os_unmap(old, (size_t)(old_mask + 1) * sizeof(*old));
    return true;
}

/* Makes room for one more; false when there is no memory. Load stays below two thirds. */
static bool reserve(struct index *index, hash_fn *hash)
{
    return (index->mask && (index->n + 1) * 3 < index->mask * 2) || grow(index, hash);
}

static void insert(struct index *index, uint32_t at, uint32_t ref)
{
    index->refs[at] = ref;
    index->n++;
}

static uint32_t text_hash(const char *text, uint32_t n)
{
    uint64_t h = 0xcbf29ce484222325u ^ n;
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return (uint32_t)(h ^ (h >> 32));
}

static uint32_t string_hash(uint32_t ref)
{
    return ((const struct seep_string *)seep_arena_at(ref))->hash;
}

uint32_t seep_intern_string(const char *text, uint32_t n_bytes)
{
    if (n_bytes > 4095)
        n_bytes = 4095;
    if (!n_bytes || !reserve(&strings, string_hash))
        return 0;
    uint32_t hash = text_hash(text, n_bytes);
    uint32_t at = hash & strings.mask;
    for (uint32_t ref; (ref = strings.refs[at]); at = (at + 1) & strings.mask) {
        const struct seep_string *s = seep_arena_at(ref);
        if (s->hash == hash && s->n_bytes == n_bytes && memcmp(s->text, text, n_bytes) == 0)
            return ref;
    }
    uint32_t ref = seep_arena_take(SEEP_CHUNK_STRINGS, (8 + n_bytes + 1 + 7) & ~7u, 8);
    if (!ref)
        return 0;
    struct seep_string *s = seep_arena_at(ref);
    memcpy(s->text, text, n_bytes);
    s->hash = hash;
    __atomic_store_n(&s->n_bytes, n_bytes, __ATOMIC_RELEASE);
    insert(&strings, at, ref);
    return ref;
}

static uint32_t module_hash(uint32_t ref)
{
    const struct seep_module *m = seep_arena_at(ref);
    return seep_hash_mix(m->start ^ m->path);
}

uint32_t seep_intern_module(const struct seep_module *module)
{
    if (!module->path || !reserve(&modules, module_hash))
        return 0;
    uint32_t at = seep_hash_mix(module->start ^ module->path) & modules.mask;
    for (uint32_t ref; (ref = modules.refs[at]); at = (at + 1) & modules.mask) {
        const struct seep_module *m = seep_arena_at(ref);
        if (m->path == module->path && m->start == module->start && m->end == module->end &&
            m->bias == module->bias && m->build_id == module->build_id)
            return ref;
    }
    uint32_t ref = seep_arena_take(SEEP_CHUNK_MODULES, sizeof(*module), 8);
    if (!ref)
        return 0;
    struct seep_module *m = seep_arena_at(ref);
    m->build_id = module->build_id;
    m->bias = module->bias;
    m->start = module->start;
    m->end = module->end;
    __atomic_store_n(&m->path, module->path, __ATOMIC_RELEASE);
    insert(&modules, at, ref);
    return ref;
}

static uint32_t code_key(const struct seep_code *c)
{
    uint64_t x = (uint64_t)c->file << 32 | c->function;
    return seep_hash_mix(x ^ (uint64_t)c->first_line << 16 ^ (uint64_t)c->qualname << 24);
}

static uint32_t code_hash(uint32_t ref)
{
    return code_key(seep_arena_at(ref));
}

uint32_t seep_intern_code(const struct seep_code *code)
{
    if (!code->file || !reserve(&codes, code_hash))
        return 0;
    uint32_t at = code_key(code) & codes.mask;
    for (uint32_t ref; (ref = codes.refs[at]); at = (at + 1) & codes.mask) {
        const struct seep_code *c = seep_arena_at(ref);
        if (c->file == code->file && c->function == code->function &&
            c->qualname == code->qualname && c->first_line == code->first_line)
            return ref;
    }
    uint32_t ref = seep_arena_take(SEEP_CHUNK_CODES, sizeof(*code), 8);
    if (!ref)
        return 0;
    struct seep_code *c = seep_arena_at(ref);
    c->function = code->function;
    c->qualname = code->qualname;
    c->first_line = code->first_line;
    c->flags = code->flags;
    __atomic_store_n(&c->file, code->file, __ATOMIC_RELEASE);
    insert(&codes, at, ref);
    return ref;
}

static uint32_t frame_key(uint32_t kind, uint32_t owner, uint64_t where)
{
    return seep_hash_mix(where * 31 + ((uint64_t)owner << 20 ^ kind));
}

static uint32_t frame_hash(uint32_t ref)
{
    const struct seep_frame *f = seep_arena_at(ref);
    return frame_key(f->kind, f->source, f->where);
}

uint32_t seep_intern_frame(enum seep_frame_kind kind, uint32_t owner, uint64_t where)
{
    if (!reserve(&frames, frame_hash))
        return 0;
    uint32_t at = frame_key(kind, owner, where) & frames.mask;
    for (uint32_t ref; (ref = frames.refs[at]); at = (at + 1) & frames.mask) {
        const struct seep_frame *f = seep_arena_at(ref);
        if (f->where == where && f->source == owner && f->kind == kind)
            return ref;
    }
    uint32_t ref = seep_arena_take(SEEP_CHUNK_FRAMES, sizeof(struct seep_frame), 8);
    if (!ref)
        return 0;
    struct seep_frame *f = seep_arena_at(ref);
    f->source = owner;
    f->where = where;
    __atomic_store_n(&f->kind, kind, __ATOMIC_RELEASE);
    insert(&frames, at, ref);
    return ref;
}

static uint32_t stack_hash(uint32_t ref)
{
    const struct seep_stack *s = seep_arena_at(ref);
    return seep_hash_mix((uint64_t)s->parent << 32 | s->frame);
}

uint32_t seep_intern_stack(uint32_t parent, uint32_t frame)
{
    if (!frame || !reserve(&stacks, stack_hash))
        return 0;
    uint32_t at = seep_hash_mix((uint64_t)parent << 32 | frame) & stacks.mask;
    for (uint32_t ref; (ref = stacks.refs[at]); at = (at + 1) & stacks.mask) {
        const struct seep_stack *s = seep_arena_at(ref);
        if (s->frame == frame && s->parent == parent)
            return ref;
    }
    uint32_t ref = seep_arena_take(SEEP_CHUNK_STACKS, sizeof(struct seep_stack), 8);
    if (!ref)
        return 0;
    struct seep_stack *s = seep_arena_at(ref);
    s->parent = parent;
    __atomic_store_n(&s->frame, frame, __ATOMIC_RELEASE);
    insert(&stacks, at, ref);
    return ref;
}

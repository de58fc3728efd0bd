#include "libprof/who/graph/py_text.h"

#include "libprof/who/graph/graph.h"
#include "libprof/who/graph/py_types.h"

#include <string.h>

enum { MAX_STR = 1 << 20 };

/* Where the characters of a str are, and how many bytes each has: 1, 2 or 4. */
struct characters {
    uint64_t at, n;
    unsigned each;
};

static bool find_characters(struct seep_heap *heap, uint64_t object, struct characters *c)
{
    const struct seep_python_layout *l = heap->python.layout;
    const struct seep_pytype *type = seep_python_object(heap, object, MAX_STR);

    if (!type || type->kind != SEEP_PYTYPE_TEXT)
        return false;
    uint32_t state = seep_memory_u32(heap->memory, object + SEEP_PY_TEXT_STATE);
    c->n = seep_memory_word(heap->memory, object + SEEP_PY_TEXT_LENGTH);
    c->each = state >> SEEP_PY_TEXT_KIND_SHIFT & SEEP_PY_TEXT_KIND;
    c->at = object + (state & SEEP_PY_TEXT_ASCII ? l->text_ascii : l->text_compact);
    if (!(state & SEEP_PY_TEXT_COMPACT)) /* of a subclass: they lie elsewhere */
        c->at = seep_memory_word(heap->memory, object + l->text_compact);
    return c->each == 1 || c->each == 2 || c->each == 4;
}

static size_t put_utf8(uint32_t c, char to[4])
{
    if (c < ' ' || c == 127 || (c >= 0x80 && c < 0xa0) || (c >= 0xd800 && c < 0xe000) ||
        c > 0x10ffff)
        c = '?';
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)((n == 2 ? 0xc0u : n == 3 ? 0xe0u : 0xf0u) | c);
    return n;
}

size_t seep_python_text(struct seep_heap *heap, uint64_t object, char *to, size_t capacity)
{
    struct characters c;
    size_t used = 0;

    to[0] = '\0';
    if (!find_characters(heap, object, &c))
        return 0;
    for (uint64_t i = 0; i < c.n && used < capacity; i++) {
        uint32_t character = 0;
        char bytes[4];
        if (!seep_memory_read(heap->memory, c.at + i * c.each, &character, c.each))
            break;
        size_t n = put_utf8(character, bytes);
        if (used + n >= capacity)
            break;
        memcpy(to + used, bytes, n);
        used += n;
    }
    to[used] = '\0';
    return used;
}

bool seep_python_text_is(struct seep_heap *heap, uint64_t object, const char *text)
{
    const size_t n = strlen(text);
    struct characters c;
    char there[64];

    return find_characters(heap, object, &c) && c.each == 1 && c.n == n && n <= sizeof there &&
           seep_memory_read(heap->memory, c.at, there, n) && memcmp(there, text, n) == 0;
}

bool seep_python_is_text(struct seep_heap *heap, uint64_t object)
{
    const struct seep_pytype *type = object ? seep_python_object(heap, object, MAX_STR) : NULL;

    return type && type->kind == SEEP_PYTYPE_TEXT;
}

/* Texts (PEP 393) and line tables (Objects/lnotab_notes.txt ≤ 3.10, Objects/locations.md ≥ 3.11).
 */
#include "preload/python/pyframe_code.h"

#include <stdbool.h>

/* No compiler makes longer texts or tables: this is not an object that we understand. */
enum { MAX_LENGTH = 1 << 24 };

static bool type_has(uintptr_t object, uintptr_t flag)
{
    uintptr_t type = object ? seep_py_word(object + SEEP_PY_TYPE) : 0;

    return type && seep_py_word(type + SEEP_PY_TYPE_FLAGS) & flag;
}

/* The bytes of a character's UTF-8, written to `out` if they fit into `room`; 0 if they do not. */
static size_t put_utf8(char *out, size_t room, uint32_t c)
{
    if (c >= 0xd800 && c < 0xe000)
        c = 0xfffd;
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    if (n > room)
        return 0;
    if (n == 1) {
        *out = (char)c;
        return 1;
    }
    for (size_t i = n - 1; i; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    *out = (char)((0xf00u >> n & 0xf0u) | c);
    return n;
}

struct seep_pytext seep_pytext_read(const struct seep_python_layout *layout, uintptr_t object,
                                    struct seep_pyscratch *scratch)
{
    const struct seep_pytext none = {"", 0};

    if (!type_has(object, SEEP_PY_IS_TEXT))
        return none;
    const uint32_t state = seep_py_u32(object + SEEP_PY_TEXT_STATE);
    const uint32_t width = state >> SEEP_PY_TEXT_KIND_SHIFT & SEEP_PY_TEXT_KIND;
    const uintptr_t n = seep_py_word(object + SEEP_PY_TEXT_LENGTH);
    uintptr_t at =
        object + (state & SEEP_PY_TEXT_ASCII ? layout->text_ascii : layout->text_compact);

    if (!(state & SEEP_PY_TEXT_COMPACT)) /* a subclass: the characters lie elsewhere */
        at = seep_py_word(object + layout->text_compact);
    if (!at || n > MAX_LENGTH || (width != 1 && width != 2 && width != 4))
        return none;
    if (state & SEEP_PY_TEXT_ASCII)
        return (struct seep_pytext){(const char *)at, (uint32_t)n};

    char *out = scratch->buffer + scratch->used;
    size_t len = 0, put = 1;
    for (uintptr_t i = 0; i < n && put; i++) {
        const uint32_t c = width == 1   ? ((const uint8_t *)at)[i]
                           : width == 2 ? ((const uint16_t *)at)[i]
                                        : ((const uint32_t *)at)[i];
        put = put_utf8(out + len, scratch->size - scratch->used - len, c);
        len += put;
    }
    scratch->used += len;
    return (struct seep_pytext){out, (uint32_t)len};
}

/* ≤ 3.9: pairs of (bytes of code, lines); a line holds until the code offset passes it. */
static int64_t line_lnotab(const uint8_t *table, size_t n, int64_t offset, int64_t line)
{
    int64_t at = 0;

    for (size_t i = 0; i + 1 < n; i += 2) {
        at += table[i];
        if (at > offset)
            break;
        line += (int8_t)table[i + 1];
    }
    return line;
}

/* 3.10: pairs of (bytes of code, lines to add before), −128 lines for code that has none. */
static int64_t line_ranges(const uint8_t *table, size_t n, int64_t offset, int64_t line)
{
    int64_t end = 0;

    for (size_t i = 0; i + 1 < n; i += 2) {
        const int8_t delta = (int8_t)table[i + 1];
        line += delta == -128 ? 0 : delta;
        end += table[i];
        if (offset < end)
            return delta == -128 ? 0 : line;
    }
    return 0;
}

/* A signed variable-length integer: six bits a byte, least first, the sign in the lowest bit. */
static int64_t take_signed(const uint8_t *table, size_t n, size_t *at)
{
    uint64_t value = 0;

    for (unsigned shift = 0; *at < n && shift < 60; shift += 6) {
        const uint8_t byte = table[(*at)++];
        value |= (uint64_t)(byte & 63u) << shift;
        if (!(byte & 64u))
            break;
    }
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* ≥ 3.11: each entry begins with a byte whose top bit is set: four bits of kind, three of code
 * units − 1. The bytes that follow have it clear, so whatever a kind carries can be skipped. */
static int64_t line_locations(const uint8_t *table, size_t n, int64_t unit, int64_t line,
                              struct seep_pyline_memo *memo)
{
    int64_t end = 0;
    size_t i = 0;

    if (memo->at && memo->at < n && memo->unit <= unit) {
        i = memo->at;
        end = memo->unit;
        line = memo->line;
    }
    while (i < n) {
        memo->at = i;
        memo->unit = end;
        memo->line = line;
        const unsigned kind = table[i] >> 3 & 15u;
        end += (table[i] & 7u) + 1;
        i++;
        if (kind == 13 || kind == 14)
            line += take_signed(table, n, &i);
        else if (kind >= 10 && kind <= 12)
            line += kind - 10;
        if (unit < end)
            return kind == 15 ? 0 : line;
        while (i < n && !(table[i] & 0x80))
            i++;
    }
    return 0;
}

uint32_t seep_pycode_line(const struct seep_python_layout *layout, uintptr_t code,
                          uintptr_t position, struct seep_pyline_memo *memo)
{
    const uint32_t first = seep_py_u32(code + layout->code_firstline);
    const uintptr_t lines = seep_py_word(code + layout->code_lines);
    int64_t offset = (int64_t)position, line;

    if (!type_has(lines, SEEP_PY_IS_BYTES))
        return 0;
    const uintptr_t n = seep_py_word(lines + SEEP_PY_SIZE);
    const uint8_t *table = (const uint8_t *)(lines + SEEP_PY_BYTES_DATA);
    if (n > MAX_LENGTH)
        return 0;
    if (layout->lines == SEEP_PYTHON_LINES_LOCATIONS)
        offset = (int64_t)(position - code - layout->code_instructions) >> 1;
    if (offset < 0) /* not begun */
        return first;
    if (layout->lines == SEEP_PYTHON_LINES_LOCATIONS)
        line = line_locations(table, n, offset, first, memo);
    else if (layout->lines == SEEP_PYTHON_LINES_RANGES)
        line = line_ranges(table, n, offset * 2, first);
    else
        line = line_lnotab(table, n, offset, first);
    return line > 0 ? (uint32_t)line : 0;
}

#include "libprof/heap/memory.h"

#include "libprof/base/text.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << SEEP_MEMORY_CHUNK_BITS, PAGES = CHUNK / SEEP_MEMORY_PAGE, FIRST_SLOTS = 1024 };

void seep_memory_init(struct seep_memory *memory, seep_memory_source *source, void *context,
                      uint64_t max_bytes)
{
    *memory = (struct seep_memory){.source = source, .context = context, .max_bytes = max_bytes};
}

void seep_memory_fini(struct seep_memory *memory)
{
    for (size_t i = 0; memory->table && i <= memory->mask; i++)
        free(memory->table[i].bytes);
    free(memory->table);
    memory->table = NULL;
}

static size_t slot_of(const struct seep_memory_chunk *table, size_t mask, uint64_t number)
{
    size_t at = (size_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;

    while (table[at].number_plus_1 && table[at].number_plus_1 != number + 1)
        at = (at + 1) & mask;
    return at;
}

static bool grow(struct seep_memory *memory)
{
    size_t slots = memory->table ? (memory->mask + 1) * 2 : FIRST_SLOTS;
    struct seep_memory_chunk *table = calloc(slots, sizeof *table);

    if (!table)
        return false;
    for (size_t i = 0; memory->table && i <= memory->mask; i++)
        if (memory->table[i].number_plus_1)
            table[slot_of(table, slots - 1, memory->table[i].number_plus_1 - 1)] = memory->table[i];
    free(memory->table);
    memory->table = table;
    memory->mask = slots - 1;
    return true;
}

/* All at once where that goes, else page by page: a chunk may reach beyond a mapping. */
static void fetch(struct seep_memory *memory, struct seep_memory_chunk *chunk)
{
    uint64_t start = (chunk->number_plus_1 - 1) << SEEP_MEMORY_CHUNK_BITS;

    if (memory->bytes + CHUNK > memory->max_bytes || !(chunk->bytes = malloc(CHUNK))) {
        memory->full = true;
        return;
    }
    size_t n = memory->source(memory->context, start, chunk->bytes, CHUNK) / SEEP_MEMORY_PAGE;
    chunk->pages = (uint16_t)((UINT32_C(1) << n) - 1);
    for (size_t page = n; page < PAGES; page++)
        if (memory->source(memory->context, start + page * SEEP_MEMORY_PAGE,
                           chunk->bytes + page * SEEP_MEMORY_PAGE,
                           SEEP_MEMORY_PAGE) == SEEP_MEMORY_PAGE)
            chunk->pages |= (uint16_t)(1u << page);
    if (chunk->pages) {
        memory->bytes += CHUNK;
        return;
    }
    free(chunk->bytes);
    chunk->bytes = NULL;
}

static const struct seep_memory_chunk *chunk_of(struct seep_memory *memory, uint64_t number)
{
    struct seep_memory_chunk *recent = &memory->recent[number % SEEP_MEMORY_RECENT];

    if (recent->number_plus_1 == number + 1)
        return recent;
    if ((!memory->table || (memory->n + 1) * 3 > memory->mask * 2) && !grow(memory)) {
        memory->full = true;
        return NULL;
    }
    struct seep_memory_chunk *chunk = &memory->table[slot_of(memory->table, memory->mask, number)];
    if (!chunk->number_plus_1) {
        chunk->number_plus_1 = number + 1;
        memory->n++;
        fetch(memory, chunk);
    }
    *recent = *chunk;
    return recent;
}

/* Bytes from `address` on, up to the end of its page; NULL where it cannot be read. */
static const uint8_t *bytes_at(struct seep_memory *memory, uint64_t address)
{
    if (address < SEEP_MEMORY_PAGE || address >> 47)
        return NULL;
    const struct seep_memory_chunk *chunk = chunk_of(memory, address >> SEEP_MEMORY_CHUNK_BITS);
    size_t at = (size_t)(address & (CHUNK - 1));
    return chunk && chunk->pages >> at / SEEP_MEMORY_PAGE & 1 ? chunk->bytes + at : NULL;
}

bool seep_memory_read(struct seep_memory *memory, uint64_t address, void *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        const uint8_t *bytes = bytes_at(memory, address + done);
        if (!bytes) {
            memset(to, 0, n);
            return false;
        }
        size_t room = SEEP_MEMORY_PAGE - (size_t)((address + done) % SEEP_MEMORY_PAGE);
        size_t piece = n - done < room ? n - done : room;
        memcpy((char *)to + done, bytes, piece);
        done += piece;
    }
    return true;
}

bool seep_memory_has(struct seep_memory *memory, uint64_t address, size_t n)
{
    if (n > UINT64_C(1) << 46)
        return false;
    for (uint64_t at = address, end = address + n; at < end;
         at = (at / SEEP_MEMORY_PAGE + 1) * SEEP_MEMORY_PAGE)
        if (!bytes_at(memory, at))
            return false;
    return true;
}

size_t seep_memory_text(struct seep_memory *memory, uint64_t address, char *to, size_t capacity)
{
    size_t n = 0;
    const uint8_t *bytes;

    while (n + 1 < capacity && (bytes = bytes_at(memory, address + n)) && *bytes)
        to[n++] = (char)*bytes;
    return seep_text_clean_in_place(to, n);
}

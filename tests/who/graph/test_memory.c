/* Memory read from outside, and what is mapped. */
#include "libprof/who/graph/memory.h"
#include "libprof/who/graph/process_maps.h"
#include "tests/suite.h"

#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, N_PAGES = 40 };

static uint8_t bytes[N_PAGES * PAGE];
static size_t n_calls;

/* At 0x100000; the pages from the 20th to the 22nd are not there. */
static size_t read_some(void *context, uint64_t address, void *to, size_t n)
{
    uint64_t start = 0x100000, hole = start + 20 * PAGE, end = start + sizeof bytes;

    (void)context;
    n_calls++;
    if (address < start || address >= end || (address >= hole && address < hole + 2 * PAGE))
        return 0;
    uint64_t stop = address < hole ? hole : end;
    n = n < stop - address ? n : (size_t)(stop - address);
    memcpy(to, bytes + (address - start), n);
    return n;
}

static struct seep_memory memory;

static void set_up(void)
{
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + i / PAGE);
    n_calls = 0;
    seep_memory_init(&memory, read_some, NULL, 1 << 20);
}

static void tear_down(void)
{
    seep_memory_fini(&memory);
}

TEST(what_is_there_is_read_and_what_is_not_is_zero)
{
    uint8_t to[3 * PAGE];

    for (uint64_t at = 0; at + sizeof to < 20 * PAGE; at += 1000) {
        ck_assert(seep_memory_read(&memory, 0x100000 + at, to, sizeof to));
        ck_assert_mem_eq(to, bytes + at, sizeof to);
    }
    ck_assert(!seep_memory_read(&memory, 0x100000 + 19 * PAGE, to, sizeof to));
    ck_assert_uint_eq(to[0] | to[PAGE - 1], 0);
    ck_assert(seep_memory_has(&memory, 0x100000 + 22 * PAGE, PAGE));
    ck_assert(!seep_memory_has(&memory, 0x100000 + 21 * PAGE, PAGE));
    ck_assert_uint_eq(seep_memory_word(&memory, 0), 0);
    ck_assert_uint_eq(seep_memory_word(&memory, UINT64_MAX - 3), 0);
}

TEST(a_page_is_asked_for_once)
{
    for (int i = 0; i < 100; i++)
        (void)seep_memory_word(&memory, 0x100000 + (uint64_t)i * 100);
    ck_assert_uint_eq(n_calls, 9900 / PAGE + 1);
}

static size_t all_or_nothing(void *context, uint64_t address, void *to, size_t n)
{
    return read_some(context, address, to, n) == n ? n : 0;
}

static size_t n_bulk;

static size_t read_many(void *context, const struct seep_memory_piece *pieces, size_t n)
{
    size_t sum = 0;

    n_bulk++;
    for (size_t i = 0; i < n; i++) {
        size_t got = read_some(context, pieces[i].address, pieces[i].to, pieces[i].n);
        sum += got;
        if (got < pieces[i].n)
            break;
    }
    return sum;
}

static const struct seep_memory_load all_pages = {.source = read_many};

static size_t only_zeros(void *context, uint64_t address, void *to, size_t n)
{
    (void)context;
    n_calls++;
    memset(to, 0, address < 0x200000 ? n : 0);
    return address < 0x200000 ? n : 0;
}

/* Each word is its own address. */
static size_t read_numbers(void *context, const struct seep_memory_piece *pieces, size_t n)
{
    size_t sum = 0;

    (void)context;
    for (size_t i = 0; i < n; sum += pieces[i++].n)
        for (uint64_t at = 0; at < pieces[i].n; at += 8)
            memcpy(pieces[i].to + at, &(uint64_t){pieces[i].address + at}, 8);
    return sum;
}

TEST(what_was_loaded_stays_and_another_source_answers_for_the_rest)
{
    const struct seep_memory_range ranges[] = {{0x100000 + 3 * PAGE + 8, 0x100000 + 5 * PAGE + 8},
                                               {0x100000 + 18 * PAGE, 0x100000 + 30 * PAGE}};
    uint8_t to[PAGE];

    n_bulk = 0;
    seep_memory_load(&memory, &all_pages, ranges, 2);
    ck_assert_uint_eq(n_bulk,
                      10); /* one for all, and one for each page behind the hole in its piece */
    n_calls = 0;
    seep_memory_ask(&memory, only_zeros, NULL);
    for (size_t page = 0; page < N_PAGES; page++) {
        const bool loaded =
            (page >= 3 && page < 6) || page == 18 || page == 19 || (page >= 22 && page < 30);
        const size_t calls = n_calls;
        ck_assert(seep_memory_read(&memory, 0x100000 + page * PAGE, to, PAGE));
        if (loaded)
            ck_assert_mem_eq(to, bytes + page * PAGE, PAGE);
        else
            ck_assert_uint_eq(to[1] | to[PAGE - 1], 0);
        ck_assert(!loaded || n_calls == calls);
    }
    memory.source = NULL;
    ck_assert(!seep_memory_has(&memory, 0x300000, 1));
}

static bool is_odd(void *context, uint64_t address, const uint8_t *page)
{
    (void)context;
    ck_assert_mem_eq(page, bytes + (address - 0x100000), PAGE);
    return address / PAGE % 2;
}

/* Pages of the chunks that have ever been written. */
static size_t pages_in_memory(void)
{
    unsigned char is_there[SEEP_MEMORY_CHUNK / PAGE];
    size_t n = 0;

    for (size_t i = 0; i < memory.n; i++) {
        ck_assert_int_eq(mincore(memory.chunks[i].bytes, SEEP_MEMORY_CHUNK, is_there), 0);
        for (size_t k = 0; k < N(is_there); k++)
            n += is_there[k] & 1;
    }
    return n;
}

TEST(a_page_that_does_not_matter_reads_as_zeros_and_takes_no_memory)
{
    const struct seep_memory_load odd = {.source = read_many, .keeps = is_odd};
    const struct seep_memory_range all = {0x100000, 0x100000 + 20 * PAGE};
    static const uint8_t zeros[PAGE];
    uint8_t to[PAGE];

    seep_memory_load(&memory, &odd, &all, 1);
    ck_assert_uint_eq(pages_in_memory(), 10);
    n_calls = 0;
    for (size_t page = 0; page < 20; page++) {
        ck_assert(seep_memory_read(&memory, 0x100000 + page * PAGE, to, PAGE));
        ck_assert_mem_eq(to, page % 2 ? bytes + page * PAGE : zeros, PAGE);
    }
    ck_assert_uint_eq(n_calls, 0);
}

TEST(what_has_no_room_is_not_loaded_and_said)
{
    const struct seep_memory_range all = {0x100000, 0x100000 + 19 * PAGE};

    memory.max_bytes = SEEP_MEMORY_CHUNK;
    seep_memory_load(&memory, &all_pages, &all, 1);
    ck_assert(memory.full);
    ck_assert_uint_eq(memory.bytes, SEEP_MEMORY_CHUNK);
    seep_memory_ask(&memory, NULL, NULL);
    ck_assert(seep_memory_has(&memory, 0x100000, SEEP_MEMORY_CHUNK));
    ck_assert(!seep_memory_has(&memory, 0x100000 + SEEP_MEMORY_CHUNK, 1));
}

/* A process that goes on may unmap what was to be loaded. */
TEST(what_could_not_be_loaded_takes_no_room_from_others)
{
    enum { GONE = 3 };
    struct seep_memory_range ranges[GONE + 1];
    uint8_t to[PAGE];

    for (uint64_t i = 0; i < GONE; i++)
        ranges[i] = (struct seep_memory_range){0x300000 + i * SEEP_MEMORY_CHUNK,
                                               0x300000 + (i + 1) * SEEP_MEMORY_CHUNK};
    ranges[GONE] = (struct seep_memory_range){0x100000, 0x100000 + SEEP_MEMORY_CHUNK};
    seep_memory_load(&memory, &all_pages, ranges, GONE + 1);
    const uint64_t loaded = memory.bytes;
    seep_memory_ask(&memory, only_zeros, NULL);
    for (size_t i = 0; i < GONE; i++)
        ck_assert(!seep_memory_has(&memory, ranges[i].start, 1));
    ck_assert_uint_eq(memory.bytes, loaded);
    ck_assert(seep_memory_has(&memory, 0x180000, PAGE)); /* gets the next room */
    memset(memory.recent, 0, sizeof memory.recent);
    ck_assert(seep_memory_read(&memory, 0x100000, to, PAGE));
    ck_assert_mem_eq(to, bytes, PAGE);
}

/* At the edge of a mapping a source may give nothing of a chunk, but each page by itself. */
TEST(a_page_is_there_also_where_its_chunk_is_not)
{
    memory.source = all_or_nothing;
    ck_assert(seep_memory_has(&memory, 0x100000 + 16 * PAGE, PAGE));
    ck_assert(seep_memory_has(&memory, 0x100000 + 19 * PAGE, PAGE));
    ck_assert(!seep_memory_has(&memory, 0x100000 + 20 * PAGE, PAGE));
    ck_assert(seep_memory_has(&memory, 0x100000 + 22 * PAGE, PAGE));
}

TEST(there_is_a_bound_to_what_is_kept)
{
    memory.max_bytes = SEEP_MEMORY_CHUNK;
    ck_assert(seep_memory_has(&memory, 0x100000, 8));
    ck_assert(!seep_memory_has(&memory, 0x110000, 8));
    ck_assert(memory.full);
    ck_assert(seep_memory_has(&memory, 0x100000, 8));
}

TEST(texts_end_and_are_plain)
{
    char to[8];

    memcpy(bytes, "ab\n\x80z\0tail", 11);
    memset(bytes + 30 * PAGE, 'x', 100);
    ck_assert_uint_eq(seep_memory_text(&memory, 0x100000, to, sizeof to), 5);
    ck_assert_str_eq(to, "ab??z");
    ck_assert_uint_eq(seep_memory_text(&memory, 0x100000 + 30 * PAGE, to, sizeof to), 7);
    ck_assert_uint_eq(seep_memory_text(&memory, 0x10, to, sizeof to), 0);
}

TEST(data_of_files_is_told_from_what_lies_behind_it)
{
    static const char text[] =
        "400000-401000 r-xp 00000000 08:01 77   /usr/bin/a program\n"
        "401000-402000 rw-p 00001000 08:01 77   /usr/bin/a program\n"
        "402000-404000 rw-p 00000000 00:00 0 \n"
        "7f0000000000-7f0000001000 ---p 00000000 00:00 0 \n"
        "7f0000001000-7f0000801000 rw-p 00000000 00:00 0 \n"
        "nonsense\n"
        "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n";
    struct seep_maps maps;

    ck_assert_int_eq(seep_maps_parse(&maps, text, strlen(text)), 0);
    ck_assert_uint_eq(maps.n, 6);
    ck_assert_uint_eq(maps.n_files, 1);
    ck_assert_str_eq(seep_maps_file(&maps, &maps.list[2]), "/usr/bin/a program");
    ck_assert_int_eq(maps.list[1].kind, SEEP_MAP_FILE);
    ck_assert_int_eq(maps.list[2].kind, SEEP_MAP_BSS);
    ck_assert(maps.list[4].guarded && !maps.list[5].guarded);
    ck_assert_int_eq(maps.list[5].kind, SEEP_MAP_STACK);
    ck_assert_ptr_eq(seep_maps_at(&maps, 0x401fff), &maps.list[1]);
    ck_assert_ptr_null(seep_maps_at(&maps, 0x500000));
    seep_maps_fini(&maps);
}

TEST(memory_with_the_name_of_a_file_is_told_from_files)
{
    static const char text[] =
        "400000-401000 rw-p 00001000 08:01 77   /usr/bin/program\n"
        "7f0000000000-7f0000200000 rw-p 00000000 00:11 19257   /anon_hugepage (deleted)\n"
        "7f0000200000-7f0000300000 rw-p 00000000 00:06 4   /dev/zero\n"
        "7f0000300000-7f0000400000 rw-s 00000000 00:01 9   /dev/zero (deleted)\n"
        "7f0000400000-7f0000500000 rw-p 00000000 08:01 5   /dev/zero/file\n";
    static const enum seep_map_kind kinds[] = {SEEP_MAP_FILE, SEEP_MAP_OTHER, SEEP_MAP_OTHER,
                                               SEEP_MAP_FILE, SEEP_MAP_FILE};
    struct seep_maps maps;

    ck_assert_int_eq(seep_maps_parse(&maps, text, strlen(text)), 0);
    ck_assert_uint_eq(maps.n, 5);
    for (size_t i = 0; i < maps.n; i++) {
        ck_assert_int_eq(maps.list[i].kind, kinds[i]);
        ck_assert_int_eq(*seep_maps_file(&maps, &maps.list[i]) == '/', kinds[i] == SEEP_MAP_FILE);
    }
    seep_maps_fini(&maps);
}

/* Far more than is kept at once, there and back. */
TEST(what_passes_by_is_read_again_when_somebody_asks_again)
{
    enum { MANY = 3 * SEEP_MEMORY_RECENT };
    const struct seep_memory_range range = {UINT64_C(1) << 30,
                                            (UINT64_C(1) << 30) + (uint64_t)MANY * PAGE};

    seep_memory_init(&memory, NULL, NULL, 0);
    ck_assert_int_eq(seep_memory_stream(&memory, read_numbers, NULL, &range, 1), 0);
    for (int turn = 0; turn < 2; turn++)
        for (uint64_t i = 0; i < MANY; i++) {
            const uint64_t page = range.start + (turn ? MANY - 1 - i : i) * PAGE;
            ck_assert_uint_eq(seep_memory_word(&memory, page + 8), page + 8);
        }
    ck_assert(!seep_memory_has(&memory, range.end, 1));
    ck_assert(!seep_memory_has(&memory, range.start - PAGE, 1));
    ck_assert_ptr_null(seep_memory_changed_page(&memory, range.end));
    seep_memory_stream_end(&memory);
    ck_assert(!seep_memory_has(&memory, range.start, 1));
    seep_memory_fini(&memory);
}

SUITE("memory", .setup = set_up, .teardown = tear_down)

/* A made-up heap with a minimal interpreter in it: a module, its variables, and what they refer
 * to. */
#ifndef SEEP_TESTS_PATHS_HEAP_FIXTURE_H
#define SEEP_TESTS_PATHS_HEAP_FIXTURE_H

#include "libprof/who/ways/answer.h"
#include "libprof/who/ways/inner.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

/* Data of a program and of a library; an anonymous mapping that begins as a thread's stack does,
 * which the kernel has joined with the heap above it; and what may be taken for a stack: 1 TiB that
 * somebody has reserved. */
#define DATA_AT    UINT64_C(0x10000000)
#define HEAP_AT    UINT64_C(0x35000000)
#define LIBRARY_AT UINT64_C(0x10100000)
enum {
    LIBRARY_BYTES = 64 << 10,
    DATA_BYTES = 256 << 10,
    HEAP_BYTES = 8 << 20,
    MAX_BLOCKS = 1 << 16
};

/* Versions of Python 3: a test with EACH_VERSION has each as its _i. */
enum { OLDEST = 8, NEWEST = 15 };
#define EACH_VERSION .from = OLDEST, .to = NEWEST + 1

static const char maps_text[] =
    "10000000-10040000 rw-p 00000000 00:00 1                          /usr/bin/python3\n"
    "10100000-10110000 rw-p 00000000 00:00 2                          /usr/lib/libother.so\n"
    "34ff0000-35000000 ---p 00000000 00:00 0 \n"
    "35000000-35800000 rw-p 00000000 00:00 0 \n"
    "3ffffff0000-40000000000 ---p 00000000 00:00 0 \n"
    "40000000000-50000000000 rw-p 00000000 00:00 0 \n";

static uint8_t data[DATA_BYTES], library[LIBRARY_BYTES], heap_bytes[HEAP_BYTES];
static uint64_t data_used, heap_used;
static struct seep_snapshot_block blocks[MAX_BLOCKS];
static size_t n_blocks;
static uint32_t minor;
static struct {
    uint64_t type, object, str, list, dict, tuple, module, array, node, code, frame, generator;
} types;
static uint64_t runtime, modules, interpreter;

static uint8_t *at(uint64_t address)
{
    if (address - DATA_AT < DATA_BYTES)
        return data + (address - DATA_AT);
    if (address - LIBRARY_AT < LIBRARY_BYTES)
        return library + (address - LIBRARY_AT);
    ck_assert_uint_lt(address - HEAP_AT, HEAP_BYTES);
    return heap_bytes + (address - HEAP_AT);
}

static void put(uint64_t address, uint64_t word)
{
    memcpy(at(address), &word, sizeof word);
}

static void put32(uint64_t address, uint32_t word)
{
    memcpy(at(address), &word, sizeof word);
}

static size_t read_fixture(void *context, uint64_t address, void *to, size_t n)
{
    (void)context;
    if (address >= DATA_AT && address < DATA_AT + DATA_BYTES) {
        size_t room = (size_t)(DATA_AT + DATA_BYTES - address);
        memcpy(to, at(address), n < room ? n : room);
        return n < room ? n : room;
    }
    if (address >= LIBRARY_AT && address < LIBRARY_AT + LIBRARY_BYTES) {
        size_t room = (size_t)(LIBRARY_AT + LIBRARY_BYTES - address);
        memcpy(to, at(address), n < room ? n : room);
        return n < room ? n : room;
    }
    if (address < HEAP_AT || address >= HEAP_AT + HEAP_BYTES)
        return 0;
    size_t room = (size_t)(HEAP_AT + HEAP_BYTES - address);
    memcpy(to, at(address), n < room ? n : room);
    return n < room ? n : room;
}

static uint64_t static_bytes(size_t n)
{
    uint64_t address = DATA_AT + 4096 + data_used;

    data_used += (n + 15) & ~(size_t)15;
    ck_assert_uint_le(4096 + data_used, DATA_BYTES);
    return address;
}

static uint64_t c_text(const char *text)
{
    uint64_t address = static_bytes(strlen(text) + 1);

    memcpy(at(address), text, strlen(text) + 1);
    return address;
}

static uint64_t block(size_t bytes, uint32_t site)
{
    uint64_t address = HEAP_AT + 4096 + heap_used;

    heap_used += (bytes + 15) & ~(size_t)15;
    ck_assert_uint_le(4096 + heap_used, HEAP_BYTES);
    blocks[n_blocks++] =
        (struct seep_snapshot_block){.start = address, .bytes = bytes, .site = site};
    return address;
}

static uint64_t new_type(const char *name, uint32_t flags, uint64_t basic)
{
    uint64_t type = static_bytes(SEEP_PY_TYPE_BYTES + 512);

    put(type, 1);
    put(type + SEEP_PY_TYPE, types.type ? types.type : type);
    put(type + SEEP_PY_TYPE_NAME, c_text(name));
    put(type + SEEP_PY_TYPE_BASIC, basic);
    put32(type + SEEP_PY_TYPE_FLAGS, flags | SEEP_PY_READY);
    put(type + SEEP_PY_TYPE_BASE, types.object);
    return type;
}

static const struct seep_python_layout *layout_of_fixture(void)
{
    return seep_python_layout_find(0x03000000u + (minor << 16));
}

/* An object in a block of its own, with room before it where its type is the collector's. */
static uint64_t new_object(uint64_t type, size_t bytes, uint32_t site)
{
    uint32_t flags;

    memcpy(&flags, at(type + SEEP_PY_TYPE_FLAGS), sizeof flags);
    size_t before = flags & SEEP_PY_GC ? 16 : 0;
    uint64_t object = block(before + bytes, site) + before;
    put(object, 1);
    put(object + SEEP_PY_TYPE, type);
    return object;
}

static uint64_t new_text(const char *text)
{
    const struct seep_python_layout *l = layout_of_fixture();
    uint64_t object = new_object(types.str, l->text_ascii + strlen(text) + 1, 0);

    put(object + SEEP_PY_TEXT_LENGTH, strlen(text));
    put32(object + SEEP_PY_TEXT_STATE,
          SEEP_PY_TEXT_ASCII | SEEP_PY_TEXT_COMPACT | 1u << SEEP_PY_TEXT_KIND_SHIFT | 1u);
    memcpy(at(object + l->text_ascii), text, strlen(text) + 1);
    return object;
}

static inline uint64_t new_list(const uint64_t *items, size_t n)
{
    uint64_t object = new_object(types.list, 40, 0), table = block(n * 8 + 8, 0);

    put(object + SEEP_PY_SIZE, n);
    put(object + SEEP_PY_LIST_ITEMS, table);
    for (size_t i = 0; i < n; i++)
        put(table + i * 8, items[i]);
    return object;
}

static inline uint64_t new_tuple(const uint64_t *items, size_t n)
{
    uint32_t first = layout_of_fixture()->tuple_items;
    uint64_t object = new_object(types.tuple, first + n * 8, 0);

    put(object + SEEP_PY_SIZE, n);
    for (size_t i = 0; i < n; i++)
        put(object + first + i * 8, items[i]);
    return object;
}

/* A dict with texts for keys. */
static uint64_t new_dict(const uint64_t *keys, const uint64_t *values, size_t n)
{
    enum { INDICES = 256 };
    bool new = layout_of_fixture()->new_keys;
    uint64_t object = new_object(types.dict, 48, 0);
    uint64_t table = block((new ? 32u : 40u) + INDICES + n * 24 + 8, 0);
    uint64_t entries = table + (new ? 32 : 40) + INDICES;

    ck_assert_uint_lt(n, 200);
    put(object + SEEP_PY_SIZE, n);
    put(object + SEEP_PY_DICT_KEYS, table);
    put(table, 1);
    if (new) {
        *at(table + 9) = 8; /* 256 indices of a byte */
        *at(table + 10) = 1;
        put(table + 24, n);
    } else {
        put(table + 8, 255);
        put(table + 32, n);
        entries--; /* of so many there are 255 */
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t entry = new ? entries + i * 16 : entries + i * 24 + 8;
        put(entry, keys[i]);
        put(entry + 8, values[i]);
    }
    return object;
}

/* The code of a function of the user's, with these variables. */
static inline uint64_t new_code(const char *function, const char *const *names, size_t n)
{
    const struct seep_python_layout *l = layout_of_fixture();
    uint64_t code = new_object(types.code, 200, 0), texts[8];

    for (size_t i = 0; i < n; i++)
        texts[i] = new_text(names[i]);
    put32(code + l->code_n_locals, (uint32_t)n);
    put32(code + l->code_stack, 4);
    put(code + l->code_names, new_tuple(texts, n));
    put(code + l->code_file, new_text("/home/user/train.py"));
    put(code + l->code_name, new_text(function));
    if (l->code_qualname)
        put(code + l->code_qualname, new_text(function));
    return code;
}

enum { FRAME_BYTES = 512 };

/* What a frame of that code has at its place: its variables, and behind them what is on its stack.
 */
static inline void put_frame(uint64_t frame, uint64_t code, const uint64_t *values, size_t n)
{
    const struct seep_python_layout *l = layout_of_fixture();
    uint64_t first = frame + l->frame_locals;

    put(frame + l->frame_code, code);
    for (size_t i = 0; i < n; i++)
        put(first + i * 8, values[i]);
    if (!l->frame_top)
        return;
    if (minor < 10 || minor >= 14)
        put(frame + l->frame_top, first + n * 8);
    else
        put32(frame + l->frame_top, (uint32_t)n);
}

/* A generator that has yielded: its frame is an object up to 3.10, and a part of it since. */
static inline uint64_t new_generator(uint64_t code, const uint64_t *values, size_t n)
{
    const struct seep_python_layout *l = layout_of_fixture();
    uint64_t object = new_object(types.generator, l->generator_frame + FRAME_BYTES, 0);
    uint64_t frame = object + l->generator_frame;

    if (!l->generator_state) {
        frame = new_object(types.frame, FRAME_BYTES, 0);
        put(object + l->generator_frame, frame);
    } else {
        *at(object + l->generator_state) = l->generator_runs ? 1 : 0xff; /* suspended */
    }
    put_frame(frame, code, values, n);
    return object;
}

static void make_types(void)
{
    const struct seep_python_layout *layout = layout_of_fixture();

    types.type = new_type("type", SEEP_PY_IS_TYPE | SEEP_PY_GC, 888);
    types.object = new_type("object", 0, 16);
    types.str = new_type("str", SEEP_PY_IS_TEXT, 48);
    types.list = new_type("list", SEEP_PY_IS_LIST | SEEP_PY_GC, 40);
    types.dict = new_type("dict", SEEP_PY_IS_DICT | SEEP_PY_GC, 48);
    types.tuple = new_type("tuple", SEEP_PY_IS_TUPLE | SEEP_PY_GC, layout->tuple_items);
    types.module = new_type("module", SEEP_PY_GC, 56);
    types.array = new_type("bytearray", 0, 56);
    types.node = new_type("Node", SEEP_PY_GC, 32); /* with one field */
    types.code = new_type("code", 0, 200);
    types.frame = new_type("frame", SEEP_PY_GC, layout->frame_locals);
    types.generator = new_type("generator", SEEP_PY_GC, layout->generator_frame + 16u);
}

/* The interpreter, and its module __main__ with these variables. */
static void make_main(const char *const *names, const uint64_t *values, size_t n)
{
    const struct seep_python_layout *l = layout_of_fixture();
    uint64_t keys[16] = {0}, module;

    interpreter = static_bytes(8192);
    for (size_t i = 0; i < n; i++)
        keys[i] = new_text(names[i]);
    module = new_object(types.module, 56, 0);
    put(module + SEEP_PY_MODULE_DICT, new_dict(keys, values, n));
    keys[0] = new_text("__main__");
    modules = new_dict(keys, &module, 1);
    runtime = static_bytes(1024);
    put(runtime + l->runtime_interpreters, interpreter);
    put(interpreter + l->interpreter_modules, modules);
}

/* A thread that runs a function: behind make_main(). Its frame lies in no block, as a thread's
 * frames do since 3.11. */
static inline void make_thread(uint64_t code, const uint64_t *values, size_t n)
{
    const struct seep_python_layout *l = layout_of_fixture();
    uint64_t thread = static_bytes(1024), frame = HEAP_AT + 64, first = frame;

    if (l->chain == SEEP_PYTHON_CHAIN_CFRAME) {
        first = static_bytes(64);
        put(first + l->cframe_frame, frame);
    }
    put(interpreter + l->interpreter_threads, thread);
    put(thread + l->thread_frame, first);
    put_frame(frame, code, values, n);
}

struct examined {
    struct seep_memory memory;
    struct seep_maps maps;
    struct seep_heap heap;
    struct seep_reach reach;
    struct seep_answer answers[4];
    int n;
};

static inline void open_heap(struct examined *e)
{
    const struct seep_root_places places = {0};

    memset(e, 0, sizeof *e);
    ck_assert_int_eq(seep_maps_parse(&e->maps, maps_text, strlen(maps_text)), 0);
    seep_memory_init(&e->memory, read_fixture, NULL, 64 << 20);
    e->heap.python = (struct seep_python){.layout = layout_of_fixture(), .runtime = runtime};
    ck_assert_int_eq(seep_heap_init(&e->heap, &e->memory, &e->maps, blocks, n_blocks), 0);
    ck_assert_int_eq(seep_reach_init(&e->reach, &e->heap, &places, true), 0);
}

/* Asks about site 1 as line 1, site 2 as line 2. */
static inline void examine(struct examined *e)
{
    static const uint32_t lines[] = {0, 1, 2};
    const struct seep_holder_query question = {.line_of_site = lines,
                                               .n_sites = 3,
                                               .n_lines = 3,
                                               .most = 4,
                                               .least = 1,
                                               .most_runs = 8,
                                               .keys = true};

    open_heap(e);
    ck_assert_int_eq(seep_reach_run(&e->reach), 0);
    ck_assert_int_eq(seep_inner_find(&e->reach), 0);
    e->n = seep_answer_lines(&e->reach, &question, e->answers);
    ck_assert_int_ge(e->n, 0);
}

static inline void examined_fini(struct examined *e)
{
    seep_reach_fini(&e->reach);
    seep_heap_fini(&e->heap);
    seep_maps_fini(&e->maps);
    seep_memory_fini(&e->memory);
}

static void begin(uint32_t version)
{
    memset(data, 0, sizeof data);
    memset(library, 0, sizeof library);
    memset(heap_bytes, 0, 4096 + heap_used);
    memset(&types, 0, sizeof types);
    data_used = heap_used = 0;
    n_blocks = 0;
    minor = version;
    runtime = modules = interpreter = 0;
    make_types();
}

#endif

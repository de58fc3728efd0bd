/* Texts of str objects, as each version of Python keeps them: all are in the memory of a stranger.
 */
#include "libprof/base/text.h"
#include "libprof/who/graph/py_text.h"
#include "libprof/who/graph/py_types.h"
#include "tests/who/ways/heap_fixture.h"

enum {
    COMPACT = SEEP_PY_TEXT_COMPACT,
    ASCII = SEEP_PY_TEXT_ASCII,
    STATE = SEEP_PY_TEXT_KIND_SHIFT
};

static struct examined e;

static void look(void)
{
    make_main(NULL, NULL, 0);
    open_heap(&e);
}

/* A str of so many bytes a character, which lie in the object itself. */
static uint64_t new_wide(unsigned each, const void *characters, size_t n)
{
    uint32_t first = layout_of_fixture()->text_compact;
    uint64_t object = new_object(types.str, first + (n + 1) * each, 0);

    put(object + SEEP_PY_TEXT_LENGTH, n);
    put32(object + SEEP_PY_TEXT_STATE, COMPACT | each << STATE);
    memcpy(at(object + first), characters, n * each);
    return object;
}

static void expect_text(uint64_t object, size_t capacity, const char *text)
{
    char to[64];

    memset(to, '#', sizeof to);
    ck_assert_uint_eq(seep_python_text(&e.heap, object, to, capacity), strlen(text));
    ck_assert_str_eq(to, text);
    for (size_t i = capacity; i < sizeof to; i++)
        ck_assert_int_eq(to[i], '#');
}

TEST(names_are_told_in_any_script, EACH_VERSION)
{
    static const uint8_t latin[] = {'c', 'a', 'f', 0xe9};
    static const uint16_t greek[] = {0x3b1, 'x', 0x20ac};
    static const uint32_t signs[] = {0x1f980, 'y', 0x3b2};

    begin((uint32_t)_i);
    uint64_t one = new_wide(1, latin, 4), two = new_wide(2, greek, 3), four = new_wide(4, signs, 3);
    uint64_t ascii = new_text("history"), none = new_text("");
    look();
    expect_text(ascii, 64, "history");
    expect_text(none, 64, "");
    expect_text(one, 64, "caf\u00e9");
    expect_text(two, 64, "\u03b1x\u20ac");
    expect_text(four, 64, "\U0001f980y\u03b2");
    ck_assert(seep_python_is_text(&e.heap, four));
    examined_fini(&e);
}

/* Of a subclass of str, the characters lie in a block of their own. */
TEST(a_text_that_lies_elsewhere_is_found, EACH_VERSION)
{
    begin((uint32_t)_i);
    uint64_t object = new_text("what lay in the object itself before it was moved"),
             characters = block(16, 0);
    memcpy(at(characters), "elsewhere", 9);
    put(object + SEEP_PY_TEXT_LENGTH, 9);
    put32(object + SEEP_PY_TEXT_STATE, ASCII | 1 << STATE);
    put(object + layout_of_fixture()->text_compact, characters);
    look();
    expect_text(object, 64, "elsewhere");
    examined_fini(&e);
}

TEST(a_long_text_is_cut_behind_a_whole_character)
{
    static const uint16_t text[] = {'a', 0x20ac, 0x20ac, 'b'};
    static const char *const cut[] = {"",
                                      "a",
                                      "a",
                                      "a",
                                      "a\u20ac",
                                      "a\u20ac",
                                      "a\u20ac",
                                      "a\u20ac\u20ac",
                                      "a\u20ac\u20acb",
                                      "a\u20ac\u20acb"};

    begin(11);
    uint64_t object = new_wide(2, text, 4);
    look();
    for (size_t i = 0; i < N(cut); i++)
        expect_text(object, i + 1, cut[i]);
    examined_fini(&e);
}

TEST(what_is_no_character_becomes_a_question_mark)
{
    static const uint32_t odd[] = {'\n', 127, 0x85, 0xd800, 0x110000, UINT32_MAX, 0, 'z'};

    begin(11);
    uint64_t object = new_wide(4, odd, N(odd));
    look();
    expect_text(object, 64, "???????z");
    examined_fini(&e);
}

TEST(damaged_texts_end, EACH_VERSION)
{
    static const uint64_t lengths[] = {UINT64_MAX, (uint64_t)INT64_MIN, INT64_MAX, 1 << 20};
    static const uint32_t states[] = {COMPACT, COMPACT | 3 << STATE, 7 << STATE, 0, 4 << STATE};
    static const uint64_t places[] = {0, 1, UINT64_MAX, UINT64_MAX - 7, DATA_AT - 1};
    char to[64];

    begin((uint32_t)_i);
    uint64_t object = new_text("history"), list = new_list(NULL, 0);
    look();
    for (size_t i = 0; i < N(lengths) * N(states) * N(places); i++) {
        e.memory.source = NULL; /* what is changed has to be read again */
        seep_memory_fini(&e.memory);
        seep_memory_init(&e.memory, read_fixture, NULL, 64 << 20);
        put(object + SEEP_PY_TEXT_LENGTH, lengths[i % N(lengths)]);
        put32(object + SEEP_PY_TEXT_STATE, states[i / N(lengths) % N(states)]);
        put(object + layout_of_fixture()->text_compact, places[i / N(lengths) / N(states)]);
        size_t n = seep_python_text(&e.heap, object, to, sizeof to);
        ck_assert_uint_lt(n, sizeof to);
        ck_assert_uint_eq(n, strlen(to));
        ck_assert(seep_text_is_utf8(to));
    }
    expect_text(list, 64, "");
    expect_text(0, 64, "");
    expect_text(UINT64_MAX - 15, 64, "");
    ck_assert(!seep_python_is_text(&e.heap, list) && !seep_python_is_text(&e.heap, 0));
    examined_fini(&e);
}

/* A count of references that no object has tells what was freed. */
static const struct {
    uint32_t from, to;
    uint64_t count;
    bool object;
} counts[] = {
    {8, 14, 1, true},
    {8, 14, 0, false},
    {8, 14, UINT64_MAX, false},
    {12, 13, UINT32_MAX, true},                 /* one that is never freed */
    {14, 14, UINT64_C(3) << 30, true},          /* the same */
    {14, 14, UINT64_C(1) << 48 | 1, true},      /* flags stand above the count */
    {14, 14, UINT64_C(0x8000) << 48 | 1, true}, /* those, too */
    {8, 14, UINT64_C(0x7f0012345670), false},   /* where the next free one lies */
    {14, 14, UINT64_C(0x5512345670), false},    /* the same, with a heap that lies low */
};

TEST(what_was_freed_is_no_object, .to = N(counts))
{
    for (uint32_t version = counts[_i].from; version <= counts[_i].to; version++) {
        begin(version);
        uint64_t object = new_text("history");
        put(object, counts[_i].count);
        look();
        ck_assert_int_eq(seep_python_object(&e.heap, object, 64) != NULL, counts[_i].object);
        examined_fini(&e);
    }
}

SUITE("Python's texts")

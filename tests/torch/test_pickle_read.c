/* Pickles made by hand: what is read of them, and what is refused. Each container becomes a text
 * that shows it. */
#include "libprof/torch/pickle_read.h"
#include "tests/suite.h"

#include <string.h>

enum { SHOWN = SEEP_PICKLE_OWN, MOST = 64, TEXT_BYTES = 8192 };

static char texts[MOST][TEXT_BYTES];
static uint32_t n_texts;

static int add_text(void *context, const char *bytes, size_t n, uint32_t *number)
{
    (void)context;
    ck_assert_uint_lt(n_texts, MOST);
    snprintf(texts[n_texts], TEXT_BYTES, "%.*s", (int)n, bytes);
    *number = n_texts++;
    return 0;
}

static void show(const struct seep_pickle_value *v, char *to, size_t room)
{
    if (v->kind == SEEP_PICKLE_INT)
        snprintf(to, room, "%lld", (long long)v->number);
    else if (v->kind == SEEP_PICKLE_FLOAT)
        snprintf(to, room, "%g", v->real);
    else if (v->kind == SEEP_PICKLE_TEXT || v->kind == SHOWN)
        snprintf(to, room, "%s", texts[v->from]);
    else
        snprintf(to, room, "%s",
                 v->kind == SEEP_PICKLE_DICT   ? "{}"
                 : v->kind == SEEP_PICKLE_LIST ? "[]"
                                               : "?");
}

/* "[1 2]", and "[1 2][3]" if they came in two runs. */
static int show_items(struct seep_pickle_value *container, const struct seep_pickle_value *items,
                      size_t n, const char *ends)
{
    char all[TEXT_BYTES] = "", one[TEXT_BYTES];
    size_t at = 0;

    if (container->kind == SHOWN)
        at = (size_t)snprintf(all, sizeof all, "%s", texts[container->from]);
    all[at++] = ends[0];
    for (size_t i = 0; i < n; i++) {
        show(&items[i], one, sizeof one);
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i ? " " : "", one);
    }
    snprintf(all + at, sizeof all - at, "%c", ends[1]);
    container->kind = SHOWN;
    return add_text(NULL, all, strlen(all), &container->from);
}

static int show_dict(void *context, struct seep_pickle_value *dict,
                     const struct seep_pickle_value *items, size_t n)
{
    (void)context;
    return show_items(dict, items, n, "{}");
}

static int show_list(void *context, struct seep_pickle_value *list,
                     const struct seep_pickle_value *items, size_t n)
{
    (void)context;
    return show_items(list, items, n, "[]");
}

static int show_tuple(void *context, struct seep_pickle_value *tuple,
                      const struct seep_pickle_value *items, size_t n)
{
    (void)context;
    return show_items(tuple, items, n, "()");
}

struct bytes {
    const char *at;
    size_t left, part;
};

static int64_t read_bytes(void *context, void *buffer, size_t n)
{
    struct bytes *b = context;
    const size_t part = n < b->part ? n : b->part, got = part < b->left ? part : b->left;

    memcpy(buffer, b->at, got);
    b->at += got;
    b->left -= got;
    return (int64_t)got;
}

static struct seep_error err;
static bool is_cut;

/* What is read of a pickle that arrives in parts of that size; the error's text if it is refused.
 */
static const char *read_in_parts(const char *pickle, size_t n, size_t part)
{
    static char shown[TEXT_BYTES];
    struct bytes bytes = {pickle, n, part};
    struct seep_pickle_value result = {0};

    n_texts = 0;
    err = (struct seep_error){0};
    const int rc = seep_pickle_read(
        &(struct seep_pickle_source){&bytes, read_bytes},
        &(struct seep_pickle_maker){NULL, add_text, show_dict, show_list, show_tuple}, &is_cut,
        &result, &err);
    if (rc)
        return err.text;
    show(&result, shown, sizeof shown);
    return shown;
}

#define READ(pickle) read_in_parts(pickle, sizeof(pickle) - 1, 1 << 20)

static const struct {
    const char *pickle;
    size_t n;
    const char *shown;
} plain[] = {
#define ROW(pickle, shown)                                                                         \
    {                                                                                              \
        pickle, sizeof(pickle) - 1, shown                                                          \
    }
    ROW("\x80\x02]q\x00(K\x01K\x02"
        "e.",
        "[1 2]"),
    ROW("\x80\x02]q\x00(K\x01"
        "e(K\x02"
        "e.",
        "[1][2]"),
    ROW("\x80\x02]K\x07"
        "a.",
        "[7]"),
    ROW("\x80\x02}(U\x01"
        "aJ\xff\xff\xff\xffX\x01\x00\x00\x00"
        "bM\x01\x02u.",
        "{a -1 b 513}"),
    ROW("\x80\x02}U\x01kK\x01s.", "{k 1}"),
    ROW("\x80\x03(U\x01kK\x01"
        "d.",
        "{k 1}"),
    ROW("\x80\x03(K\x01K\x02l.", "[1 2]"),
    ROW("\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00]\x94(\x8c\x02hi\x94h\x01h\x01"
        "e.",
        "[hi hi hi]"),
    ROW("\x80\x02]q\x00(U\x01xq\x05h\x05r\x06\x00\x00\x00j\x06\x00\x00\x00"
        "e.",
        "[x x x]"),
    ROW("\x80\x02](\x8a\x00\x8a\x01\x7f\x8a\x01\x80\x8a\x06\x00\x00\x00\x00\x00\x7f\x8a\x08\xff\xff"
        "\xff\xff\xff\xff\xff\xff"
        "e.",
        "[0 127 -128 139637976727552 -1]"),
    ROW("\x80\x02](\x8a\x09"
        "123456789K\x01"
        "e.",
        "[? 1]"),
    ROW("\x80\x02](G\x3f\xf8\x00\x00\x00\x00\x00\x00\x88\x89N"
        "e.",
        "[1.5 1 0 ?]"),
    ROW("\x80\x05](K\x01K\x02\x86K\x01\x85(K\x01K\x02K\x03K\x04t)\x8f(K\x01\x90(K\x01\x91"
        "e.",
        "[(1 2) (1) (1 2 3 4) ? ? ?]"),
    ROW("\x80\x05](C\x02xyB\x01\x00\x00\x00z\x96\x01\x00\x00\x00\x00\x00\x00\x00wK\x05"
        "e.",
        "[? ? ? 5]"),
    ROW("\x80\x02](K\x01"
        "2(K\x02K\x03"
        "1K\x04"
        "0e.",
        "[1 1]"),
    ROW("\x80\x02]q\x00(h\x00"
        "e.",
        "[[]]"),
#undef ROW
};

TEST(plain_data_are_read, .to = N(plain))
{
    ck_assert_str_eq(read_in_parts(plain[_i].pickle, plain[_i].n, 1 << 20), plain[_i].shown);
    ck_assert(!is_cut);
    ck_assert_str_eq(read_in_parts(plain[_i].pickle, plain[_i].n, 1), plain[_i].shown);
}

static const struct {
    const char *pickle;
    size_t n;
    const char *says;
} refused[] = {
#define ROW(pickle, says)                                                                          \
    {                                                                                              \
        pickle, sizeof(pickle) - 1, says                                                           \
    }
    ROW("\x80\x02"
        "cos\nsystem\n(U\x02idtR.",
        "GLOBAL at byte 2"),
    ROW("\x80\x04\x8c\x02os\x8c\x06system\x93.", "STACK_GLOBAL at byte 14"),
    ROW("\x80\x02]K\x01R.", "REDUCE at byte 5"),
    ROW("\x80\x02]}b.", "BUILD at byte 4"),
    ROW("\x80\x02(ios\nsystem\n.", "INST at byte 3"),
    ROW("\x80\x02(o.", "OBJ at byte 3"),
    ROW("\x80\x02])\x81.", "NEWOBJ at byte 4"),
    ROW("\x80\x04])}\x92.", "NEWOBJ_EX at byte 5"),
    ROW("\x80\x02\x82\x01.", "EXT1 at byte 2"),
    ROW("\x80\x02P1\n.", "PERSID at byte 2"),
    ROW("\x80\x02K\x01Q.", "BINPERSID at byte 4"),
    ROW("\x80\x05\x97.", "NEXT_BUFFER at byte 2"),
    ROW("\x80\x02I1\n.", "INT at byte 2"),
    ROW("\x80\x02\xff.", "not a pickle from byte 2 on"),
    ROW("\x80\x01].", "protocol 2 to 5"),
    ROW("PK\x03\x04", "protocol 2 to 5"),
    ROW("\x80\x02.", "nothing is in the pickle"),
    ROW("\x80\x02"
        "e.",
        "without its beginning"),
    ROW("\x80\x02(e.", "without a container"),
    ROW("\x80\x02K\x01(K\x02"
        "e.",
        "of another container"),
    ROW("\x80\x02}(K\x01u.", "a key without a value"),
    ROW("\x80\x02](K\x01K\x02u.", "of another container"),
    ROW("\x80\x02h\x07.", "was not remembered"),
    ROW("\x80\x02]r\xff\xff\xff\x7f.", "out of order"),
    ROW("\x80\x02\x94.", "nothing to remember"),
    ROW("\x80\x02K\x01\x86.", "a tuple without its items"),
    ROW("\x80\x02"
        "0.",
        "nothing to take away"),
#undef ROW
};

TEST(what_would_call_something_or_makes_no_sense_is_refused, .to = N(refused))
{
    const char *says = read_in_parts(refused[_i].pickle, refused[_i].n, 1 << 20);

    ck_assert_msg(strstr(says, refused[_i].says) && err.text[0], "%s", says);
}

/* The dict in which it ends is left out; what was complete is there. */
TEST(one_that_ends_early_is_closed_as_it_is)
{
    static const char whole[] = "\x80\x02}q\x00(U\x01"
                                "a](}(U\x01xK\x01u}(U\x01xK\x02"
                                "ueU\x01"
                                "bK\x03u.";
    const size_t n = sizeof whole - 1;

    ck_assert_str_eq(READ(whole), "{a [{x 1} {x 2}] b 3}");
    for (size_t cut = 3; cut < n; cut++) {
        const char *shown = read_in_parts(whole, cut, 1 << 20);
        ck_assert_msg(is_cut && !err.text[0], "%zu bytes: %s", cut, shown);
    }
    ck_assert_str_eq(read_in_parts(whole, 26, 1 << 20), "{a [{x 1}]}");
    ck_assert_str_eq(read_in_parts(whole, n - 3, 1 << 20), "{a [{x 1} {x 2}]}");
}

/* Lengths that are not there take no memory. */
TEST(a_length_is_not_believed)
{
    READ("\x80\x04]\x8d\xff\xff\xff\xff\xff\xff\xff\x7fhello");
    ck_assert(is_cut);
    READ("\x80\x04]\x8e\xff\xff\xff\xff\xff\xff\xff\xffhello");
    ck_assert(is_cut);
}

TEST(a_long_text_is_cut)
{
    static char pickle[40000] = "\x80\x02X\x30\x75\x00\x00";
    const size_t n = 30000;

    memset(pickle + 7, 'x', n);
    pickle[7 + n] = '.';
    ck_assert_uint_eq(strlen(read_in_parts(pickle, 8 + n, 1000)), SEEP_PICKLE_TEXT_BYTES);
    ck_assert(!is_cut);
}

static int make_nothing(void *context, struct seep_pickle_value *container,
                        const struct seep_pickle_value *items, size_t n)
{
    (void)context;
    (void)container;
    (void)items;
    (void)n;
    return 0;
}

/* Opened a million times, never closed. */
TEST(depth_takes_no_stack_of_calls)
{
    enum { DEEP = 1 << 20 };
    char *pickle = malloc(2 + 2 * DEEP);

    ck_assert_ptr_nonnull(pickle);
    memcpy(pickle, "\x80\x02", 2);
    for (size_t i = 0; i < DEEP; i++)
        memcpy(pickle + 2 + 2 * i, "](", 2);
    struct bytes bytes = {pickle, 2 + 2 * DEEP, 1 << 20};
    struct seep_pickle_value result;
    const struct seep_pickle_maker maker = {NULL, add_text, make_nothing, make_nothing,
                                            make_nothing};
    ck_assert_int_eq(seep_pickle_read(&(struct seep_pickle_source){&bytes, read_bytes}, &maker,
                                      &is_cut, &result, NULL),
                     0);
    ck_assert(is_cut);
    free(pickle);
}

SUITE("pickles")

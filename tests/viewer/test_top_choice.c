/* Keys of `seep top`: what they choose, and that no index lies past the end. */
#include "tests/viewer/top_fixture.h"

#include "tests/suite.h"
#include "viewer/top/top_choice.h"

static struct seep_top_view *view;
static struct seep_top_choice choice;

static void set_up(void)
{
    view = top_view();
    choice = (struct seep_top_choice){.page_rows = 2};
    seep_top_follow(&choice, view);
}

static void tear_down(void)
{
    seep_top_view_destroy(view);
}

static void press(const char *keys)
{
    for (; *keys; keys++)
        seep_top_press(&choice, view, *keys);
}

/* The first letters of the lines that are shown, in order. */
static const char *shown(void)
{
    static char text[8];
    size_t order[8];
    size_t n = seep_top_order(view, &choice, order);

    for (size_t i = 0; i < n; i++)
        text[i] = view->lines[order[i]].place[0];
    text[n] = '\0';
    return text;
}

/* t: train.py, n: net.py, l: lib/log.py */
static const struct {
    const char *keys, *shown;
} chosen[] = {
    {"", "tnl"},           /* what leaks first, then by growth */
    {"s", "ntl"},          /* by growth: 9, 3.5, 0 */
    {"ss", "tnl"},         /* live: 300, 80, 60 */
    {"sss", "tnl"},        /* peak: 500, 90, 60 */
    {"ssss", "tnl"},       /* findings again */
    {"f", "tl"},           /* host */
    {"ff", "n"},           /* tensor:0 */
    {"fff", "tnl"},        /* all again */
    {"/LOG\n", "l"},       /* no matter which case */
    {"/spike\n", "l"},     /* the pattern of its finding */
    {"/malloc_S2\n", "t"}, /* what is in a stack */
    {"/x\177n\n", "tnl"},  /* taken back, and all have an n in their stacks */
    {"/log\033", "tnl"},   /* given up */
    {"/log\n\033", "tnl"}, /* shown again */
    {"/nowhere\n", ""},
};

TEST(keys_choose_lines_and_their_order, .to = N(chosen))
{
    press(chosen[_i].keys);
    ck_assert_str_eq(shown(), chosen[_i].shown);
}

TEST(letters_that_are_typed_are_no_keys)
{
    press("/qsfph");
    ck_assert(choice.typing && !choice.quit && !choice.paused);
    ck_assert_str_eq(choice.search, "qsfph");
    press("\n");
    ck_assert(!choice.typing);
    press("q");
    ck_assert(choice.quit);
}

TEST(a_typed_letter_of_several_bytes_is_taken_back_whole)
{
    static const long letters[] = {0xe9, 0x20ac, 0x1f600};

    press("/a");
    for (size_t i = 0; i < N(letters); i++) {
        seep_top_press(&choice, view, letters[i]);
    }
    ck_assert_str_eq(choice.search, "a\u00e9\u20ac\U0001f600");
    press("\177\177");
    ck_assert_str_eq(choice.search, "a\u00e9");
    press("\177\177\177\177");
    ck_assert_str_eq(choice.search, "");
}

TEST(what_is_typed_has_a_bound)
{
    press("/");
    for (int i = 0; i < 1000; i++)
        seep_top_press(&choice, view, 0x1f600);
    ck_assert_uint_lt(strlen(choice.search), sizeof choice.search);
}

static const struct {
    long keys[4];
    size_t chosen, first;
} moves[] = {
    {{0}, 0, 0},
    {{SEEP_TOP_UP}, 0, 0},
    {{SEEP_TOP_DOWN}, 1, 0},
    {{SEEP_TOP_DOWN, 'j'}, 2, 1},
    {{SEEP_TOP_DOWN, SEEP_TOP_DOWN, SEEP_TOP_DOWN, SEEP_TOP_DOWN}, 2, 1},
    {{SEEP_TOP_LAST}, 2, 1},
    {{SEEP_TOP_LAST, SEEP_TOP_FIRST}, 0, 0},
    {{SEEP_TOP_LAST, SEEP_TOP_UP}, 1, 1},
    {{SEEP_TOP_PAGE_DOWN, SEEP_TOP_PAGE_DOWN, SEEP_TOP_PAGE_DOWN, 'k'}, 1, 1},
    {{SEEP_TOP_PAGE_DOWN, SEEP_TOP_PAGE_UP}, 0, 0},
};

TEST(the_chosen_line_stays_on_the_screen, .to = N(moves))
{
    for (size_t i = 0; i < N(moves[_i].keys) && moves[_i].keys[i]; i++)
        seep_top_press(&choice, view, moves[_i].keys[i]);
    ck_assert_uint_eq(choice.chosen, moves[_i].chosen);
    ck_assert_uint_eq(choice.first, moves[_i].first);
}

static struct seep_top_view *without_first_site(void)
{
    json_t *report = top_report();

    json_array_remove(json_object_get(report, "sites"), 2); /* net.py's, the first by growth */
    return seep_top_view_create(report, TOP_NOW);
}

TEST(a_line_that_was_chosen_stays_chosen_in_the_next_look)
{
    press("s");
    seep_top_press(&choice, view, SEEP_TOP_DOWN); /* train.py, the second */
    struct seep_top_view *next = without_first_site();
    seep_top_follow(&choice, next);
    ck_assert_uint_eq(choice.chosen, 0);
    ck_assert_str_eq(seep_top_chosen(&choice, next)->place, "train.py:7 in load");
    seep_top_view_destroy(next);
}

TEST(who_has_not_moved_sees_the_first_line)
{
    struct seep_top_view *next = without_first_site();

    press("s");
    seep_top_follow(&choice, next);
    ck_assert_str_eq(seep_top_chosen(&choice, next)->place, "train.py:7 in load");
    seep_top_follow(&choice, view);
    ck_assert_str_eq(seep_top_chosen(&choice, view)->place, "net.py:9 in forward");
    seep_top_view_destroy(next);
}

TEST(details_stay_those_of_their_line_also_where_it_is_gone)
{
    press("s\n");
    ck_assert_int_eq(choice.page, SEEP_TOP_DETAILS);
    struct seep_top_view *next = without_first_site();
    seep_top_follow(&choice, next);
    ck_assert_ptr_null(seep_top_chosen(&choice, next));
    ck_assert_str_eq(seep_top_chosen(&choice, view)->place, "net.py:9 in forward");
    seep_top_view_destroy(next);
    press("\n");
    ck_assert_int_eq(choice.page, SEEP_TOP_LIST);
}

TEST(details_scroll_to_their_last_line_and_no_further)
{
    press("\n");
    choice.detail_lines = 10;
    choice.page_rows = 4;
    for (int i = 0; i < 20; i++)
        seep_top_press(&choice, view, SEEP_TOP_DOWN);
    ck_assert_uint_eq(choice.scroll, 6);
    seep_top_press(&choice, view, SEEP_TOP_FIRST);
    ck_assert_uint_eq(choice.scroll, 0);
    seep_top_press(&choice, view, SEEP_TOP_LAST);
    ck_assert_uint_eq(choice.scroll, 6);
    choice.page_rows = 40; /* a larger window */
    seep_top_press(&choice, view, SEEP_TOP_DOWN);
    ck_assert_uint_eq(choice.scroll, 0);
}

TEST(where_nothing_is_there_no_key_does_harm)
{
    struct seep_top_view *empty = seep_top_view_create(json_object(), TOP_NOW);

    seep_top_follow(&choice, empty);
    for (long key = 0; key <= SEEP_TOP_LAST; key = key == 200 ? SEEP_TOP_UP : key + 1)
        seep_top_press(&choice, empty, key);
    ck_assert_ptr_null(seep_top_chosen(&choice, empty));
    ck_assert_uint_eq(choice.chosen, 0);
    seep_top_view_destroy(empty);
}

SUITE("top: keys", .setup = set_up, .teardown = tear_down)

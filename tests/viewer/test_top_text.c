/* Texts in columns, curves and bars. */
#include "tests/suite.h"
#include "viewer/top/top_text.h"

#include <locale.h>
#include <string.h>

static char out[4096];

static void set_up(void)
{
    ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
}

static const struct {
    const char *text;
    int columns;
    bool utf8;
    const char *shown;
    int used;
} fits[] = {
    {"plain", 5, true, "plain", 5},
    {"plain", 9, true, "plain", 5},
    {"plain", 4, true, "pla\u2026", 4},
    {"plain", 4, false, "pla~", 4},
    {"plain", 1, false, "~", 1},
    {"plain", 0, true, "", 0},
    {"", 4, true, "", 0},
    {"gr\u00fcn", 4, true, "gr\u00fcn", 4},
    {"gr\u00fcn", 4, false, "gr?n", 4},
    {"\u6f22\u5b57", 4, true, "\u6f22\u5b57", 4}, /* two columns each */
    {"\u6f22\u5b57x", 4, true, "\u6f22\u2026", 3},
    {"\u6f22\u5b57", 4, false, "??", 2},
    {"a\033[2Jb", 9, true, "a?[2Jb", 6},
    {"a\xc2\x85"
     "b\xc2\x9b"
     "c",
     9, true, "a?b?c", 5},                    /* C1 controls */
    {"a\u202eb\u200fc", 9, true, "a?b?c", 5}, /* turn text around */
    {"a\u200bb\u2066c", 9, true, "a?b?c", 5}, /* have no width */
    {"e\u0301e", 9, true, "e?e", 3},          /* stand on another */
    {"a\xff\xc3", 9, true, "a??", 3},         /* no UTF-8 */
    {"\xf0\x9f\x98", 9, true, "???", 3},      /* cut within a character */
};

TEST(a_text_takes_no_more_columns_than_it_has, .to = N(fits))
{
    memset(out, 'x', sizeof out);
    ck_assert_int_eq(seep_top_fit(out, fits[_i].text, fits[_i].columns, fits[_i].utf8),
                     fits[_i].used);
    ck_assert_str_eq(out, fits[_i].shown);
    ck_assert_uint_le(strlen(out), (size_t)fits[_i].columns * SEEP_TOP_CELL);
}

static const struct {
    int columns;
    const char *shown;
} places[] = {
    {40, "/data/my project/train.py:40 in f/g"},
    {34, "data/my project/train.py:40 in f/g"},
    {30, "my project/train.py:40 in f/g"},
    {20, "train.py:40 in f/g"},
    {10, "train.py:\u2026"},
};

TEST(of_a_place_folders_give_way_first, .to = N(places))
{
    seep_top_fit_place(out, places[0].shown, places[_i].columns, true);
    ck_assert_str_eq(out, places[_i].shown);
}

static const struct {
    double share;
    int columns;
    const char *shown;
} bars[] = {
    {0, 17, "[          ]   0%"},
    {0.5, 17, "[#####     ]  50%"},
    {1, 17, "[##########] 100%"},
    {1.5, 17, "[##########] 150%"},
    {1e300, 17, "[##########] 999%"},
    {-1, 17, "[          ]   0%"},
    {0.5, 8, " 50%"},
    {0.5, 2, " ~"},
};

TEST(a_bar_says_its_share_in_figures, .to = N(bars))
{
    ck_assert_int_eq(seep_top_bar(out, bars[_i].share, bars[_i].columns, false),
                     (int)strlen(bars[_i].shown));
    ck_assert_str_eq(out, bars[_i].shown);
}

TEST(a_curve_goes_from_nothing_to_the_highest)
{
    static const double levels[] = {-1, 0, 1, 4, 7};

    seep_top_curve(out, levels, N(levels), true);
    ck_assert_str_eq(out, " \u2581\u2582\u2585\u2588");
    seep_top_curve(out, levels, N(levels), false);
    ck_assert_str_eq(out, " _.=#");
    static const double none[] = {0, 0};
    seep_top_curve(out, none, N(none), false);
    ck_assert_str_eq(out, "__");
}

static void levels_are(const char *at, const char *values, int n, const double *expected)
{
    json_t *axis = json_loads(at, 0, NULL), *levels = json_loads(values, 0, NULL);
    double got[8];

    ck_assert_int_eq(seep_top_levels(axis, levels, 0, 8, got, n), expected ? n : 0);
    for (int i = 0; expected && i < n; i++)
        ck_assert_double_eq(got[i], expected[i]);
    json_decref(axis);
    json_decref(levels);
}

TEST(a_part_of_the_axis_shows_its_highest_level_or_the_last_before_it)
{
    levels_are("[0, 1, 2, 8]", "[5, 9, 3, 1]", 4, (double[]){9, 3, 3, 1});
    levels_are("[4, 8]", "[5, 6]", 4, (double[]){-1, -1, 5, 6});
    levels_are("[3]", "[5]", 2, (double[]){5, 5});
    levels_are("[]", "[]", 4, NULL);
    levels_are("[1, 2]", "[1]", 4, NULL);
    levels_are("[-5, 99]", "[1, 2]", 2, (double[]){1, 2}); /* beyond its ends */
}

TEST(durations_and_counts_are_short)
{
    static const struct {
        double value;
        const char *duration, *count;
    } cases[] = {
        {0, "0 s", "0"},
        {59.9, "59 s", "60"},
        {65, "1 min 05 s", "65"},
        {7321, "2 h 02 min", "7321"},
        {99999, "27 h 46 min", "99999"},
        {123456, "34 h 17 min", "123 k"},
        {999499, "277 h 38 min", "999 k"},
        {1234567, "342 h 56 min", "1.2 M"},
    };

    for (size_t i = 0; i < N(cases); i++) {
        seep_top_duration(cases[i].value, out);
        ck_assert_str_eq(out, cases[i].duration);
        seep_top_count(cases[i].value, out);
        ck_assert_str_eq(out, cases[i].count);
    }
    seep_top_count(1e300, out);
    ck_assert_uint_le(strlen(out), 7);
    seep_top_duration(-1e300, out);
    ck_assert_str_eq(out, "0 s");
}

SUITE("top: texts", .setup = set_up)

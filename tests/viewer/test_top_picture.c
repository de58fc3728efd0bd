/* Pictures of every size: what is on them, and that nothing is written beyond their edges. */
#include "tests/viewer/top_fixture.h"

#include "tests/suite.h"
#include "viewer/top/top_picture.h"

#include <locale.h>

static struct seep_top_view *view;
static struct seep_top_choice choice;
static char text[1 << 16];

static void set_up(void)
{
    ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
    view = top_view();
    choice = (struct seep_top_choice){0};
    seep_top_follow(&choice, view);
}

static void tear_down(void)
{
    seep_top_view_destroy(view);
}

/* The picture as text, a row a line, without the blanks at their ends. */
static const char *draw(int rows, int columns, bool utf8, const char *message)
{
    struct seep_top_picture picture;
    size_t n = 0;

    ck_assert_int_eq(seep_top_picture_init(&picture, rows, columns, utf8), 0);
    seep_top_draw(&picture, view, &choice, message);
    for (int i = 0; i < picture.n_rows; i++) {
        const struct seep_top_row *row = &picture.rows[i];
        ck_assert_int_le(row->columns, columns);
        ck_assert_uint_eq(strlen(row->text), row->bytes);
        for (int k = 0; k < row->n_spans; k++)
            ck_assert(row->spans[k].begin <= row->spans[k].end && row->spans[k].end <= row->bytes);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s", row->text);
        while (n > 0 && text[n - 1] == ' ')
            n--;
        text[n++] = '\n';
        text[n] = '\0';
    }
    seep_top_picture_fini(&picture);
    return text;
}

static void has(const char *picture, const char *wanted)
{
    ck_assert_msg(strstr(picture, wanted) != NULL, "no \"%s\" in\n%.3000s", wanted, picture);
}

TEST(all_that_matters_is_on_80_by_24)
{
    const char *picture = draw(24, 80, false, NULL);

    has(picture, "python train.py --epochs 3");
    has(picture, "40 steps  1.50/s  1 min 40 s  running\n");
    has(picture, "host           500 B      400 B       +10 B   10%       4 min 00 s  _");
    has(picture, "tensor:1         2 B        1 B           -  no limit            -\n");
    has(picture, "13      trainer       running        200 B      201 B       30 B      40");
    has(picture, "12      rank 3        exit 1             -");
    has(picture, "LINES 1-3/3");
    has(picture, "> train.py:7 in load");
    has(picture, "  net.py:9 in forward");
    has(picture, "+3.5 B  unbounded-growth");
    has(picture, "q quit  s sort");
}

TEST(what_the_limit_and_the_peak_are_is_on_larger_ones)
{
    const char *picture = draw(40, 140, false, NULL);

    has(picture, "3.9 KiB  [#          ]  10%  4 min 00 s ");
    has(picture, "3.9 KiB");
    has(picture, "500 B      300 B      +3.5 B       5  unbounded-growth");
    has(picture, "python train.py\n");
}

TEST(no_size_is_too_small_or_too_large)
{
    static const enum seep_top_page pages[] = {SEEP_TOP_LIST, SEEP_TOP_DETAILS, SEEP_TOP_HELP};

    for (size_t i = 0; i < N(pages); i++) {
        for (int rows = 0; rows < 60; rows = rows < 30 ? rows + 1 : rows + 10) {
            for (int columns = 1; columns < 210;
                 columns = columns < 70 ? columns + 1 : columns + 9) {
                choice.page = pages[i];
                draw(rows, columns, columns & 1, NULL);
            }
        }
    }
    struct seep_top_picture picture;
    ck_assert_int_eq(seep_top_picture_init(&picture, 1 << 30, 1 << 30, true), 0);
    ck_assert_int_eq(picture.n_rows, SEEP_TOP_MOST_ROWS);
    ck_assert_int_eq(picture.n_columns, SEEP_TOP_MOST_COLUMNS);
    seep_top_draw(&picture, view, &choice, NULL);
    seep_top_picture_fini(&picture);
}

TEST(on_few_rows_the_lines_are_what_is_left)
{
    const char *picture = draw(8, 80, false, NULL);

    ck_assert_ptr_null(strstr(picture, "SPACE           PEAK"));
    has(picture, "net.py:9 in forward");
    has(picture, "train.py:7 in load");
}

TEST(what_has_no_room_is_counted)
{
    draw(18, 80, false, NULL);
    has(text, "more: enlarge the window to see them");
    has(text, "net.py:9 in forward");
}

static const struct {
    int rows, columns;
} sizes[] = {{12, 60}, {20, 60}, {24, 80}, {30, 100}, {40, 120}, {50, 200}};

/* A dict that grows, and what two processes have. */
static void add_holders(json_t *report)
{
    json_t *holders =
        json_pack("{s:[{s:s, s:s, s:s, s:i, s:[[i, i], [i, i]], s:b, s:[i]},"
                  " {s:s, s:n, s:s, s:i, s:[], s:n, s:[i, i]}]}",
                  "named", "name", "Annotations.by_name", "type", "dict", "text",
                  "local 'loader' of main() (DataLoader).dataset (Annotations).by_name[600 keys]",
                  "bytes", 73 << 20, "length", 3, 40, 9, 1600, "grows", 1, "pids", 4711, "name",
                  "libdnnl.so.2", "type", "text", "static data of libdnnl.so.2", "bytes", 2 << 20,
                  "length", "grows", "pids", 4711, 4712);

    ck_assert_ptr_nonnull(holders);
    json_object_set_new(report, "holders", holders);
}

TEST(what_holds_most_is_shown_where_there_is_room, .to = N(sizes))
{
    json_t *report = top_report();

    add_holders(report);
    seep_top_view_destroy(view);
    view = seep_top_view_create(report, TOP_NOW);
    draw(sizes[_i].rows, sizes[_i].columns, false, NULL);
    has(text, "train.py:7 in load");
    has(text, "net.py:9 in forward");
    if (sizes[_i].rows < 24) {
        ck_assert_ptr_null(strstr(text, "HOLDS MOST"));
        return;
    }
    has(text, "HOLDS MOST");
    has(text, "Annotations.by_n");
    has(text, " 4711            9   73.0 MiB     1600 grows  dict");
    if (sizes[_i].rows > 24)
        has(text, " in 2            -    2.0 MiB        -        -");
    ck_assert_int_eq(strstr(text, "(Annotations).by_name[600 keys]") != NULL,
                     sizes[_i].columns >= 130);
}

/* Nine lines leak, 20 workers live and 30 have ended: what leaks is what every size keeps. */
TEST(what_leaks_goes_before_processes, .to = N(sizes))
{
    json_t *report = top_report(), *sites = json_object_get(report, "sites"),
           *processes = json_object_get(report, "processes");
    json_t *ids = json_object_get(json_array_get(json_object_get(report, "findings"), 0), "sites");
    char name[32];

    for (int i = 0; i < 50; i++) {
        json_t *process = json_deep_copy(json_array_get(processes, 0));
        json_object_set_new(process, "role", json_string("loader-worker"));
        if (i >= 20)
            json_object_set_new(process, "exit",
                                json_pack("{s:s, s:i}", "kind", "exit", "value", 0));
        json_array_append_new(processes, process);
    }
    for (int i = 0; i < 8; i++) {
        json_t *site = json_deep_copy(json_array_get(sites, 0));
        snprintf(name, sizeof name, "leak_%d", i);
        json_object_set_new(site, "id", json_string(name));
        json_object_set_new(json_array_get(json_object_get(site, "stack"), 1), "function",
                            json_string(name));
        json_array_append_new(sites, site);
        json_array_append_new(ids, json_string(name));
    }
    add_holders(report);
    seep_top_view_destroy(view);
    view = seep_top_view_create(report, TOP_NOW);
    draw(sizes[_i].rows, sizes[_i].columns, false, NULL);
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "train.py:7 in leak_%d", i);
        has(text, name);
    }
    ck_assert_int_eq(strstr(text, "30 have ended") || strstr(text, "30 processes have ended"),
                     sizes[_i].rows >= 20);
    ck_assert_ptr_null(strstr(text, "exit 0"));
}

TEST(all_is_ascii_where_that_is_all_there_is)
{
    for (const char *p = draw(24, 60, false, NULL); *p; p++)
        ck_assert_msg((unsigned char)*p < 0x80, "%s", p);
    has(draw(24, 80, true, NULL), "\u2588");
}

TEST(details_say_the_finding_and_every_stack)
{
    seep_top_press(&choice, view, SEEP_TOP_ENTER);
    const char *picture = draw(40, 80, false, NULL);
    has(picture, "line          train.py:7 in load");
    has(picture, "unbounded-growth, a leak: F1");
    has(picture, "because       it grew");
    has(picture, "to do         keep less");
    has(picture, "stack 1/2     250 B live, 300 B at most");
    has(picture, "  libc.so+0x10 in malloc_S1");
    has(picture, "> train.py:7 in load");
    has(picture, "  libc.so+0x10 in malloc_S2");
    draw(6, 80, false, NULL);
    seep_top_press(&choice, view, SEEP_TOP_LAST);
    has(draw(6, 80, false, NULL), "malloc_S2");
}

TEST(a_finding_on_a_leaf_of_a_long_text_is_broken_into_lines)
{
    json_t *finding = json_array_get(json_object_get(view->report, "findings"), 0);
    char words[3000];

    for (size_t i = 0; i < sizeof words; i++)
        words[i] = i % 7 ? 'w' : ' ';
    words[sizeof words - 1] = '\0';
    json_object_set_new(finding, "advice", json_string(words));
    memset(words + 1, 'x', sizeof words - 2);
    json_object_set_new(finding, "title", json_string(words));
    seep_top_press(&choice, view, SEEP_TOP_ENTER);
    has(draw(200, 80, false, NULL), "wwwwww wwwwww\n");
    draw(200, 15, false, NULL);
}

TEST(the_foot_says_what_is_typed_or_went_wrong)
{
    has(draw(24, 80, false, "the last look failed"), "the last look failed");
    seep_top_press(&choice, view, '/');
    seep_top_press(&choice, view, 'x');
    has(draw(24, 80, false, "the last look failed"), "search: x_");
    has(draw(24, 80, false, NULL), "no line matches");
}

TEST(a_pause_is_said)
{
    seep_top_press(&choice, view, 'p');
    has(draw(24, 80, false, NULL), "paused\n");
    has(draw(24, 80, false, NULL), "p continue");
}

SUITE("top: pictures", .setup = set_up, .teardown = tear_down)

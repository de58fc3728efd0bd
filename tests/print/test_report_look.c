/* How a report looks on a terminal: as wide as that is, the findings again at its end, each line
 * once, and the colours of the page. */
#include "libprof/print/put_text.h"
#include "tests/report_fixture.h"

enum { WINDOW_ROWS = 24 };

static void set_up(void)
{
    setup();
    leaking_job(true);
}

static char *text_of(const struct seep_report_look *look, const char *columns)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (columns)
        setenv("COLUMNS", columns, 1);
    else
        unsetenv("COLUMNS");
    ck_assert_int_eq(seep_report_text(report, NULL, out, look), 0);
    fclose(out);
    unsetenv("COLUMNS");
    return text;
}

/* In characters, without our colours. */
static int longest_line(const char *text)
{
    int longest = 0, n = 0;

    for (const char *p = text; *p; p++) {
        if (*p == '\033')
            p += strcspn(p, "m");
        else if (*p == '\n')
            n = 0;
        else
            n += (*p & 0xc0) != 0x80;
        longest = n > longest ? n : longest;
    }
    return longest;
}

static json_t *finding(size_t i)
{
    return json_array_get(json_object_get(report, "findings"), i);
}

/* A report of n findings, all but the first copies of it with names of their own. */
static void find_more(size_t n)
{
    for (size_t i = 1; i < n; i++) {
        json_t *copy = json_deep_copy(finding(0));
        char id[32];
        snprintf(id, sizeof id, "F%zu", i + 1);
        json_object_set_new(copy, "id", json_string(id));
        json_array_append_new(json_object_get(report, "findings"), copy);
    }
}

static const struct {
    const char *columns;
    int most;
} widths[] = {{NULL, 96},   {"60", 60}, {"72", 72}, {"80", 80}, {"120", 120},
              {"200", 200}, {"0", 96},  {"x", 96},  {"20", 60}};

TEST(no_line_is_wider_than_the_terminal, .to = N(widths))
{
    json_object_set_new(
        finding(0), "advice",
        json_string("so many words of \u00b1\u00b1\u00b1\u00b1 that no terminal, however wide it "
                    "is, has them "
                    "in one line: they are to be broken at blanks, again and again, so that each "
                    "word of them is whole, and that none is lost at the edge of the window"));
    for (int colour = 0; colour < 2; colour++) {
        char *text = text_of(&(struct seep_report_look){.colour = colour}, widths[_i].columns);
        int longest = longest_line(text);
        ck_assert_msg(longest <= widths[_i].most && longest > widths[_i].most - 12, "%d of %d:\n%s",
                      longest, widths[_i].most, text);
        free(text);
    }
}

TEST(a_number_stays_with_its_unit)
{
    char *text = NULL;
    size_t n;

    setenv("COLUMNS", "60", 1);
    for (int before = 30; before < 60; before++) {
        FILE *out = open_memstream(&text, &n);
        char words[128];
        snprintf(words, sizeof words, "%0*d 123.4 MiB, 12 %% and 7 of them", before, 0);
        seep_put_wrapped(out, words, 0, 0);
        fclose(out);
        ck_assert_msg(strstr(text, "123.4 MiB,") && strstr(text, "12 %"), "%s", text);
        free(text);
    }
    unsetenv("COLUMNS");
}

/* The last rows of the text. */
static const char *window_of(const char *text)
{
    const char *at = text + strlen(text);

    for (int rows = 0; at > text && rows <= WINDOW_ROWS; at--)
        rows += at[-1] == '\n';
    return at > text ? at + 2 : text;
}

static const size_t counts[] = {1, 2, 16, 17, 32};

TEST(a_small_window_has_the_findings_at_its_bottom, .to = N(counts))
{
    find_more(counts[_i]);
    char *text = text_of(&(struct seep_report_look){.folder = "seep.train.7.d"}, "80");
    const char *window = window_of(text);
    char id[80];

    for (size_t i = 0; i < counts[_i] && i < 16; i++) {
        snprintf(id, sizeof id, "\nF%-3zuleak       unbounded-growth  +8.0 KiB/step", i + 1);
        ck_assert_msg(strstr(window, id) != NULL, "no %s in\n%s", id, window);
    }
    ck_assert_int_eq(strstr(window, " more, above\n") != NULL, counts[_i] > 16);
    const char end[] = "\nIn a browser: seep view seep.train.7.d\n";
    ck_assert_str_eq(text + strlen(text) - strlen(end), end);
    free(text);
}

TEST(without_a_finding_it_ends_with_that)
{
    json_array_clear(json_object_get(report, "findings"));
    char *text = text_of(&(struct seep_report_look){0}, NULL);
    const char end[] = "\n\nseep: no finding in 100 steps\n";

    ck_assert_str_eq(text + strlen(text) - strlen(end), end);
    free(text);
}

static const struct {
    const char *columns, *place;
} places[] = {
    {"120", "growth  +8.0 KiB/step     deep/down/train.py:40 in compute_the_loss_of_a_batch\n"},
    {"96", "growth  +8.0 KiB/step     train.py:40 in compute_the_loss_of_a_batch\n"},
    {"80", "growth  +8.0 KiB/step     train.py:40\n"},
    {"60", "leak       +8.0 KiB/step     train.py:40\n"}};

TEST(a_place_gives_way_by_its_folders_and_then_its_function, .to = N(places))
{
    json_object_set_new(json_object_get(finding(0), "frame"), "file",
                        json_string("/home/user/project/deep/down/train.py"));
    json_object_set_new(json_object_get(finding(0), "frame"), "function",
                        json_string("compute_the_loss_of_a_batch"));
    char *text = text_of(&(struct seep_report_look){0}, places[_i].columns);
    const char *last = strstr(window_of(text), "\nF1");

    ck_assert_ptr_nonnull(last);
    ck_assert_msg(strstr(last, places[_i].place) != NULL, "%s", last);
    free(text);
}

static int count_of(const char *text, const char *what)
{
    int n = 0;

    for (const char *p = text; (p = strstr(p, what)); p++)
        n++;
    return n;
}

/* One line has many stacks, and a finding has told of it: what lists the rest neither repeats it,
 * nor itself. */
TEST(a_line_is_listed_once_and_not_after_a_finding)
{
    teardown();
    setup();
    builder_level(&a, python_stack(&a, "/home/user/project/train.py", 40), 0, 4096, 105, two_a_step,
                  NULL);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t below = builder_stack(&a, 0, builder_python(&a, "/lib/python3/x.py", "g", i + 1));
        uint32_t stack = builder_stack(
            &a, below, builder_python(&a, "/home/user/project/m.py", "import_all", 7));
        builder_site(&a, stack, i % 2, 3, 3000, 0, 0, 9);
    }
    builder_timeline(&a, 105, 50 << 20);
    analyse(1, builder_job(100, START, 100, 5), true);
    char *text = text_of(&(struct seep_report_look){0}, NULL);
    const char *others = strstr(text, "\nothers ");
    ck_assert_ptr_nonnull(others);
    ck_assert_int_eq(count_of(others, "m.py:7 in import_all"), 1);
    ck_assert_msg(strstr(others, "\u2264 11.7 KiB  m.py:7 in import_all\n") != NULL, "%s", others);
    ck_assert_int_eq(count_of(others, "train.py:40"), 1); /* that of the end */
    free(text);
}

static const struct {
    const char *severity, *begin;
} severities[] = {{"leak", "\033[1;38;5;166mleak "},
                  {"retention", "\033[1;38;5;178mretention "},
                  {"pressure", "\033[1;38;5;31mpressure "},
                  {"info", "\033[38;5;245minfo "}};

TEST(severities_have_the_colours_of_the_page, .to = N(severities))
{
    json_object_set_new(finding(0), "severity", json_string(severities[_i].severity));
    char *text = text_of(&(struct seep_report_look){.colour = true}, NULL);

    ck_assert_msg(strstr(text, severities[_i].begin) != NULL, "%s", window_of(text));
    free(text);
}

TEST(names_in_the_end_cannot_harm_a_terminal)
{
    json_object_set_new(finding(0), "id", json_string("F\033[2J"));
    json_object_set_new(finding(0), "pattern", json_string("\033]0;x\007"));
    char *text = text_of(&(struct seep_report_look){.folder = "a\033b"}, NULL);

    ck_assert_ptr_null(strchr(text, '\033'));
    free(text);
}

SUITE("report look", .setup = set_up, .teardown = teardown)

/* A look as text: its titles stand out on a terminal, and that of what grows without bound has the
 * colour of leaks. */
#include "libprof/print/look_text.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

#define BOLD  "\033[1m"
#define LEAK  "\033[1;38;5;166m"
#define PLAIN "\033[0m"

static json_t *document;
static char *text;

static void teardown(void)
{
    json_decref(document);
    free(text);
    document = NULL;
    text = NULL;
}

static void print(const char *path, bool colour)
{
    size_t n;

    teardown();
    document = json_load_file(path, 0, NULL);
    ck_assert_msg(document, "%s is there", path);
    FILE *out = open_memstream(&text, &n);
    ck_assert_int_eq(seep_look_text(document, out, colour), 0);
    fclose(out);
}

/* Takes "\033[…m" out. */
static void strip(char *from)
{
    char *to = from;

    for (; *from; from++)
        if (*from == '\033')
            from += strcspn(from, "m");
        else
            *to++ = *from;
    *to = '\0';
}

TEST(titles_have_colours_and_nothing_else_does)
{
    static const char *const titles[] = {
        "\n" LEAK "Grows in every look, and has no bound" PLAIN ":\n",
        "\n" BOLD "What holds most" PLAIN " (what would be freed without it):\n",
        "\n" BOLD "No variable holds" PLAIN " "};
    size_t n = 0;

    print("tests/fuzz/corpus/fuzz_look_page/one", true);
    for (size_t i = 0; i < N(titles); i++)
        ck_assert_msg(strstr(text, titles[i]), "%s in:\n%s", titles[i], text);
    for (const char *at = text; (at = strchr(at, '\033')); at++)
        n++;
    ck_assert_uint_eq(n, 2 * N(titles));
}

TEST(without_colours_the_text_is_the_same)
{
    print("tests/fuzz/corpus/fuzz_look_page/tree", true);
    strip(text);
    char *stripped = strdup(text);
    print("tests/fuzz/corpus/fuzz_look_page/tree", false);
    ck_assert_str_eq(text, stripped);
    free(stripped);
}

SUITE("look text", .teardown = teardown)

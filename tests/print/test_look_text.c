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

    print("build/fuzz/corpus/fuzz_look_page/one", true);
    for (size_t i = 0; i < N(titles); i++)
        ck_assert_msg(strstr(text, titles[i]), "%s in:\n%s", titles[i], text);
    for (const char *at = text; (at = strchr(at, '\033')); at++)
        n++;
    ck_assert_uint_eq(n, 2 * N(titles));
}

TEST(without_colours_the_text_is_the_same)
{
    print("build/fuzz/corpus/fuzz_look_page/tree", true);
    strip(text);
    char *stripped = strdup(text);
    print("build/fuzz/corpus/fuzz_look_page/tree", false);
    ck_assert_str_eq(text, stripped);
    free(stripped);
}

/* Of RSS that grows from 20 to 30 MiB in a minute, live memory in the same. */
static void print_free(long first, long last)
{
    static const char path[] = "build/fuzz/corpus/fuzz_look_page/one";
    size_t n;

    teardown();
    document = json_load_file(path, 0, NULL);
    json_t *looks = json_object_get(document, "looks");
    for (size_t i = 0; i < json_array_size(looks); i++) {
        json_t *look = json_array_get(looks, i);
        json_object_set_new(look, "live_bytes", json_integer(1 << 20));
        json_object_set_new(look, "free_bytes", json_integer((i ? last : first) << 20));
    }
    FILE *out = open_memstream(&text, &n);
    ck_assert_int_eq(seep_look_text(document, out, false), 0);
    fclose(out);
}

TEST(free_memory_in_the_heap_is_told_where_it_is_much_or_most_of_what_grows)
{
    print_free(8, 18);
    ck_assert_ptr_nonnull(strstr(text, "\n18.0 MiB are free in malloc's heaps"));
    ck_assert_ptr_nonnull(strstr(text, "\nFree memory in malloc's heaps +9.9 MiB a minute"));
    print_free(4, 6); /* much of it, but not what grows */
    ck_assert_ptr_nonnull(strstr(text, "\n6.0 MiB are free in malloc's heaps"));
    ck_assert_ptr_null(strstr(text, "a minute: small blocks"));
    ck_assert_ptr_nonnull(strstr(text, "\nMemory that was mapped +7.9 MiB a minute: a library's"));
    print_free(1, 3);
    ck_assert_ptr_null(strstr(text, "free in malloc's heaps"));
    print_free(0, 100); /* most of it was never touched */
    ck_assert_ptr_nonnull(strstr(text, "\n22.0 MiB are free in malloc's heaps"));
}

/* Two processes, each with 4 MiB more that it owns alone at the last look, and live memory that
 * grows by a part of that. */
static void print_owned(long live)
{
    static const char path[] = "build/fuzz/corpus/fuzz_look_page/tree";
    size_t n, i;
    json_t *process;

    teardown();
    document = json_load_file(path, 0, NULL);
    json_array_foreach (json_object_get(json_object_get(document, "tree"), "processes"), i,
                        process) {
        json_t *looks = json_object_get(process, "looks");
        for (size_t k = 0; k < json_array_size(looks); k++) {
            json_t *look = json_array_get(looks, k);
            const bool last = k + 1 == json_array_size(looks);
            json_object_set_new(look, "live_bytes", json_integer((last ? 1 + live : 1) << 20));
            json_object_set_new(look, "pss_bytes", json_integer((last ? 24 : 20) << 20));
            json_object_set_new(look, "private_bytes", json_integer((last ? 12 : 8) << 20));
        }
    }
    FILE *out = open_memstream(&text, &n);
    ck_assert_int_eq(seep_look_text(document, out, false), 0);
    fclose(out);
}

TEST(pages_that_forked_processes_come_to_own_are_told_where_they_are_most_of_what_grows)
{
    print_owned(0);
    ck_assert_ptr_nonnull(strstr(text, "\nPages that were shared +"));
    print_owned(3);
    ck_assert_ptr_null(strstr(text, "Pages that were shared"));
}

SUITE("look text", .teardown = teardown)

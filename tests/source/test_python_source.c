/* A Python file as tokens, statements and scopes: as Python reads it, and whatever it holds. */
#include "libprof/source/python_source.h"
#include "tests/suite.h"

#include <string.h>

static struct seep_python_source source;

static void teardown(void)
{
    seep_python_source_fini(&source);
}

static int read_text(const char *text)
{
    return seep_python_source_read(&source, text, strlen(text));
}

static const struct {
    const char *text;
    size_t n_statements;
} rights[] = {
    {"", 0},
    {"\n\n # nothing\n", 0},
    {"x", 1},
    {"x = 1; y = 2;\n", 2},
    {"\xef\xbb\xbfx = 1\r\ny = 2\r\n", 2},
    {"x = (1,\n  2)\ny\n", 2},
    {"x = 1 + \\\n  2\n", 1},
    {"x = '''a\n\"b\n'''\ny = r'\\'' # '\n", 2},
    {"x = rb'a' f\"{y['k']}\" '\\\\'\n", 1},
    {"if a: b; c\nelse: d\n", 5},
    {"def f(a: int = 1, *b) -> {1: 2}: return a\n", 2},
    {"class A: pass\n@x\n@y(1)\nclass B(A):\n\tdef f(self):\n\t\tpass\n", 7},
    {"f = lambda x: x\nif (lambda: 1)(): pass\nwhile lambda: 0: break\n", 5},
    {"match x:\n case 1: pass\n", 2},
    {"x = 1_0.5e-3j + .5 + 0xfF\n", 1},
    {"größe = ö @ 2 ** 3 // 4 != 5\n", 1},
};

TEST(statements_are_counted, .to = N(rights))
{
    ck_assert_int_eq(read_text(rights[_i].text), 0);
    ck_assert_msg(source.n == rights[_i].n_statements, "text %d: %zu", _i, source.n);
}

static const char *const wrongs[] = {
    "x = (1\n", "x = 1)\n", "'a\n", "'''a", "\"\\", "x = $\x01\n\"", "[(])]]", "{", "'\\\n",
};

TEST(what_is_no_python_is_refused, .to = N(wrongs))
{
    ck_assert_int_eq(read_text(wrongs[_i]), -SEEP_EFORMAT);
}

TEST(a_nul_is_refused)
{
    ck_assert_int_eq(seep_python_source_read(&source, "x\0y", 3), -SEEP_EFORMAT);
}

TEST(too_deep_brackets_and_scopes_are_refused)
{
    static char text[64 << 10];

    memset(text, '(', 1000);
    memset(text + 1000, ')', 1000);
    ck_assert_int_eq(read_text(text), -SEEP_EFORMAT);
    seep_python_source_fini(&source);
    char *to = text;
    for (int i = 0; i < 200; i++, to = stpcpy(to, "def f():\n"))
        to = (char *)memset(to, ' ', (size_t)i) + i;
    ck_assert_int_eq(read_text(text), -SEEP_EFORMAT);
}

static const char code[] = "import a\n"               /* 1 */
                           "class T(B):\n"            /* 2 */
                           "    @decorated\n"         /* 3 */
                           "    def fit(self):\n"     /* 4 */
                           "        def one(x):\n"    /* 5 */
                           "            return (x,\n" /* 6 */
                           "                    1)\n" /* 7 */
                           "        # still fit\n"    /* 8 */
                           "        return one\n"     /* 9 */
                           "    kind = 1\n"           /* 10 */
                           "def main(): T().fit()\n"  /* 11 */
                           "main()\n";                /* 12 */

static const struct {
    unsigned line;
    const char *function, *class;
} places[] = {
    {1, "<module>", "<module>"},
    {3, "T.fit", "T"},
    {5, "T.fit.one", "T"},
    {7, "T.fit.one", "T"},
    {9, "T.fit", "T"},
    {10, "<module>", "<module>"},
    {11, "main", "<module>"},
    {12, "<module>", "<module>"},
    {99, "<module>", "<module>"},
};

TEST(lines_are_in_functions_and_these_in_classes, .to = N(places))
{
    char name[32];

    ck_assert_int_eq(read_text(code), 0);
    const uint32_t function = seep_python_function_at(&source, places[_i].line);
    ck_assert_str_eq(seep_python_scope_name(&source, function, name, sizeof name),
                     places[_i].function);
    const uint32_t class = seep_python_class_of(&source, function);
    ck_assert_str_eq(seep_python_scope_name(&source, class, name, sizeof name), places[_i].class);
}

static const struct {
    const char *qualname;
    bool is;
} names[] = {
    {"one", true},       {"T.fit.<locals>.one", true},    {"fit.<locals>.one", true}, {"", false},
    {"T.one", false},    {"m.T.fit.<locals>.one", false}, {"T.fit", false},           {"..", false},
    {"<locals>", false},
};

TEST(functions_are_known_by_their_names, .to = N(names))
{
    ck_assert_int_eq(read_text(code), 0);
    const uint32_t one = seep_python_function_at(&source, 6);
    ck_assert_msg(seep_python_scope_is(&source, one, names[_i].qualname) == names[_i].is, "%s",
                  names[_i].qualname);
}

TEST(long_names_are_cut_at_their_begin)
{
    char name[8];

    ck_assert_int_eq(read_text(code), 0);
    ck_assert_str_eq(seep_python_scope_name(&source, seep_python_function_at(&source, 6), name, 8),
                     "fit.one");
}

SUITE("Python files", .teardown = teardown)

/* Which statements pass on what a line made. Lines count from 1. */
#include "libprof/source/python_passes.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *source;
    int line;
    const char *expected; /* lines; "r": it is returned */
} rows[] = {
    {"def f():\n a = make()\n use(a)\n b = a\n", 2, "3 "},
    {"def f():\n a = make()\n d = cdist(a, b)\n return d\n", 2, "3 "},
    {"def f():\n a = make()\n d = x.cdist(b, [a, 1])\n", 2, "3 "},
    {"def f():\n a = make()\n d = g(k=(1, a))\n e = g(a=1)\n", 2, "3 "},
    {"def f():\n a = make(\n  1,\n  2)\n use(a)\n", 3, "5 "},
    {"def f():\n a = make()\n use(a)\n use(a)\n use(a)\n", 2, "3 4 5 "},
    {"def f():\n a = make()\n use(a)\n use(a)\n use(a)\n use(a)\n", 2, ""},
    {"def f():\n for a in make():\n  use(a)\n", 2, "3 "},
    {"def f():\n n += predict(features(1))\n", 2, "2 "},
    {"def f():\n predict(features(1), 2)\n", 2, "2 "},
    {"def f():\n return make()\n", 2, "r"},
    {"def f():\n yield make()\n", 2, "r"},
    /* ---- nobody gets it ---- */
    {"def f():\n a = make()\n a.sort()\n b.a(1)\n use(b.a)\n use(a.n)\n", 2, ""},
    {"def f():\n a = make()\n if (a):\n  b = [a]\n", 2, ""},
    {"def f():\n a = make()\n return (a)\n", 2, ""},
    {"def f():\n a = make()\ndef g(a):\n use(a)\n", 2, ""},
    {"def f():\n a, b = make()\n use(a)\n", 2, ""},
    {"def f():\n make()\n", 2, ""},
    {"def f():\n pass\n", 9, ""},
    {"", 1, ""},
};

TEST(calls_that_get_it_are_told, .to = N(rows))
{
    struct seep_python_source source;
    struct seep_passes passes;
    char got[64] = "";

    ck_assert_int_eq(seep_python_source_read(&source, rows[_i].source, strlen(rows[_i].source)), 0);
    seep_python_passes_find(&source, (uint64_t)rows[_i].line, &passes);
    if (passes.returned)
        strcat(got, "r");
    for (size_t i = 0; i < passes.n; i++)
        sprintf(got + strlen(got), "%u ", source.list[passes.list[i]].line);
    ck_assert_str_eq(got, rows[_i].expected);
    seep_python_source_fini(&source);
}

SUITE("what passes it on")

/* Where a Python file puts something into a name: what keeps is found, what only reads or empties
 * is not, and neither is another's name. Lines count from 1. */
#include "libprof/source/python_stores.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

#define LOCAL     SEEP_KEPT_IN_LOCAL
#define GLOBAL    SEEP_KEPT_IN_GLOBAL
#define OTHER     SEEP_KEPT_IN_IMPORTED
#define ATTRIBUTE SEEP_KEPT_IN_ATTRIBUTE
#define HOOKS     SEEP_KEPT_IN_HOOKS
#define CACHE     SEEP_KEPT_IN_CACHE

/* "12+" is a line that adds, "12[" one that stores an entry, "12=" one that assigns the whole, and
 * a "c" behind it says that it copies. */
struct row {
    const char *source;
    enum seep_kept_in in;
    const char *name, *owner, *expected;
};

static const struct row rows[] = {
    /* ---- what puts something in ---- */
    {"def main():\n outs = []\n for x in y:\n  outs.append(x)\n", LOCAL, "outs", "main", "4+ "},
    {"def f():\n d = {}\n d['a'] = x\n d[k][j].extend(y)\n", LOCAL, "d", "f", "3[ 4+ "},
    {"def f():\n t = 0\n t += loss\n t += 1\n n = t\n", LOCAL, "t", "f", "3+ "},
    {"def f():\n t = 0\n t = t + loss\n", LOCAL, "t", "f", "3+ "},
    {"def f():\n t = torch.zeros(0)\n t = torch.cat([t,\n    x])\n", LOCAL, "t", "f", "2= 3+ "},
    {"def f():\n t = t + x.item()\n t = t + x\n t = g(x.item()) + t\n", LOCAL, "t", "f",
     "2+c 3+ 4+ "},
    {"def f():\n s = sorted(s)[:9]\n", LOCAL, "s", "f", "2= "},
    {"def f():\n h = []\n heapq.heappush(h, x)\n heapq.heappushpop(h, x.clone())\n", LOCAL, "h",
     "f", "3+ 4[c "},
    {"def f():\n c = {}\n c.setdefault(k, []).append(v)\n c.update(w)\n c.get(k)\n", LOCAL, "c",
     "f", "3+ 4+ "},
    {"def f():\n a, b = g(), h()\n (a, c) = g()\n", LOCAL, "b", "f", "2= "},
    {"def f():\n fig = cls.figs[n] = Figure()\n", ATTRIBUTE, "figs", "Gcf", "2[ "},
    {"def f():\n x: list = load()\n y: list = []\n", LOCAL, "x", "f", "2= "},
    {"def f():\n q = Queue()\n q.put((k, v))\n q.put(None)\n q.put(-1, 'end')\n q.put([])\n", LOCAL,
     "q", "f", "3+ 6+ "},
    {"def f():\n if x: outs.append(x); n = 1\n outs = []\n", LOCAL, "outs", "f", "2+ "},
    {"def f():\n outs = []; [outs.append(x) for x in y]\n", LOCAL, "outs", "f", "2+ "},
    /* ---- what does not ---- */
    {"def f():\n a = []\n a = {}\n a = None\n a = 0\n a = deque(maxlen=n)\n", LOCAL, "a", "f", ""},
    {"def f():\n a = {'x': [], 'y': {}}\n a = [[] for _ in range(9)]\n", LOCAL, "a", "f", ""},
    {"def f():\n a = defaultdict(lambda: [x])\n a = queue.Queue(maxsize=n)\n", LOCAL, "a", "f", ""},
    {"def f():\n a = 1\n g(a)\n b = a\n del a[0]\n a.pop()\n a == b\n g(a=a)\n", LOCAL, "a", "f",
     ""},
    {"def f():\n '''a.append(x)'''\n # a.append(x)\n a = 'a.append(x)'\n", LOCAL, "a", "f", ""},
    {"def f(a=a.append(x)):\n pass\n", LOCAL, "a", "f", ""},
    {"def f():\n a = ()\n b.a.append(x)\n", LOCAL, "a", "f", ""},
    /* ---- whose it is: functions ---- */
    {"def g():\n a.append(x)\ndef f():\n a = []\n a.append(x)\n", LOCAL, "a", "f", "5+ "},
    {"def f():\n a = []\n def g():\n  a.append(x)\n", LOCAL, "a", "f", "4+ "},
    {"def f():\n a = []\n def g(a):\n  a.append(x)\n", LOCAL, "a", "f", ""},
    {"class T:\n def fit(self):\n  a = []\n  a.append(x)\ndef fit():\n a = []\n a.append(y)\n",
     LOCAL, "a", "T.fit", "4+ "},
    {"def f():\n def g():\n  a = []\n  a.append(x)\n", LOCAL, "a", "f.<locals>.g", "4+ "},
    {"async def f(a, *, b=1):\n a.append(x)\n", LOCAL, "a", "f", "2+ "},
    {"def f(b=a):\n a.append(x)\n", LOCAL, "a", "f", ""},
    {"def f():\n for i, a in y:\n  a.append(i)\n", LOCAL, "a", "f", "3+ "},
    {"def f():\n a = []\n a.append(x)\n", LOCAL, "a", "", "3+ "},
    /* ---- modules ---- */
    {"a = []\ndef f():\n a.append(x)\ndef g(a):\n a.append(x)\n", GLOBAL, "a", "m", "3+ "},
    {"a = None\ndef f():\n global a\n a = load()\ndef g():\n a = load()\n", GLOBAL, "a", "m",
     "4= "},
    {"class C:\n a = load()\n", GLOBAL, "a", "m", ""},
    {"from m import a\na.append(x)\n", OTHER, "a", "m", "2+ "},
    {"import m\nm.a[k] = v\nn.a[k] = v\n", OTHER, "a", "m", "2[ "},
    {"a = []\na.append(x)\n", OTHER, "a", "m", ""},
    /* ---- classes ---- */
    {"class A:\n def f(self):\n  self.x.append(v)\nclass B:\n def f(self):\n  self.x.append(v)\n",
     ATTRIBUTE, "x", "B", "6+ "},
    {"class A:\n def f(self):\n  self.x.append(v)\nclass B(A):\n pass\nclass C(pkg.B):\n pass\n",
     ATTRIBUTE, "x", "C", "3+ "},
    {"class B(A):\n def f(self):\n  self.x.append(v)\n", ATTRIBUTE, "x", "A", "3+ "},
    {"class A:\n def f(self, o):\n  self.o.x.append(v)\n  o.x = o\n", ATTRIBUTE, "x", "B",
     "3+ 4= "},
    {"class A:\n x = load()\n y = []\n", ATTRIBUTE, "x", "A", "2= "},
    {"x.append(v)\n", ATTRIBUTE, "x", "A", ""},
    /* ---- by another name ---- */
    {"class T:\n def f(self):\n  outs = self.outs\n  outs.append(x)\n def g(self):\n  "
     "outs.append(y)\n",
     ATTRIBUTE, "outs", "T", "4+ "},
    {"class T:\n def f(self):\n  b = self.all[k].get(j)\n  b.append(x)\n", ATTRIBUTE, "all", "T",
     "4+ "},
    {"def f(t):\n for k, (a, b) in t.all.items():\n  b.append(x)\n  k.append(y)\n", ATTRIBUTE,
     "all", "T", "3+ 4+ "},
    {"d = {}\ne = d[k]\ne += [x]\n", GLOBAL, "d", "m", "3+ "},
    {"d = {}\nfor e in d:\n e.append(x)\n", GLOBAL, "d", "m", "3+ "},
    {"def f():\n a = load()\n b = a\n b[k] = x\n", LOCAL, "a", "f", "2= 4[ "},
    {"def f():\n a = []\n b = a.copy()\n b.append(x)\n c = g(a)\n c.append(x)\n b, c = a\n", LOCAL,
     "a", "f", ""},
    {"def f():\n a = []\n b = a\n a.append(x)\n b.append(y)\n", LOCAL, "a", "f", "4+ "},
    /* ---- what libraries keep ---- */
    {"h = w.register_hook(f)\nnet.a.register_forward_hook(\n f)\nregister_hook(f)\n", HOOKS,
     "_hooks", "", "1+ 2+ "},
    {"@functools.lru_cache(maxsize=None)\ndef f(x):\n pass\n@cache\ndef g(x):\n pass\n", CACHE, "f",
     "m", "1+ "},
    {"class A:\n @lru_cache\n def f(s): pass\nclass B:\n @lru_cache\n def f(s): pass\n", CACHE, "f",
     "B", "5+ "},
    {"@staticmethod\ndef f(x):\n pass\n", CACHE, "f", "m", ""},
};

TEST(puts_into, .to = N(rows))
{
    const struct row *row = &rows[_i];
    const struct seep_stores_asked asked = {row->in, row->name, row->owner};
    struct seep_python_source source;
    struct seep_stores stores = {0};
    char found[200] = "";

    ck_assert_int_eq(seep_python_source_read(&source, row->source, strlen(row->source)), 0);
    ck_assert_int_eq(seep_python_stores_find(&source, &asked, &stores), 0);
    for (size_t i = 0; i < stores.n; i++)
        sprintf(found + strlen(found), "%u%c%s ", source.list[stores.list[i].statement].line,
                ".=[+"[stores.list[i].how], stores.list[i].copies ? "c" : "");
    ck_assert_msg(strcmp(found, row->expected) == 0, "row %d, of %s: \"%s\", not \"%s\"", _i,
                  row->name, found, row->expected);
    seep_stores_fini(&stores);
    seep_python_source_fini(&source);
}

TEST(statements_are_shown_without_comments_and_cut)
{
    static const char text[] = "a.append( # all\n    [x,\n     'ü'])\n";
    struct seep_python_source source;
    char *whole, *part;

    ck_assert_int_eq(seep_python_source_read(&source, text, strlen(text)), 0);
    whole = seep_python_statement_text(&source, 0, 100);
    part = seep_python_statement_text(&source, 0, 16);
    ck_assert_str_eq(whole, "a.append( [x, 'ü'])");
    ck_assert_str_eq(part, "a.append( [x,…");
    free(whole);
    free(part);
    seep_python_source_fini(&source);
}

SUITE("what puts something into a name")

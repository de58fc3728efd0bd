/* Under which names source code stores something in its holder. */
#include "libprof/who/kept/kept_at.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

#define LOCAL(name, function) "{'kind': 'local', 'name': '" name "', 'function': '" function "'}"
#define MODULE(name)          "{'kind': 'module', 'name': '" name "'}"
#define SELF(type)            "{'kind': 'self', 'name': null, 'type': '" type "'}"
#define ATTRIBUTE(name, type) "{'kind': 'attribute', 'name': '" name "', 'type': '" type "'}"
#define INDEX(type)           "{'kind': 'index', 'name': null, 'type': '" type "'}"
#define NATIVE                "{'kind': 'native', 'name': null, 'type': 'c10::TensorImpl'}"
#define PATH(root, holder, ...)                                                                    \
    "{'root': " root ", 'holder': " holder ", 'hops': [" __VA_ARGS__ "]}"
#define HOP(n) "{'hop': " #n "}"

/* Each as "in name owner", with a "*" where it is filled entry by entry, and "#" by an index. */
static const struct {
    const char *path, *expected;
} rows[] = {
    {PATH(LOCAL("outs", "T.fit"), HOP(1), SELF("list") ", " INDEX("Tensor") ", " NATIVE),
     "0 outs T.fit*#;"},
    {PATH(LOCAL("t", "main"), "null", SELF("Tensor") ", " NATIVE), "0 t main;"},
    {PATH(LOCAL("t", "main"), HOP(2),
          SELF("Cache") ", " ATTRIBUTE("keys", "dict") ", " INDEX("Tensor")),
     "3 keys Cache*;0 t main;"},
    /* each thread's own, of one object */
    {PATH(MODULE("m"), HOP(2),
          SELF("module") ", " ATTRIBUTE("local", "_local") ", " ATTRIBUTE("buf", "ndarray")),
     "3 buf _local;1 local m;"},
    /* what lies behind the holder, or in C, names nothing */
    {PATH(LOCAL("t", "main"), HOP(2),
          SELF("T") ", " ATTRIBUTE("bad", "list") ", " INDEX("E") ", " ATTRIBUTE("tb", "tb")),
     "3 bad T*#;0 t main;"},
    {PATH(LOCAL("t", "main"), HOP(3), SELF("T") ", " NATIVE ", " ATTRIBUTE("x", "list")),
     "0 t main;"},
    {PATH(MODULE("__main__"), HOP(2),
          SELF("module") ", " ATTRIBUTE("kept", "dict") ", " INDEX("Tensor")),
     "1 kept __main__*;"},
    {PATH(MODULE("a.b"), "null",
          SELF("module") ", " ATTRIBUTE("c", "module") ", " ATTRIBUTE("x", "T")),
     "1 x c;1 c b;"},
    {PATH(MODULE("m"), HOP(3),
          SELF("module") ", " ATTRIBUTE("G", "class G") ", " ATTRIBUTE("figs", "dict")),
     "3 figs G*;1 G m;"},
    {PATH(MODULE("m"), HOP(3),
          SELF("module") ", " ATTRIBUTE("f", "_lru_cache_wrapper") ", " INDEX("dict")),
     "5 f m;"},
    {PATH(LOCAL("net", "main"), HOP(2),
          SELF("Linear") ", " ATTRIBUTE("_forward_hooks", "OrderedDict") ", " INDEX("function")),
     "4 _forward_hooks Linear*;0 net main;"},
    {PATH(LOCAL("w", "main"), HOP(2),
          SELF("Parameter") ", {'kind': 'field', 'type': 'OrderedDict'}, " INDEX("function")),
     "4  ;0 w main;"},
    {PATH("{'kind': 'stack'}", "null", NATIVE), ""},
    /* a report that was not made by seep */
    {"{}", ""},
    {"{'hops': 3, 'root': [], 'holder': {'hop': -1}}", ""},
    {PATH(LOCAL("a", "f"), HOP(99), "1, {}, {'kind': 'attribute'}"), "0 a f;"},
};

TEST(names_are_those_up_to_the_holder, .to = N(rows))
{
    struct seep_kept_name names[SEEP_KEPT_MAX_NAMES];
    char text[1024], found[400] = "";

    snprintf(text, sizeof text, "%s", rows[_i].path);
    for (char *at = text; (at = strchr(at, '\'')); at++)
        *at = '"';
    json_t *path = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(path);
    const size_t n = seep_kept_names(path, names);
    for (size_t i = 0; i < n; i++)
        sprintf(found + strlen(found), "%d %s %s%s%s;", names[i].in, names[i].name, names[i].owner,
                names[i].fills ? "*" : "", names[i].by_index ? "#" : "");
    ck_assert_str_eq(found, rows[_i].expected);
    json_decref(path);
}

TEST(a_way_of_many_names_is_cut)
{
    struct seep_kept_name names[SEEP_KEPT_MAX_NAMES];
    json_t *path = json_pack("{s:[], s:{s:s}}", "hops", "root", "kind", "local");

    for (int i = 0; i < 100; i++)
        json_array_append_new(json_object_get(path, "hops"),
                              json_pack("{s:s, s:s}", "kind", "attribute", "name", "next"));
    ck_assert_uint_eq(seep_kept_names(path, names), SEEP_KEPT_MAX_NAMES);
    json_decref(path);
}

SUITE("names of what holds")

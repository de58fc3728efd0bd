/* Paths as text: whatever files and symbols are called, it is one line of UTF-8. */
#include "libprof/base/text.h"
#include "libprof/who/ways/path.h"
#include "tests/suite.h"

static const struct {
    const char *name, *file, *text;
} globals[] = {
    {"kept", "/usr/lib/libkeeps.so", "global 'kept' of libkeeps.so"},
    {"libkeeps.so", "/usr/lib/libkeeps.so", "static data of libkeeps.so"},
    {"caf\xe9", "/opt/caf\xe9", "static data of caf?"},
    {"k\xc3", "/opt/\xe7\x85.so", "global 'k?' of ??.so"},
};

TEST(names_that_are_no_text_spoil_no_answer, .to = N(globals))
{
    struct seep_path path = {.root = {.kind = SEEP_ROOT_STATIC}};

    snprintf(path.root_name, sizeof path.root_name, "%s", globals[_i].name);
    snprintf(path.root_file, sizeof path.root_file, "%s", globals[_i].file);
    json_t *json = seep_path_json(&path);
    ck_assert_ptr_nonnull(json);
    ck_assert_str_eq(json_string_value(json_object_get(json, "text")), globals[_i].text);
    json_decref(json);
}

SUITE("path text")

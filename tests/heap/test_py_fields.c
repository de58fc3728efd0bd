/* Fields that C code keeps, by the names that users know. */
#include "libprof/heap/py_fields.h"
#include "tests/paths/heap_fixture.h"

TEST(an_exceptions_fields_lie_where_its_version_has_them, EACH_VERSION)
{
    static const char *const before[] = {"args", "__traceback__", "__context__", "__cause__"};
    static const char *const since_311[] = {"args", "__notes__", "__traceback__", "__context__",
                                            "__cause__"};
    const char *const *names = _i < 11 ? before : since_311;
    size_t n = _i < 11 ? N(before) : N(since_311), index;
    int64_t offset;

    for (size_t i = 0; i < n; i++) {
        ck_assert(seep_pyfield_of("BaseException", (uint32_t)_i, i, &offset, &index));
        ck_assert_str_eq(seep_pyfield_name(index), names[i]);
        ck_assert_int_eq(offset, 24 + 8 * (int64_t)i);
    }
    ck_assert(!seep_pyfield_of("BaseException", (uint32_t)_i, n, &offset, &index));
}

TEST(of_other_types_nothing_is_known)
{
    size_t index;
    int64_t offset;

    ck_assert(!seep_pyfield_of("Node", 11, 0, &offset, &index));
    ck_assert(!seep_pyfield_of("", 11, 0, &offset, &index));
    ck_assert(!seep_pyfield_of("BaseException", 7, 0, &offset, &index));
    ck_assert_str_eq(seep_pyfield_name(SIZE_MAX), "");
}

/* As an error that was kept keeps the one that it was raised in. */
TEST(a_subclass_has_the_fields_of_its_base, EACH_VERSION)
{
    static struct examined e;
    uint64_t base, type, error;

    begin((uint32_t)_i);
    base = new_type("BaseException", SEEP_PY_GC, 80);
    type = new_type("ImageError", SEEP_PY_GC, 80);
    put(type + SEEP_PY_TYPE_BASE, base);
    error = new_object(type, 80, 0);
    put(error + (_i < 11 ? 40 : 48), new_object(types.array, 20000, 1));
    make_main((const char *[]){"last"}, &error, 1);
    examine(&e);
    ck_assert_int_eq(e.n, 1);
    ck_assert_uint_eq(e.answers[0].n_paths, 1);
    char *text = seep_path_text(&e.answers[0].paths[0].path);
    ck_assert_str_eq(text, "module __main__.last (ImageError).__context__ (bytearray)");
    free(text);
    examined_fini(&e);
}

SUITE("known fields")

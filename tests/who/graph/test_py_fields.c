/* Fields that C code keeps, by the names that users know. */
#include "libprof/who/graph/py_fields.h"
#include "tests/who/ways/heap_fixture.h"

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

/* A frame that outlives its call, with one variable. */
static uint64_t new_frame(const char *function, uint64_t value)
{
    const struct seep_python_layout *l = layout_of_fixture();
    uint64_t object = new_object(types.frame, 64 + FRAME_BYTES, 0), frame = object;

    if (l->frame_object_frame) {
        frame = object + 64;
        put(object + l->frame_object_frame, frame);
        *at(frame + l->frame_owner) = SEEP_PY_OWNER_OBJECT;
    }
    put_frame(frame, new_code(function, (const char *[]){"batch"}, 1), &value, 1);
    return object;
}

/* As a traceback's frame keeps those that it was called from. */
TEST(a_frame_holds_its_callers, EACH_VERSION)
{
    static struct examined e;
    uint64_t called, caller;

    begin((uint32_t)_i);
    called = new_frame("decode", 0);
    caller = new_frame("fetch", new_object(types.array, 20000, 1));
    put(called + (_i < 11 ? 24 : 16), caller);
    make_main((const char *[]){"kept"}, &called, 1);
    examine(&e);
    ck_assert_int_eq(e.n, 1);
    ck_assert_uint_eq(e.answers[0].n_paths, 1);
    char *text = seep_path_text(&e.answers[0].paths[0].path);
    ck_assert_str_eq(text,
                     "module __main__.kept (frame).f_back (frame) its local 'batch' (bytearray)");
    free(text);
    examined_fini(&e);
}

SUITE("known fields")

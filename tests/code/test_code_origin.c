/* Whose code a frame is, by its path: in the report, and for Python's libraries during
 * recording. */
#include "libprof/code/code_origin.h"
#include "preload/python/pyframe.h"
#include "preload/steps/code_marks.h"
#include "tests/suite.h"

#include <string.h>

#define U SEEP_ORIGIN_USER
#define L SEEP_ORIGIN_LIBRARY
#define I SEEP_ORIGIN_IMPORT
#define S SEEP_ORIGIN_SEEP

static const struct {
    const char *path;
    enum seep_origin origin;
} python[] = {
    {"/home/u/train.py", U},
    {"train.py", U},
    {"<string>", U},
    {"<stdin>", U},
    {"/usr/lib/python3.11/json/decoder.py", L},
    {"/usr/lib64/python3.12/json/decoder.py", L}, /* Fedora */
    {"/usr/lib64/python3.12/site-packages/torch/nn/modules/module.py", L},
    {"/usr/lib/python3/dist-packages/numpy/core/numeric.py", L},
    {"/opt/conda/lib/python3.13t/threading.py", L},
    {"/opt/conda/lib/python311.zip/threading.py", L},
    {"/home/u/.venv/lib/python3.10/site-packages/mmcv/runner.py", L},
    {"/home/u/lib/python_tools/train.py", U},
    {"/home/u/mylib/python3/train.py", U},
    {"/home/u/library/python3.11/train.py", U},
    {"/home/u/python3.11/train.py", U},
    {"/library/jobs/train.py", U},
    {"<frozen os>", L},
    {"<frozen importlib._bootstrap>", I},
    {"/usr/lib/python3.11/importlib/__init__.py", I},
    {"/usr/local/lib/seep/python/seep/__init__.py", S},
    {"/home/u/seep/build/python/seep/pytest_plugin.py", S},
    {"/home/u/.venv/lib/python3.10/site-packages/seep/__init__.py", S},
    {"/home/u/.venv/lib/python3.10/site-packages/seeps/__init__.py", L},
    {"/home/u/seep.py", U},
    {"/home/u/seep/train.py", U},
};

static const struct {
    const char *path;
    enum seep_origin origin;
} native[] = {
    {"/home/u/job", U},
    {"/home/u/ops.so", U},
    {"/usr/lib/x86_64-linux-gnu/libc.so.6", L},
    {"/lib/x86_64-linux-gnu/libc.so.6", L},
    {"/lib64/ld-linux-x86-64.so.2", L},
    {"/usr/lib64/libstdc++.so.6", L},
    {"/usr/lib32/libc.so.6", L},
    {"/usr/libx32/libc.so.6", L},
    {"/usr/libexec/helper", L},
    {"/library/jobs/train", U},
    {"/library/ops.so", U},
    {"/libs/ops.so", U},
    {"/usr/library/train", U},
    {"/usr/local/lib/libtorch.so", L},
    {"/usr/bin/python3.11", L},
    {"/opt/conda/bin/python", L},
    {"/opt/conda/bin/python3.13t", L},
    {"/usr/bin/python3.8-dbg", L},
    {"/opt/python/libpython3.11.so.1.0", L},
    {"/home/u/python_ops.so", U},
    {"/home/u/python3_ops.so", U},
    {"/home/u/pythonic", U},
    {"/home/u/libpython_ops.so", U},
    {"/home/u/.venv/lib/python3.10/site-packages/mmcv/_ext.so", L},
    {"linux-vdso.so.1", L},
    {"/usr/local/lib/seep/libseep.so", S},
    {"/home/u/libseepage.so", U},
};

static enum seep_origin origin_of(struct seep_dictionary *d, const struct seep_dict_frame *f)
{
    struct seep_origins origins;

    ck_assert(!d->failed);
    ck_assert_int_eq(seep_origins_init(&origins, d), 0);
    enum seep_origin first = seep_origin_of(&origins, f);
    ck_assert_int_eq(seep_origin_of(&origins, f), first);
    seep_origins_fini(&origins);
    return first;
}

TEST(python_files_belong_to_the_user_unless_a_library_or_seep_brings_them, .to = N(python))
{
    struct seep_dictionary d;

    ck_assert_int_eq(seep_dictionary_init(&d), 0);
    uint32_t path = seep_dictionary_string(&d, python[_i].path, strlen(python[_i].path));
    struct seep_dict_frame f = {.kind = SEEP_FRAME_PYTHON, .source = path};
    ck_assert_msg(origin_of(&d, &f) == python[_i].origin, "%s", python[_i].path);
    seep_dictionary_fini(&d);
}

/* But for seep's own module, which is in no library's folder but may lie in one's. */
TEST(recording_tells_libraries_from_the_user_as_the_report_does, .to = N(python))
{
    struct seep_pycode_info info = {.file = python[_i].path,
                                    .file_len = (uint32_t)strlen(python[_i].path),
                                    .function = "f",
                                    .function_len = 1};
    bool library = seep_code_marks(&info) & SEEP_MARK_LIBRARY;

    if (python[_i].origin != S)
        ck_assert_msg(library == (python[_i].origin != U), "%s", python[_i].path);
}

TEST(a_library_and_an_interpreter_are_told_from_files_with_names_like_theirs, .to = N(native))
{
    struct seep_dictionary d;

    ck_assert_int_eq(seep_dictionary_init(&d), 0);
    uint32_t path = seep_dictionary_string(&d, native[_i].path, strlen(native[_i].path));
    struct seep_dict_frame f = {.kind = SEEP_FRAME_NATIVE,
                                .source = seep_dictionary_module(&d, path, 0)};
    ck_assert_msg(origin_of(&d, &f) == native[_i].origin, "%s", native[_i].path);
    seep_dictionary_fini(&d);
}

TEST(native_code_of_no_module_is_no_line_of_the_users)
{
    struct seep_dictionary d;
    struct seep_dict_frame none = {.kind = SEEP_FRAME_NATIVE},
                           pseudo = {.kind = SEEP_FRAME_NATIVE, .pseudo = true};

    ck_assert_int_eq(seep_dictionary_init(&d), 0);
    ck_assert_int_eq(origin_of(&d, &none), L);
    ck_assert_int_eq(origin_of(&d, &pseudo), L);
    seep_dictionary_fini(&d);
}

static const struct {
    const char *file, *function;
    uint32_t marks;
} marked[] = {
    {"/x/site-packages/torch/optim/optimizer.py", "wrapper", SEEP_MARK_STEP | SEEP_MARK_LIBRARY},
    {"/home/u/pytorch/torch/optim/optimizer.py", "wrapper", SEEP_MARK_STEP},
    {"/x/site-packages/torch/optim/optimizer.py", "step", SEEP_MARK_LIBRARY},
    {"/x/site-packages/torch/utils/data/dataloader.py", "__iter__",
     SEEP_MARK_ITER | SEEP_MARK_CALLED | SEEP_MARK_LIBRARY},
    {"/x/site-packages/torch/utils/data/dataloader.py", "__next__",
     SEEP_MARK_BATCH | SEEP_MARK_CALLED | SEEP_MARK_LIBRARY},
    {"/x/site-packages/torch/utils/data/sampler.py", "__iter__",
     SEEP_MARK_SAMPLER | SEEP_MARK_CALLED | SEEP_MARK_LIBRARY},
    {"/x/site-packages/torch/utils/data/_utils/fetch.py", "fetch",
     SEEP_MARK_CALLED | SEEP_MARK_LIBRARY},
    {"/x/site-packages/torch/multiprocessing/reductions.py", "reduce_storage",
     SEEP_MARK_SHARE | SEEP_MARK_LIBRARY},
    {"/x/site-packages/torch/storage.py", "share_memory_", SEEP_MARK_SHARE | SEEP_MARK_LIBRARY},
    {"/usr/lib/python3.11/multiprocessing/pool.py", "worker", SEEP_MARK_POOL | SEEP_MARK_LIBRARY},
    {"/usr/lib/python3.11/multiprocessing/queues.py", "put", SEEP_MARK_RESULT | SEEP_MARK_LIBRARY},
    {"/usr/lib/python3.11/concurrent/futures/process.py", "_process_worker",
     SEEP_MARK_POOL | SEEP_MARK_LIBRARY},
    {"/x/site-packages/joblib/externals/loky/process_executor.py", "_process_worker",
     SEEP_MARK_POOL | SEEP_MARK_LIBRARY},
    {"/x/site-packages/joblib/externals/loky/backend/queues.py", "put",
     SEEP_MARK_RESULT | SEEP_MARK_LIBRARY},
    {"/x/site-packages/joblib/pool.py", "send", SEEP_MARK_RESULT | SEEP_MARK_LIBRARY},
    {"/usr/lib/python3.11/concurrent/futures/thread.py", "_worker", SEEP_MARK_LIBRARY},
    {"/usr/lib/python3.11/queue.py", "put", SEEP_MARK_LIBRARY},
    {"/home/u/data.py", "__getitem__", SEEP_MARK_CALLED},
    {"/home/u/data.py", "collate_pad", SEEP_MARK_CALLED},
    {"/home/u/data.py", "my_collate_fn", SEEP_MARK_CALLED},
    {"<frozen importlib._bootstrap>", "_call_with_frames_removed",
     SEEP_MARK_IMPORT | SEEP_MARK_LIBRARY},
    {"<frozen importlib._bootstrap>", "_find_and_load", SEEP_MARK_FIND | SEEP_MARK_LIBRARY},
    {"<frozen importlib._bootstrap_external>", "exec_module", SEEP_MARK_LOAD | SEEP_MARK_LIBRARY},
    {"<frozen importlib._bootstrap_external>", "create_module", SEEP_MARK_LOAD | SEEP_MARK_LIBRARY},
    {"/home/u/train.py", "<module>", SEEP_MARK_MODULE},
    {"/home/u/train.py", "wrapper", 0},
    {"", "", 0},
    {"/", "f", 0},
    {"/x/lib/python", "f", 0},
    {"/x/lib/python3", "f", 0},
    {"/x/lib/python3.11t", "f", 0},
};

TEST(code_is_marked_by_the_names_of_its_file_and_function, .to = N(marked))
{
    struct seep_pycode_info info = {.file = marked[_i].file,
                                    .file_len = (uint32_t)strlen(marked[_i].file),
                                    .function = marked[_i].function,
                                    .function_len = (uint32_t)strlen(marked[_i].function)};

    ck_assert_uint_eq(seep_code_marks(&info), marked[_i].marks);
}

SUITE("code_origin")

#include "preload/steps/code_marks.h"

#include <stdbool.h>
#include <string.h>

#include "preload/python/pyframe.h"

/* Not terminated. */
struct text {
    const char *at;
    uint32_t n;
};

static bool begins_with(struct text text, const char *start)
{
    uint32_t n = (uint32_t)strlen(start);
    return text.n >= n && memcmp(text.at, start, n) == 0;
}

static bool ends_with(struct text text, const char *end)
{
    uint32_t n = (uint32_t)strlen(end);
    return text.n >= n && memcmp(text.at + text.n - n, end, n) == 0;
}

static bool is(struct text text, const char *name)
{
    return text.n == strlen(name) && memcmp(text.at, name, text.n) == 0;
}

static struct text behind(struct text text, uint32_t n)
{
    return (struct text){text.at + n, text.n - n};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the text continues with "/pythonX.Y/" or "/pythonXY.zip/"; free-threaded builds add a
 * t. */
static bool is_python_folder(struct text text)
{
    static const char name[] = "/python";
    uint32_t n = sizeof name - 1;
    if (!begins_with(text, name) || text.n == n || !is_digit(text.at[n]))
        return false;
    while (n < text.n && (is_digit(text.at[n]) || text.at[n] == '.'))
        n++;
    n += n < text.n && text.at[n] == 't';
    return begins_with(behind(text, n), "/") || begins_with(behind(text, n), "zip/");
}

static bool is_library(struct text file)
{
    if (begins_with(file, "<frozen "))
        return true;
    for (uint32_t i = 0; i < file.n; i++) {
        if (file.at[i] != '/')
            continue;
        struct text here = behind(file, i), before = {file.at, i};
        if (begins_with(here, "/site-packages/") || begins_with(here, "/dist-packages/"))
            return true;
        if ((ends_with(before, "/lib") || ends_with(before, "/lib64")) && is_python_folder(here))
            return true;
    }
    return false;
}

/* Marks of a PyTorch optimizer or DataLoader. */
static uint32_t training_marks(struct text file, struct text function)
{
    if (is(function, "wrapper") && ends_with(file, "/torch/optim/optimizer.py"))
        return SEEP_MARK_STEP;
    if (ends_with(file, "/torch/utils/data/dataloader.py"))
        return is(function, "__iter__")   ? SEEP_MARK_ITER
               : is(function, "__next__") ? SEEP_MARK_BATCH
                                          : 0;
    if (is(function, "__iter__") && (ends_with(file, "/torch/utils/data/sampler.py") ||
                                     ends_with(file, "/torch/utils/data/distributed.py")))
        return SEEP_MARK_SAMPLER;
    return 0;
}

/* PyTorch shares a tensor by moving its storage, also for all others that use the tensor. */
static uint32_t share_marks(struct text file, struct text function)
{
    bool shares = (is(function, "reduce_storage") &&
                   ends_with(file, "/torch/multiprocessing/reductions.py")) ||
                  (is(function, "share_memory_") && ends_with(file, "/torch/storage.py"));
    return shares ? SEEP_MARK_SHARE : 0;
}

/* Marks of multiprocessing.Pool, concurrent.futures and joblib, whose workers send back the result
 * of each task. */
static uint32_t pool_marks(struct text file, struct text function)
{
    if ((is(function, "worker") && ends_with(file, "/multiprocessing/pool.py")) ||
        (is(function, "_process_worker") && (ends_with(file, "/concurrent/futures/process.py") ||
                                             ends_with(file, "/loky/process_executor.py"))))
        return SEEP_MARK_POOL;
    if ((is(function, "put") && (ends_with(file, "/multiprocessing/queues.py") ||
                                 ends_with(file, "/loky/backend/queues.py"))) ||
        (is(function, "send") && ends_with(file, "/joblib/pool.py")))
        return SEEP_MARK_RESULT;
    return 0;
}

/* Code that is called back for each item, batch or module has loops, but none is the job's. */
static bool is_called_back(struct text file, struct text function)
{
    static const char *const names[] = {
        "forward", "backward", "__call__",   "__getitem__", "__getitems__", "__iter__", "__next__",
        "__del__", "<lambda>", "<listcomp>", "<setcomp>",   "<dictcomp>",   "<genexpr>"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (is(function, names[i]))
            return true;
    return begins_with(function, "collate") || ends_with(function, "collate_fn") ||
           ends_with(file, "/torch/utils/data/_utils/fetch.py") ||
           ends_with(file, "/torch/utils/data/_utils/worker.py");
}

uint32_t seep_code_marks(const struct seep_pycode_info *info)
{
    const struct text file = {info->file, info->file_len};
    const struct text function = {info->function, info->function_len};
    uint32_t marks = is_library(file) ? SEEP_MARK_LIBRARY : 0;
    if (is(file, "<frozen importlib._bootstrap>"))
        marks |= is(function, "_call_with_frames_removed") ? SEEP_MARK_IMPORT
                 : is(function, "_find_and_load")          ? SEEP_MARK_FIND
                                                           : 0;
    marks |= training_marks(file, function) | share_marks(file, function);
    marks |= pool_marks(file, function);
    marks |= is_called_back(file, function) ? SEEP_MARK_CALLED : 0;
    if (is(function, "<module>"))
        marks |= SEEP_MARK_MODULE;
    else if (is(file, "<frozen importlib._bootstrap_external>") &&
             (is(function, "create_module") || is(function, "exec_module")))
        marks |= SEEP_MARK_LOAD;
    return marks;
}

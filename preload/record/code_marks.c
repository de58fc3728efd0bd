#include "preload/record/code_marks.h"

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

/* "/pythonX.Y/" or "/pythonXY.zip/" stands here; a free-threaded build has a t behind it. */
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

uint32_t seep_code_marks(const struct seep_pycode_info *info)
{
    const struct text file = {info->file, info->file_len};
    const struct text function = {info->function, info->function_len};
    uint32_t marks = is_library(file) ? SEEP_MARK_LIBRARY : 0;
    if (is(function, "_call_with_frames_removed") && is(file, "<frozen importlib._bootstrap>"))
        marks |= SEEP_MARK_IMPORT;
    else if (is(function, "wrapper") && ends_with(file, "/torch/optim/optimizer.py"))
        marks |= SEEP_MARK_STEP;
    else if (is(function, "__iter__") && ends_with(file, "/torch/utils/data/dataloader.py"))
        marks |= SEEP_MARK_ITER;
    if (is(function, "<module>"))
        marks |= SEEP_MARK_MODULE;
    else if (is(file, "<frozen importlib._bootstrap_external>") &&
             (is(function, "create_module") || is(function, "exec_module")))
        marks |= SEEP_MARK_LOAD;
    return marks;
}

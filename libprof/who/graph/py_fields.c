#include "libprof/who/graph/py_fields.h"

#include <string.h>

static const struct {
    const char *type;
    uint32_t from, to; /* minor versions */
    int64_t offset;
    const char *name;
} fields[] = {
    {"BaseException", 8, 99, 24, "args"},
    {"BaseException", 8, 10, 32, "__traceback__"},
    {"BaseException", 8, 10, 40, "__context__"},
    {"BaseException", 8, 10, 48, "__cause__"},
    {"BaseException", 11, 99, 32, "__notes__"},
    {"BaseException", 11, 99, 40, "__traceback__"},
    {"BaseException", 11, 99, 48, "__context__"},
    {"BaseException", 11, 99, 56, "__cause__"},
    {"traceback", 8, 99, 16, "tb_next"},
    {"frame", 8, 10, 24, "f_back"},
    {"frame", 11, 99, 16, "f_back"},
    {"frame", 8, 9, 80, "f_trace"},
    {"frame", 10, 10, 72, "f_trace"},
    {"frame", 11, 99, 32, "f_trace"},
    {"frame", 13, 99, 48, "f_extra_locals"},
    {"frame", 13, 99, 56, "f_locals_cache"},
    {"frame", 14, 99, 64, "f_overwritten_fast_locals"},
    {"function", 8, 9, 96, "__annotations__"},
    {"function", 10, 99, 112, "__annotations__"},
    {"function", 12, 13, 120, "__type_params__"},
    {"function", 14, 99, 120, "__annotate__"},
    {"function", 14, 99, 128, "__type_params__"},
    {"module", 8, 14, 48, "__name__"},
    {"module", 15, 99, 40, "__name__"},
    {"bytearray", 15, 99, 56, ""}, /* a bytes object with its bytes */
    {"builtin_function_or_method", 8, 99, 24, "__self__"},
    {"ContextVar", 8, 99, 24, "default"},
    {"_contextvars.ContextVar", 8, 99, 24, "default"},
    {"numpy.ndarray", 8, 99, 48, "base"},
};

bool seep_pyfield_of(const char *type, uint32_t minor, size_t i, int64_t *offset, size_t *index)
{
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        if (strcmp(fields[k].type, type) != 0 || minor < fields[k].from || minor > fields[k].to ||
            i--)
            continue;
        *offset = fields[k].offset;
        *index = k;
        return true;
    }
    return false;
}

const char *seep_pyfield_name(size_t index)
{
    return index < sizeof fields / sizeof *fields ? fields[index].name : "";
}

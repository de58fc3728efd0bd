#include "libprof/base/error.h"

#include <stdarg.h>
#include <stdio.h>

static void drop_controls(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
    }
}

int seep_error_set(struct seep_error *err, int code, const char *file, uint64_t offset,
                   const char *format, ...)
{
    if (err && !err->text[0]) {
        va_list args;

        snprintf(err->file, sizeof err->file, "%s", file ? file : "");
        err->offset = offset;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        drop_controls(err->file);
        drop_controls(err->text);
    }
    return -code;
}

const char *seep_error_name(int code)
{
    switch (code < 0 ? -code : code) {
    case 0:
        return "no error";
    case SEEP_EINVAL:
        return "invalid argument";
    case SEEP_ENOMEM:
        return "no memory";
    case SEEP_EIO:
        return "input/output failed";
    case SEEP_EFORMAT:
        return "damaged or foreign file";
    case SEEP_EVERSION:
        return "unknown format version";
    case SEEP_ENODATA:
        return "nothing readable";
    case SEEP_EDEVICE:
        return "no such device, or it failed";
    default:
        return "unknown error";
    }
}

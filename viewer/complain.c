#include "libprof/base/text.h"
#include "viewer/viewer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void seep_complain(const char *format, ...)
{
    char line[2048];
    va_list args;

    va_start(args, format);
    size_t n = seep_text_complaint(line, sizeof line, "seep", format, args);
    va_end(args);
    /* A single write, so that lines of several processes do not mix. A failure cannot be
     * reported. */
    ssize_t written = write(STDERR_FILENO, line, n);
    (void)written;
}

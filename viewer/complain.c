#include "viewer/viewer.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void seep_complain(const char *format, ...)
{
    char line[2048] = "seep: ";
    size_t start = strlen(line);
    va_list args;

    va_start(args, format);
    vsnprintf(line + start, sizeof line - start - 1, format, args);
    va_end(args);
    size_t n = strlen(line);
    for (size_t i = 0; i < n; i++) {
        if (iscntrl((unsigned char)line[i]))
            line[i] = '?';
    }
    line[n++] = '\n';
    /* One write: lines of several processes do not mix. Nobody is left to tell when it fails. */
    ssize_t written = write(STDERR_FILENO, line, n);
    (void)written;
}

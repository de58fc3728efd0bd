#include "libprof/report/report_said.h"

#include "libprof/report/report_pieces.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void seep_said_add(struct seep_said *said, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    seep_json_append(said->list, text ? seep_json_text(text) : NULL, &said->failed);
    free(text);
}

void seep_said_more(struct seep_said *said, size_t n, const char *what)
{
    if (n > SEEP_SAID_MOST)
        seep_said_add(said, "and %zu more %s", n - SEEP_SAID_MOST, what);
}

const char *seep_said_pids(uint32_t first, size_t n, char text[64])
{
    if (n > 1)
        snprintf(text, 64, "pid %u and %zu more", first, n - 1);
    else
        snprintf(text, 64, "pid %u", first);
    return text;
}

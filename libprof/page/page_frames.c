#include "libprof/page/page_tables.h"

#include <stdio.h>
#include <string.h>

enum { OWN = 0, NATIVE = 1, LIBRARY = 3 /* 2: what the page makes up */ };

enum column { KIND, NAME, FILE_NAME, LINE, MODULE, SOURCE, N_COLUMNS };
static const char *const names[N_COLUMNS] = {"{\"kind\":[",  "],\"name\":[",   "],\"file\":[",
                                             "],\"line\":[", "],\"module\":[", "],\"source\":["};

static json_int_t value_of(const struct seep_page_frame *frame, enum column column)
{
    switch (column) {
    case KIND:
        return frame->is_native ? NATIVE : frame->is_library ? LIBRARY : OWN;
    case NAME:
        return frame->name;
    case FILE_NAME:
        return frame->file;
    case LINE:
        return frame->line;
    case MODULE:
        return frame->module;
    default:
        return frame->source;
    }
}

int seep_page_frames_write(const struct seep_page_frames *frames, json_dump_callback_t put,
                           void *context)
{
    char text[32];

    for (int column = 0; column < N_COLUMNS; column++) {
        if (put(names[column], strlen(names[column]), context))
            return -SEEP_EIO;
        for (size_t i = 0; i < frames->n; i++) {
            const int n = snprintf(text, sizeof text, "%s%" JSON_INTEGER_FORMAT, i ? "," : "",
                                   value_of(&frames->list[i], (enum column)column));
            if (put(text, (size_t)n, context))
                return -SEEP_EIO;
        }
    }
    return put("]}", 2, context) ? -SEEP_EIO : 0;
}

#include "libprof/who/blocks/memory_window.h"

#include <stdlib.h>
#include <string.h>

int seep_window_init(struct seep_window *window, uint64_t page_bytes, seep_window_source *source,
                     void *context)
{
    *window = (struct seep_window){.source = source, .context = context, .page_bytes = page_bytes};
    window->bytes = malloc(SEEP_WINDOW_BYTES);
    return window->bytes ? 0 : -SEEP_ENOMEM;
}

void seep_window_fini(struct seep_window *window)
{
    free(window->bytes);
    *window = (struct seep_window){0};
}

static bool has(const struct seep_window *window, uint64_t address, size_t n)
{
    return address >= window->start && address - window->start <= window->n &&
           n <= window->n - (address - window->start);
}

bool seep_window_read(struct seep_window *window, uint64_t address, void *to, size_t n)
{
    const uint64_t page = SEEP_WINDOW_PAGE;

    if (!has(window, address, n)) {
        window->start = address & ~(page - 1);
        window->n = window->source(window->context, window->start, window->bytes,
                                   window->sparse ? SEEP_WINDOW_PAGE : SEEP_WINDOW_BYTES);
    }
    if (!has(window, address, n)) {
        memset(to, 0, n);
        return false;
    }
    memcpy(to, window->bytes + (address - window->start), n);
    return true;
}

uint64_t seep_window_word(struct seep_window *window, uint64_t address)
{
    uint64_t word;

    (void)seep_window_read(window, address, &word, sizeof word);
    return word;
}

#include "preload/life/start_parts.h"

#include <stdbool.h>
#include <string.h>

#include "libprof/format/device_format.h"
#include "preload/life/run_settings.h"

/* A key alone matches every value of it. */
static const struct {
    const char *key, *value;
    uint32_t bit;
} known[] = {
    {"expandable_segments", "True", SEEP_ALLOCATOR_EXPANDABLE},
    {"garbage_collection_threshold", NULL, SEEP_ALLOCATOR_COLLECTS},
    {"max_split_size_mb", NULL, SEEP_ALLOCATOR_MAX_SPLIT},
    {"backend", "cudaMallocAsync", SEEP_ALLOCATOR_ASYNC},
};

static bool is_word(const char *text, size_t n, const char *word)
{
    while (n && *text == ' ') {
        text++;
        n--;
    }
    while (n && text[n - 1] == ' ')
        n--;
    return n == strlen(word) && memcmp(text, word, n) == 0;
}

static uint32_t setting(const char *text, size_t n)
{
    const char *colon = memchr(text, ':', n);
    for (size_t i = 0; colon && i < sizeof(known) / sizeof(known[0]); i++) {
        const size_t rest = n - (size_t)(colon - text) - 1;
        if (is_word(text, (size_t)(colon - text), known[i].key) &&
            (!known[i].value || is_word(colon + 1, rest, known[i].value)))
            return known[i].bit;
    }
    return 0;
}

uint32_t seep_torch_settings_in(const char *list)
{
    uint32_t bits = 0;
    while (list && *list) {
        const size_t n = strcspn(list, ",");
        bits |= setting(list, n);
        list += n + (list[n] == ',');
    }
    return bits;
}

uint32_t seep_torch_settings(void)
{
    const char *uncached = seep_run_settings_variable("PYTORCH_NO_CUDA_MEMORY_CACHING");
    const bool no_cache = uncached && *uncached && strcmp(uncached, "0") != 0;
    return seep_torch_settings_in(seep_run_settings_variable("PYTORCH_CUDA_ALLOC_CONF")) |
           seep_torch_settings_in(seep_run_settings_variable("PYTORCH_ALLOC_CONF")) |
           (no_cache ? SEEP_ALLOCATOR_NO_CACHE : 0u);
}

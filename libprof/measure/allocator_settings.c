#include "libprof/measure/allocator_settings.h"

#include "libprof/model/model_process.h"
#include "libprof/words/findings/allocator_words.h"

/* Without a cache, or with the driver's own pool, PyTorch reserves nothing; expandable segments are
 * given back page by page. */
bool seep_allocator_is_cured(unsigned settings)
{
    return settings & (SEEP_ALLOCATOR_EXPANDABLE | SEEP_ALLOCATOR_ASYNC | SEEP_ALLOCATOR_NO_CACHE);
}

const char *seep_allocator_advice(unsigned settings)
{
    if (seep_allocator_is_cured(settings))
        return SEEP_ALLOCATOR_CURED_TEXT;
    if (settings & SEEP_ALLOCATOR_MAX_SPLIT)
        return SEEP_ALLOCATOR_MAX_SPLIT_TEXT;
    if (settings & SEEP_ALLOCATOR_COLLECTS)
        return SEEP_ALLOCATOR_COLLECTS_TEXT;
    return SEEP_ALLOCATOR_DEFAULT_TEXT;
}

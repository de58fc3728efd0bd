#include "libprof/measure/allocator_settings.h"

#include "libprof/model/model_process.h"

/* Without a cache, or with the driver's own pool, nothing of PyTorch's is in reserve; segments that
 * expand are given back by the page. */
bool seep_allocator_is_cured(unsigned settings)
{
    return settings & (SEEP_ALLOCATOR_EXPANDABLE | SEEP_ALLOCATOR_ASYNC | SEEP_ALLOCATOR_NO_CACHE);
}

const char *seep_allocator_advice(unsigned settings)
{
    if (seep_allocator_is_cured(settings))
        return "the allocator is set to keep little already: what is reserved belongs to other "
               "streams or to the private pool of a CUDA graph; let sizes repeat (pad or bucket "
               "them), or drop graphs that are not replayed any more";
    if (settings & SEEP_ALLOCATOR_MAX_SPLIT)
        return "set expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF instead of "
               "max_split_size_mb; let sizes repeat: pad or bucket them";
    if (settings & SEEP_ALLOCATOR_COLLECTS)
        return "set expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF beside "
               "garbage_collection_threshold; let sizes repeat: pad or bucket them";
    return "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (PyTorch 2.1 on), or "
           "max_split_size_mb or garbage_collection_threshold:0.8 before that; let sizes repeat: "
           "pad or bucket them; call empty_cache() where a phase with other sizes begins, as "
           "between training and evaluation";
}

#include "libprof/measure/allocator_settings.h"

#include "libprof/model/model_process.h"

/* Without a cache, or with the driver's own pool, PyTorch reserves nothing; expandable segments are
 * given back page by page. */
bool seep_allocator_is_cured(unsigned settings)
{
    return settings & (SEEP_ALLOCATOR_EXPANDABLE | SEEP_ALLOCATOR_ASYNC | SEEP_ALLOCATOR_NO_CACHE);
}

const char *seep_allocator_advice(unsigned settings)
{
    if (seep_allocator_is_cured(settings))
        return "The allocator is already set to keep little: what is reserved belongs to other "
               "streams or to the private pool of a CUDA graph. Let sizes repeat (pad or bucket "
               "them), or drop graphs that are not replayed any more.";
    if (settings & SEEP_ALLOCATOR_MAX_SPLIT)
        return "Set expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF instead of "
               "max_split_size_mb. Let sizes repeat: pad or bucket them.";
    if (settings & SEEP_ALLOCATOR_COLLECTS)
        return "Set expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF in addition to "
               "garbage_collection_threshold. Let sizes repeat: pad or bucket them.";
    return "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (PyTorch 2.1 or later); before "
           "2.1 set max_split_size_mb or garbage_collection_threshold:0.8. Let sizes repeat: pad "
           "or bucket them. Call empty_cache() when a phase with other sizes begins, as between "
           "training and evaluation.";
}

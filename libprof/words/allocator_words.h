/* What is said of PyTorch's caching allocator of a device.
 * Formats of printf(), filled with numbers and names by who knows them. */
#ifndef SEEP_LIBPROF_WORDS_ALLOCATOR_WORDS_H
#define SEEP_LIBPROF_WORDS_ALLOCATOR_WORDS_H

#define SEEP_ALLOCATOR_OUTGROWS_TENSORS_TEXT                                                       \
    "PyTorch's allocator took %s of %s, tensors never were more than %s: what it takes grows "     \
    "faster than they do"
#define SEEP_ALLOCATOR_HOLDS_FOR_KEPT_TEXT "an allocator holds %s of %s for what is kept"
#define SEEP_ALLOCATOR_CURED_TEXT                                                                  \
    "the allocator is set to keep little already: what is reserved belongs to other streams or "   \
    "to the private pool of a CUDA graph; let sizes repeat (pad or bucket them), or drop "         \
    "graphs that are not replayed any more"
#define SEEP_ALLOCATOR_MAX_SPLIT_TEXT                                                              \
    "set expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF instead of max_split_size_mb; let "   \
    "sizes repeat: pad or bucket them"
#define SEEP_ALLOCATOR_COLLECTS_TEXT                                                               \
    "set expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF beside "                              \
    "garbage_collection_threshold; let sizes repeat: pad or bucket them"
#define SEEP_ALLOCATOR_DEFAULT_TEXT                                                                \
    "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (PyTorch 2.1 on), or "                   \
    "max_split_size_mb or garbage_collection_threshold:0.8 before that; let sizes repeat: pad "    \
    "or bucket them; call empty_cache() where a phase with other sizes begins, as between "        \
    "training and evaluation"

#endif

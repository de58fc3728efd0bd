/* Words about allocators that take more than their callers use: malloc, and PyTorch's caching
 * allocator of a GPU. Formats of printf(); callers fill in numbers and names. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_ALLOCATOR_WORDS_H
#define SEEP_LIBPROF_WORDS_FINDINGS_ALLOCATOR_WORDS_H

/* malloc. */
#define SEEP_MALLOC_TAKEN_TEXT                                                                     \
    "Memory taken from the system rose from %s to %s over steps %d to %d; live memory went from "  \
    "%s to %s"
#define SEEP_MALLOC_SIZES_TEXT                                                                     \
    "This line asks for ever new sizes: freed memory does not fit the next request"

#define SEEP_FRAGMENTS_FREE_TEXT                                                                   \
    "Free memory in malloc's arenas, which malloc neither uses again nor gives back, went from "   \
    "%s to %s over %ss %d to %d"
#define SEEP_FRAGMENTS_PINS_TEXT                                                                   \
    "This line keeps %.3g blocks of about %s more each %s, and %s stays free around each"

/* A library's own. */
#define SEEP_LIBRARY_MAPS_TEXT                                                                     \
    "What is resident of the maps that the job requested went from %s to %s over %ss %d to %d"
#define SEEP_LIBRARY_TITLE_TEXT "%s: its own allocator (%s) has %s more resident each %s"
#define SEEP_LIBRARY_CHANCE_TEXT                                                                   \
    "This line is where %s needed one more map: other lines that call %s may use what is in it"
#define SEEP_LIBRARY_OF_TEXT                                                                       \
    "The own allocator (%s) of %s asked for this memory, and hands out pieces of it. What is in "  \
    "use: %s"
#define SEEP_LIBRARY_SILENT_OF_TEXT                                                                \
    "The own allocator (%s) of %s asked for this memory, and hands out pieces of it"
#define SEEP_MIMALLOC_TITLE_TEXT                                                                   \
    "Python's objects, which lie in mimalloc's maps, have %s more resident each %s"
#define SEEP_MIMALLOC_TEXT                                                                         \
    "seep sees what mimalloc maps, but not the objects that Python gets from it"
#define SEEP_MIMALLOC_ADVICE_TEXT                                                                  \
    "Run the job with PYTHONMALLOC=malloc: then each object shows at its own line. Or ask seep "   \
    "look PID who holds them."
#define SEEP_NO_GIL_ADVICE_TEXT                                                                    \
    "Run the job with a Python that has a GIL: of one without, seep reads neither the line nor "   \
    "who holds its objects."
#define SEEP_LIBRARY_ADVICE_TEXT                                                                   \
    "Watch what is in use: %s. If that grows, too, something keeps objects of %s; if it is flat, " \
    "the allocator keeps free memory. %s"
#define SEEP_LIBRARY_SILENT_ADVICE_TEXT                                                            \
    "Look for objects of %s that are kept: it does not tell what it has in use. If there are "     \
    "none, the allocator keeps free memory. %s"

/* Private maps of files. */
#define SEEP_FILE_PAGES_TITLE_TEXT                                                                 \
    "a file is mapped as private: each page of it that is written to becomes memory, and stays"
#define SEEP_FILE_PAGES_TEXT                                                                       \
    "Pages of mapped files that were written to, and so became the process's own, went from %s "   \
    "to %s over %ss %d to %d"
#define SEEP_FILE_PAGES_ADVICE_TEXT                                                                \
    "If the changes may go into the file, map it shared (np.memmap mode 'r+', MAP_SHARED): the "   \
    "kernel then writes such pages back. Else copy the part that is changed, and drop it; or map " \
    "the file again now and then."

/* Maps that processes share. */
#define SEEP_SHARED_PAGES_TEXT                                                                     \
    "What is resident of shared memory went from %s to %s over %ss %d to %d; its map was made "    \
    "before"

/* Blocks that are used bit by bit. */
#define SEEP_TOUCHED_TEXT                                                                          \
    "What is resident of live blocks went from %s to %s over %ss %d to %d; this line's had been "  \
    "requested before"

/* PyTorch's. */
#define SEEP_ALLOCATOR_TITLE_TEXT "PyTorch reserves %s of GPU %d; at most %s was in use at once"
#define SEEP_ALLOCATOR_RISES_TEXT "Memory taken from %s grows by %s a %s, memory of %s by %s"
#define SEEP_ALLOCATOR_IDLE_TEXT  "%s of that was never in use"
#define SEEP_ALLOCATOR_RETRIED_TEXT                                                                \
    "In %s %d GPU %d could not serve a request of %s: PyTorch released unused memory and tried "   \
    "again"
#define SEEP_ALLOCATOR_CAPACITY_TEXT "GPU %d has %s: this job used up to %s, other processes %s"
#define SEEP_ALLOCATOR_PIECES_TEXT                                                                 \
    "In %s %d, %s of the reserved memory was free, in %zu pieces of at most %s"
#define SEEP_ALLOCATOR_OUTGROWS_TENSORS_TEXT                                                       \
    "PyTorch reserved up to %s of %s, but tensors never needed more than %s: reserved memory "     \
    "grows faster than they do"
#define SEEP_ALLOCATOR_HOLDS_FOR_KEPT_TEXT "The allocator holds %s of %s for it"
#define SEEP_ALLOCATOR_GRAPHS_TEXT                                                                 \
    "CUDA graphs were captured: each reserves its own memory pool unless it is given one"

/* What to do. */
#define SEEP_ALLOCATOR_GRAPHS_ADVICE_TEXT                                                          \
    "Let CUDA graphs share a pool: torch.cuda.graph(g, pool=first.pool()). Pad shapes to a few "   \
    "sizes, so that fewer graphs are captured. %s"
#define SEEP_ALLOCATOR_CURED_TEXT                                                                  \
    "The allocator is already set to keep little: what is reserved belongs to other streams or "   \
    "to the private pool of a CUDA graph. Let sizes repeat (pad or bucket them), or drop graphs "  \
    "that are not replayed any more."
#define SEEP_ALLOCATOR_MAX_SPLIT_TEXT                                                              \
    "Set expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF instead of max_split_size_mb. Let "   \
    "sizes repeat: pad or bucket them."
#define SEEP_ALLOCATOR_COLLECTS_TEXT                                                               \
    "Set expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF in addition to "                      \
    "garbage_collection_threshold. Let sizes repeat: pad or bucket them."
#define SEEP_ALLOCATOR_DEFAULT_TEXT                                                                \
    "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (PyTorch 2.1 or later); before 2.1 set " \
    "max_split_size_mb or garbage_collection_threshold:0.8. Let sizes repeat: pad or bucket "      \
    "them. Call empty_cache() when a phase with other sizes begins, as between training and "      \
    "evaluation."

#endif

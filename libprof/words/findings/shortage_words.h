/* Words about an out-of-memory error, and what to do about it. Formats of printf(); callers fill in
 * numbers and names. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_SHORTAGE_WORDS_H
#define SEEP_LIBPROF_WORDS_FINDINGS_SHORTAGE_WORDS_H

/* Titles: words in braces as in patterns.def; the texts below fill one of the braces. */
#define SEEP_SHORTAGE_PINNED_TITLE_TEXT   "Out of pinned memory: {asked} requested"
#define SEEP_SHORTAGE_HOST_TITLE_TEXT     "Out of host memory: {asked} requested{free}"
#define SEEP_SHORTAGE_PROGRAM_TITLE_TEXT  "Out of memory on {gpu}: {asked} requested{free}"
#define SEEP_SHORTAGE_OWN_TITLE_TEXT      "Out of memory in {memory}: {asked} requested{free}"
#define SEEP_SHORTAGE_FREE_TEXT           "; %s free"
#define SEEP_SHORTAGE_FREE_PIECES_TEXT    "; %s free, but in pieces of at most %s"
#define SEEP_SHORTAGE_FREE_ELSEWHERE_TEXT "; %s free, but kept for other requests"

/* The request. */
#define SEEP_SHORTAGE_IN_STEP_TEXT         "in %s %d"
#define SEEP_SHORTAGE_BEFORE_TRAINING_TEXT "before step 1"
#define SEEP_SHORTAGE_CAPACITY_TEXT        "; the GPU has %s"
#define SEEP_SHORTAGE_HOLDS_TEXT           "; its capacity is %s"
#define SEEP_SHORTAGE_TRIED_RUNTIME_TEXT   "Tried to allocate %s %s: %s of %s was allocated by then%s"
#define SEEP_SHORTAGE_TRIED_PYTORCH_TEXT                                                           \
    "Tried to allocate %s %s: PyTorch had %s allocated, %s reserved but unallocated%s"
#define SEEP_SHORTAGE_TRIED_PROGRAM_TEXT                                                           \
    "Tried to allocate %s %s: the job's own allocator had %s allocated, %s reserved but "          \
    "unallocated%s"
#define SEEP_SHORTAGE_PIECES_UNUSED_TEXT "; some are large enough, but were not used"
#define SEEP_SHORTAGE_PIECES_ELSEWHERE_TEXT                                                        \
    "; some are large enough, but belong to another stream or pool"
#define SEEP_SHORTAGE_PIECES_SMALL_POOL_TEXT ", which PyTorch keeps for requests of up to 1 MiB"
#define SEEP_SHORTAGE_PIECES_LARGE_POOL_TEXT ", which PyTorch keeps for requests above 1 MiB"
#define SEEP_SHORTAGE_PIECES_TEXT            "Unallocated memory lies in %zu piece%s of at most %s%s"
#define SEEP_SHORTAGE_REGISTERED_TEXT        " and %s registered"
#define SEEP_SHORTAGE_TRIED_REGISTER_TEXT                                                          \
    "Tried to register %s %s: %s of pinned memory was allocated%s by then"
#define SEEP_SHORTAGE_TRIED_PINNED_TEXT                                                            \
    "Tried to allocate %s %s: %s of pinned memory was allocated%s by then"
#define SEEP_SHORTAGE_POWER_OF_TWO_TEXT                                                            \
    "PyTorch rounds pinned requests up to a power of two: little more than %s may be needed"
#define SEEP_SHORTAGE_PINNED_LIMIT_TEXT "Pinned memory is host memory, of which there is %s (%s)"

#define SEEP_SHORTAGE_TRIED_HOST_TEXT                                                              \
    "Tried to allocate %s %s: %s of host memory was allocated by then"
#define SEEP_SHORTAGE_ADDRESS_LIMIT_TEXT                                                           \
    "RLIMIT_AS (ulimit -v) allows %s of address space; %s was in use"
#define SEEP_SHORTAGE_DATA_LIMIT_TEXT "RLIMIT_DATA (ulimit -d) allows %s of data; %s was in use"
#define SEEP_SHORTAGE_OVERCOMMIT_TEXT                                                              \
    "No limit of the process was reached: the kernel refused the request (overcommit)"
#define SEEP_SHORTAGE_OVERCOMMIT_OF_TEXT                                                           \
    "No limit of the process was reached: the kernel refused the request (overcommit). There is "  \
    "%s (%s)"

/* Who has the memory, and why. */
#define SEEP_SHORTAGE_KEPT_BEFORE_TEXT  "Kept from before, %s: %s"
#define SEEP_SHORTAGE_MADE_IN_STEP_TEXT "Allocated in the step itself, %s: at most %s"
#define SEEP_SHORTAGE_FRAGMENTED_TEXT                                                              \
    "%s is reserved but unallocated, in pieces that are too small; in one piece it would be "      \
    "enough"
#define SEEP_SHORTAGE_BY_CACHE_TEXT "F%u, allocator-cache, explains how this came about"
#define SEEP_SHORTAGE_SINCE_FIRST_STEP_TEXT                                                        \
    "Of what is kept, %s came after step 1; %s was there by then"
#define SEEP_SHORTAGE_FILLER_TEXT            "F%u, %s, holds %s of it%s"
#define SEEP_SHORTAGE_FILLER_ENOUGH_TEXT     ": without it the request would have fitted"
#define SEEP_SHORTAGE_OTHERS_TEXT            "Processes outside this job use %s of the GPU"
#define SEEP_SHORTAGE_WOULD_FIT_TEXT         "A request of up to %s would have fitted"
#define SEEP_SHORTAGE_REQUESTS_AND_MORE_TEXT "%zu requests failed in %s, and then %u more"
#define SEEP_SHORTAGE_REQUESTS_TEXT          "%zu requests failed, in %s"
#define SEEP_SHORTAGE_CAUGHT_TEXT            "The job caught the error and continued, to step %u"
#define SEEP_SHORTAGE_ENDED_WELL_TEXT        "The process caught the error and ended normally"
#define SEEP_SHORTAGE_ENDED_BY_STATUS_TEXT   "The process then ended with exit status %d"
#define SEEP_SHORTAGE_ENDED_BY_SIGNAL_TEXT   "The process was then ended by signal %d"

/* Advice if more is known than that a step needs too much; the advice of patterns.def's row is then
 * repeated below as the alternative. judge/shortage_findings.c chooses. */
#define SEEP_SHORTAGE_REGISTER_LESS_TEXT                                                           \
    "Register less at a time: in pieces that you unregister when you are done with them "          \
    "(cudaHostUnregister), or copy through one small pinned buffer."
#define SEEP_SHORTAGE_PIN_LESS_POOL_TEXT                                                           \
    "Pin less: use few different batch sizes, just below a power of two rather than above, since " \
    "PyTorch's pool rounds up and keeps its blocks. Lower prefetch_factor; use pin_memory=False "  \
    "for what is large."
#define SEEP_SHORTAGE_PIN_LESS_TEXT                                                                \
    "Pin less: reuse one buffer, or free it (cudaFreeHost) before the next. Lower "                \
    "prefetch_factor; use few different batch sizes."
#define SEEP_SHORTAGE_PIN_BOUND_TEXT                                                               \
    "Pinned memory is bounded by the machine's free memory, a cgroup or RLIMIT_MEMLOCK (ulimit "   \
    "-l)."
#define SEEP_SHORTAGE_FIX_PINNED_TEXT                                                              \
    "Fix F%u first: it keeps pinned memory. Pinning less at a time only delays the crash."
#define SEEP_SHORTAGE_FIX_HOST_TEXT                                                                \
    "Fix F%u first: it fills the memory. A higher limit only delays the crash."
#define SEEP_SHORTAGE_HOST_LESS_TEXT                                                               \
    "Allocate less at a time: work in pieces, use a smaller batch or dtype, or memory-map files "  \
    "(numpy.memmap)."
#define SEEP_SHORTAGE_RAISE_ADDRESS_TEXT                                                           \
    "Or raise the limit (ulimit -v): it counts address space, of which libraries and threads "     \
    "reserve more than they use."
#define SEEP_SHORTAGE_RAISE_DATA_TEXT "Or raise the limit (ulimit -d)."
#define SEEP_SHORTAGE_OWN_LESS_TEXT                                                                \
    "Allocate less at a time, free what the step no longer needs before it asks for more, or "     \
    "give "                                                                                        \
    "the allocator more."
#define SEEP_SHORTAGE_OWN_PIECES_TEXT                                                              \
    "Let the allocator round requests to few sizes and give back what it has reserved but does "   \
    "not "                                                                                         \
    "use, or map memory so that it can grow in place. Requests of equal size from step to step "   \
    "(padding, buckets) help as well."
#define SEEP_SHORTAGE_CHECK_SIZE_TEXT                                                              \
    "Check the size: a wrong shape or dtype asks for more than the machine has. If it is right, "  \
    "see vm.overcommit_memory and vm.max_map_count (man 5 proc)."
#define SEEP_SHORTAGE_ADVICES_TEXT             "%s %s"
#define SEEP_SHORTAGE_SEE_FIRST_ELSE_ALSO_TEXT "See F%u first. %s %s"
#define SEEP_SHORTAGE_KEEP_ON_HOST_TEXT                                                            \
    "Keep what %s allocates in host memory, and move one batch at a time to the GPU. %s"
#define SEEP_SHORTAGE_THE_LOADER_TEXT     "the loader"
#define SEEP_SHORTAGE_SEE_FIRST_ELSE_TEXT "See F%u first. %s"
#define SEEP_SHORTAGE_FIX_TEXT                                                                     \
    "Fix F%u first: it fills the GPU. A smaller batch only delays the crash."
#define SEEP_SHORTAGE_FIX_OWN_TEXT                                                                 \
    "Fix F%u first: it fills the memory. A larger capacity only delays the failure."
#define SEEP_SHORTAGE_LOOK_WHO_TEXT                                                                \
    "Check which other processes use the GPU (nvidia-smi). Wait for them, or take another GPU "    \
    "(CUDA_VISIBLE_DEVICES)."

#endif

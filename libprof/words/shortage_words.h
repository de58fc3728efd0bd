/* What is said of an out-of-memory error, and what to do about it.
 * Formats of printf(), filled with numbers and names by who knows them. */
#ifndef SEEP_LIBPROF_WORDS_SHORTAGE_WORDS_H
#define SEEP_LIBPROF_WORDS_SHORTAGE_WORDS_H

#define SEEP_SHORTAGE_BEFORE_TRAINING_TEXT "before step 1"
#define SEEP_SHORTAGE_CAPACITY_TEXT        ", of a total capacity of %s"
#define SEEP_SHORTAGE_TRIED_RUNTIME_TEXT   "tried to allocate %s %s: %s of %s is allocated by then%s"
#define SEEP_SHORTAGE_TRIED_PYTORCH_TEXT                                                           \
    "tried to allocate %s %s: %s is allocated by PyTorch, %s reserved but unallocated%s"
#define SEEP_SHORTAGE_PIECES_ELSEWHERE_TEXT  ": some are large enough, but of another stream or pool"
#define SEEP_SHORTAGE_PIECES_SMALL_POOL_TEXT ", which PyTorch keeps for requests of up to 1 MiB"
#define SEEP_SHORTAGE_PIECES_LARGE_POOL_TEXT ", which PyTorch keeps for requests above 1 MiB"
#define SEEP_SHORTAGE_PIECES_TEXT            "what is unallocated lies in %zu piece%s, the largest of %s%s"
#define SEEP_SHORTAGE_REGISTERED_TEXT        " and %s registered"
#define SEEP_SHORTAGE_TRIED_PINNED_TEXT      "tried to %s %s %s: %s of pinned is allocated%s by then"
#define SEEP_SHORTAGE_POWER_OF_TWO_TEXT                                                            \
    "that is a power of two, which PyTorch's pool rounds up to: little more than %s may be "       \
    "needed"
#define SEEP_SHORTAGE_PINNED_LIMIT_TEXT                                                            \
    "what is pinned is memory of the host, of which there is %s (%s)"
#define SEEP_SHORTAGE_KEPT_BEFORE_TEXT  "kept from before, %s: %s"
#define SEEP_SHORTAGE_MADE_IN_STEP_TEXT "made in the step itself, %s: at most %s"
#define SEEP_SHORTAGE_FRAGMENTED_TEXT                                                              \
    "%s is reserved but unallocated, in pieces that are too small: in one piece it would have "    \
    "been enough"
#define SEEP_SHORTAGE_BY_CACHE_TEXT "F%u, allocator-cache, is how it came to that"
#define SEEP_SHORTAGE_SINCE_FIRST_STEP_TEXT                                                        \
    "of what is kept %s came after step 1, %s was there by then"
#define SEEP_SHORTAGE_FILLER_TEXT            "F%u, %s, has %s of it%s"
#define SEEP_SHORTAGE_FILLER_ENOUGH_TEXT     ": without that the request would have fitted"
#define SEEP_SHORTAGE_OTHERS_TEXT            "processes that are none of the job's use %s of the device"
#define SEEP_SHORTAGE_WOULD_FIT_TEXT         "a request of up to %s would have fitted"
#define SEEP_SHORTAGE_REQUESTS_AND_MORE_TEXT "%zu requests failed in %s, and then %u more"
#define SEEP_SHORTAGE_REQUESTS_TEXT          "%zu requests failed, in %s"
#define SEEP_SHORTAGE_CAUGHT_TEXT            "the job caught it and went on, to step %u"
#define SEEP_SHORTAGE_ENDED_BY_STATUS_TEXT   "the process ended then, with exit status %d"
#define SEEP_SHORTAGE_ENDED_BY_SIGNAL_TEXT   "the process ended then, by signal %d"

/* What to do where more is known than that a step needs too much: then it is the advice of the row
 * in patterns.def, which stands here as what else to do. judge/shortage_advice.c chooses. */
#define SEEP_SHORTAGE_REGISTER_LESS_TEXT                                                           \
    "register less at a time: in pieces that are unregistered when they are done "                 \
    "(cudaHostUnregister), or copy through one small pinned buffer"
#define SEEP_SHORTAGE_PIN_LESS_POOL_TEXT                                                           \
    "pin less: let batches have few different sizes, rather just below a power of two than "       \
    "above, for PyTorch's pool rounds up and keeps them; a lower prefetch_factor, "                \
    "pin_memory=False for what is large"
#define SEEP_SHORTAGE_PIN_LESS_TEXT                                                                \
    "pin less: use one buffer again, or give it back (cudaFreeHost) before the next; a lower "     \
    "prefetch_factor, few different sizes of batches"
#define SEEP_SHORTAGE_PIN_BOUND_TEXT                                                               \
    "what can be pinned is bounded by the machine's free memory, a cgroup or RLIMIT_MEMLOCK "      \
    "(ulimit -l)"
#define SEEP_SHORTAGE_FIX_PINNED_TEXT                                                              \
    "Fix F%u first: it keeps the pinned memory. Pinning less at a time only delays the crash"
#define SEEP_SHORTAGE_SEE_FIRST_ELSE_ALSO_TEXT "see F%u first; else %s; %s"
#define SEEP_SHORTAGE_KEEP_ON_HOST_TEXT                                                            \
    "keep what %s makes on the host, and move a batch at a time to the device; else %s"
#define SEEP_SHORTAGE_THE_LOADER_TEXT     "the loader"
#define SEEP_SHORTAGE_SEE_FIRST_ELSE_TEXT "see F%u first; else %s"
#define SEEP_SHORTAGE_FIX_TEXT                                                                     \
    "Fix F%u first: it fills the GPU. A smaller batch only delays the crash"
#define SEEP_SHORTAGE_LOOK_WHO_TEXT                                                                \
    "look who else is on the device (nvidia-smi), and wait for it or take another one "            \
    "(CUDA_VISIBLE_DEVICES)"

#endif

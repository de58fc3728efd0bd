/* Words about resident memory that no line made, and about contexts on a GPU. Formats of printf();
 * callers fill in numbers and names. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_RESIDENT_WORDS_H
#define SEEP_LIBPROF_WORDS_FINDINGS_RESIDENT_WORDS_H

#define SEEP_RESIDENT_TITLE_TEXT "Memory that seep cannot see grows by %s a %s"
#define SEEP_RESIDENT_ADVICE_TEXT                                                                  \
    "Look under \"not seen\" for a library with its own allocator. Otherwise look which mappings " \
    "grow (run pmap -X PID twice): a driver's, those of a library that maps memory without libc, " \
    "or [heap], which grows when code calls malloc through a handle of its own (ctypes, dlsym)."
#define SEEP_RESIDENT_UNEXPLAINED_TEXT                                                             \
    "Resident memory that is neither heap, mappings, shared memory, stack nor a known file went "  \
    "from %s to %s over %ss %d to %d"
#define SEEP_RESIDENT_THEN_TEXT       "In %s %d it was %s of %s RSS (%.0f %%)"
#define SEEP_RESIDENT_ARENAS_TOO_TEXT "Free memory in malloc's arenas also grows, by %s a %s"
#define SEEP_RESIDENT_ARENAS_TEXT     "Free memory in malloc's arenas grows by %s a %s"
#define SEEP_RESIDENT_CONTEXTS_TEXT   "Ranks have a CUDA context on another rank's GPU: %s"
#define SEEP_RESIDENT_RANKS_TEXT                                                                   \
    "The driver says that %zu rank%s with %s own GPU also use%s GPU %d: for a CUDA context and "   \
    "its code, not for blocks of the program"
#define SEEP_RESIDENT_CONTEXTS_USE_TEXT "With their contexts they use %s of that GPU"

#endif

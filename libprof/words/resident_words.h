/* What is said of resident memory that no line has made, and of contexts on a device.
 * Formats of printf(), filled with numbers and names by who knows them. */
#ifndef SEEP_LIBPROF_WORDS_RESIDENT_WORDS_H
#define SEEP_LIBPROF_WORDS_RESIDENT_WORDS_H

#define SEEP_RESIDENT_TITLE_TEXT "memory that seep cannot see grows by %s every %s"
#define SEEP_RESIDENT_ADVICE_TEXT                                                                  \
    "see under \"not seen\" who has an allocator of its own; else look which maps grow (pmap "     \
    "-X PID, twice): a driver's, those of a library that asks the kernel without libc, or "        \
    "[heap], which code fills that calls libc's malloc by a handle of its own (ctypes, dlsym)"
#define SEEP_RESIDENT_UNEXPLAINED_TEXT                                                             \
    "resident, and neither heap, map, shared, stack nor file that is known: from %s to %s, %ss "   \
    "%d to %d"
#define SEEP_RESIDENT_THEN_TEXT       "in %s %d it was %s of %s of RSS: %.0f %%"
#define SEEP_RESIDENT_ARENAS_TOO_TEXT "free memory in libc's arenas grows, too: by %s every %s"
#define SEEP_RESIDENT_ARENAS_TEXT     "free memory in libc's arenas grows by %s every %s"
#define SEEP_RESIDENT_CONTEXTS_TEXT   "ranks have a context on another rank's device: %s"
#define SEEP_RESIDENT_RANKS_TEXT                                                                   \
    "%zu rank%s with a device of %s own %s also on device %d, by what its driver says: a "         \
    "context and its code, without a block of the program's"
#define SEEP_RESIDENT_CONTEXTS_USE_TEXT "with their contexts they use %s of that device"

#endif

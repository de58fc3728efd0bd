/* Words about memory that nothing points to any more. Formats of printf(); callers fill in numbers
 * and names. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_LOST_WORDS_H
#define SEEP_LIBPROF_WORDS_FINDINGS_LOST_WORDS_H

#define SEEP_LOST_NO_POINTER_TEXT                                                                  \
    "A snapshot shows that nothing points to it any more: whoever allocated it forgot to free it"
#define SEEP_LOST_NO_REFERENCE_TEXT                                                                \
    "A snapshot shows that nothing refers to it any more, but it still counts a reference that "   \
    "was never given back"

#define SEEP_LOST_FREE_HERE_TEXT                                                                   \
    "Free what this line allocates when you are done with it: nothing points to it any more, so "  \
    "no other code can."
#define SEEP_LOST_FREE_THERE_TEXT                                                                  \
    "%s allocates it and nobody frees it. Free it there, or call the function that frees it when " \
    "you are done with it."
#define SEEP_LOST_LIBRARY_TEXT                                                                     \
    "%s leaks this memory. Upgrade %s, or report it to its developers with these calls%s%s. "      \
    "Until then make the call in a process that you restart now and then."
#define SEEP_LOST_REFERENCE_TEXT                                                                   \
    "An extension took a reference to what this line allocates and never gave it back (Py_INCREF " \
    "without Py_DECREF). Find out which extension gets it%s%s. Upgrade that extension, or report " \
    "the leak to its developers."
#define SEEP_LOST_FIRST_OF_ALL_TEXT ", starting with "
#define SEEP_LOST_MADE_IN_TEXT      "Allocated in %s%s%s: %s"
#define SEEP_LOST_MADE_FOR_TEXT     " for "

#endif

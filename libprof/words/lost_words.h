/* What is said of memory that nothing points to any more.
 * Formats of printf(), filled with numbers and names by who knows them. */
#ifndef SEEP_LIBPROF_WORDS_LOST_WORDS_H
#define SEEP_LIBPROF_WORDS_LOST_WORDS_H

#define SEEP_LOST_FREE_HERE_TEXT                                                                   \
    "free what this line allocates once it is done with: nothing points to it any more, so "       \
    "nobody else can"
#define SEEP_LOST_FREE_THERE_TEXT                                                                  \
    "%s allocates it and nobody frees it: free it there, or call what frees it once you are "      \
    "done with it"
#define SEEP_LOST_LIBRARY_TEXT                                                                     \
    "%s loses this memory: upgrade %s, or report it to its developers with these calls%s%s. "      \
    "Until then run the call in a process that ends now and then"
#define SEEP_LOST_REFERENCE_TEXT                                                                   \
    "an extension took a reference to what this line makes and never gave it back (Py_INCREF "     \
    "without Py_DECREF): see which extension gets it%s%s, upgrade that, or report it to its "      \
    "developers"
#define SEEP_LOST_FIRST_OF_ALL_TEXT ", first of all "
#define SEEP_LOST_MADE_IN_TEXT      "made in %s: %s"

#endif

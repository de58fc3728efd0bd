/* Starts eight threads at once, and waits for their end. */
#ifndef SEEP_TESTS_SUBJECTS_RUN_THREADS_H
#define SEEP_TESTS_SUBJECTS_RUN_THREADS_H

#include <pthread.h>

#include "tally.h"

enum { THREADS = 8 };

/* Each is given its number, an unsigned. */
static inline void run_threads(void *(*thread)(void *))
{
    static unsigned numbers[THREADS];
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        MUST(pthread_create(&threads[i], NULL, thread, &numbers[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        MUST(pthread_join(threads[i], NULL) == 0);
}

#endif

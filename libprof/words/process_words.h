/* What is said of processes that pile up.
 * Formats of printf(), filled with numbers and names by who knows them. */
#ifndef SEEP_LIBPROF_WORDS_PROCESS_WORDS_H
#define SEEP_LIBPROF_WORDS_PROCESS_WORDS_H

#define SEEP_PROCESSES_TITLE_TEXT "processes pile up: %zu were started, and stay"
#define SEEP_PROCESSES_ADVICE_TEXT                                                                 \
    "end and join each process when its work is done: close() or shutdown() a pool, make a "       \
    "loader with persistent workers once, and not for each evaluation"
#define SEEP_PROCESSES_STARTED_TEXT                                                                \
    "pid %u started %zu processes all along, from step %d on; %zu of them ended before the job "   \
    "did"
#define SEEP_PROCESSES_EACH_TEXT "each had %s of pages of its own: %s together"

#endif

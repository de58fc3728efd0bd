/* `seep run --top`: the job beside `seep top` on one terminal. */
#ifndef SEEP_VIEWER_TOP_TOP_BESIDE_H
#define SEEP_VIEWER_TOP_TOP_BESIDE_H

#include <stdbool.h>

/* Forks. In the child, which is to run the job, it returns true: what is written to standard output
 * and standard error is kept, and standard input is empty. The parent shows `seep top`, and what
 * was kept once that has ended, by q or with the job; then it returns false, with the child's exit
 * status. Without a terminal it says so, and returns true without a fork: the job is run anyway. */
bool seep_top_beside(int *status);

#endif

/* Waits for what happens next, which may be a signal that ends the program. */
#ifndef SEEP_VIEWER_FOLLOW_WAIT_H
#define SEEP_VIEWER_FOLLOW_WAIT_H

#include <poll.h>
#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP are noted; they and SIGWINCH arrive only inside
 * seep_wait(), so that none is missed. */
void seep_wait_begin(void);

/* Whether a signal asked the program to end. */
bool seep_wait_ended(void);

/* poll(2) of n files, for at most `seconds` (below 0: without limit), or until a signal arrives.
 * revents tell what happened; they are 0 after a signal. */
void seep_wait(struct pollfd *files, nfds_t n, double seconds);

#endif

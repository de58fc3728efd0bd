/* Waits for what happens next, which may be a signal that ends the program. */
#ifndef SEEP_VIEWER_FOLLOW_WAIT_H
#define SEEP_VIEWER_FOLLOW_WAIT_H

#include <poll.h>
#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP are noted, and they and SIGWINCH come in seep_wait()
 * alone, so that none is missed. */
void seep_wait_begin(void);

/* Whether a signal asked for the end. */
bool seep_wait_ended(void);

/* poll(2) of n files, for `seconds` at most (below 0: for ever), or until a signal comes. What
 * happened is in their revents, which are 0 after a signal. */
void seep_wait(struct pollfd *files, nfds_t n, double seconds);

#endif

/* What comes from elsewhere to the line that allocates it. By messages from other processes:
 * results of a pool, items of a queue. A library's line takes them out of a message, in its own
 * thread; another process made them. By a loader's thread, which pins batches for whoever takes
 * them. */
#ifndef SEEP_LIBPROF_VERDICT_MESSAGES_H
#define SEEP_LIBPROF_VERDICT_MESSAGES_H

#include "libprof/verdict/case.h"

/* The user's line in another process that made what `site` takes out of messages: one that makes
 * blocks of that size, at least about as many. 0: the site takes out none, or there is no such
 * line. */
uint32_t seep_message_sender(const struct seep_case *c, uint32_t site);

/* The user's line that takes batches out of a loader, most often of all: the loop's, or that of a
 * function in between. 0: none was seen. */
uint32_t seep_batch_taker(const struct seep_case *c);

#endif

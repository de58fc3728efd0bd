/* What comes by messages of other processes: results of a pool, items of a queue. The line that
 * takes them out of a message is a library's, in a thread of its own; who made them, another
 * process. */
#ifndef SEEP_LIBPROF_SIGNS_MESSAGES_H
#define SEEP_LIBPROF_SIGNS_MESSAGES_H

#include "libprof/signs/case.h"

/* The line of the user's in another process that made what `site` took out of messages: one that
 * makes blocks of that size, at least about as many. 0: it takes out none, or no line does. */
uint32_t seep_message_sender(const struct seep_case *c, uint32_t site);

#endif

/* What comes by messages from other processes: results of a pool, items of a queue. A library's
 * line takes them out of a message, in its own thread; another process made them. */
#ifndef SEEP_LIBPROF_SIGNS_MESSAGES_H
#define SEEP_LIBPROF_SIGNS_MESSAGES_H

#include "libprof/signs/case.h"

/* The user's line in another process that made what `site` takes out of messages: one that makes
 * blocks of that size, at least about as many. 0: the site takes out none, or there is no such
 * line. */
uint32_t seep_message_sender(const struct seep_case *c, uint32_t site);

#endif

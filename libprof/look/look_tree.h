/* Looks at several processes of one job as one answer: a holder that they all have is told once. */
#ifndef SEEP_LIBPROF_LOOK_LOOK_TREE_H
#define SEEP_LIBPROF_LOOK_LOOK_TREE_H

#include <jansson.h>

/* The holders of look documents of one process each, by key: sums over the processes, with their
 * pids; what retains most comes first. The path, the type and the lengths are of the process in
 * which it retains most. A new reference, or NULL without memory. */
json_t *seep_look_tree_holders(const json_t *processes);

#endif

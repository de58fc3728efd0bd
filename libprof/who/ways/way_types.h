/* What the nodes of a path are: the types of objects, and whether consecutive nodes are alike. */
#ifndef SEEP_LIBPROF_WHO_WAYS_WAY_TYPES_H
#define SEEP_LIBPROF_WHO_WAYS_WAY_TYPES_H

#include "libprof/who/ways/reach.h"

#include "libprof/who/graph/py_walk.h"

/* Places in a larger container are contents, and not told apart. */
enum { SEEP_WAY_MANY_KEYS = SEEP_DICT_FEW };

/* The most that a container can hold, by its own bound; −1: no bound. A cache's dict is bounded as
 * the cache is. */
int64_t seep_way_bound(const struct seep_reach *reach, uint32_t node);

/* Whether the label that leads to a node is a meaningful name, like an attribute's. */
bool seep_way_has_name(enum seep_label_kind kind);

/* Whether a node is reached from its parent in the same way as the parent from its own: a linked
 * list. */
bool seep_way_repeats(const struct seep_reach *reach, uint32_t node);

#endif

/* Nodes of autograd graphs, told by the functions that make them. */
#ifndef SEEP_LIBPROF_SIGNS_GRAPH_NODES_H
#define SEEP_LIBPROF_SIGNS_GRAPH_NODES_H

#include "libprof/signs/case.h"

/* Whether what a site holds piles up: so many blocks more than at the start as patterns want steps.
 */
bool seep_graph_piles_up(const struct seep_site_signs *site);

/* Counts the case's sites that pile up and make graph nodes. Where nothing can be looked up, many
 * such sites below the model's forward say the same with good odds: one node or two an operator.
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_graph_nodes_count(const struct seep_case *c,
                                           const struct seep_site_signs *signs, unsigned *n);

/* Looks up the native frames of some sites, of any line. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_graph_names(const struct seep_case *c, const uint32_t *sites, size_t n);

/* Whether a stack, whose names were looked up, makes a node of a graph. Pure. */
bool seep_graph_makes_node(const struct seep_case *c, uint32_t stack);

/* Of nodes that stay at the end, and were not there before step 1, how many blocks the site with
 * fewest of them made: as many graphs are there at once. Of the line's own sites; of a line on a
 * device those of the host that its function made. 0 none. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_graphs_count(const struct seep_case *c, const struct seep_growth *g,
                                      uint64_t *graphs);

#endif

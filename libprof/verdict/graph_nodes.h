/* Nodes of autograd graphs, recognised by the functions that make them. */
#ifndef SEEP_LIBPROF_VERDICT_GRAPH_NODES_H
#define SEEP_LIBPROF_VERDICT_GRAPH_NODES_H

#include "libprof/verdict/case.h"

/* Whether a site piles up: it gained at least as many blocks as patterns want steps. */
bool seep_graph_piles_up(const struct seep_site_signs *site);

/* Counts the case's sites that pile up and make graph nodes. If no names can be looked up, many
 * such sites below the model's forward are good evidence, too: one node or two per operator.
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_graph_nodes_count(const struct seep_case *c,
                                           const struct seep_site_signs *signs, unsigned *n);

/* Looks up the native frames of some sites, of any line. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_graph_names(const struct seep_case *c, const uint32_t *sites, size_t n);

/* Whether a stack, whose names were looked up, makes a graph node. Pure. */
bool seep_graph_makes_node(const struct seep_case *c, uint32_t stack);

/* How many graphs are live at once: among sites whose nodes stay to the end and came after step 1
 * began, the fewest blocks of one site. Looks at the line's own sites; for a line on a device at
 * those on the host that its function made. 0: none. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_graphs_count(const struct seep_case *c, const struct seep_growth *g,
                                      uint64_t *graphs);

/* Whether a site, of any line, is in the same call of a network as one of the case's. Pure. */
bool seep_graph_is_called_alike(const struct seep_case *c, uint32_t site);

/* PyTorch's snapshots know of no nodes. But what modules compute on the way to a network's result
 * nobody keeps, other than the graph: counts the sites of the calls of a network that the case's
 * line is in whose results pile up together, as *n, and the least of their blocks as *graphs; both 0
 * if there are fewer than SEEP_T_GRAPH_RESULTS sites, or less than half of what these calls make:
 * results of some layers that are kept on purpose. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_graph_results_count(const struct seep_case *c, const struct seep_growth *g,
                                             unsigned *n, uint64_t *graphs);

#endif

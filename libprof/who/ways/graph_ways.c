#include "libprof/who/ways/reach_passes.h"

#include "libprof/who/survey/survey.h"

#include <string.h>

/* torch derives a class for the backward pass of each operator, for gradient accumulation, and for
 * the user's own functions. */
static bool is_node_of_graph(const struct seep_reach *reach, uint32_t node)
{
    static const char *const marks[] = {"Backward", "AccumulateGrad", "CopySlices",
                                        "autograd::PyNode"};
    const char *name = seep_node_class(reach->heap, node);

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (strstr(name, marks[i]))
            return true;
    }
    return false;
}

bool seep_graph_holds(const struct seep_reach *reach, uint32_t node, uint8_t *known)
{
    uint32_t top = node;
    uint8_t found = SEEP_GRAPH_OUTSIDE;

    for (; !(top & SEEP_REACH_ROOT); top = reach->parent[top]) {
        if (known[top])
            found = known[top];
        else if (is_node_of_graph(reach, top))
            found = known[top] = SEEP_GRAPH_WITHIN;
        if (known[top])
            break;
    }
    for (; node != top; node = reach->parent[node])
        known[node] = found;
    return found == SEEP_GRAPH_WITHIN;
}

#include "libprof/who/ways/reach_passes.h"

#include "libprof/who/graph/py_types.h"
#include "libprof/who/ways/path.h"

/* What the variable refers to at which a way begins: behind a module and its dict. */
static uint32_t value_of(const struct seep_reach *reach, const uint32_t *nodes, size_t n)
{
    size_t i = 0;

    for (; i + 1 < n; i++) {
        const struct seep_pytype *type = seep_node_type(reach->heap, nodes[i]);
        if (!type || (type->kind != SEEP_PYTYPE_MODULE &&
                      (type->kind != SEEP_PYTYPE_DICT ||
                       seep_label_kind(seep_reach_label(reach, nodes[i])) != SEEP_LABEL_HIDDEN)))
            break;
    }
    return nodes[i];
}

/* Where the native end of the way begins; n: it has none. */
static size_t native_end(const struct seep_reach *reach, const uint32_t *nodes, size_t n)
{
    size_t i = n;

    while (i && !seep_node_type(reach->heap, nodes[i - 1]))
        i--;
    return i;
}

void seep_shared_begin(struct seep_shared *s, struct seep_reach *reach, uint32_t holder)
{
    *s = (struct seep_shared){.reach = reach, .node = SEEP_NODE_NONE};
    if (reach->distance[holder] == SEEP_UNREACHED)
        return;
    s->n = seep_path_begin(reach, holder, s->nodes, SEEP_SHARED_NEAR);
    s->from = s->n > SEEP_SHARED_NEAR ? s->n : native_end(reach, s->nodes, s->n);
    if (s->from && s->from < s->n)
        s->node = s->nodes[s->from];
}

int seep_shared_leave_out(struct seep_shared *s, bool *more)
{
    struct seep_reach *reach = s->reach;
    uint32_t nodes[SEEP_SHARED_NEAR];
    const size_t n = seep_path_begin(reach, s->node, nodes, SEEP_SHARED_NEAR);

    *more = n <= SEEP_SHARED_NEAR && s->n_left_out < SEEP_REACH_EXCLUDED &&
            native_end(reach, nodes, n) > 0;
    if (!*more)
        return 0;
    const uint32_t value = value_of(reach, nodes, n);
    reach->excluded[s->n_left_out++] = value;
    const int rc = seep_reach_leave_out(reach, value);
    s->node = SEEP_NODE_NONE;
    for (size_t i = s->n; i-- > s->from && !rc;)
        if (reach->distance[s->nodes[i]] != SEEP_UNREACHED)
            s->node = s->nodes[i];
    return rc;
}

#include "libprof/page/page_tables.h"

#include <stdlib.h>

static struct seep_pairs nodes_of(const struct seep_page_stacks *stacks)
{
    return (struct seep_pairs){stacks->list, sizeof *stacks->list};
}

uint32_t seep_page_stacks_add(struct seep_page_stacks *stacks, uint32_t parent, uint32_t frame)
{
    uint32_t id = seep_pair_find(&stacks->index, nodes_of(stacks), parent, frame);

    if (id != SEEP_HASH_NONE)
        return id;
    id = (uint32_t)stacks->n;
    if (seep_grow(&stacks->list, &stacks->capacity, stacks->n + 1, sizeof *stacks->list))
        return SEEP_HASH_NONE;
    stacks->list[stacks->n++] = (struct seep_page_stack){parent, frame};
    return seep_pair_add(&stacks->index, nodes_of(stacks), id) ? SEEP_HASH_NONE : id;
}

void seep_page_stacks_fini(struct seep_page_stacks *stacks)
{
    free(stacks->list);
    seep_pair_fini(&stacks->index);
}

void seep_page_put_stacks(const struct seep_page_stacks *stacks, struct seep_page_columns *columns,
                          bool *failed)
{
    for (size_t i = 0; i < stacks->n && !*failed; i++) {
        seep_page_columns_add(columns, "parent", seep_page_number(stacks->list[i].parent), failed);
        seep_page_columns_add(columns, "frame", json_integer(stacks->list[i].frame), failed);
    }
}

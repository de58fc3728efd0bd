#include "kernels/formats/coco_parts.h"

#include <stdlib.h>

static int compare_ids(const void *a, const void *b)
{
    const struct seep_coco_image *left = *(const struct seep_coco_image *const *)a;
    const struct seep_coco_image *right = *(const struct seep_coco_image *const *)b;

    return (left->id > right->id) - (left->id < right->id);
}

int seep_coco_index_init(struct seep_coco_index *index, const struct seep_coco_image *images,
                         size_t n)
{
    *index = (struct seep_coco_index){.n = n};
    if (!n)
        return 0;
    index->sorted = calloc(n, sizeof *index->sorted);
    if (!index->sorted)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++)
        index->sorted[i] = &images[i];
    qsort(index->sorted, n, sizeof *index->sorted, compare_ids);
    return 0;
}

void seep_coco_index_fini(struct seep_coco_index *index)
{
    free(index->sorted);
    *index = (struct seep_coco_index){.n = 0};
}

const struct seep_coco_image *seep_coco_index_find(const struct seep_coco_index *index, uint64_t id)
{
    const struct seep_coco_image key = {.id = id}, *wanted = &key;

    if (!index->n)
        return NULL;
    const struct seep_coco_image **found =
        bsearch(&wanted, index->sorted, index->n, sizeof *index->sorted, compare_ids);
    return found ? *found : NULL;
}

#include "kernels/voxels/voxel_baseline.h"

#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    int32_t coords[4];
    size_t hash;
    int32_t voxel;
};

struct vector {
    int32_t *points;
    size_t n, room;
};

struct seep_voxel_baseline {
    struct node **buckets;
    size_t n_buckets;
    struct vector *voxels;
    size_t n_voxels, room;
};

static size_t hash_of(const int32_t coords[4])
{
    uint64_t hash = 16777619; /* FNV by words, as is usual for coordinates */

    for (int d = 0; d < 4; d++)
        hash = hash * 1099511628211u ^ (uint32_t)coords[d];
    return (size_t)(hash ^ hash >> 29);
}

static int rehash(struct seep_voxel_baseline *b, size_t n_buckets)
{
    struct node **buckets = calloc(n_buckets, sizeof *buckets);

    if (!buckets)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < b->n_buckets; i++) {
        for (struct node *node = b->buckets[i], *next; node; node = next) {
            struct node **bucket = &buckets[node->hash & (n_buckets - 1)];
            next = node->next;
            node->next = *bucket;
            *bucket = node;
        }
    }
    free(b->buckets);
    b->buckets = buckets;
    b->n_buckets = n_buckets;
    return 0;
}

static int grow(void **items, size_t *room, size_t n, size_t item_bytes)
{
    if (n < *room)
        return 0;
    size_t more = *room ? 2 * *room : 1;
    void *grown = realloc(*items, more * item_bytes);
    if (!grown)
        return -SEEP_ENOMEM;
    *items = grown;
    *room = more;
    return 0;
}

static struct node *add_voxel(struct seep_voxel_baseline *b, const int32_t coords[4], size_t hash)
{
    void *voxels = b->voxels;
    int err = grow(&voxels, &b->room, b->n_voxels, sizeof *b->voxels);
    b->voxels = voxels;
    if (err || (b->n_voxels >= b->n_buckets && rehash(b, 2 * b->n_buckets)))
        return NULL;
    struct node *node = malloc(sizeof *node);
    if (!node)
        return NULL;
    struct node **bucket = &b->buckets[hash & (b->n_buckets - 1)];
    *node = (struct node){.next = *bucket, .hash = hash, .voxel = (int32_t)b->n_voxels};
    memcpy(node->coords, coords, sizeof node->coords);
    *bucket = node;
    b->voxels[b->n_voxels++] = (struct vector){0};
    return node;
}

int seep_voxel_baseline_create(const int32_t (*coords)[4], size_t n_points, int32_t *point_to_voxel,
                               struct seep_voxel_baseline **out)
{
    struct seep_voxel_baseline *b = calloc(1, sizeof *b);

    if (!b || rehash(b, 16))
        goto fail;
    for (size_t i = 0; i < n_points; i++) {
        size_t hash = hash_of(coords[i]);
        struct node *node = b->buckets[hash & (b->n_buckets - 1)];
        while (node && (node->hash != hash || memcmp(node->coords, coords[i], 16) != 0))
            node = node->next;
        if (!node && !(node = add_voxel(b, coords[i], hash)))
            goto fail;
        struct vector *v = &b->voxels[node->voxel];
        void *points = v->points;
        int err = grow(&points, &v->room, v->n, sizeof *v->points);
        v->points = points;
        if (err)
            goto fail;
        v->points[v->n++] = (int32_t)i;
        point_to_voxel[i] = node->voxel;
    }
    *out = b;
    return 0;
fail:
    seep_voxel_baseline_destroy(b);
    return -SEEP_ENOMEM;
}

size_t seep_voxel_baseline_count(const struct seep_voxel_baseline *b)
{
    return b->n_voxels;
}

void seep_voxel_baseline_destroy(struct seep_voxel_baseline *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n_buckets; i++) {
        for (struct node *node = b->buckets[i], *next; node; node = next) {
            next = node->next;
            free(node);
        }
    }
    for (size_t v = 0; v < b->n_voxels; v++)
        free(b->voxels[v].points);
    free(b->voxels);
    free(b->buckets);
    free(b);
}

#include "kernels/lab/scenarios/sparse_loader.h"

#include "kernels/voxels/voxelize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The document's, in metres. */
static const float voxel_size = 0.05f;

/* What __getitem__ returns of a scene. */
struct item {
    size_t n, coarse;
    int32_t (*coordinates)[4];
    float (*colors)[3];
};

int seep_sparse_loader_init(struct seep_sparse_loader *loader, const char *folder, double scale,
                            struct seep_error *err)
{
    *loader = (struct seep_sparse_loader){.points = seep_pointgroup_size(scale).points};
    int rc = seep_pointgroup_scenes_open(folder, &loader->scenes, err);
    return rc ? rc : seep_stream_create_cpu(1, &loader->stream);
}

void seep_sparse_loader_fini(struct seep_sparse_loader *loader)
{
    seep_pointgroup_scenes_close(&loader->scenes);
    seep_stream_destroy(loader->stream);
    *loader = (struct seep_sparse_loader){0};
}

/* ---- a scene --------------------------------------------------------------------------------- */

/* The first point of each voxel: first[*n_voxels]. */
static int find_first(const struct seep_sparse_loader *loader, const int32_t (*coords)[4], size_t n,
                      int32_t *first, size_t *n_voxels)
{
    size_t bytes = 0;
    void *scratch = NULL;
    int rc = seep_sparse_quantize(coords, NULL, n, 0, first, NULL, NULL, n_voxels, NULL, &bytes,
                                  loader->stream);

    if (!rc)
        rc = seep_stream_alloc(loader->stream, bytes, &scratch);
    if (!rc)
        rc = seep_sparse_quantize(coords, NULL, n, 0, first, NULL, NULL, n_voxels, scratch, &bytes,
                                  loader->stream);
    seep_stream_free(loader->stream, scratch);
    return rc;
}

/* How many voxels of twice the edge those of the item lie in. */
static int count_coarse(const struct seep_sparse_loader *loader, struct item *item, int32_t *first)
{
    int32_t(*coarse)[4] = malloc((item->n + 1) * sizeof *coarse);
    int rc = coarse ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < item->n && !rc; i++) {
        for (int k = 0; k < 4; k++) /* to the floor, below zero too */
            coarse[i][k] = (item->coordinates[i][k] - (item->coordinates[i][k] & 1)) / 2;
    }
    if (!rc)
        rc = find_first(loader, coarse, item->n, first, &item->coarse);
    free(coarse);
    return rc;
}

/* np.array(pcd.points) and ME.utils.sparse_quantize(). */
static int quantize(const struct seep_sparse_loader *loader, const struct seep_scannet_scene *scene,
                    struct item *item)
{
    size_t n = scene->n_points, n_refused;
    float(*xyz)[3] = malloc((n + 1) * sizeof *xyz);
    int32_t(*coords)[4] = malloc((n + 1) * sizeof *coords);
    int32_t *first = malloc((n + 1) * sizeof *first);
    int rc = xyz && coords && first ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < n && !rc; i++)
        memcpy(xyz[i], scene->points[i].xyz, sizeof *xyz);
    if (!rc)
        rc = seep_quantize(xyz, NULL, n, voxel_size, coords, &n_refused, loader->stream);
    if (!rc)
        rc = find_first(loader, coords, n, first, &item->n);
    if (!rc) {
        item->coordinates = malloc((item->n + 1) * sizeof *item->coordinates);
        item->colors = malloc((item->n + 1) * sizeof *item->colors);
        rc = item->coordinates && item->colors ? 0 : -SEEP_ENOMEM;
    }
    for (size_t i = 0; i < item->n && !rc; i++) {
        memcpy(item->coordinates[i], coords[first[i]], sizeof *coords);
        memcpy(item->colors[i], scene->points[first[i]].rgb, sizeof *item->colors);
    }
    if (!rc)
        rc = count_coarse(loader, item, first);
    free(xyz);
    free(coords);
    free(first);
    return rc;
}

static void item_fini(struct item *item)
{
    free(item->coordinates);
    free(item->colors);
}

/* DummyDataset.__getitem__() */
static int dataset_item(const struct seep_sparse_loader *loader, uint32_t id, struct item *item,
                        struct seep_error *err)
{
    const char *name = loader->scenes.names[id];
    struct seep_scannet_scene *scene;
    int rc = seep_scannet_read_mesh(loader->scenes.folder, name, &scene, err);

    if (rc)
        return rc;
    rc = quantize(loader, scene, item);
    seep_scannet_free(scene);
    if (!rc && !item->n)
        rc = seep_error_set(err, SEEP_EFORMAT, loader->scenes.folder, 0, "%s has no voxel", name);
    return rc;
}

int seep_sparse_loader_sizes(const struct seep_sparse_loader *loader,
                             struct seep_sparse_size *sizes, struct seep_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < loader->scenes.n && !rc; i++) {
        struct item item = {0};
        rc = dataset_item(loader, (uint32_t)i, &item, err);
        sizes[i] = (struct seep_sparse_size){(double)item.n, (double)item.coarse};
        item_fini(&item);
    }
    return rc;
}

struct seep_sparse_size seep_sparse_loader_sum(const struct seep_sparse_loader *loader,
                                               const struct seep_sparse_size *sizes,
                                               const uint32_t *ids, size_t n)
{
    struct seep_sparse_size sum = {0};

    for (size_t i = 0; i < n; i++) { /* whole numbers: exact */
        sum.voxels += sizes[ids[i]].voxels;
        sum.coarse += sizes[ids[i]].coarse;
    }
    return (struct seep_sparse_size){sum.voxels / loader->points, sum.coarse / loader->points};
}

/* ---- the batch --------------------------------------------------------------------------------
 */

/* ME.utils.sparse_collate(): a scene's place in the batch stands before its coordinates. */
static int collate(const struct item *items, size_t n_items, double points,
                   struct seep_sparse_batch *out)
{
    size_t coarse = 0, at = 0;

    for (size_t s = 0; s < n_items; s++) {
        out->n += items[s].n;
        coarse += items[s].coarse;
    }
    out->coordinates = malloc(out->n * sizeof *out->coordinates);
    out->features = malloc(out->n * sizeof *out->features);
    out->labels = calloc(out->n, sizeof *out->labels);
    if (!out->coordinates || !out->features || !out->labels)
        return -SEEP_ENOMEM;
    for (size_t s = 0; s < n_items; s++) {
        memcpy(out->features + at, items[s].colors, items[s].n * sizeof *out->features);
        for (size_t i = 0; i < items[s].n; i++, at++) {
            out->coordinates[at][0] = (float)s;
            for (int k = 1; k < 4; k++)
                out->coordinates[at][k] = (float)items[s].coordinates[i][k];
        }
    }
    out->size = (struct seep_sparse_size){.voxels = (double)out->n / points,
                                          .coarse = (double)coarse / points};
    return 0;
}

int seep_sparse_loader_batch(const struct seep_sparse_loader *loader, const uint32_t *ids, size_t n,
                             struct seep_sparse_batch *out, struct seep_error *err)
{
    struct item *items = calloc(n + 1, sizeof *items);
    int rc = items ? 0 : -SEEP_ENOMEM;

    *out = (struct seep_sparse_batch){0};
    for (size_t i = 0; i < n && !rc; i++)
        rc = dataset_item(loader, ids[i], &items[i], err);
    if (!rc)
        rc = collate(items, n, loader->points, out);
    for (size_t i = 0; i < n && items; i++)
        item_fini(&items[i]);
    free(items);
    if (rc)
        seep_sparse_batch_fini(out);
    return rc;
}

void seep_sparse_batch_fini(struct seep_sparse_batch *batch)
{
    free(batch->coordinates);
    free(batch->features);
    free(batch->labels);
    *batch = (struct seep_sparse_batch){0};
}

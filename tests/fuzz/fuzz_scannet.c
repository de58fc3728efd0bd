/* Any bytes as the four files of a scene: three lengths of two bytes each (little-endian; the last
 * file has the rest), then the files. A labels file of 0 bytes does not exist. */
#include "kernels/formats/scannet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check(const struct seep_scannet_scene *scene)
{
    for (size_t i = 0; i < scene->n_points; i++) {
        const struct seep_scannet_point *p = &scene->points[i];
        for (int k = 0; k < 3; k++) {
            if (!isfinite(p->xyz[k]) || !(fabsf(p->rgb[k]) <= 1))
                abort();
        }
        if (p->label != -100 && !(p->label >= 0 && p->label < 20))
            abort();
        if (p->instance != -100 && !(p->instance >= 0 && p->instance < (double)scene->n_instances))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_scannet_bytes files[SEEP_SCANNET_FILES];
    struct seep_scannet_scene *scene = NULL;
    struct seep_error err = {.text = ""};
    size_t at = 6;

    if (size < at)
        return 0;
    for (int i = 0; i < SEEP_SCANNET_FILES; i++) {
        size_t n = i < 3 ? data[2 * i] | (size_t)data[2 * i + 1] << 8 : size - at;
        if (n > size - at)
            n = size - at;
        /* Exact blocks: the sanitizer sees one byte too many. */
        void *bytes = malloc(n ? n : 1);
        if (!bytes)
            abort();
        memcpy(bytes, data + at, n);
        files[i] = (struct seep_scannet_bytes){bytes, n};
        at += n;
    }
    void *labels = (void *)files[SEEP_SCANNET_FILE_LABELS].bytes;
    if (!files[SEEP_SCANNET_FILE_LABELS].n)
        files[SEEP_SCANNET_FILE_LABELS].bytes = NULL;
    int rc = seep_scannet_from_bytes(files, &scene, &err);
    if (!rc != !err.text[0])
        abort();
    if (!rc)
        check(scene);
    seep_scannet_free(scene);
    files[SEEP_SCANNET_FILE_LABELS].bytes = labels;
    for (int i = 0; i < SEEP_SCANNET_FILES; i++)
        free((void *)files[i].bytes);
    return 0;
}

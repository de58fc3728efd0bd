/* Any bytes as COCO annotations. From a valid file, makes masks, writes it, and reads the same
 * back. */
#include "kernels/formats/coco.h"
#include "kernels/formats/coco_parts.h"

#include <stdlib.h>
#include <string.h>

/* Masks of at most so many pixels are made, and not of rings that would take long. */
enum { MAX_PIXELS = 1 << 14, MAX_POINTS = 256 };

static void make_masks(const struct seep_coco *coco, const struct seep_coco_index *index)
{
    static uint8_t mask[MAX_PIXELS];

    for (size_t i = 0; i < coco->n_annotations; i++) {
        const struct seep_coco_annotation *a = &coco->annotations[i];
        const struct seep_coco_image *image = seep_coco_index_find(index, a->image_id);
        if (!image || (uint64_t)image->width * image->height > MAX_PIXELS ||
            (a->n_rings && a->ring_starts[a->n_rings] > MAX_POINTS))
            continue;
        if (seep_coco_mask(a, image->width, image->height, mask))
            abort();
        for (size_t k = 0; k < (size_t)image->width * image->height; k++) {
            if (mask[k] > 1)
                abort();
        }
    }
}

struct text {
    char *bytes;
    size_t n;
};

/* -SEEP_EINVAL where an annotation with run lengths is of no image. */
static int print(const struct seep_coco *coco, bool compressed, struct text *text)
{
    FILE *out = open_memstream(&text->bytes, &text->n);

    if (!out)
        abort();
    int rc = seep_coco_print(out, coco, compressed);
    if (fclose(out) || (rc && rc != -SEEP_EINVAL))
        abort();
    return rc;
}

static void write_and_read(const struct seep_coco *coco, bool compressed)
{
    struct text first = {NULL, 0}, second = {NULL, 0};
    struct seep_coco *again = NULL;

    if (!print(coco, compressed, &first)) {
        if (seep_coco_from_bytes(first.bytes, first.n, &again, NULL) ||
            print(again, compressed, &second) || first.n != second.n ||
            memcmp(first.bytes, second.bytes, first.n))
            abort();
    }
    free(first.bytes);
    free(second.bytes);
    seep_coco_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_error err = {.text = ""};
    struct seep_coco *coco = NULL;
    struct seep_coco_index index;

    if (seep_coco_from_bytes(data, size, &coco, &err)) {
        if (!err.text[0])
            abort();
        return 0;
    }
    if (seep_coco_index_init(&index, coco->images, coco->n_images))
        abort();
    make_masks(coco, &index);
    write_and_read(coco, false);
    write_and_read(coco, true);
    seep_coco_index_fini(&index);
    seep_coco_free(coco);
    return 0;
}

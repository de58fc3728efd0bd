/* Any bytes as a COLMAP model. A valid one is the same after being written and read as text and as
 * binary.
 *
 * The input: a flag byte (bit 0: text), two lengths of 16 bits, little-endian, then cameras, images
 * and, in the rest, points. */
#include "kernels/formats/colmap.h"
#include "kernels/formats/colmap_parts.h"

#include <stdlib.h>
#include <string.h>

struct files {
    char *bytes[SEEP_COLMAP_PARTS];
    size_t n[SEEP_COLMAP_PARTS];
};

static struct files print(const struct seep_colmap *model, bool text)
{
    struct files files;

    for (unsigned i = 0; i < SEEP_COLMAP_PARTS; i++) {
        FILE *out = open_memstream(&files.bytes[i], &files.n[i]);
        if (!out)
            abort();
        if (text)
            seep_colmap_print_text(out, i, model);
        else
            seep_colmap_print_binary(out, i, model);
        if (fclose(out))
            abort();
    }
    return files;
}

static void drop(struct files *files)
{
    for (unsigned i = 0; i < SEEP_COLMAP_PARTS; i++)
        free(files->bytes[i]);
}

static void compare(const struct files *files, bool text, const struct seep_colmap *model,
                    bool as_text)
{
    struct seep_colmap *again = NULL;

    if (seep_colmap_from_bytes(text, files->bytes[0], files->n[0], files->bytes[1], files->n[1],
                               files->bytes[2], files->n[2], &again, NULL))
        abort();
    struct files wanted = print(model, as_text), got = print(again, as_text);
    for (unsigned i = 0; i < SEEP_COLMAP_PARTS; i++) {
        if (wanted.n[i] != got.n[i] || memcmp(wanted.bytes[i], got.bytes[i], got.n[i]))
            abort();
    }
    drop(&wanted);
    drop(&got);
    seep_colmap_free(again);
}

static bool has_nan(const struct files *text)
{
    for (unsigned i = 0; i < SEEP_COLMAP_PARTS; i++) {
        if (memmem(text->bytes[i], text->n[i], "nan", 3))
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_error err = {.text = ""};
    struct seep_colmap *model = NULL;

    if (size < 5)
        return 0;
    size_t cameras = data[1] | (size_t)data[2] << 8, images = data[3] | (size_t)data[4] << 8;
    const uint8_t *at = data + 5;
    size_t left = size - 5;
    cameras = cameras < left ? cameras : left;
    images = images < left - cameras ? images : left - cameras;
    if (seep_colmap_from_bytes(data[0] & 1, at, cameras, at + cameras, images,
                               at + cameras + images, left - cameras - images, &model, &err)) {
        if (!err.text[0])
            abort();
        return 0;
    }
    struct files text = print(model, true), binary = print(model, false);
    compare(&binary, false, model, false);
    compare(&text, true, model, true);
    /* In text a NaN loses which one it was. */
    if (!has_nan(&text))
        compare(&text, true, model, false);
    drop(&text);
    drop(&binary);
    seep_colmap_free(model);
    return 0;
}

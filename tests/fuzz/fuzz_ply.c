/* Any bytes as a PLY file. A valid one is the same after being written and read in each
 * encoding. */
#include "kernels/formats/ply.h"
#include "kernels/formats/ply_parts.h"

#include <stdlib.h>
#include <string.h>

struct text {
    char *bytes;
    size_t n;
};

static struct text print(const struct seep_ply *ply, enum seep_ply_encoding encoding)
{
    struct seep_ply view = *ply;
    struct text text = {NULL, 0};
    FILE *out = open_memstream(&text.bytes, &text.n);

    view.encoding = encoding;
    if (!out || seep_ply_print(out, &view) || fclose(out))
        abort();
    return text;
}

/* Whether the file, read again, reads like `ply` in that encoding. */
static void compare(const struct text *file, const struct seep_ply *ply,
                    enum seep_ply_encoding encoding)
{
    struct seep_ply *again = NULL;

    if (seep_ply_from_bytes(file->bytes, file->n, &again, NULL))
        abort();
    struct text wanted = print(ply, encoding), got = print(again, encoding);
    if (wanted.n != got.n || memcmp(wanted.bytes, got.bytes, got.n))
        abort();
    free(wanted.bytes);
    free(got.bytes);
    seep_ply_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_error err = {.text = ""};
    struct seep_ply *ply = NULL;

    if (seep_ply_from_bytes(data, size, &ply, &err)) {
        if (!err.text[0])
            abort();
        return 0;
    }
    for (int i = SEEP_PLY_ASCII; i <= SEEP_PLY_BIG; i++) {
        struct text file = print(ply, (enum seep_ply_encoding)i);
        /* In ascii a NaN loses which one it was. */
        bool exact = i != SEEP_PLY_ASCII || !memmem(file.bytes, file.n, "nan", 3);
        compare(&file, ply, SEEP_PLY_ASCII);
        if (exact)
            compare(&file, ply, SEEP_PLY_LITTLE);
        free(file.bytes);
    }
    seep_ply_free(ply);
    return 0;
}

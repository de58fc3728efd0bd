/* Any bytes as a transforms file. A valid one is the same after being written and read. */
#include "kernels/formats/nerf.h"
#include "kernels/formats/nerf_parts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char *print(const struct seep_nerf *scene, size_t *n)
{
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, n);

    if (!out || seep_nerf_print(out, scene) || fclose(out))
        abort();
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_error err = {.text = ""};
    struct seep_nerf *scene = NULL, *again = NULL;
    size_t n, n_again;

    if (seep_nerf_from_bytes(data, size, &scene, &err)) {
        if (!err.text[0])
            abort();
        return 0;
    }
    char *first = print(scene, &n);
    if (seep_nerf_from_bytes(first, n, &again, NULL) || again->n_frames != scene->n_frames)
        abort();
    char *second = print(again, &n_again);
    if (n != n_again || memcmp(first, second, n))
        abort();
    free(first);
    free(second);
    seep_nerf_free(scene);
    seep_nerf_free(again);
    return 0;
}

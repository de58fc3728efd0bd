/* Any bytes as an archive with an array "x" or, if the first byte is odd, as a single array. */
#include "kernels/formats/npz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_error err = {.text = ""};
    struct seep_npy a;

    if (!size)
        return 0;
    int rc = data[0] & 1 ? seep_npy_from_bytes(data + 1, size - 1, &a, &err)
                         : seep_npz_from_bytes(data + 1, size - 1, "x", &a, &err);
    if (!rc != !err.text[0])
        abort();
    if (rc)
        return 0;
    size_t n = 1;
    for (unsigned i = 0; i < a.n_dims; i++)
        n *= a.shape[i];
    if (n != a.n_items || a.n_dims > 4)
        abort();
    volatile uint8_t last = n ? ((const uint8_t *)a.values)[n * a.item_bytes - 1] : 0;
    (void)last;
    free(a.values);
    return 0;
}

/* Any bytes as PyTorch's memory snapshot: refused with a reason, or a profile that is read and
 * judged like any other. */
#include "libprof/analysis.h"
#include "libprof/read/profile_read.h"
#include "libprof/torch/torch_profile.h"

#include <stdlib.h>
#include <string.h>

struct bytes {
    const uint8_t *at;
    size_t left;
};

/* In small parts, so that what is read lies across their borders, too. */
static int64_t read_bytes(void *context, void *buffer, size_t n)
{
    struct bytes *b = context;
    const size_t part = n < 61 ? n : 61, got = part < b->left ? part : b->left;

    memcpy(buffer, b->at, got);
    b->at += got;
    b->left -= got;
    return (int64_t)got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    struct seep_made_profile torch;
    struct seep_profile *profile;
    struct seep_error err = {0};
    json_t *report = NULL;

    if (seep_torch_profile_make(&(struct seep_pickle_source){&bytes, read_bytes}, "it", 1, &torch,
                                &err)) {
        if (!err.text[0])
            abort();
        return 0;
    }
    if (seep_profile_from_bytes("it", torch.bytes, torch.n_bytes, &profile, &err))
        abort();
    free(torch.bytes);
    if (seep_analyse_profiles(&profile, 1, torch.job, NULL, &report, &err))
        abort();
    json_decref(report);
    return 0;
}

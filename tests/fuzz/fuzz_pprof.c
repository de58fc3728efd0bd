/* Any bytes as a heap profile in pprof's format: refused with a reason, or a profile that is read and
 * judged like any other. */
#include "libprof/analysis.h"
#include "libprof/pprof/pprof_profile.h"
#include "libprof/read/profile_read.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_made_profile made;
    struct seep_profile *profile;
    struct seep_error err = {0};
    json_t *report = NULL;

    if (seep_pprof_profile_make(data, size, "it", 1, &made, &err)) {
        if (!err.text[0])
            abort();
        return 0;
    }
    if (seep_profile_from_bytes("it", made.bytes, made.n_bytes, &profile, &err))
        abort();
    free(made.bytes);
    if (seep_analyse_profiles(&profile, 1, made.job, NULL, &report, &err))
        abort();
    json_decref(report);
    return 0;
}

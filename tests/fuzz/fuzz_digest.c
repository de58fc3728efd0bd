/* Any bytes as a digest: refused with a reason, or a digest that is written, read back and merged
 * with itself as it should be, and has a report. */
#include "libprof/digest/digest_fit.h"
#include "libprof/digest/digest_merge.h"
#include "libprof/digest/digest_read.h"
#include "libprof/digest/digest_report.h"
#include "libprof/digest/digest_write.h"

#include <stdlib.h>
#include <string.h>

static char *written(const struct seep_digest *d)
{
    json_t *json = seep_digest_json(d);
    char *bytes = json ? json_dumps(json, JSON_COMPACT) : NULL;

    if (!bytes || strlen(bytes) > SEEP_DIGEST_MAX_BYTES)
        abort();
    json_decref(json);
    return bytes;
}

static void check_same(const struct seep_digest *d)
{
    struct seep_digest again;
    struct seep_error err = {0};
    char *bytes = written(d);

    if (seep_digest_from_bytes(&again, bytes, strlen(bytes), "again", &err))
        abort();
    char *other = written(&again);
    if (strcmp(bytes, other) != 0)
        abort();
    seep_digest_fini(&again);
    free(bytes);
    free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_digest d, other;
    struct seep_error err = {0};
    json_t *report = NULL;

    if (seep_digest_from_bytes(&d, (const char *)data, size, "digest", &err)) {
        if (!err.text[0])
            abort();
        return 0;
    }
    check_same(&d);
    if (seep_digest_from_bytes(&other, (const char *)data, size, "digest", &err) ||
        seep_digest_merge(&d, &other))
        abort();
    check_same(&d);
    if (!seep_digest_report(&d, true, &report))
        json_decref(report);
    seep_digest_fini(&other);
    seep_digest_fini(&d);
    return 0;
}

#include "libprof/report_read/device_view.h"

#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is said of a device, in this order, if the report knows it. */
static const struct {
    const char *key, *before, *after;
    bool also_zero;
} parts[] = {
    {"tensors_peak_bytes", ": tensors at most ", "", true},
    {"reserved_bytes", "; PyTorch reserves ", "", true},
    {"used_bytes", "; this job uses ", "", true},
    {"used_peak_bytes", " (at most ", ")", true},
    {"capacity_bytes", " of ", "", true}, /* beside what is used */
    {"others_bytes", "; other processes use ", "", false},
    {"drift_bytes", "; PyTorch's own total differs by up to ", "", false},
};

char *seep_device_text(const json_t *device)
{
    char *text = NULL, size[SEEP_SIZE_TEXT];
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (!out)
        return NULL;
    const bool used = json_is_number(json_object_get(device, "used_bytes"));
    fprintf(out, "GPU %.0f", seep_get_number(device, "device"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const double bytes = seep_get_number(device, parts[i].key);
        if (json_is_number(json_object_get(device, parts[i].key)) &&
            (bytes > 0 || parts[i].also_zero) &&
            (used || strcmp(parts[i].key, "capacity_bytes") != 0))
            fprintf(out, "%s%s%s", parts[i].before, seep_text_size(bytes, size), parts[i].after);
    }
    /* As the program announced it. */
    if (!used && seep_get_number(device, "capacity_bytes") > 0)
        fprintf(out, "; it can hold %s",
                seep_text_size(seep_get_number(device, "capacity_bytes"), size));
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

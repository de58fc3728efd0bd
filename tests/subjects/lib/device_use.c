/* Prints as JSON what, according to a profile, its process uses of each device, and the settings of
 * PyTorch's allocator.
 *   usage: device_use FILE */
#include <stdio.h>

#include "libprof/format/profile_format.h"

int main(int argc, char **argv)
{
    static struct seep_header header;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file || fread(&header, sizeof header, 1, file) != 1)
        return 1;
    for (int i = 0; i < SEEP_MAX_DEVICES; i++) {
        const struct seep_device_use *use = &header.devices.use[i];
        printf("%s{\"capacity\": %llu, \"used\": %llu, \"used_peak\": %llu, \"all_used\": %llu, "
               "\"looks\": %u}",
               i ? ", " : "{\"use\": [", (unsigned long long)use->capacity_bytes,
               (unsigned long long)use->used_bytes, (unsigned long long)use->used_peak_bytes,
               (unsigned long long)use->all_used_bytes, use->looks);
    }
    printf("], \"settings\": %u}\n", header.devices.allocator_settings);
    return fclose(file);
}

/* Devices as a whole: their memory, and what it is used for. */
#include "libprof/report/report_pieces.h"

#include "libprof/measure/device_memory.h"

/* By bit of enum seep_allocator_settings, as PyTorch calls them. */
static const char *const settings[] = {"expandable_segments", "garbage_collection_threshold",
                                       "max_split_size_mb", "cudaMallocAsync", "no_memory_caching"};

static json_t *settings_json(unsigned bits)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (bits >> i & 1)
            seep_json_append(list, json_string(settings[i]), &failed);
    }
    return seep_json_whole(list, failed);
}

/* The highest number of bytes of its tensors live at one time; 0 if none were seen. */
static uint64_t tensors_peak(const struct seep_model *m, int device)
{
    for (uint16_t i = 0; i < m->n_spaces; i++) {
        if (m->spaces[i].name.class == SEEP_CLASS_TENSOR && m->spaces[i].name.device == device)
            return m->spaces[i].totals.peak_bytes;
    }
    return 0;
}

static json_t *count_if(bool known, uint64_t n)
{
    return known ? seep_json_count(n) : json_null();
}

static json_t *device_json(const struct seep_model *m, int device,
                           const struct seep_device_memory *d, bool *failed)
{
    const bool looked = d->looked;
    json_t *json = json_object();

    seep_json_set(json, "device", json_integer(device), failed);
    seep_json_set(json, "capacity_bytes", count_if(d->capacity_bytes, d->capacity_bytes), failed);
    seep_json_set(json, "used_bytes", count_if(looked, d->used_bytes), failed);
    seep_json_set(json, "used_peak_bytes", count_if(looked, d->used_peak_bytes), failed);
    seep_json_set(json, "others_bytes", count_if(looked, d->others_bytes), failed);
    seep_json_set(json, "tensors_peak_bytes", count_if(d->reports, tensors_peak(m, device)),
                  failed);
    seep_json_set(json, "reserved_bytes", count_if(d->reports, d->reserved_bytes), failed);
    seep_json_set(json, "drift_bytes", count_if(d->reports, d->drift_bytes), failed);
    seep_json_set(json, "allocator_settings", settings_json(d->settings), failed);
    return json;
}

json_t *seep_json_devices(const struct seep_model *m)
{
    json_t *list = json_array();
    bool failed = false;

    for (int i = 0; i < SEEP_MAX_DEVICES; i++) {
        const struct seep_device_memory d = seep_device_memory_of(m, i);
        if (seep_device_memory_is_known(&d))
            seep_json_append(list, device_json(m, i, &d, &failed), &failed);
    }
    return seep_json_whole(list, failed);
}

#include "libprof/export/sites.h"

#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const seep_measure_names[SEEP_N_MEASURES] = {
#define SEEP_MEASURE(id, name) name,
#include "libprof/export/measures.def"
#undef SEEP_MEASURE
};

int64_t seep_count_of(const json_t *object, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(object, key));

    return n > 0 ? n : 0;
}

/* Bytes freed within the step that allocated them, by the site's average block. */
static int64_t temporary_of(const json_t *site)
{
    const json_t *ages = json_object_get(site, "lifetimes"), *first = json_array_get(ages, 0);
    const json_t *oldest = json_object_get(json_object_get(site, "lifetime_steps"), "max");
    const double blocks = (double)seep_count_of(site, "allocations");
    double freed = 0;

    if (first && seep_count_of(first, "steps_at_least") == 0)
        freed = (double)seep_count_of(first, "frees");
    else if (!first && json_is_integer(oldest) && json_integer_value(oldest) == 0)
        freed = (double)seep_count_of(site, "frees");
    const double bytes = (double)seep_count_of(site, "allocated_bytes") * fmin(1, freed / blocks);
    return blocks > 0 && bytes < 0x1p62 ? llround(bytes) : 0;
}

int64_t seep_site_value(const json_t *site, enum seep_measure measure)
{
    struct seep_slope growth;

    switch (measure) {
    case SEEP_MEASURE_LIVE:
        return seep_count_of(site, "live_bytes");
    case SEEP_MEASURE_PEAK:
        return seep_count_of(site, "peak_bytes");
    case SEEP_MEASURE_ALLOCATED:
        return seep_count_of(site, "allocated_bytes");
    case SEEP_MEASURE_GROWTH:
        if (!seep_get_slope(site, "growth_bytes_per_step", &growth))
            return 0;
        return growth.value > 0 && growth.value < 0x1p62 ? llround(growth.value) : 0;
    case SEEP_MEASURE_TEMPORARY:
        return temporary_of(site);
    default:
        return seep_count_of(site, "retained_bytes");
    }
}

bool seep_site_is_of_tensors(const json_t *site)
{
    return seep_space_parse(seep_get_text(site, "space", "")).class == SEEP_CLASS_TENSOR;
}

static int frames_of(const json_t *site, struct seep_frames *frames)
{
    int rc = site ? 0 : -SEEP_ENOMEM;
    json_t *frame;
    size_t i;

    json_array_foreach (json_object_get(site, "stack"), i, frame)
        rc = rc ? rc : seep_frames_add(frames, frame);
    return rc;
}

int seep_frames_of_sites(struct seep_json_stream *sites, struct seep_frames *frames,
                         bool *has_tensors)
{
    int rc = 0;

    *frames = (struct seep_frames){0};
    *has_tensors = false;
    for (size_t i = 0; i < sites->n && !rc; i++) {
        json_t *site = sites->make(sites, i);
        rc = frames_of(site, frames);
        *has_tensors |= seep_site_is_of_tensors(site);
        json_decref(site);
    }
    return rc;
}

bool seep_frame_is_inlined(const json_t *frame)
{
    return json_is_true(json_object_get(frame, "inlined"));
}

char *seep_frame_title(const json_t *frame, const char *cwd)
{
    const char *file = seep_get_text(frame, "file", NULL);
    const char *module = seep_get_text(frame, "module", NULL);
    const long long line = seep_count_of(frame, "line");
    char *function = seep_get_frame_function(frame), *title = function;

    if (function && file && line)
        title = seep_text_format("%s (%s:%lld)", function, seep_get_below(cwd, file), line);
    else if (function && file)
        title = seep_text_format("%s (%s)", function, seep_get_below(cwd, file));
    else if (function && module && seep_get_text(frame, "function", NULL))
        title = seep_text_format("%s (%s)", function, seep_text_base(module));
    if (title != function)
        free(function);
    return title;
}

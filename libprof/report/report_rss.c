/* This file writes what resident memory was made of. */
#include "libprof/report/report_pieces.h"

static json_t *growth_json(const struct seep_rss_growth *growth)
{
    return growth->known ? seep_json_slope(&growth->slope) : json_null();
}

static json_t *explained_json(const struct seep_rss_sample *s)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "heap_live",
                     seep_json_count(s->heap_live_bytes), "heap_free",
                     seep_json_count(s->heap_free_bytes), "maps", seep_json_count(s->maps_bytes),
                     "shm", seep_json_count(s->shm_bytes), "stacks",
                     seep_json_count(s->stacks_bytes), "files", seep_json_count(s->files_bytes));
}

static json_t *count_or_null(bool known, uint64_t n)
{
    return known ? seep_json_count(n) : json_null();
}

json_t *seep_json_rss(const struct seep_rss *rss)
{
    const struct seep_rss_sample *s = &rss->peak.sum;
    const bool known = rss->peak.parts_known;
    const int32_t step = rss->peak.step;
    json_t *json;
    bool failed = false;

    if (!rss->peak.known)
        return json_null();
    json = json_object();
    seep_json_set(json, "peak_bytes", count_or_null(known, s->rss_bytes), &failed);
    seep_json_set(json, "highest_bytes", seep_json_count(rss->peak.highest_bytes), &failed);
    seep_json_set(json, "step", count_or_null(known, step > 0 ? (uint64_t)step : 0), &failed);
    seep_json_set(json, "explained", known ? explained_json(s) : json_null(), &failed);
    seep_json_set(json, "seep_bytes", count_or_null(known, s->seep_bytes), &failed);
    seep_json_set(json, "unexplained_bytes", count_or_null(known, s->unexplained_bytes), &failed);
    seep_json_set(json, "growth_bytes_per_step",
                  rss->all.known ? seep_json_slope(&rss->all.slope) : json_null(), &failed);
    seep_json_set(json, "unexplained_growth_bytes_per_step", growth_json(&rss->unexplained),
                  &failed);
    seep_json_set(json, "unexplained_grows", json_boolean(rss->unexplained.growing), &failed);
    seep_json_set(json, "heap_free_growth_bytes_per_step", growth_json(&rss->heap_free), &failed);
    seep_json_set(json, "heap_free_grows", json_boolean(rss->heap_free.growing), &failed);
    seep_json_set(json, "maps_growth_bytes_per_step", growth_json(&rss->maps), &failed);
    seep_json_set(json, "maps_grow", json_boolean(rss->maps.growing), &failed);
    return seep_json_whole(json, failed);
}

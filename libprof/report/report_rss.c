/* This file writes what resident memory was made of. */
#include <stddef.h>
#include <string.h>

#include "libprof/report/report_pieces.h"

/* This file writes the files that a job left in memory, on a tmpfs. */

static json_t *folder_json(const struct seep_memory_folder *folder)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "path", seep_json_text(folder->path), "files",
                     seep_json_count(folder->n_files), "bytes", seep_json_count(folder->bytes),
                     "largest", seep_json_text(folder->largest));
}

json_t *seep_json_memory_files(const struct seep_job *job)
{
    const struct seep_memory_files *left = job ? &job->files : NULL;
    json_t *json, *folders;
    bool failed = false;

    if (!left || !left->n)
        return json_null();
    json = json_object();
    folders = json_array();
    for (uint32_t i = 0; i < left->n; i++)
        seep_json_append(folders, folder_json(&left->folders[i]), &failed);
    seep_json_set(json, "files", seep_json_count(left->n_files), &failed);
    seep_json_set(json, "bytes", seep_json_count(left->bytes), &failed);
    seep_json_set(json, "complete", json_boolean(!left->is_cut), &failed);
    seep_json_set(json, "folders", folders, &failed);
    return seep_json_whole(json, failed);
}

enum { MOST_SAMPLES = 128 };

/* Its parts, which add up to rss_bytes. */
static const struct {
    const char *name;
    size_t offset;
} parts[] = {
    {"heap_live", offsetof(struct seep_rss_sample, heap_live_bytes)},
    {"heap_free", offsetof(struct seep_rss_sample, heap_free_bytes)},
    {"maps", offsetof(struct seep_rss_sample, maps_bytes)},
    {"shm", offsetof(struct seep_rss_sample, shm_bytes)},
    {"stacks", offsetof(struct seep_rss_sample, stacks_bytes)},
    {"files", offsetof(struct seep_rss_sample, files_bytes)},
    {"seep", offsetof(struct seep_rss_sample, seep_bytes)},
    {"unexplained", offsetof(struct seep_rss_sample, unexplained_bytes)},
};

enum { N_PARTS = sizeof parts / sizeof *parts, N_EXPLAINED = 6 /* the first ones */ };

static json_t *part_json(const struct seep_rss_sample *s, int part)
{
    uint64_t bytes;

    memcpy(&bytes, (const char *)s + parts[part].offset, sizeof bytes);
    return seep_json_count(bytes);
}

static json_t *growth_json(const struct seep_rss_growth *growth)
{
    return growth->known ? seep_json_slope(&growth->slope) : json_null();
}

static json_t *explained_json(const struct seep_rss_sample *s)
{
    json_t *json = json_object();
    bool failed = false;

    for (int i = 0; i < N_EXPLAINED; i++)
        seep_json_set(json, parts[i].name, part_json(s, i), &failed);
    return seep_json_whole(json, failed);
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

/* Every n-th sample, and the last. */
static json_t *course_of(const struct seep_process_samples *samples, int part)
{
    const uint32_t gap = samples->n / MOST_SAMPLES + 1;
    json_t *list = json_array();
    bool failed = false;

    for (uint32_t i = 0; i < samples->n && !failed; i++) {
        if (i % gap == 0 || i + 1 == samples->n)
            seep_json_append(list, part_json(&samples->list[i], part), &failed);
    }
    return seep_json_whole(list, failed);
}

static json_t *times_of(const struct seep_model *m, const struct seep_model_process *p)
{
    const struct seep_process_samples *samples = &p->samples;
    const uint32_t gap = samples->n / MOST_SAMPLES + 1;
    json_t *list = json_array();
    bool failed = false;

    for (uint32_t i = 0; i < samples->n && !failed; i++) {
        const uint64_t t_ns = seep_model_ns(p, samples->list[i].t_ns);
        const uint64_t since = t_ns > m->start_ns ? t_ns - m->start_ns : 0;
        if (i % gap == 0 || i + 1 == samples->n)
            seep_json_append(list, seep_json_real((double)since / 1e9), &failed);
    }
    return seep_json_whole(list, failed);
}

json_t *seep_json_rss_course(const struct seep_model *m, const struct seep_model_process *p)
{
    json_t *json = json_object();
    bool failed = false;

    seep_json_set(json, "t_s", times_of(m, p), &failed);
    for (int i = 0; i < N_PARTS; i++)
        seep_json_set(json, parts[i].name, course_of(&p->samples, i), &failed);
    return seep_json_whole(json, failed);
}

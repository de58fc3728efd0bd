/* This file writes what resident memory was made of. */
#include <stddef.h>
#include <string.h>

#include "libprof/report/report_pieces.h"

/* This file writes the files that a job left in memory, on a tmpfs. */

static json_t *folder_json(const struct seep_memory_folder *folder)
{
    return SEEP_REPORT_JSON(memory_folder, .path = folder->path, .files = folder->n_files,
                            .bytes = folder->bytes, .largest = folder->largest);
}

json_t *seep_json_memory_files(const struct seep_job *job)
{
    const struct seep_memory_files *left = job ? &job->files : NULL;
    bool failed = false;

    if (!left || !left->n)
        return json_null();
    json_t *folders = json_array();
    for (uint32_t i = 0; i < left->n; i++)
        seep_json_append(folders, folder_json(&left->folders[i]), &failed);
    json_t *json = SEEP_REPORT_JSON(memory_files, .files = left->n_files, .bytes = left->bytes,
                                    .complete = !left->is_cut, .folders = folders);
    return seep_json_whole(json, failed);
}

enum { MAX_SAMPLES = 128 };

static struct seep_slope slope_if(bool known, const struct seep_slope *slope)
{
    return known ? *slope : SEEP_NO_SLOPE;
}

static json_t *explained_json(const struct seep_rss_sample *s)
{
    return SEEP_REPORT_JSON(explained, .heap_live = s->heap_live_bytes,
                            .heap_free = s->heap_free_bytes, .maps = s->maps_bytes,
                            .shm = s->shm_bytes, .stacks = s->stacks_bytes,
                            .files = s->files_bytes);
}

json_t *seep_json_rss(const struct seep_rss *rss)
{
    const struct seep_rss_sample *s = &rss->peak.sum;
    const bool known = rss->peak.parts_known;
    const int32_t step = rss->peak.step;

    if (!rss->peak.known)
        return json_null();
    return SEEP_REPORT_JSON(
        rss, .peak_bytes = seep_count_if(known, s->rss_bytes),
        .highest_bytes = rss->peak.highest_bytes,
        .step = seep_count_if(known, step > 0 ? (uint64_t)step : 0),
        .explained = known ? explained_json(s) : json_null(),
        .seep_bytes = seep_count_if(known, s->seep_bytes),
        .unexplained_bytes = seep_count_if(known, s->unexplained_bytes),
        .growth_bytes_per_step = slope_if(rss->all.known, &rss->all.slope),
        .unexplained_growth_bytes_per_step =
            slope_if(rss->unexplained.known, &rss->unexplained.slope),
        .unexplained_grows = rss->unexplained.growing,
        .heap_free_growth_bytes_per_step = slope_if(rss->heap_free.known, &rss->heap_free.slope),
        .heap_free_grows = rss->heap_free.growing,
        .maps_growth_bytes_per_step = slope_if(rss->maps.known, &rss->maps.slope),
        .maps_grow = rss->maps.growing);
}

/* A part, by its place in a sample: of every n-th, and the last. */
static json_t *course_of(const struct seep_process_samples *samples, size_t at)
{
    const uint32_t gap = samples->n / MAX_SAMPLES + 1;
    json_t *list = json_array();
    bool failed = false;

    for (uint32_t i = 0; i < samples->n && !failed; i++) {
        uint64_t bytes;
        memcpy(&bytes, (const char *)&samples->list[i] + at, sizeof bytes);
        if (i % gap == 0 || i + 1 == samples->n)
            seep_json_append(list, seep_json_count(bytes), &failed);
    }
    return seep_json_whole(list, failed);
}

static json_t *times_of(const struct seep_model *m, const struct seep_model_process *p)
{
    const struct seep_process_samples *samples = &p->samples;
    const uint32_t gap = samples->n / MAX_SAMPLES + 1;
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
#define COURSE(part) course_of(&p->samples, offsetof(struct seep_rss_sample, part))
    return SEEP_REPORT_JSON(resident, .t_s = times_of(m, p), .heap_live = COURSE(heap_live_bytes),
                            .heap_free = COURSE(heap_free_bytes), .maps = COURSE(maps_bytes),
                            .shm = COURSE(shm_bytes), .stacks = COURSE(stacks_bytes),
                            .files = COURSE(files_bytes), .seep = COURSE(seep_bytes),
                            .unexplained = COURSE(unexplained_bytes));
#undef COURSE
}

/* This file writes the files that a job left in memory, on a tmpfs. */
#include "libprof/report/report_pieces.h"

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

/* Made-up snapshots of who holds what, as files holders-PID-STEP.json say it. */
#ifndef SEEP_TESTS_HOLDERS_MADE_UP_SNAPSHOTS_H
#define SEEP_TESTS_HOLDERS_MADE_UP_SNAPSHOTS_H

#include <jansson.h>
#include <string.h>

static inline json_t *snapshot(int pid, int process, int step)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:b, s:n, s:[]}",
                     "format", "seep-holders", "version", 1, "pid", pid, "process", process, "step",
                     step, "source", "optimizer", "python", "3.11", "stop_ns", 15000000, "read_ns",
                     30000000, "cpu_ns", 40000000, "nodes", 680000, "live_bytes", 1 << 20,
                     "complete", 1, "why_not", "lines");
}

/* A line of /home/user/train.py, of which all is explained. */
static inline json_t *add_line(json_t *to, int line, int bytes, const char *state)
{
    json_t *one =
        json_pack("{s:{s:s, s:s, s:s, s:i}, s:i, s:i, s:s, s:i, s:i, s:i, s:[]}", "frame", "kind",
                  "python", "function", "load", "file", "/home/user/train.py", "line", line,
                  "blocks", 480, "bytes", bytes, "state", state, "explained_bytes", bytes,
                  "lost_bytes", strcmp(state, "lost") == 0 ? bytes : 0, "cycle_bytes",
                  strcmp(state, "cycle") == 0 ? bytes : 0, "paths");

    json_array_append_new(json_object_get(to, "lines"), one);
    return one;
}

/* local 'loader' of main() → DataLoader.by_name[480 keys], which holds all of the line. */
static inline json_t *add_path(json_t *line, const char *root, const char *holder, int length)
{
    json_t *bytes = json_object_get(line, "bytes");
    json_t *path = json_pack(
        "{s:s, s:{s:s, s:s, s:s, s:s, s:i}, s:[{s:s, s:s, s:s}, {s:s, s:n, s:s}], s:i, s:O, s:O,"
        " s:{s:i, s:s, s:s, s:i, s:n, s:n}}",
        "text", "local 'loader' of main() → DataLoader.by_name[480 keys]", "root", "kind", "local",
        "name", root, "function", "main", "file", "/home/user/train.py", "line", 7, "hops", "kind",
        "attribute", "name", "by_name", "type", "dict", "kind", "key", "name", "type", "Tensor",
        "blocks", 480, "bytes", bytes, "sole_bytes", bytes, "holder", "hop", 1, "type", "dict",
        "name", holder, "length", length, "bound", "bound_by");

    json_array_append_new(json_object_get(line, "paths"), path);
    return path;
}

#endif

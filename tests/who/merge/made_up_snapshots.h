/* Made-up snapshots of holders, in the form of files holders-PID-STEP.json. */
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

/* local 'loader' of main() → DataLoader.by_name[480 keys]; takes over the reference to `bytes`. */
static inline json_t *path_from_root(int blocks, json_t *bytes, const char *root,
                                     const char *holder, int length)
{
    json_t *path = json_pack(
        "{s:s, s:{s:s, s:s, s:s, s:s, s:i}, s:[{s:s, s:s, s:s}, {s:s, s:n, s:s}], s:i, s:O, s:O,"
        " s:{s:i, s:s, s:s, s:i, s:n, s:n}}",
        "text", "local 'loader' of main() → DataLoader.by_name[480 keys]", "root", "kind", "local",
        "name", root, "function", "main", "file", "/home/user/train.py", "line", 7, "hops", "kind",
        "attribute", "name", "by_name", "type", "dict", "kind", "key", "name", "type", "Tensor",
        "blocks", blocks, "bytes", bytes, "sole_bytes", bytes, "holder", "hop", 1, "type", "dict",
        "name", holder, "length", length, "bound", "bound_by");

    json_decref(bytes);
    return path;
}

/* Small objects of that many bytes in all. */
static inline json_t *add_small_objects(json_t *to, int bytes)
{
    json_t *small = json_pack("{s:i, s:i, s:[]}", "blocks", bytes / 32, "bytes", bytes, "holders");

    json_object_set_new(to, "small_objects", small);
    return small;
}

/* Who retains some of them, in a container that a line of /home/user/train.py enlarges. */
static inline json_t *add_small_holder(json_t *small, const char *holder, int bytes, int length,
                                       int line)
{
    json_t *path = path_from_root(bytes / 32, json_integer(bytes), "loader", holder, length);

    json_object_set_new(path, "table",
                        json_pack("{s:s, s:s, s:i}", "kind", "python", "file",
                                  "/home/user/train.py", "line", line));
    json_array_append_new(json_object_get(small, "holders"), path);
    return path;
}

/* That path, which holds all of the line. */
static inline json_t *add_path(json_t *line, const char *root, const char *holder, int length)
{
    json_t *path =
        path_from_root(480, json_incref(json_object_get(line, "bytes")), root, holder, length);

    json_array_append_new(json_object_get(line, "paths"), path);
    return path;
}

#endif

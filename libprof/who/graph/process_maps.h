/* The mappings of a process, from /proc/PID/maps. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_MAPS_H
#define SEEP_LIBPROF_WHO_GRAPH_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum seep_map_kind {
    SEEP_MAP_OTHER,
    SEEP_MAP_FILE,  /* of a file */
    SEEP_MAP_BSS,   /* directly after a writable mapping of a file: its zero-initialised data */
    SEEP_MAP_STACK, /* the main thread's */
    SEEP_MAP_BREAK, /* memory from brk(): malloc's first heap */
};

struct seep_map {
    uint64_t start, end;
    bool readable, writable, executable, shared;
    bool alone;   /* a thread's stack that is known, and shares the kernel's map with others */
    bool guarded; /* inaccessible memory lies below it, as below a thread's stack */
    enum seep_map_kind kind;
    uint32_t file;   /* index of a name + 1; 0: none */
    uint64_t offset; /* in the file, bytes */
    uint64_t inode;  /* of the file, 0: none */
};

struct seep_maps {
    struct seep_map *list; /* by address */
    size_t n;
    char **files; /* each once */
    size_t n_files;
};

/* Parses the text of /proc/PID/maps; skips malformed lines. Returns 0 or -SEEP_ENOMEM. Allocates:
 * *maps; seep_maps_fini() in either case. */
int seep_maps_parse(struct seep_maps *maps, const char *text, size_t n);
/* The same for a process. Returns 0; -SEEP_EIO, errno says why; -SEEP_ENOMEM. */
int seep_maps_read(struct seep_maps *maps, pid_t pid);
void seep_maps_fini(struct seep_maps *maps);

/* The mapping that contains `address`, or NULL. */
const struct seep_map *seep_maps_at(const struct seep_maps *maps, uint64_t address);

/* The first mapping of the same file, which comes before it. */
const struct seep_map *seep_maps_first(const struct seep_maps *maps, const struct seep_map *map);

/* A forked process that grows a heap of its parent's has it in several maps, which the kernel would
 * else have joined. Returns the index behind those that are one with map `i`, joined in *map. */
size_t seep_maps_join(const struct seep_maps *maps, size_t i, struct seep_map *map);

/* The path of a mapping's file, "" if it has none. */
static inline const char *seep_maps_file(const struct seep_maps *maps, const struct seep_map *map)
{
    return map->file ? maps->files[map->file - 1] : "";
}

#endif

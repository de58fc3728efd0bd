#include "libprof/who/process/remote.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libprof/arch/arch.h"
#include "libprof/base/error.h"
#include "libprof/base/page_bytes.h"
#include "libprof/who/graph/process_maps.h"

/* Where the threads of a process have their stacks and their variables. From glibc 2.42 on a stack
 * has no inaccessible map below it, so stacks of several threads, and other memory, may share one
 * map. Threads of glibc are found by their lists of robust locks, which the kernel knows and which
 * lie in their descriptors. */

/* The threads are those of a process; the memory may be that of a copy of it. */
struct seep_thread_source {
    pid_t pid;
    bool (*read)(void *context, uint64_t address, void *to, size_t bytes); /* all of it, or false */
    void *context;
};

enum {
    DESCRIPTOR = 4096,
    ALIGNMENT = 64,
    MAX_THREADS = 4096,
    ABOVE = 256 << 10, /* bytes of a stack that a descriptor and its thread's variables take */
};

/* Where a thread has its list of robust locks; 0: it is not known. */
static uint64_t robust_list(pid_t thread)
{
    uint64_t list = 0, bytes = 0;

    return syscall(SYS_get_robust_list, thread, &list, &bytes) ? 0 : list;
}

/* An address in glibc's struct pthread of a thread: of itself where that has its own address in its
 * first and its third word, else of the list in it. */
static uint64_t descriptor_of(const struct seep_thread_source *source, pid_t thread)
{
    const uint64_t list = robust_list(thread);
    uint64_t words[3];

    if (!list || !SEEP_ARCH_TP_IS_DESCRIPTOR)
        return list;
    for (uint64_t at = list & ~(uint64_t)(ALIGNMENT - 1), n = 0; n < DESCRIPTOR / ALIGNMENT;
         at -= ALIGNMENT, n++)
        if (source->read(source->context, at, words, sizeof words) && words[0] == at &&
            words[2] == at)
            return at;
    return 0;
}

/* Whether this may be a thread pointer: a table of modules' variables, which says how long it is
 * and how often it was changed, and nothing. */
static bool has_table(const struct seep_thread_source *source, uint64_t at)
{
    enum { MOST = 1 << 16 };
    uint64_t words[2], table[4];

    return source->read(source->context, at, words, sizeof words) && words[0] % 16 == 0 &&
           words[0] && !words[1] &&
           source->read(source->context, words[0] - 16, table, sizeof table) && table[0] &&
           table[0] < MOST && table[2] < MOST;
}

/* The thread pointer of the first thread; 0: it is not known. Where it is not the descriptor's
 * address it is its end, and how long that is depends on glibc's version. */
static uint64_t thread_pointer_find(const struct seep_thread_source *source)
{
    const uint64_t descriptor = descriptor_of(source, source->pid);

    if (!descriptor || SEEP_ARCH_TP_IS_DESCRIPTOR)
        return descriptor;
    for (uint64_t at = (descriptor & ~UINT64_C(15)) + 256; at < descriptor + DESCRIPTOR; at += 16)
        if (has_table(source, at))
            return at;
    return 0;
}

/* It says where the stack is that it lies in: its start, and its size. */
static bool stack_of(const struct seep_thread_source *source, uint64_t descriptor,
                     uint64_t end_of_map, uint64_t *start, uint64_t *end)
{
    uint64_t words[DESCRIPTOR / 8];
    const uint64_t page = seep_page_bytes();
    const size_t room = (size_t)(end_of_map - descriptor);
    const size_t bytes = room < sizeof words ? room & ~(size_t)7 : sizeof words;

    if (!source->read(source->context, descriptor, words, bytes))
        return false;
    for (size_t i = 0; i + 1 < bytes / 8; i++) {
        *start = words[i];
        *end = *start + words[i + 1];
        if (*start % page == 0 && *end % page == 0 && *start &&
            *start<descriptor && * end> descriptor && *end - descriptor <= ABOVE)
            return true;
    }
    return false;
}

/* Of the map that they lie in. Its first page may be made inaccessible without a map of its own. */
static int split(struct seep_maps *maps, size_t i, uint64_t start, uint64_t end)
{
    const struct seep_map whole = maps->list[i];
    struct seep_map parts[3];
    size_t n = 0;

    if (start > whole.start) {
        parts[n] = whole;
        parts[n++].end = start;
    }
    parts[n] = whole;
    parts[n].start = start;
    parts[n].end = end;
    parts[n].guarded = parts[n].alone = true;
    n++;
    if (end < whole.end) {
        parts[n] = whole;
        parts[n].start = end;
        parts[n++].guarded = false;
    }
    struct seep_map *list = reallocarray(maps->list, maps->n + n - 1, sizeof *list);
    if (!list)
        return -SEEP_ENOMEM;
    memmove(list + i + n, list + i + 1, (maps->n - i - 1) * sizeof *list);
    memcpy(list + i, parts, n * sizeof *list);
    maps->list = list;
    maps->n += n - 1;
    return 0;
}

static int split_stack(const struct seep_thread_source *source, struct seep_maps *maps,
                       pid_t thread)
{
    const uint64_t descriptor = descriptor_of(source, thread);
    const struct seep_map *map = descriptor ? seep_maps_at(maps, descriptor) : NULL;
    uint64_t start, end;

    if (!map || map->kind != SEEP_MAP_OTHER || map->guarded || map->alone || map->file ||
        map->shared || !stack_of(source, descriptor, map->end, &start, &end))
        return 0;
    start = start < map->start ? map->start : start;
    end = end > map->end ? map->end : end;
    return split(maps, (size_t)(map - maps->list), start, end);
}

/* Makes a map of its own, `alone` and `guarded`, of each stack that shares one. Returns 0 or
 * -SEEP_ENOMEM. */
static int thread_stacks_split(const struct seep_thread_source *source, struct seep_maps *maps)
{
    char path[64];
    struct dirent *entry;
    int rc = 0;

    snprintf(path, sizeof path, "/proc/%d/task", (int)source->pid);
    DIR *tasks = opendir(path);
    for (int n = 0; tasks && !rc && n < MAX_THREADS && (entry = readdir(tasks)); n++)
        if (entry->d_name[0] != '.' && strtol(entry->d_name, NULL, 10) != source->pid)
            rc = split_stack(source, maps, (pid_t)strtol(entry->d_name, NULL, 10));
    if (tasks)
        closedir(tasks);
    return rc;
}

bool seep_remote_read(struct seep_remote *remote, uint64_t address, void *to, size_t bytes)
{
    const struct seep_memory_piece piece = {address, to, bytes};

    return remote->gather(remote, &piece, 1) == bytes;
}

static size_t gather(struct seep_remote *remote, const struct seep_memory_piece *pieces, size_t n)
{
    return seep_copy_memory_gather(&((struct seep_remote_process *)remote)->memory, pieces, n);
}

static int own_pages(struct seep_remote *remote, uint64_t start, uint64_t end, bool files_too,
                     seep_page_run_taker *take, void *arg)
{
    struct seep_page_states *pages = ((struct seep_remote_process *)remote)->pages;
    const int rc = seep_page_states_each(pages, start, end, files_too, take, arg);

    remote->cut = remote->cut || !pages->most_pages;
    return rc;
}

static bool read_all(void *remote, uint64_t address, void *to, size_t bytes)
{
    return seep_remote_read(remote, address, to, bytes);
}

uint64_t seep_remote_thread_pointer(struct seep_remote *remote)
{
    return thread_pointer_find(&(struct seep_thread_source){remote->files, read_all, remote});
}

static int read_maps(struct seep_remote *remote, struct seep_maps *maps)
{
    const int rc = seep_maps_read(maps, ((struct seep_remote_process *)remote)->memory.pid);

    return rc ? rc
              : thread_stacks_split(&(struct seep_thread_source){remote->files, read_all, remote},
                                    maps);
}

int seep_remote_process_init(struct seep_remote_process *remote, pid_t pid)
{
    *remote = (struct seep_remote_process){
        .remote = {gather, own_pages, read_maps, pid, false, seep_page_bytes()},
        .pages = malloc(sizeof *remote->pages)};
    seep_copy_memory_init(&remote->memory, pid);
    if (!remote->pages)
        return -SEEP_ENOMEM;
    seep_page_states_init(remote->pages, pid);
    return 0;
}

void seep_remote_process_fini(struct seep_remote_process *remote)
{
    seep_copy_memory_fini(&remote->memory);
    if (remote->pages)
        seep_page_states_fini(remote->pages);
    free(remote->pages);
    remote->pages = NULL;
}

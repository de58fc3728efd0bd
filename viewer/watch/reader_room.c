#include "viewer/watch/reader_room.h"

#include "libprof/base/page_bytes.h"
#include "libprof/runtime/program/memory_room.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)
#define MIB       (UINT64_C(1) << 20)

enum {
    BYTES_PER_NS = 2, /* that a job takes, with several threads */
    MIN_GAP_MS = 10,
    MAX_GAP_MS = 250,
    MIN_LEFT_MIB = 4,   /* to the job while a reader works; half of what it starts with, */
    GROUP_LEFT_MIB = 16 /* also where all of a cgroup would be killed */
};

void seep_reader_room_open(struct seep_reader_room *room)
{
    void *shared = mmap(NULL, SEEP_READERS * sizeof *room->claims, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    *room = (struct seep_reader_room){.claims = shared == MAP_FAILED ? NULL : shared};
}

struct seep_reader_claim *seep_reader_room_claim(struct seep_reader_room *room)
{
    for (int i = 0; room->claims && i < SEEP_READERS; i++) {
        if (room->claims[i].pid)
            continue;
        room->claims[i] = (struct seep_reader_claim){0};
        room->due_ns = 0;
        return &room->claims[i];
    }
    return NULL;
}

/* 0: there is no such process. */
static uint64_t resident_bytes(pid_t pid)
{
    const uint64_t page = seep_page_bytes();
    char path[64];
    uint64_t pages = 0;

    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%*u %" SCNu64, &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * page;
}

/* What a reader has not taken yet, of what it needs. */
static uint64_t to_come(const struct seep_reader_claim *claim)
{
    if (!claim->pid || claim->waits)
        return 0;
    const uint64_t has = resident_bytes(claim->pid);
    return claim->need_bytes > has ? claim->need_bytes - has : 0;
}

/* But for `own`. */
static uint64_t all_to_come(const struct seep_reader_room *room,
                            const struct seep_reader_claim *own)
{
    uint64_t bytes = 0;

    for (int i = 0; room->claims && i < SEEP_READERS; i++)
        bytes += &room->claims[i] != own ? to_come(&room->claims[i]) : 0;
    return bytes;
}

/* What the others do not need. */
static void read_left(const struct seep_reader_room *room, const struct seep_reader_claim *own,
                      struct seep_memory_room *left)
{
    const uint64_t others = all_to_come(room, own);

    seep_memory_room_read("/proc", 0, left);
    if (left->left_bytes != SEEP_MEMORY_NO_NUMBER)
        left->left_bytes -= others < left->left_bytes ? others : left->left_bytes;
}

bool seep_reader_room_has_another(const struct seep_reader_room *room,
                                  const struct seep_reader_claim *like)
{
    struct seep_memory_room left;

    if (!like)
        return true;
    if (like->most_bytes && like->need_bytes > like->most_bytes / 2)
        return false;
    read_left(room, NULL, &left);
    return seep_memory_room_fits(&left, like->need_bytes);
}

/* What the job's own bound leaves beside the others, also beside one that waits. */
static uint64_t left_by_bound(const struct seep_reader_room *room,
                              const struct seep_reader_claim *own)
{
    uint64_t others = 0;

    if (!own->most_bytes)
        return UINT64_MAX;
    for (int i = 0; room->claims && i < SEEP_READERS; i++)
        if (room->claims[i].pid && &room->claims[i] != own)
            others += room->claims[i].need_bytes;
    return own->most_bytes > others ? own->most_bytes - others : 1;
}

/* The limit of this process's data, before it was bounded; what the kernel counts against it is the
 * sixth field of statm. */
static struct rlimit data_limit = {RLIM_INFINITY, RLIM_INFINITY};

static void bound_data(uint64_t more_bytes)
{
    const uint64_t page = seep_page_bytes();
    uint64_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file && fscanf(file, "%*u %*u %*u %*u %*u %" SCNu64, &pages) == 1 &&
        more_bytes < data_limit.rlim_max - pages * page) {
        const struct rlimit limit = {pages * page + more_bytes, data_limit.rlim_max};
        (void)setrlimit(RLIMIT_DATA, &limit);
    }
    if (file)
        fclose(file);
}

bool seep_reader_room_take(const struct seep_reader_room *room, struct seep_reader_claim *own,
                           uint64_t need_bytes, uint64_t most_bytes)
{
    struct seep_memory_room left;

    if (!own)
        return true;
    if (own->pid != getpid() || !own->is_bounded)
        (void)getrlimit(RLIMIT_DATA, &data_limit);
    else
        (void)setrlimit(RLIMIT_DATA, &data_limit); /* the bound is no limit of its own */
    own->pid = getpid();
    own->is_bounded = true;
    own->need_bytes = need_bytes;
    own->most_bytes = most_bytes;
    const uint64_t bound = left_by_bound(room, own), has = resident_bytes(own->pid);
    own->is_by_bound = need_bytes > bound;
    if (own->is_by_bound) {
        own->left_bytes = bound;
        return false;
    }
    read_left(room, own, &left);
    const uint64_t most = seep_memory_room_most(&left), rest = bound > has ? bound - has : 0;
    if (to_come(own) > most) {
        own->left_bytes = left.left_bytes;
        return false;
    }
    own->is_by_bound = most_bytes && rest < most;
    bound_data(most < rest ? most : rest);
    return true;
}

bool seep_reader_room_is_short(struct seep_reader_room *room, uint64_t now_ns)
{
    struct seep_memory_room left;

    if (!room->claims || now_ns < room->due_ns)
        return false;
    seep_memory_room_read("/proc", 0, &left);
    const uint64_t floor = (left.kills_group ? GROUP_LEFT_MIB : MIN_LEFT_MIB) * MIB,
                   least = floor + all_to_come(room, NULL),
                   spare = left.left_bytes > least ? left.left_bytes - least : 0;
    uint64_t gap_ns = spare / BYTES_PER_NS;
    gap_ns = gap_ns < MIN_GAP_MS * NS_PER_MS   ? MIN_GAP_MS * NS_PER_MS
             : gap_ns > MAX_GAP_MS * NS_PER_MS ? MAX_GAP_MS * NS_PER_MS
                                               : gap_ns;
    room->due_ns = now_ns + gap_ns;
    for (int i = 0; !spare && i < SEEP_READERS; i++) {
        room->claims[i].left_bytes = resident_bytes(room->claims[i].pid) + left.left_bytes;
        room->claims[i].is_by_bound = false;
    }
    return !spare;
}

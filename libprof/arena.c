#include "libprof/arena.h"

#include <string.h>
#include <sys/resource.h>

struct seep_arena seep_arena;

enum {
    GROW_BYTES = 512 * 1024,
    FIRST_CHUNKS = 8,      /* at once: a job may change its root or its rights later */
    CHILD_CHUNKS = 16,     /* for a forked child whose parent's file was full */
    CHILD_ROOM = 16 << 20, /* address space for that, over the generations */
    FIRST_RETRY_NS = 10 * 1000 * 1000,
    LAST_RETRY_NS = 1000 * 1000 * 1000,
    MAX_INTERRUPTS = 16,
};

/* Disk behind [from, to) of the file, so that a store into the mapping cannot raise SIGBUS. */
static int reserve_disk(int fd, uint64_t from, uint64_t to)
{
    long r = -EINTR;
    for (int i = 0; i < MAX_INTERRUPTS && r == -EINTR; i++)
        r = seep_os_call6(SYS_fallocate, fd, 0, (long)from, (long)(to - from), 0, 0);
    if (r != -EOPNOTSUPP && r != -ENOSYS)
        return (int)r;
    static const char zeros[4096];
    for (uint64_t at = from; at < to; at += sizeof(zeros)) {
        long n = seep_os_call6(SYS_pwrite64, fd, (long)zeros, sizeof(zeros), (long)at, 0, 0);
        if (n != (long)sizeof(zeros))
            return n < 0 ? (int)n : -ENOSPC;
    }
    return 0;
}

/* A file grown past RLIMIT_FSIZE would raise SIGXFSZ in the job. */
static bool allowed_by_rlimit(uint64_t bytes)
{
    struct rlimit64 limit = {0};
    if (seep_os_call6(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) < 0)
        return true;
    return limit.rlim_cur == RLIM64_INFINITY || bytes <= limit.rlim_cur;
}

/* Address space for the file of this process and of those forked from it. */
static char *reserve_space(uint64_t max_bytes, uint64_t *reserved)
{
    uint64_t most = SEEP_HEADER_BYTES + (uint64_t)SEEP_MAX_CHUNKS * SEEP_CHUNK_BYTES;
    *reserved = max_bytes + (max_bytes < CHILD_ROOM ? max_bytes : CHILD_ROOM);
    if (*reserved > most)
        *reserved = most > max_bytes ? most : max_bytes;
    char *base = seep_os_reserve(*reserved);
    if (!base)
        base = seep_os_reserve(*reserved = max_bytes);
    return base;
}

/* A child's records begin where the parent's end, however full its file is. */
static uint64_t bound_of(uint64_t max_bytes, uint64_t end, uint64_t reserved)
{
    uint64_t least = end + CHILD_CHUNKS * SEEP_CHUNK_BYTES;
    if (end > SEEP_HEADER_BYTES && max_bytes < least)
        return least < reserved ? least : reserved;
    return max_bytes;
}

int seep_arena_create(const char *path, const struct seep_header *constants)
{
    uint64_t reserved = seep_arena.reserved_bytes;
    uint64_t inherited_end = constants->inherited_end;
    uint64_t end = inherited_end > SEEP_HEADER_BYTES ? inherited_end : SEEP_HEADER_BYTES;
    if (strlen(path) >= sizeof(seep_arena.path))
        return -ENAMETOOLONG;
    if (!allowed_by_rlimit(end + GROW_BYTES))
        return -EFBIG;
    int fd = seep_os_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return fd;
    struct seep_header *header = NULL;
    char *base = seep_arena.base;
    int r = reserve_disk(fd, 0, SEEP_HEADER_BYTES);
    if (r < 0)
        goto fail;
    header = (void *)seep_os_call6(SYS_mmap, 0, SEEP_HEADER_BYTES, PROT_READ | PROT_WRITE,
                                   MAP_SHARED, fd, 0);
    if (seep_os_failed(header)) {
        r = (int)(long)header;
        header = NULL;
        goto fail;
    }
    if (!base && !(base = reserve_space(constants->max_bytes, &reserved))) {
        r = -ENOMEM;
        goto fail;
    }
    uint64_t max_bytes = bound_of(constants->max_bytes, end, reserved);
    /* Beyond the end of the file the mapping exists but is never touched before reserve_disk(). */
    r = seep_os_map_file(base + end, max_bytes - end, fd, end, MAP_SHARED | MAP_FIXED);
    if (r < 0)
        goto fail;
    struct stat st;
    r = (int)seep_os_call3(SYS_fstat, fd, (long)&st, 0);
    if (r < 0)
        goto fail;
    uint64_t allocated = end + FIRST_CHUNKS * SEEP_CHUNK_BYTES;
    if (allocated > max_bytes || reserve_disk(fd, end, allocated) < 0)
        allocated = end;
    seep_os_close(fd);

    memcpy(header, constants, sizeof(*header));
    header->max_bytes = max_bytes;
    header->version = SEEP_FORMAT_VERSION;
    header->header_bytes = SEEP_HEADER_BYTES;
    header->chunk_bytes = SEEP_CHUNK_BYTES;
    header->n_chunks = (uint32_t)((end - SEEP_HEADER_BYTES) / SEEP_CHUNK_BYTES);
    header->check = seep_header_check(header);
    __atomic_store_n(&header->magic, SEEP_PROFILE_MAGIC, __ATOMIC_RELEASE);

    strcpy(seep_arena.path, path);
    seep_arena.base = base;
    seep_arena.end_allocated = allocated;
    seep_arena.device = st.st_dev;
    seep_arena.inode = st.st_ino;
    seep_arena.reserved_bytes = reserved;
    seep_arena.full = false;
    seep_arena.retry_ns = 0;
    memset(seep_arena.overflow, 0, sizeof(seep_arena.overflow));
    memset(seep_arena.cursor, 0, sizeof(seep_arena.cursor));
    memset(seep_arena.limit, 0, sizeof(seep_arena.limit));
    __atomic_store_n(&seep_arena.header, header, __ATOMIC_RELEASE);
    return 0;

fail:
    if (header)
        seep_os_unmap(header, SEEP_HEADER_BYTES);
    if (base && base != seep_arena.base)
        seep_os_unmap(base, reserved);
    seep_os_close(fd);
    (void)seep_os_call3(SYS_unlinkat, AT_FDCWD, (long)path, 0);
    return r;
}

void seep_arena_leave(void)
{
    struct seep_header *header = seep_arena.header;
    seep_arena.header = NULL;
    seep_arena.full = true;
    seep_arena.lock.word = 0;
    if (header)
        seep_os_unmap(header, SEEP_HEADER_BYTES);
}

/* The file is opened anew each time: a descriptor kept open might be closed by the job and become a
 * file of its own. */
static int grow(uint64_t end)
{
    if (!allowed_by_rlimit(end))
        return -EFBIG;
    int fd = seep_os_open(seep_arena.path, O_RDWR | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    struct stat st;
    int r = (int)seep_os_call3(SYS_fstat, fd, (long)&st, 0);
    if (r == 0 && (st.st_dev != seep_arena.device || st.st_ino != seep_arena.inode))
        r = -ESTALE;
    if (r == 0)
        r = reserve_disk(fd, seep_arena.end_allocated, end);
    seep_os_close(fd);
    return r;
}

static bool fail_full(enum seep_drop reason)
{
    seep_arena.full_reason = reason;
    __atomic_store_n(&seep_arena.full, true, __ATOMIC_RELEASE);
    return false;
}

/* It may be otherwise soon: the job has all its descriptors open, a signal came in between. */
static bool fail_now(void)
{
    uint64_t gap = seep_arena.retry_ns ? seep_arena.retry_gap_ns * 2 : FIRST_RETRY_NS;
    seep_arena.retry_gap_ns = gap < LAST_RETRY_NS ? gap : LAST_RETRY_NS;
    seep_arena.retry_ns = seep_os_clock_ns(CLOCK_MONOTONIC_COARSE) + seep_arena.retry_gap_ns;
    return false;
}

static bool grow_to(uint64_t end, uint64_t max_bytes)
{
    if (seep_arena.retry_ns && seep_os_clock_ns(CLOCK_MONOTONIC_COARSE) < seep_arena.retry_ns)
        return false;
    /* Grow in larger pieces as the file grows; near the end of the disk, chunk by chunk. */
    uint64_t more = (end - SEEP_HEADER_BYTES) / 4;
    uint64_t target =
        end + (more > GROW_BYTES ? more : GROW_BYTES) / SEEP_CHUNK_BYTES * SEEP_CHUNK_BYTES;
    if (target > max_bytes)
        target = end;
    int r = grow(target);
    if (r < 0)
        r = grow(target = end);
    if (r == -ENOSPC || r == -EDQUOT || r == -EFBIG)
        return fail_full(SEEP_DROP_DISK_FULL);
    if (r < 0)
        return fail_now();
    seep_arena.retry_ns = 0;
    seep_arena.end_allocated = target;
    return true;
}

enum seep_drop seep_arena_reason(void)
{
    if (__atomic_load_n(&seep_arena.full, __ATOMIC_ACQUIRE))
        return seep_arena.full_reason;
    if (__atomic_load_n(&seep_arena.lock.given_up, __ATOMIC_RELAXED))
        return SEEP_DROP_STALLED;
    return __atomic_load_n(&seep_arena.retry_ns, __ATOMIC_RELAXED) ? SEEP_DROP_FILE
                                                                   : SEEP_DROP_MEMORY;
}

static bool new_chunk(enum seep_chunk_type type)
{
    struct seep_header *header = seep_arena.header;
    if (!header || seep_arena.full)
        return false;
    uint32_t index = header->n_chunks;
    uint64_t start = SEEP_HEADER_BYTES + (uint64_t)index * SEEP_CHUNK_BYTES;
    uint64_t end = start + SEEP_CHUNK_BYTES;
    if (index >= SEEP_MAX_CHUNKS || end > header->max_bytes)
        return fail_full(SEEP_DROP_BOUND);
    if (end > seep_arena.end_allocated && !grow_to(end, header->max_bytes))
        return false;
    header->chunk_types[index] = (uint8_t)type;
    __atomic_store_n(&header->n_chunks, index + 1, __ATOMIC_RELEASE);
    seep_arena.cursor[type] = start;
    seep_arena.limit[type] = end;
    return true;
}

uint32_t seep_arena_take(enum seep_chunk_type type, uint32_t bytes, uint32_t align)
{
    uint64_t at = (seep_arena.cursor[type] + align - 1) / align * align;
    if (at + bytes > seep_arena.limit[type]) {
        if (!new_chunk(type))
            return 0;
        at = seep_arena.cursor[type];
    }
    seep_arena.cursor[type] = at + bytes;
    return (uint32_t)(at / 8);
}

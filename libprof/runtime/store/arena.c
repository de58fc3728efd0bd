#include "libprof/runtime/store/arena.h"

#include <string.h>
#include <sys/resource.h>

struct seep_arena seep_arena;
SEEP_HOT bool seep_arena_counting;
SEEP_HOT char *seep_arena_base;

enum {
    GROW_BYTES = 512 * 1024,
    FIRST_CHUNKS = 8,      /* allocated at once: a job may change its root or its rights later */
    CHILD_CHUNKS = 16,     /* for a forked child whose parent's file was full */
    CHILD_ROOM = 16 << 20, /* address space for them, over several generations */
    FIRST_RETRY_NS = 10 * 1000 * 1000,
    LAST_RETRY_NS = 1000 * 1000 * 1000,
    MAX_INTERRUPTS = 16,
    MAX_RELEASES = 16,    /* then nothing is held back: of 1 GiB it would be less than a chunk */
    SMALL_ROOM = 8 << 20, /* files up to this size hold nothing back */
};

/* Allocates disk for [from, to) of the file, so that a store into the mapping cannot raise SIGBUS:
 * for whole pages, because the first store into a page needs disk for all of it. */
static int reserve_disk(int fd, uint64_t from, uint64_t to)
{
    long r = -EINTR;
    to = seep_os_page_up(to);
    for (int i = 0; i < MAX_INTERRUPTS && r == -EINTR; i++)
        r = seep_os_call6(SYS_fallocate, fd, 0, (long)seep_os_page_down(from),
                          (long)(to - seep_os_page_down(from)), 0, 0);
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
    bytes = seep_os_page_up(bytes);
    if (seep_os_call6(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) < 0)
        return true;
    return limit.rlim_cur == RLIM64_INFINITY || bytes <= limit.rlim_cur;
}

/* Reserves address space for the file of this process and of those forked from it. */
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

/* Adds to the sum of all files of the folder. False: that would exceed their limit. */
static bool take_folder(uint64_t bytes)
{
    uint64_t *sum = seep_arena.folder_bytes;
    if (!sum)
        return true;
    uint64_t before = __atomic_fetch_add(sum, bytes, __ATOMIC_RELAXED);
    if (!seep_arena.max_folder_bytes || before + bytes <= seep_arena.max_folder_bytes)
        return true;
    __atomic_fetch_sub(sum, bytes, __ATOMIC_RELAXED);
    return false;
}

static void give_folder_back(uint64_t bytes)
{
    if (seep_arena.folder_bytes)
        __atomic_fetch_sub(seep_arena.folder_bytes, bytes, __ATOMIC_RELAXED);
}

enum { FIRST_BYTES = SEEP_HEADER_BYTES + FIRST_CHUNKS * SEEP_CHUNK_BYTES };

/* Creates the file with room for its header. Returns a descriptor or a negative errno. */
static int make_file(const char *path, uint64_t end, struct stat *st)
{
    if (strlen(path) >= sizeof(seep_arena.path))
        return -ENAMETOOLONG;
    if (!allowed_by_rlimit(end + GROW_BYTES))
        return -EFBIG;
    if (!take_folder(FIRST_BYTES))
        return -EXFULL;
    int fd = seep_os_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    int r = fd < 0 ? fd : reserve_disk(fd, 0, SEEP_HEADER_BYTES);
    if (r >= 0)
        r = (int)seep_os_call3(SYS_fstat, fd, (long)st, 0);
    if (r >= 0)
        return fd;
    give_folder_back(FIRST_BYTES);
    if (fd >= 0) {
        seep_os_close(fd);
        (void)seep_os_call3(SYS_unlinkat, AT_FDCWD, (long)path, 0);
    }
    return r;
}

static void drop_file(int fd, const char *path)
{
    give_folder_back(FIRST_BYTES);
    seep_os_close(fd);
    (void)seep_os_call3(SYS_unlinkat, AT_FDCWD, (long)path, 0);
}

/* Of a short life's file one page in three is written. Without the advice the kernel reads ahead:
 * it clears all pages at the first touch. */
static void advise(void *at, uint64_t bytes)
{
    (void)seep_os_call3(SYS_madvise, (long)at, (long)bytes, MADV_RANDOM);
}

static struct seep_header *map_header(int fd)
{
    void *header = (void *)seep_os_call6(SYS_mmap, 0, SEEP_HEADER_BYTES, PROT_READ | PROT_WRITE,
                                         MAP_SHARED, fd, 0);
    if (seep_os_failed(header))
        return NULL;
    advise(header, SEEP_HEADER_BYTES);
    return header;
}

/* Maps the chunks, which begin within a page where pages are large: what lies before them in it is
 * the header's end, or nothing (seep_arena_end()). Beyond the end of the file the mapping exists
 * but is never touched before reserve_disk(). */
static int map_chunks(int fd, uint64_t end, uint64_t max_bytes)
{
    const uint64_t from = seep_os_page_down(end);
    char *at = seep_arena_base + from;
    int r = seep_os_map_file(at, max_bytes - from, fd, from, MAP_SHARED | MAP_FIXED);
    if (r >= 0)
        advise(at, max_bytes - from);
    return r;
}

static uint64_t end_of(const struct seep_header *constants)
{
    uint64_t end = constants->inherited_end;
    return end > SEEP_HEADER_BYTES ? end : SEEP_HEADER_BYTES;
}

static void complete_header(struct seep_header *header, uint64_t max_bytes)
{
    header->max_bytes = max_bytes;
    header->version = SEEP_FORMAT_VERSION;
    header->header_bytes = SEEP_HEADER_BYTES;
    header->chunk_bytes = SEEP_CHUNK_BYTES;
    header->page_bytes = (uint32_t)seep_os_page_bytes();
    header->check = seep_header_check(header);
    __atomic_store_n(&header->magic, SEEP_PROFILE_MAGIC, __ATOMIC_RELEASE);
}

/* Begins a profile: nothing has been taken from it yet. */
static void begin(struct seep_header *header, const struct seep_header *constants,
                  uint64_t max_bytes, uint64_t allocated)
{
    uint64_t end = end_of(constants);
    /* Its pages are fresh, thus zero. A process that is only counted needs no texts; they follow
     * when it gets a file. */
    memcpy(header, constants,
           seep_arena_counting ? offsetof(struct seep_header, host)
                               : offsetof(struct seep_header, n_chunks));
    header->n_chunks = (uint32_t)((end - SEEP_HEADER_BYTES) / SEEP_CHUNK_BYTES);
    complete_header(header, max_bytes);
    seep_arena.end_allocated = allocated;
    seep_arena.begin = end;
    seep_arena.releases = 0;
    seep_arena.held_back = false;
    seep_arena.full = false;
    seep_arena.retry_ns = 0;
    memset(seep_arena.overflow, 0, sizeof(seep_arena.overflow));
    memset(seep_arena.cursor, 0, sizeof(seep_arena.cursor));
    memset(seep_arena.limit, 0, sizeof(seep_arena.limit));
    __atomic_store_n(&seep_arena.header, header, __ATOMIC_RELEASE);
}

static void know_file(const char *path, const struct stat *st)
{
    strcpy(seep_arena.path, path);
    seep_arena.device = st->st_dev;
    seep_arena.inode = st->st_ino;
}

/* Reserves address space for the records. True: it exists. */
static bool have_base(uint64_t max_bytes)
{
    if (!seep_arena_base)
        seep_arena_base = reserve_space(max_bytes, &seep_arena.reserved_bytes);
    return seep_arena_base != NULL;
}

int seep_arena_create(const char *path, const struct seep_header *constants)
{
    uint64_t end = end_of(constants);
    struct stat st;
    int fd = make_file(path, end, &st);
    if (fd < 0)
        return fd;
    struct seep_header *header = map_header(fd);
    int r = -ENOMEM;
    if (!header || !have_base(constants->max_bytes))
        goto fail;
    uint64_t max_bytes = bound_of(constants->max_bytes, end, seep_arena.reserved_bytes);
    r = map_chunks(fd, end, max_bytes);
    if (r < 0)
        goto fail;
    uint64_t allocated = end + FIRST_CHUNKS * SEEP_CHUNK_BYTES;
    if (allocated > max_bytes || reserve_disk(fd, seep_os_page_down(end), allocated) < 0)
        allocated = end;
    seep_os_close(fd);
    know_file(path, &st);
    seep_arena_counting = false;
    begin(header, constants, max_bytes, allocated);
    return 0;

fail:
    if (header)
        seep_os_unmap(header, SEEP_HEADER_BYTES);
    drop_file(fd, path);
    return r;
}

int seep_arena_count(const struct seep_header *constants)
{
    uint64_t end = end_of(constants);
    struct seep_header *header = seep_os_pages(SEEP_HEADER_BYTES);
    if (!header || !have_base(constants->max_bytes))
        return -ENOMEM;
    uint64_t max_bytes = bound_of(constants->max_bytes, end, seep_arena.reserved_bytes);
    uint64_t allocated = end + SEEP_CHUNK_BYTES;
    if (allocated > max_bytes)
        return -ENOSPC;
    const uint64_t from = seep_os_page_down(end);
    long r = seep_os_call6(SYS_mmap, (long)(seep_arena_base + from), (long)(allocated - from),
                           PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (seep_os_failed((void *)r))
        return (int)r;
    seep_arena_counting = true;
    begin(header, constants, max_bytes, allocated);
    return 0;
}

/* Moves what was counted from the private pages into the file, which then replaces them. */
static int move_in(int fd, uint64_t end, uint64_t used, uint64_t max_bytes)
{
    int r = reserve_disk(fd, seep_os_page_down(end), end + FIRST_CHUNKS * SEEP_CHUNK_BYTES);
    if (r < 0)
        return r;
    if (used) {
        long n = seep_os_call6(SYS_pwrite64, fd, (long)(seep_arena_base + end), (long)used,
                               (long)end, 0, 0);
        if (n != (long)used)
            return n < 0 ? (int)n : -ENOSPC;
    }
    return map_chunks(fd, end, max_bytes);
}

int seep_arena_persist(const char *path, const struct seep_header *constants)
{
    struct seep_header *counted = seep_arena.header;
    uint64_t end = end_of(constants), max_bytes = counted->max_bytes;
    uint64_t used = SEEP_HEADER_BYTES + (uint64_t)counted->n_chunks * SEEP_CHUNK_BYTES - end;
    struct stat st;
    if (end + FIRST_CHUNKS * SEEP_CHUNK_BYTES > max_bytes)
        return -ENOSPC;
    int fd = make_file(path, end, &st);
    if (fd < 0)
        return fd;
    struct seep_header *header = map_header(fd);
    int r = header ? move_in(fd, end, used, max_bytes) : -ENOMEM;
    if (r < 0) {
        if (header)
            seep_os_unmap(header, SEEP_HEADER_BYTES);
        drop_file(fd, path);
        return r;
    }
    seep_os_close(fd);
    know_file(path, &st);
    seep_arena.end_allocated = end + FIRST_CHUNKS * SEEP_CHUNK_BYTES;
    memcpy(header, constants, offsetof(struct seep_header, n_chunks));
    memcpy(&header->n_chunks, &counted->n_chunks,
           sizeof(*header) - offsetof(struct seep_header, n_chunks));
    complete_header(header, max_bytes);
    /* The old one stays, for threads that still hold its address. */
    __atomic_store_n(&seep_arena.header, header, __ATOMIC_RELEASE);
    __atomic_store_n(&seep_arena_counting, false, __ATOMIC_RELEASE);
    return 0;
}

uint64_t seep_arena_end(void)
{
    const uint64_t used =
        SEEP_HEADER_BYTES + (uint64_t)seep_arena.header->n_chunks * SEEP_CHUNK_BYTES;
    uint64_t end = used;
    while (seep_os_page_down(end) < used)
        end += SEEP_CHUNK_BYTES;
    return end;
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

/* Opens the file anew each time: if a descriptor were kept open, the job might close it and reuse
 * the number. */
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

/* The failure may pass: the job has all its descriptors open, or a signal interrupted the call. */
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
    if (seep_arena_counting)
        return false;
    uint64_t more = (end - SEEP_HEADER_BYTES) / 4;
    uint64_t target =
        end + (more > GROW_BYTES ? more : GROW_BYTES) / SEEP_CHUNK_BYTES * SEEP_CHUNK_BYTES;
    if (target > max_bytes)
        target = end;
    uint64_t more_bytes = target - seep_arena.end_allocated;
    if (!take_folder(more_bytes))
        return fail_full(SEEP_DROP_FOLDER);
    int r = grow(target);
    if (r < 0)
        r = grow(target = end);
    give_folder_back(more_bytes - (r < 0 ? 0 : target - seep_arena.end_allocated));
    if (r == -ENOSPC || r == -EDQUOT || r == -EFBIG)
        return fail_full(SEEP_DROP_DISK_FULL);
    if (r < 0)
        return fail_now();
    seep_arena.retry_ns = 0;
    seep_arena.end_allocated = target;
    return true;
}

void seep_arena_stock_up(void)
{
    SEEP_CHECK(seep_os_is_locked(&seep_arena.lock));
    enum { STOCK_BYTES = 4 << 20 };
    struct seep_header *header = seep_arena.header;
    if (!header || seep_arena.full || seep_arena_counting)
        return;
    uint64_t end = seep_arena.end_allocated + STOCK_BYTES;
    if (end <= header->max_bytes && take_folder(STOCK_BYTES)) {
        if (grow(end) < 0)
            give_folder_back(STOCK_BYTES);
        else
            seep_arena.end_allocated = end;
    }
}

void seep_arena_release(void)
{
    if (__atomic_load_n(&seep_arena.releases, __ATOMIC_RELAXED) < MAX_RELEASES)
        __atomic_fetch_add(&seep_arena.releases, 1, __ATOMIC_RELAXED);
}

/* Whether a chunk that ends there is held back for later. Levels of memory, a few chunks, are
 * not. */
static bool is_held_back(enum seep_chunk_type type, uint64_t end, uint64_t max_bytes)
{
    const uint64_t room = max_bytes - seep_arena.begin;
    const uint32_t n = __atomic_load_n(&seep_arena.releases, __ATOMIC_RELAXED);
    return room > SMALL_ROOM && n < MAX_RELEASES && type != SEEP_CHUNK_TIMELINES &&
           end > max_bytes - (room >> (n + 1));
}

enum seep_drop seep_arena_reason(void)
{
    if (__atomic_load_n(&seep_arena.full, __ATOMIC_ACQUIRE))
        return seep_arena.full_reason;
    if (__atomic_load_n(&seep_arena.held_back, __ATOMIC_RELAXED))
        return SEEP_DROP_BOUND;
    if (seep_os_sandboxed)
        return SEEP_DROP_SANDBOX;
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
    seep_arena.held_back = is_held_back(type, end, header->max_bytes);
    if (seep_arena.held_back)
        return false;
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
    SEEP_CHECK(seep_os_is_locked(&seep_arena.lock));
    uint64_t at = (seep_arena.cursor[type] + align - 1) / align * align;
    if (at + bytes > seep_arena.limit[type]) {
        if (!new_chunk(type))
            return 0;
        at = seep_arena.cursor[type];
    }
    seep_arena.cursor[type] = at + bytes;
    return (uint32_t)(at / 8);
}

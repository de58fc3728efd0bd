#include "preload/snapshot/snapshot_harm.h"

#include <sys/stat.h>

#include "libprof/format/snapshot_format.h"
#include "libprof/runtime/store/os.h"

enum {
    TEXT_BYTES = 4096,
    MAX_FILES = 4096, /* descriptors to look at */
    HUGE_SHARE = 8,   /* 1/n of the bytes in huge pages is many */
    HUGE_LEAST = 16 << 20,
};

static SEEP_LARGE char text[TEXT_BYTES], entries[TEXT_BYTES];

static uint64_t number_at(const char *at)
{
    uint64_t n = 0;
    at += strspn(at, " \t");
    while (*at >= '0' && *at <= '9')
        n = n * 10 + (uint64_t)(*at++ - '0');
    return n;
}

/* A file of /proc that says "key   number kB". */
static uint64_t kib_of(const char *file, const char *key)
{
    text[0] = '\0';
    (void)seep_os_read_file(file, text, sizeof(text));
    const char *at = strstr(text, key);
    return at ? number_at(at + strlen(key)) : 0;
}

uint64_t seep_snapshot_own_pages(void)
{
    return kib_of("/proc/self/smaps_rollup", "Private_Dirty:") * 1024 / SEEP_TOUCHED_PAGE;
}

static uint32_t inode_of(const char *path)
{
    struct stat st;
    return seep_os_call6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0, 0, 0) < 0
               ? 0
               : (uint32_t)st.st_ino;
}

uint32_t seep_snapshot_namespace(void)
{
    return inode_of("/proc/self/ns/pid");
}

/* The thread's next child would be the first of a new namespace, and its end would end all others
 * in it. Before that child the link leads nowhere. Each thread has its own. Unknown without
 * /proc. */
static bool may_begin_namespace(void)
{
    const uint32_t own = seep_snapshot_namespace();
    return !own || inode_of("/proc/thread-self/ns/pid_for_children") != own;
}

static bool is_of_kind(int folder, const char *name)
{
    char link[64];
    long n = seep_os_call6(SYS_readlinkat, folder, (long)name, (long)link, sizeof(link) - 1, 0, 0);
    if (n <= 0)
        return false;
    link[n] = '\0';
    return strcmp(link, "anon_inode:[userfaultfd]") == 0 ||
           strncmp(link, "/dev/infiniband/", 16) == 0;
}

struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

static bool may_have_such_files(void)
{
    long n;
    int folder = seep_os_open("/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
    bool found = folder < 0; /* it may have */
    for (int left = MAX_FILES;
         folder >= 0 && !found && left > 0 &&
         (n = seep_os_call3(SYS_getdents64, folder, (long)entries, sizeof(entries))) > 0;)
        for (long at = 0; at < n && !found; left--) {
            const struct entry *e = (const struct entry *)(entries + at);
            found = e->name[0] != '.' && is_of_kind(folder, e->name);
            at += e->bytes;
        }
    if (folder >= 0)
        seep_os_close(folder);
    return found;
}

/* The machine's number costs nothing; the process's own is read only if that is large. */
static bool has_huge_pages(uint64_t anonymous_bytes)
{
    const uint64_t most = anonymous_bytes / HUGE_SHARE;
    const uint64_t many = most > HUGE_LEAST ? most : HUGE_LEAST;
    return kib_of("/proc/meminfo", "AnonHugePages:") * 1024 >= many &&
           kib_of("/proc/self/smaps_rollup", "AnonHugePages:") * 1024 >= many;
}

static bool is_not_to_be_committed(uint64_t anonymous_bytes)
{
    text[0] = '\0';
    (void)seep_os_read_file("/proc/sys/vm/overcommit_memory", text, sizeof(text));
    if (number_at(text) != 2)
        return false;
    const uint64_t most = kib_of("/proc/meminfo", "CommitLimit:");
    const uint64_t used = kib_of("/proc/meminfo", "Committed_AS:");
    return used + anonymous_bytes / 512 > most; /* twice as much, because others are growing, too */
}

bool seep_snapshot_fork_harms(uint64_t anonymous_bytes)
{
    return may_begin_namespace() || may_have_such_files() ||
           is_not_to_be_committed(anonymous_bytes) || has_huge_pages(anonymous_bytes);
}

bool seep_snapshot_is_guarded(void)
{
    enum { ANCESTORS = 1 }; /* may read a process, and `seep run` is one */
    text[0] = '\0';
    (void)seep_os_read_file("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text));
    return number_at(text) > ANCESTORS;
}

#include "libprof/examine/copy_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PIECE = 4 << 20 }; /* measured: larger ones gain nothing */

void seep_copy_memory_init(struct seep_copy_memory *m, pid_t pid)
{
    *m = (struct seep_copy_memory){.pid = pid, .fd = -1};
}

void seep_copy_memory_fini(struct seep_copy_memory *m)
{
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
}

/* The file serves where a sandbox keeps the call from seep. */
static ssize_t read_by_file(struct seep_copy_memory *m, uint64_t address, void *to, size_t bytes)
{
    char path[64];

    if (m->fd < 0) {
        snprintf(path, sizeof path, "/proc/%d/mem", (int)m->pid);
        m->fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    return m->fd < 0 ? -1 : pread(m->fd, to, bytes, (off_t)address);
}

static ssize_t read_piece(struct seep_copy_memory *m, uint64_t address, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};
    ssize_t n = m->fd < 0 ? process_vm_readv(m->pid, &here, 1, &there, 1, 0) : -1;

    if (n < 0 && (m->fd >= 0 || errno == ENOSYS || errno == EPERM))
        n = read_by_file(m, address, to, bytes);
    return n;
}

int seep_copy_memory_read(struct seep_copy_memory *m, uint64_t address, void *to, size_t bytes)
{
    if (address > INT64_MAX || bytes > INT64_MAX - address) {
        errno = EFAULT;
        return -SEEP_EIO;
    }
    for (size_t done = 0; done < bytes;) {
        size_t piece = bytes - done < PIECE ? bytes - done : PIECE;
        ssize_t n = read_piece(m, address + done, (char *)to + done, piece);
        if (n <= 0) {
            errno = n < 0 ? errno : EFAULT;
            return -SEEP_EIO;
        }
        done += (size_t)n;
    }
    return 0;
}

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

/* The kernel counts addresses of both sides against UIO_MAXIOV, which is 1024. */
size_t seep_copy_memory_gather(struct seep_copy_memory *m, const struct seep_memory_piece *pieces,
                               size_t n)
{
    struct iovec here[SEEP_MEMORY_PIECES], there[SEEP_MEMORY_PIECES];
    size_t sum = 0;

    n = n < SEEP_MEMORY_PIECES ? n : SEEP_MEMORY_PIECES;
    for (size_t i = 0; i < n; i++) {
        here[i] = (struct iovec){pieces[i].to, pieces[i].n};
        there[i] = (struct iovec){(void *)(uintptr_t)pieces[i].address, pieces[i].n};
    }
    ssize_t got = m->fd < 0 ? process_vm_readv(m->pid, here, n, there, n, 0) : -1;
    if (got >= 0 || (m->fd < 0 && errno != ENOSYS && errno != EPERM))
        return got > 0 ? (size_t)got : 0;
    for (size_t i = 0; i < n; i++) {
        got = read_by_file(m, pieces[i].address, pieces[i].to, pieces[i].n);
        sum += got > 0 ? (size_t)got : 0;
        if (got < (ssize_t)pieces[i].n)
            break;
    }
    return sum;
}

#include "libprof/who/process/copy_memory.h"

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

static bool has_file(struct seep_copy_memory *m)
{
    char path[64];

    if (m->fd >= 0 || m->no_file)
        return m->fd >= 0;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)m->pid);
    m->fd = open(path, O_RDONLY | O_CLOEXEC);
    m->no_file = m->fd < 0;
    return m->fd >= 0;
}

static ssize_t read_piece(struct seep_copy_memory *m, uint64_t address, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};

    return has_file(m) ? pread(m->fd, to, bytes, (off_t)address)
                       : process_vm_readv(m->pid, &here, 1, &there, 1, 0);
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

/* One call for all adjacent pieces. */
static size_t gather_by_file(struct seep_copy_memory *m, const struct seep_memory_piece *pieces,
                             const struct iovec *here, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0, end; i < n; i = end) {
        size_t bytes = pieces[i].n;
        for (end = i + 1; end < n && pieces[end].address == pieces[i].address + bytes; end++)
            bytes += pieces[end].n;
        ssize_t got = preadv(m->fd, here + i, (int)(end - i), (off_t)pieces[i].address);
        sum += got > 0 ? (size_t)got : 0;
        if (got < (ssize_t)bytes)
            break;
    }
    return sum;
}

/* The kernel limits the addresses of each side to UIO_MAXIOV, which is 1024. */
size_t seep_copy_memory_gather(struct seep_copy_memory *m, const struct seep_memory_piece *pieces,
                               size_t n)
{
    struct iovec here[SEEP_MEMORY_PIECES], there[SEEP_MEMORY_PIECES];

    n = n < SEEP_MEMORY_PIECES ? n : SEEP_MEMORY_PIECES;
    for (size_t i = 0; i < n; i++) {
        here[i] = (struct iovec){pieces[i].to, pieces[i].n};
        there[i] = (struct iovec){(void *)(uintptr_t)pieces[i].address, pieces[i].n};
    }
    if (has_file(m))
        return gather_by_file(m, pieces, here, n);
    ssize_t got = process_vm_readv(m->pid, here, n, there, n, 0);
    return got > 0 ? (size_t)got : 0;
}

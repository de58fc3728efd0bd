#include "kernels/formats/byte_file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Asks for one byte more than the file's size, so that a file that grows meanwhile is noticed. */
static int read_all(int fd, size_t most, uint8_t **bytes, size_t *n)
{
    struct stat st;
    size_t capacity, used = 0;

    if (fstat(fd, &st))
        return -SEEP_EIO;
    if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        return -SEEP_EIO;
    }
    if (st.st_size < 0 || (uint64_t)st.st_size > most || (uint64_t)st.st_size >= SIZE_MAX - 1)
        return -SEEP_EFORMAT;
    capacity = (size_t)st.st_size + 1;
    uint8_t *memory = malloc(capacity);
    if (!memory)
        return -SEEP_ENOMEM;
    while (used < capacity) {
        ssize_t got = read(fd, memory + used, capacity - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(memory);
            return -SEEP_EIO;
        }
        if (got == 0)
            break;
        used += (size_t)got;
    }
    if (used == capacity) {
        errno = EBUSY;
        free(memory);
        return -SEEP_EIO;
    }
    memory[used] = 0;
    *bytes = memory;
    *n = used;
    return 0;
}

int seep_file_read(const char *path, size_t most, uint8_t **bytes, size_t *n,
                   struct seep_error *err)
{
    /* A pipe that nobody writes to must not block the reader. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int rc = fd < 0 ? -SEEP_EIO : read_all(fd, most, bytes, n);

    if (rc == -SEEP_EIO)
        rc = seep_error_set(err, SEEP_EIO, path, 0, "%s", strerror(errno));
    else if (rc == -SEEP_EFORMAT)
        rc = seep_error_set(err, SEEP_EFORMAT, path, 0, "larger than %zu bytes", most);
    else if (rc)
        rc = seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory for the file");
    if (fd >= 0)
        close(fd);
    return rc;
}

struct seep_bytes seep_bytes_of(const void *bytes, size_t n)
{
    const uint8_t *begin = bytes;

    return (struct seep_bytes){.at = begin, .end = n ? begin + n : begin, .begin = begin};
}

size_t seep_bytes_left(const struct seep_bytes *b)
{
    return b->at == b->end ? 0 : (size_t)(b->end - b->at);
}

uint64_t seep_bytes_offset(const struct seep_bytes *b)
{
    return b->at == b->begin ? 0 : (uint64_t)(b->at - b->begin);
}

const uint8_t *seep_bytes_take(struct seep_bytes *b, size_t n)
{
    if (n > seep_bytes_left(b)) {
        b->at = b->end;
        b->short_ = true;
        return NULL;
    }
    const uint8_t *taken = b->at;
    if (n)
        b->at += n;
    return taken;
}

uint8_t seep_bytes_u8(struct seep_bytes *b)
{
    const uint8_t *p = seep_bytes_take(b, 1);

    return p ? *p : 0;
}

uint32_t seep_bytes_u32(struct seep_bytes *b)
{
    const uint8_t *p = seep_bytes_take(b, 4);
    uint32_t value = 0;

    if (p)
        memcpy(&value, p, sizeof value);
    return le32toh(value);
}

uint64_t seep_bytes_u64(struct seep_bytes *b)
{
    const uint8_t *p = seep_bytes_take(b, 8);
    uint64_t value = 0;

    if (p)
        memcpy(&value, p, sizeof value);
    return le64toh(value);
}

double seep_bytes_f64(struct seep_bytes *b)
{
    uint64_t bits = seep_bytes_u64(b);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

bool seep_name_is_safe(const char *name)
{
    size_t n = strlen(name);

    if (!n || n >= 4096 || *name == '/' || *name == ' ' || name[n - 1] == ' ')
        return false;
    for (const char *p = name; *p; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return false;
        if ((p == name || p[-1] == '/') && !strncmp(p, "..", 2) && (!p[2] || p[2] == '/'))
            return false;
    }
    return true;
}

/* Not mkstemp(): its files are private to the owner, but access to a data set is up to the
 * umask. */
static int open_temporary(struct seep_file_writer *w)
{
    unsigned first = (unsigned)getpid();
    int fd = -1;

    for (unsigned i = 0; i < 256 && fd < 0; i++) {
        snprintf(w->temporary, sizeof w->temporary, "%s.%06x", w->path, (first + i) & 0xffffff);
        fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

int seep_file_writer_open(struct seep_file_writer *w, const char *path, struct seep_error *err)
{
    w->stream = NULL;
    if (!*path || strlen(path) >= sizeof w->path)
        return seep_error_set(err, SEEP_EINVAL, path, 0, "no path, or one too long");
    strcpy(w->path, path);
    int fd = open_temporary(w);
    if (fd < 0)
        return seep_error_set(err, SEEP_EIO, path, 0, "%s", strerror(errno));
    w->stream = fdopen(fd, "wb");
    if (!w->stream) {
        close(fd);
        unlink(w->temporary);
        return seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
    }
    return 0;
}

int seep_file_writer_commit(struct seep_file_writer *w, struct seep_error *err)
{
    FILE *stream = w->stream;
    bool good;

    w->stream = NULL;
    errno = 0;
    good = !ferror(stream);
    good = !fclose(stream) && good;
    if (good && !rename(w->temporary, w->path))
        return 0;
    int reason = errno ? errno : EIO;
    unlink(w->temporary);
    return seep_error_set(err, SEEP_EIO, w->path, 0, "%s", strerror(reason));
}

void seep_file_writer_cancel(struct seep_file_writer *w)
{
    if (!w->stream)
        return;
    fclose(w->stream);
    w->stream = NULL;
    unlink(w->temporary);
}

#include "libprof/read/profile_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libprof/base/page_bytes.h"

static uint64_t chunk_offset(uint32_t chunk)
{
    return SEEP_HEADER_BYTES + (uint64_t)chunk * SEEP_CHUNK_BYTES;
}

int seep_version_error(struct seep_error *err, const char *path, uint32_t version)
{
    const char *what = version > SEEP_FORMAT_VERSION   ? "a newer seep"
                       : version < SEEP_FORMAT_VERSION ? "an older seep"
                                                       : "another build of seep";
    const char *advice = version > SEEP_FORMAT_VERSION
                             ? "update this seep"
                             : "read it with that one, or record the job again";

    return seep_error_set(err, SEEP_EVERSION, path, offsetof(struct seep_header, version),
                          "%s wrote it (format %u, this one reads %u): %s", what, version,
                          SEEP_FORMAT_VERSION, advice);
}

static int check_header(struct seep_profile *p, struct seep_error *err)
{
    struct seep_header *h = p->header;

    if (h->magic == 0)
        return seep_error_set(err, SEEP_EFORMAT, p->path, 0,
                              "nothing is in it yet, or its process ended before it recorded");
    if (h->magic != SEEP_PROFILE_MAGIC)
        return seep_error_set(err, SEEP_EFORMAT, p->path, 0, "not a profile of seep");
    if (h->version != SEEP_FORMAT_VERSION || h->header_bytes != SEEP_HEADER_BYTES ||
        h->chunk_bytes != SEEP_CHUNK_BYTES)
        return seep_version_error(err, p->path, h->version);
    if (h->check != seep_header_check(h))
        return seep_error_set(err, SEEP_EFORMAT, p->path, 0, "the header is damaged");
    if (h->inherited_end < SEEP_HEADER_BYTES ||
        (h->inherited_end - SEEP_HEADER_BYTES) % SEEP_CHUNK_BYTES != 0 ||
        (h->inherited_end - SEEP_HEADER_BYTES) / SEEP_CHUNK_BYTES > SEEP_MAX_CHUNKS)
        return seep_error_set(err, SEEP_EFORMAT, p->path, 0, "the inherited part is out of range");
    return 0;
}

/* Every fixed text of the header ends inside its field, whatever the file says. */
static void close_texts(struct seep_header *h)
{
    h->program[sizeof h->program - 1] = 0;
    h->parent_file[sizeof h->parent_file - 1] = 0;
    h->host[sizeof h->host - 1] = 0;
    h->exe[sizeof h->exe - 1] = 0;
    h->cwd[sizeof h->cwd - 1] = 0;
    h->argv[sizeof h->argv - 1] = 0;
    if (h->argv_bytes > sizeof h->argv)
        h->argv_bytes = sizeof h->argv;
    h->allocator[sizeof h->allocator - 1] = 0;
    h->ranks.job_id[sizeof h->ranks.job_id - 1] = 0;
    for (char *c = h->ranks.job_id; *c; c++)
        *c = *c > ' ' && *c <= '~' ? *c : '_';
    if (h->n_rss_samples > SEEP_RSS_SAMPLES)
        h->n_rss_samples = SEEP_RSS_SAMPLES;
    if (h->n_timeline > SEEP_TIMELINE_ROWS)
        h->n_timeline = SEEP_TIMELINE_ROWS;
    if (h->n_epochs > SEEP_EPOCH_MARKS)
        h->n_epochs = SEEP_EPOCH_MARKS;
    if (h->n_chunks > SEEP_MAX_CHUNKS)
        h->n_chunks = SEEP_MAX_CHUNKS;
    for (int i = 0; i < SEEP_MAX_SPACES; i++)
        h->spaces[i].name[sizeof h->spaces[i].name - 1] = 0;
    for (int i = 0; i < SEEP_MAX_SLOTS; i++)
        h->slots[i].name[sizeof h->slots[i].name - 1] = 0;
}

static void set_chunks(struct seep_profile *p)
{
    p->first_chunk = (uint32_t)((p->header->inherited_end - SEEP_HEADER_BYTES) / SEEP_CHUNK_BYTES);
    p->n_chunks = p->header->n_chunks;
}

/* Takes ownership of a header that was read; closes the profile on failure. */
static int adopt(struct seep_profile *p, struct seep_profile **out, struct seep_error *err)
{
    int rc = check_header(p, err);

    if (rc) {
        seep_profile_close(p);
        return rc;
    }
    close_texts(p->header);
    set_chunks(p);
    *out = p;
    return 0;
}

static struct seep_profile *profile_new(const char *path)
{
    struct seep_profile *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->path = strdup(path);
    /* Most of a header is never written: a hole in the file uses no memory here either. */
    void *header =
        mmap(NULL, SEEP_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p->header = header == MAP_FAILED ? NULL : header;
    if (!p->path || !p->header) {
        seep_profile_close(p);
        return NULL;
    }
    const char *slash = strrchr(p->path, '/');
    p->name = slash ? slash + 1 : p->path;
    return p;
}

static ssize_t read_at(int fd, void *buffer, uint64_t n_bytes, uint64_t offset)
{
    uint64_t done = 0;

    while (done < n_bytes) {
        ssize_t n = pread(fd, (char *)buffer + done, n_bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (uint64_t)n;
    }
    return (ssize_t)done;
}

/* Opens without blocking if the name belongs to a FIFO or a terminal. */
static int open_regular(const char *path, uint64_t *size, struct seep_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0) {
        seep_error_set(err, SEEP_EIO, path, 0, "cannot open: %s", strerror(errno));
        return -1;
    }
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        seep_error_set(err, SEEP_EIO, path, 0, "not a regular file");
        close(fd);
        return -1;
    }
    *size = (uint64_t)st.st_size;
    return fd;
}

/* A part of a file without holes. To find its end the system walks through all of its pages, so it
 * is kept for what is read next. All zero: none is known. */
struct extent {
    uint64_t from, end;
};

/* Finds the next data at or after `from`; a file system that cannot tell has no holes. False: there
 * is none. */
static bool find_extent(int fd, uint64_t from, struct extent *found)
{
    const off_t data = lseek(fd, (off_t)from, SEEK_DATA);

    if (data < 0) {
        *found = (struct extent){from, UINT64_MAX};
        return errno != ENXIO; /* a hole up to the end, or past it */
    }
    const off_t hole = lseek(fd, data, SEEK_HOLE);
    *found = (struct extent){(uint64_t)data, hole > data ? (uint64_t)hole : UINT64_MAX};
    return true;
}

/* Reads [from, to) without the holes, which would waste memory. */
static int read_data(int fd, void *base, uint64_t from, uint64_t to, struct extent *known)
{
    while (from < to) {
        if ((from < known->from || from >= known->end) && !find_extent(fd, from, known))
            return 0;
        from = known->from > from ? known->from : from;
        if (from >= to)
            return 0;
        const uint64_t end = known->end < to ? known->end : to;
        ssize_t n = read_at(fd, (uint8_t *)base + from, end - from, from);
        if (n < 0)
            return -1;
        if ((uint64_t)n < end - from)
            return 0;
        from = end;
    }
    return 0;
}

int seep_profile_open(const char *path, struct seep_profile **out, struct seep_error *err)
{
    uint64_t size;
    int fd = open_regular(path, &size, err);

    if (fd < 0)
        return -SEEP_EIO;
    struct seep_profile *p = profile_new(path);
    if (!p) {
        close(fd);
        return seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
    }
    p->size = size;
    /* What counts rows first, then the rows, as a process that runs publishes them. */
    const uint64_t end = size < SEEP_HEADER_BYTES ? size : SEEP_HEADER_BYTES;
    const uint64_t rows =
        offsetof(struct seep_header, spaces) < end ? offsetof(struct seep_header, spaces) : end;
    struct extent known = {0};
    int rc = read_data(fd, p->header, 0, rows, &known);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!rc)
        rc = read_data(fd, p->header, rows, end, &known);
    close(fd);
    if (rc || size < offsetof(struct seep_header, spaces)) {
        int code = rc ? SEEP_EIO : SEEP_EFORMAT;
        seep_error_set(err, code, path, 0, "%s", rc ? "cannot read" : "the file is too short");
        seep_profile_close(p);
        return -code;
    }
    p->truncated = size < SEEP_HEADER_BYTES;
    return adopt(p, out, err);
}

static void *map_chunks(struct seep_profile *p, uint32_t n)
{
    p->room = n;
    p->map_bytes = chunk_offset(n);
    return mmap(NULL, p->map_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* The rest counts against no limit of data. */
static bool make_writable(const struct seep_profile *p)
{
    return mprotect(p->base, chunk_offset(p->n_chunks), PROT_READ | PROT_WRITE) == 0;
}

/* With room for `more` chunks, or for fewer under a limit. */
static int make_base(struct seep_profile *p, uint32_t more, struct seep_error *err)
{
    void *base = map_chunks(p, p->n_chunks + more);
    for (; base == MAP_FAILED && more; more /= 2)
        base = map_chunks(p, p->n_chunks + more / 2);
    if (base == MAP_FAILED)
        return seep_error_set(err, SEEP_ENOMEM, p->path, 0, "no memory for the profile");
    p->base = base;
    p->memo = calloc(p->room + 1u, sizeof *p->memo);
    p->n_done = calloc(p->room + 1u, sizeof *p->n_done);
    if (!p->memo || !p->n_done || !make_writable(p)) {
        seep_profile_unload(p);
        return seep_error_set(err, SEEP_ENOMEM, p->path, 0, "no memory for the profile");
    }
    return 0;
}

int seep_profile_from_bytes(const char *name, const void *bytes, uint64_t size,
                            struct seep_profile **out, struct seep_error *err)
{
    struct seep_profile *p = profile_new(name);
    int rc;

    if (!p)
        return seep_error_set(err, SEEP_ENOMEM, name, 0, "no memory");
    p->size = size;
    memcpy(p->header, bytes, size < SEEP_HEADER_BYTES ? size : SEEP_HEADER_BYTES);
    rc = adopt(p, &p, err);
    if (rc)
        return rc;
    rc = make_base(p, 0, err);
    if (rc) {
        seep_profile_close(p);
        return rc;
    }
    uint64_t end = size < p->map_bytes ? size : p->map_bytes;
    if (end > p->header->inherited_end) {
        uint64_t from = p->header->inherited_end;
        memcpy(p->base + from, (const uint8_t *)bytes + from, end - from);
    }
    p->truncated = size < p->map_bytes;
    p->loaded = true;
    *out = p;
    return 0;
}

/* Records are read before the records that they refer to. */
static unsigned pass_of(uint8_t type)
{
    return type == SEEP_CHUNK_LAYOUTS   ? 0
           : type == SEEP_CHUNK_SITES   ? 1
           : type == SEEP_CHUNK_DETAILS ? 2
                                        : 3;
}

enum { N_PASSES = 4 };

/* Neighbouring chunks of the pass are read together. */
static int read_chunks(int fd, struct seep_profile *p, unsigned pass)
{
    const uint8_t *types = p->header->chunk_types;
    struct extent known = {0};

    for (uint32_t i = p->first_chunk; i < p->n_chunks;) {
        uint32_t j = i;
        while (j < p->n_chunks && types[j] != SEEP_CHUNK_FREE && types[j] < SEEP_CHUNK_N_TYPES &&
               pass_of(types[j]) == pass)
            j++;
        if (j == i) {
            i++;
            continue;
        }
        uint64_t end = chunk_offset(j) < p->size ? chunk_offset(j) : p->size;
        if (chunk_offset(j) > p->size)
            p->truncated = true;
        if (chunk_offset(i) < end && read_data(fd, p->base, chunk_offset(i), end, &known))
            return -1;
        i = j;
    }
    return 0;
}

/* Chunks that came into use since the last look. Those of a finished pass wait for the next reader:
 * they may refer to records younger than those read. */
static void refresh_types(int fd, struct seep_profile *p, unsigned pass)
{
    static const size_t at = offsetof(struct seep_header, chunk_types);
    struct stat st;
    uint8_t types[4096];

    for (uint32_t i = 0; i < SEEP_MAX_CHUNKS; i += (uint32_t)sizeof types) {
        if (read_at(fd, types, sizeof types, at + i) != (ssize_t)sizeof types)
            return;
        for (uint32_t k = 0; k < sizeof types; k++) {
            if (p->header->chunk_types[i + k] == SEEP_CHUNK_FREE && pass_of(types[k]) >= pass)
                p->header->chunk_types[i + k] = types[k];
        }
    }
    uint32_t n = p->base ? p->room : SEEP_MAX_CHUNKS;
    while (n > p->n_chunks && p->header->chunk_types[n - 1] == SEEP_CHUNK_FREE)
        n--;
    const uint32_t before = p->n_chunks;
    p->n_chunks = n;
    if (p->base && !make_writable(p))
        p->n_chunks = before;
    if (!fstat(fd, &st))
        p->size = (uint64_t)st.st_size;
}

int seep_profile_load(struct seep_profile *p, struct seep_error *err)
{
    bool runs = p->header->exit_kind == SEEP_EXIT_NONE;
    uint64_t size;
    int rc = 0;

    if (p->loaded)
        return 0;
    int fd = open_regular(p->path, &size, err);
    if (fd < 0)
        return -SEEP_EIO;
    p->size = size;
    if (runs)
        refresh_types(fd, p, 0);
    /* Room for the chunks that a running process adds costs nothing until it is written. */
    rc = make_base(p, runs ? SEEP_MAX_CHUNKS - p->n_chunks : 0, err);
    if (rc)
        goto fail;
    for (unsigned pass = 0; pass < N_PASSES && !rc; pass++) {
        /* What the records of the pass before refer to was published before them. */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (runs && pass)
            refresh_types(fd, p, pass);
        if (read_chunks(fd, p, pass))
            rc = seep_error_set(err, SEEP_EIO, p->path, 0, "cannot read: %s", strerror(errno));
    }
    if (rc)
        goto fail;
    p->loaded = true;
    close(fd);
    return 0;
fail:
    close(fd);
    seep_profile_unload(p);
    return rc;
}

void seep_profile_unload(struct seep_profile *p)
{
    if (p->memo) {
        for (uint32_t i = 0; i < p->n_chunks; i++)
            free(p->memo[i]);
        free(p->memo);
    }
    free(p->n_done);
    p->n_done = NULL;
    p->memo = NULL;
    if (p->base)
        munmap(p->base, p->map_bytes);
    p->base = NULL;
    p->map_bytes = 0;
    p->loaded = false;
}

void seep_profile_close(struct seep_profile *p)
{
    if (!p)
        return;
    seep_profile_unload(p);
    if (p->header)
        munmap(p->header, SEEP_HEADER_BYTES);
    free(p->path);
    free(p);
}

const char *seep_profile_parent_name(const struct seep_profile *p)
{
    const char *name = p->header->parent_file;

    if (p->header->inherited_end <= SEEP_HEADER_BYTES)
        return NULL;
    if (!name[0] || strchr(name, '/') || name[0] == '.')
        return NULL;
    return name;
}

/* The records of a loaded profile, by their places in its file. */

enum { MAX_FORK_DEPTH = 1024 };

/* The profile of the fork chain whose own part holds `offset`. */
static struct seep_profile *holder(struct seep_profile *p, uint64_t offset)
{
    for (int depth = 0; p && depth < MAX_FORK_DEPTH; depth++, p = p->parent) {
        if (offset >= p->header->inherited_end)
            return p;
    }
    return NULL;
}

const void *seep_profile_at(struct seep_profile *profile, uint32_t ref, enum seep_chunk_type type,
                            uint64_t bytes, struct seep_profile **found_in)
{
    uint64_t offset = (uint64_t)ref * 8;

    if (offset < SEEP_HEADER_BYTES)
        return NULL;
    struct seep_profile *p = holder(profile, offset);
    if (!p || !p->loaded)
        return NULL;
    uint64_t chunk = (offset - SEEP_HEADER_BYTES) / SEEP_CHUNK_BYTES;
    if (chunk >= p->n_chunks || p->header->chunk_types[chunk] != type)
        return NULL;
    uint64_t left = chunk_offset((uint32_t)chunk + 1) - offset;
    if (bytes > left || offset + bytes > p->map_bytes)
        return NULL;
    if (found_in)
        *found_in = p;
    return p->base + offset;
}

const char *seep_profile_string(struct seep_profile *profile, uint32_t ref, uint32_t *n_bytes,
                                struct seep_profile **found_in)
{
    struct seep_profile *p;
    const struct seep_string *s =
        seep_profile_at(profile, ref, SEEP_CHUNK_STRINGS, sizeof(struct seep_string), &p);

    if (!s || !s->n_bytes)
        return NULL;
    uint32_t n = s->n_bytes;
    if (!seep_profile_at(p, ref, SEEP_CHUNK_STRINGS, sizeof *s + (uint64_t)n, NULL))
        return NULL;
    *n_bytes = n;
    if (found_in)
        *found_in = p;
    return s->text;
}

const struct seep_point *seep_profile_series(struct seep_profile *profile, uint32_t ref,
                                             uint32_t detail, uint32_t *n)
{
    const struct seep_series *s =
        seep_profile_at(profile, ref, SEEP_CHUNK_SERIES, sizeof(struct seep_series), NULL);

    if (!s || s->detail != detail || !s->capacity || s->capacity > SEEP_SERIES_LARGE)
        return NULL;
    if (!seep_profile_at(profile, ref, SEEP_CHUNK_SERIES,
                         sizeof *s + (uint64_t)s->capacity * sizeof(struct seep_point), NULL))
        return NULL;
    *n = s->n < s->capacity ? s->n : s->capacity;
    return s->points;
}

uint32_t *seep_profile_memo(struct seep_profile *p, uint32_t ref)
{
    uint64_t offset = (uint64_t)ref * 8;

    if (offset < SEEP_HEADER_BYTES || !p->memo)
        return NULL;
    uint64_t chunk = (offset - SEEP_HEADER_BYTES) / SEEP_CHUNK_BYTES;
    if (chunk >= p->n_chunks)
        return NULL;
    if (!p->memo[chunk])
        p->memo[chunk] = calloc(SEEP_CHUNK_BYTES / 8, sizeof **p->memo);
    return p->memo[chunk] ? &p->memo[chunk][(offset - SEEP_HEADER_BYTES) % SEEP_CHUNK_BYTES / 8]
                          : NULL;
}

/* The pages that are the chunk's alone: where they are of 64 KiB there are none. */
static void give_back(const struct seep_profile *p, uint32_t chunk)
{
    const uint64_t page = seep_page_bytes(), start = chunk_offset(chunk);
    const uint64_t from = (start + page - 1) / page * page;
    const uint64_t to = (start + SEEP_CHUNK_BYTES) / page * page;

    if (from < to)
        madvise(p->base + from, to - from, MADV_DONTNEED);
}

void seep_profile_done(struct seep_profile *p, uint32_t ref, size_t bytes)
{
    const uint64_t chunk = ((uint64_t)ref * 8 - SEEP_HEADER_BYTES) / SEEP_CHUNK_BYTES;

    if (++p->n_done[chunk] == SEEP_CHUNK_BYTES / bytes)
        give_back(p, (uint32_t)chunk);
}

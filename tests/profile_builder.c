#include "tests/profile_builder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void grow(struct builder *b, size_t n)
{
    if (n > b->capacity) {
        size_t capacity = b->capacity * 2 > n ? b->capacity * 2 : n;
        b->bytes = realloc(b->bytes, capacity);
        if (!b->bytes)
            abort();
        memset(b->bytes + b->capacity, 0, capacity - b->capacity);
        b->capacity = capacity;
    }
    if (n > b->n_bytes)
        b->n_bytes = n;
}

struct seep_header *builder_header(struct builder *b)
{
    return (struct seep_header *)b->bytes;
}

void builder_seal(struct builder *b)
{
    struct seep_header *h = builder_header(b);

    h->check = seep_header_check(h);
}

void builder_init(struct builder *b, uint32_t pid, uint64_t start_ns)
{
    static const char argv[] = "python3\0train.py";

    memset(b, 0, sizeof *b);
    grow(b, SEEP_HEADER_BYTES);
    struct seep_header *h = builder_header(b);
    h->magic = SEEP_PROFILE_MAGIC;
    h->version = SEEP_FORMAT_VERSION;
    h->header_bytes = SEEP_HEADER_BYTES;
    h->chunk_bytes = SEEP_CHUNK_BYTES;
    h->max_bytes = 256u << 20;
    h->pid = pid;
    h->ppid = 1;
    h->start_ns = start_ns;
    h->start_unix_ns = UINT64_C(1700000000000000000) + start_ns;
    h->inherited_end = SEEP_HEADER_BYTES;
    h->rank = -1;
    h->process_plus_1 = 1;
    h->slots[0].tid = pid;
    h->python_version = 0x030b02f0;
    h->python_support = SEEP_PYTHON_STACKS;
    h->exit_kind = SEEP_EXIT_EXIT;
    h->end_ns = h->last_ns = start_ns + UINT64_C(1000000000);
    strcpy(h->program, "0.1.0");
    strcpy(h->host, "testhost");
    strcpy(h->exe, "/usr/bin/python3.11");
    strcpy(h->cwd, "/home/user/project");
    memcpy(h->argv, argv, sizeof argv);
    h->argv_bytes = sizeof argv;
    strcpy(h->spaces[0].name, "host");
    strcpy(h->spaces[1].name, "mmap");
    strcpy(h->spaces[2].name, "shm");
    builder_seal(b);
}

void builder_init_fork(struct builder *b, const struct builder *parent, const char *parent_file,
                       uint32_t pid, uint64_t start_ns)
{
    builder_init(b, pid, start_ns);
    grow(b, parent->n_bytes);
    struct seep_header *h = builder_header(b);
    h->inherited_end = parent->n_bytes;
    h->n_chunks = (uint32_t)((parent->n_bytes - SEEP_HEADER_BYTES) / SEEP_CHUNK_BYTES);
    snprintf(h->parent_file, sizeof h->parent_file, "%s", parent_file);
    builder_seal(b);
}

void builder_fini(struct builder *b)
{
    free(b->bytes);
    memset(b, 0, sizeof *b);
}

uint32_t builder_record(struct builder *b, enum seep_chunk_type type, const void *bytes, size_t n,
                        size_t align)
{
    uint32_t at = (b->used[type] + (uint32_t)align - 1) & ~((uint32_t)align - 1);

    if (!b->chunk[type] || at + n > SEEP_CHUNK_BYTES) {
        uint32_t chunk = builder_header(b)->n_chunks;
        if (chunk >= SEEP_MAX_CHUNKS)
            abort();
        grow(b, SEEP_HEADER_BYTES + ((size_t)chunk + 1) * SEEP_CHUNK_BYTES);
        builder_header(b)->chunk_types[chunk] = (uint8_t)type;
        builder_header(b)->n_chunks = chunk + 1;
        b->chunk[type] = chunk + 1;
        at = 0;
    }
    size_t offset = SEEP_HEADER_BYTES + (size_t)(b->chunk[type] - 1) * SEEP_CHUNK_BYTES + at;
    b->used[type] = at + (uint32_t)n;
    if (bytes)
        memcpy(b->bytes + offset, bytes, n);
    return (uint32_t)(offset / 8);
}

void *builder_at(struct builder *b, uint32_t ref)
{
    return b->bytes + (size_t)ref * 8;
}

uint32_t builder_string(struct builder *b, const char *text)
{
    size_t n = strlen(text);
    uint32_t ref = builder_record(b, SEEP_CHUNK_STRINGS, NULL, (8 + n + 1 + 7) & ~(size_t)7, 8);
    struct seep_string *s = builder_at(b, ref);

    s->n_bytes = (uint32_t)n;
    memcpy(s->text, text, n);
    return ref;
}

uint32_t builder_python(struct builder *b, const char *file, const char *function, unsigned line)
{
    struct seep_code_object code = {.first_line = 1};
    struct seep_frame frame = {.kind = SEEP_FRAME_PYTHON, .where = line};

    code.file = builder_string(b, file);
    code.function = builder_string(b, function);
    frame.source = builder_record(b, SEEP_CHUNK_CODES, &code, sizeof code, 8);
    return builder_record(b, SEEP_CHUNK_FRAMES, &frame, sizeof frame, 8);
}

uint32_t builder_native(struct builder *b, const char *path, const char *build_id, uint64_t offset)
{
    struct seep_module module = {.bias = 0x7f0000000000, .start = 1, .end = 2};
    struct seep_frame frame = {.kind = SEEP_FRAME_NATIVE, .where = offset};

    module.path = builder_string(b, path);
    module.build_id = build_id ? builder_string(b, build_id) : 0;
    frame.source = builder_record(b, SEEP_CHUNK_MODULES, &module, sizeof module, 8);
    return builder_record(b, SEEP_CHUNK_FRAMES, &frame, sizeof frame, 8);
}

uint32_t builder_stack(struct builder *b, uint32_t parent, uint32_t frame)
{
    struct seep_stack stack = {parent, frame};

    return builder_record(b, SEEP_CHUNK_STACKS, &stack, sizeof stack, 8);
}

uint32_t builder_site(struct builder *b, uint32_t stack, unsigned space, uint64_t allocations,
                      uint64_t allocated_bytes, uint64_t frees, uint64_t freed_bytes,
                      uint32_t period)
{
    struct seep_site site = {
        .stack = stack,
        .space = (uint8_t)space,
        .slot_plus_1 = 1,
        .allocations = allocations,
        .allocated_bytes = allocated_bytes,
        .frees = frees,
        .freed_bytes = freed_bytes,
        .peak_bytes = allocated_bytes,
        .peak_period = period,
        .first_period = period,
        .last_period = period,
    };

    return builder_record(b, SEEP_CHUNK_SITES, &site, sizeof site, 64);
}

uint32_t builder_detail(struct builder *b, uint32_t site, const struct seep_point *points,
                        unsigned n)
{
    struct seep_detail detail = {.site = site};
    uint32_t capacity = n > SEEP_SERIES_SMALL ? SEEP_SERIES_LARGE : SEEP_SERIES_SMALL;
    uint32_t ref = builder_record(b, SEEP_CHUNK_DETAILS, &detail, sizeof detail, 64);
    uint32_t at = builder_record(b, SEEP_CHUNK_SERIES, NULL,
                                 sizeof(struct seep_series) + capacity * sizeof *points, 8);
    struct seep_series *series = builder_at(b, at);

    series->capacity = capacity;
    series->n = n;
    series->detail = ref;
    memcpy(series->points, points, n * sizeof *points);
    ((struct seep_detail *)builder_at(b, ref))->series = at;
    ((struct seep_site *)builder_at(b, site))->detail = ref;
    return ref;
}

/* As the shim coarsens: of each window of 2^shift periods the latest point stays. */
static unsigned coarsen(struct seep_point *points, unsigned n, unsigned most)
{
    for (unsigned shift = 1; n > most; shift++) {
        unsigned kept = 0;
        for (unsigned i = 0; i < n; i++) {
            if (i + 1 < n && points[i].period >> shift == points[i + 1].period >> shift)
                continue;
            points[kept++] = points[i];
        }
        n = kept;
    }
    return n;
}

/* Takes `n` of the oldest blocks out of born[period] and counts their ages in a detail record. */
static void free_oldest(uint64_t *born, uint64_t n, uint32_t now, struct seep_detail *ages)
{
    for (uint32_t period = 0; period <= now && n; period++) {
        uint64_t taken = born[period] < n ? born[period] : n;
        born[period] -= taken;
        n -= taken;
        ages->lifetimes[seep_lifetime_bucket(now - period)] += (uint32_t)taken;
        if (taken && now - period > ages->max_lifetime)
            ages->max_lifetime = now - period;
    }
}

uint32_t builder_level(struct builder *b, uint32_t stack, unsigned space, uint64_t each,
                       uint32_t last, uint64_t (*blocks)(uint32_t period, void *arg), void *arg)
{
    struct seep_point *points = calloc(last + 1, sizeof *points);
    struct seep_site s = {.stack = stack, .space = (uint8_t)space, .slot_plus_1 = 1};
    uint64_t *born = calloc(last + 1, sizeof *born), before = 0;
    struct seep_detail ages = {0};
    unsigned n = 0;

    if (!points || !born)
        abort();
    for (uint32_t period = 0; period <= last; period++) {
        uint64_t now = blocks(period, arg);
        if (now == before)
            continue;
        if (!s.allocations)
            s.first_period = period;
        s.allocations += now > before ? now - before : 0;
        s.frees += now < before ? before - now : 0;
        born[period] = now > before ? now - before : 0;
        free_oldest(born, now < before ? before - now : 0, period, &ages);
        if (now * each > s.peak_bytes) {
            s.peak_bytes = now * each;
            s.peak_period = period;
        }
        s.last_period = period;
        points[n++] = (struct seep_point){period, (uint32_t)now, now * each};
        before = now;
    }
    s.allocated_bytes = s.allocations * each;
    s.freed_bytes = s.frees * each;
    uint32_t site = builder_record(b, SEEP_CHUNK_SITES, &s, sizeof s, 64);
    if (n > 1) {
        uint32_t detail =
            builder_detail(b, site, points, coarsen(points, n - 1, SEEP_SERIES_LARGE));
        struct seep_detail *d = builder_at(b, detail);
        d->min_bytes = d->max_bytes = each;
        d->size_marks = UINT64_C(1) << (seep_hash_mix(each) >> 26);
        memcpy(d->lifetimes, ages.lifetimes, sizeof ages.lifetimes);
        d->max_lifetime = ages.max_lifetime;
    }
    free(born);
    free(points);
    return site;
}

/* Level of a site at the end of a period, by its series and its counters. */
static uint64_t live_at(struct builder *b, const struct seep_site *s, uint32_t period)
{
    uint64_t live = 0;

    if (period >= s->last_period)
        return s->allocated_bytes - s->freed_bytes;
    if (!s->detail)
        return 0;
    const struct seep_detail *d = builder_at(b, s->detail);
    const struct seep_series *series = builder_at(b, d->series);
    for (uint32_t i = 0; i < series->n && series->points[i].period <= period; i++)
        live = series->points[i].live_bytes;
    return live;
}

static uint64_t sum_at(struct builder *b, unsigned space, uint32_t period)
{
    uint64_t sum = 0;

    for (uint32_t c = 0; c < builder_header(b)->n_chunks; c++) {
        size_t at = SEEP_HEADER_BYTES + (size_t)c * SEEP_CHUNK_BYTES;
        if (builder_header(b)->chunk_types[c] != SEEP_CHUNK_SITES ||
            at < builder_header(b)->inherited_end)
            continue;
        const struct seep_site *sites = (const void *)(b->bytes + at);
        for (size_t i = 0; i < SEEP_CHUNK_BYTES / sizeof *sites; i++) {
            if (sites[i].slot_plus_1 && sites[i].space == space)
                sum += live_at(b, &sites[i], period);
        }
    }
    return sum;
}

void builder_timeline(struct builder *b, uint32_t last_period, uint64_t rss_bytes)
{
    uint32_t n = last_period + 1 < SEEP_TIMELINE_ROWS ? last_period + 1 : SEEP_TIMELINE_ROWS;
    uint64_t start = builder_header(b)->start_ns;

    for (unsigned space = 0; space < 3; space++) {
        uint32_t ref =
            builder_record(b, SEEP_CHUNK_TIMELINES, NULL, SEEP_TIMELINE_ROWS * sizeof(uint64_t), 8);
        builder_header(b)->spaces[space].timeline = ref;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t period = n > 1 ? (uint32_t)((uint64_t)last_period * i / (n - 1)) : 0;
            uint64_t live = sum_at(b, space, period);
            struct seep_header *h = builder_header(b);
            ((uint64_t *)builder_at(b, ref))[i] = live;
            if (live > h->spaces[space].peak_bytes) {
                h->spaces[space].peak_bytes = live;
                h->spaces[space].peak_period = period;
            }
            h->spaces[space].live_bytes = live;
            h->timeline[i] =
                (struct seep_timeline_row){.t_ns = start + (period + 1) * UINT64_C(100000000),
                                           .period = period,
                                           .rss_bytes = rss_bytes};
        }
    }
    struct seep_header *h = builder_header(b);
    h->n_timeline = n;
    h->end_ns = h->last_ns = start + (last_period + 2) * UINT64_C(100000000);
    h->rss_peak_bytes = rss_bytes;
}

struct seep_job *builder_job(uint32_t pid, uint64_t start_ns, uint32_t steps, uint32_t first)
{
    static const char argv[] = "python3\0train.py";
    struct seep_job *job = calloc(1, sizeof *job);

    if (!job)
        abort();
    job->magic = SEEP_JOB_MAGIC;
    job->version = SEEP_FORMAT_VERSION;
    job->n_processes = 1;
    job->started_ns = start_ns;
    job->started_unix_ns = UINT64_C(1700000000000000000) + start_ns;
    strcpy(job->host, "testhost");
    strcpy(job->cwd, "/home/user/project");
    memcpy(job->argv, argv, sizeof argv);
    job->argv_bytes = sizeof argv;
    job->processes[0] = (struct seep_process){
        .pid = pid,
        .ppid = 1,
        .start_ns = start_ns,
        .steps = steps,
        .first_step_period = steps ? first : 0,
        .period = steps ? first + steps : first,
        .step_source = steps ? SEEP_STEP_OPTIMIZER : SEEP_STEP_TIME,
    };
    return job;
}

static bool all_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i])
            return false;
    }
    return true;
}

static int write_sparse(const void *bytes, size_t n, const char *dir, const char *name)
{
    char path[4096];
    int rc = 0;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)n))
        rc = -1;
    for (size_t at = 0; at < n && !rc; at += 4096) {
        size_t k = n - at < 4096 ? n - at : 4096;
        const uint8_t *page = (const uint8_t *)bytes + at;
        if (!all_zero(page, k) && pwrite(fd, page, k, (off_t)at) != (ssize_t)k)
            rc = -1;
    }
    if (close(fd))
        rc = -1;
    return rc;
}

int builder_write(const struct builder *b, const char *dir, const char *name)
{
    return write_sparse(b->bytes, b->n_bytes, dir, name);
}

int builder_write_job(const struct seep_job *job, const char *dir)
{
    return write_sparse(job, sizeof *job, dir, SEEP_JOB_FILE);
}

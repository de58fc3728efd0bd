#include "libprof/torch/profile_write.h"

#include <stdlib.h>
#include <string.h>

/* New bytes are zero. */
enum { MAX_TEXT_BYTES = 4096 }; /* longer ones are cut */

static bool extend(struct seep_profile_writer *w, size_t n)
{
    const size_t before = w->capacity;

    if (w->failed || seep_grow(&w->bytes, &w->capacity, n, 1)) {
        w->failed = true;
        return false;
    }
    memset(w->bytes + before, 0, w->capacity - before);
    w->n_bytes = n > w->n_bytes ? n : w->n_bytes;
    return true;
}

struct seep_header *seep_profile_header(struct seep_profile_writer *w)
{
    return w->failed ? NULL : (struct seep_header *)w->bytes;
}

void seep_profile_begin(struct seep_profile_writer *w, uint64_t start_ns)
{
    if (!extend(w, SEEP_HEADER_BYTES))
        return;
    struct seep_header *h = seep_profile_header(w);
    h->magic = SEEP_PROFILE_MAGIC;
    h->version = SEEP_FORMAT_VERSION;
    h->header_bytes = SEEP_HEADER_BYTES;
    h->chunk_bytes = SEEP_CHUNK_BYTES;
    h->max_bytes = SEEP_HEADER_BYTES + (uint64_t)SEEP_MAX_CHUNKS * SEEP_CHUNK_BYTES;
    h->start_ns = h->start_unix_ns = start_ns;
    h->inherited_end = SEEP_HEADER_BYTES;
    h->rank = -1;
}

static bool new_chunk(struct seep_profile_writer *w, enum seep_chunk_type type)
{
    struct seep_header *h = seep_profile_header(w);
    const uint32_t chunk = h ? h->n_chunks : SEEP_MAX_CHUNKS;

    if (chunk >= SEEP_MAX_CHUNKS ||
        !extend(w, SEEP_HEADER_BYTES + ((size_t)chunk + 1) * SEEP_CHUNK_BYTES)) {
        w->failed = true;
        return false;
    }
    h = seep_profile_header(w);
    h->chunk_types[chunk] = (uint8_t)type;
    h->n_chunks = chunk + 1;
    w->chunk[type] = chunk + 1;
    w->used[type] = 0;
    return true;
}

uint32_t seep_profile_add(struct seep_profile_writer *w, enum seep_chunk_type type,
                          const void *record, size_t n)
{
    const uint32_t align = n % 64 == 0 ? 64 : 8;
    uint32_t at = (w->used[type] + align - 1) & ~(align - 1);

    if (n > SEEP_CHUNK_BYTES) {
        w->failed = true;
        return 0;
    }
    if (!w->chunk[type] || at + n > SEEP_CHUNK_BYTES) {
        if (!new_chunk(w, type))
            return 0;
        at = 0;
    }
    const size_t offset = SEEP_HEADER_BYTES + (size_t)(w->chunk[type] - 1) * SEEP_CHUNK_BYTES + at;
    w->used[type] = at + (uint32_t)n;
    if (record)
        memcpy(w->bytes + offset, record, n);
    return (uint32_t)(offset / 8);
}

void *seep_profile_record(struct seep_profile_writer *w, uint32_t ref)
{
    return w->failed || !ref ? NULL : w->bytes + (size_t)ref * 8;
}

uint32_t seep_profile_add_string(struct seep_profile_writer *w, const char *text)
{
    const size_t n = strnlen(text, MAX_TEXT_BYTES);
    const uint32_t ref =
        seep_profile_add(w, SEEP_CHUNK_STRINGS, NULL, (sizeof(struct seep_string) + n + 8) / 8 * 8);
    struct seep_string *s = seep_profile_record(w, ref);

    if (s) {
        s->n_bytes = (uint32_t)n;
        memcpy(s->text, text, n);
    }
    return ref;
}

uint32_t seep_profile_add_python(struct seep_profile_writer *w, const char *file,
                                 const char *function, uint32_t line)
{
    const struct seep_code_object code = {.file = seep_profile_add_string(w, file),
                                          .function = seep_profile_add_string(w, function)};
    const struct seep_frame frame = {
        .kind = SEEP_FRAME_PYTHON,
        .source = seep_profile_add(w, SEEP_CHUNK_CODES, &code, sizeof code),
        .where = line,
    };

    return seep_profile_add(w, SEEP_CHUNK_FRAMES, &frame, sizeof frame);
}

uint32_t seep_profile_add_stack(struct seep_profile_writer *w, uint32_t parent, uint32_t frame)
{
    const struct seep_pairs pairs = {w->nodes, sizeof *w->nodes};
    const uint32_t found = seep_pair_find(&w->node_index, pairs, parent, frame);

    if (found != SEEP_HASH_NONE)
        return w->nodes[found].ref;
    const struct seep_stack stack = {parent, frame};
    const uint32_t ref = seep_profile_add(w, SEEP_CHUNK_STACKS, &stack, sizeof stack);
    if (seep_grow(&w->nodes, &w->nodes_capacity, w->n_nodes + 1, sizeof *w->nodes)) {
        w->failed = true;
        return 0;
    }
    w->nodes[w->n_nodes] = (struct seep_profile_node){parent, frame, ref};
    w->failed |= seep_pair_add(&w->node_index, (struct seep_pairs){w->nodes, sizeof *w->nodes},
                               (uint32_t)w->n_nodes) != 0;
    w->n_nodes++;
    return ref;
}

void seep_profile_end(struct seep_profile_writer *w)
{
    struct seep_header *h = seep_profile_header(w);

    if (h)
        h->check = seep_header_check(h);
}

void seep_profile_writer_fini(struct seep_profile_writer *w)
{
    free(w->bytes);
    free(w->nodes);
    seep_pair_fini(&w->node_index);
    memset(w, 0, sizeof *w);
}

struct seep_job *seep_profile_job(uint32_t number, uint64_t start_ns)
{
    struct seep_job *job = calloc(1, sizeof *job);

    if (!job)
        return NULL;
    job->magic = SEEP_JOB_MAGIC;
    job->version = SEEP_FORMAT_VERSION;
    job->n_processes = 1;
    job->started_ns = job->started_unix_ns = start_ns;
    job->processes[0] = (struct seep_process){.pid = number,
                                              .start_ns = start_ns,
                                              .step_source = SEEP_STEP_TIME,
                                              .flags = SEEP_PROCESS_PROFILE};
    return job;
}

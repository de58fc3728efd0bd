/* Any bytes as a job of two profiles, the second forked from the first, and a job table: runs the
 * reader, the merge, the verdicts and both reports.
 *
 * Profiles are large and mostly zero, so the input is a compact form: a flag byte, then operations,
 * each an opcode and its operands (little-endian):
 *   0 n16 bytes…  writes n bytes at the position
 *   1 n24         advances the position by n
 *   2             continues with the second profile, at 0
 *   3             continues with the job table, at 0
 * Flag bit 0: headers are made valid afterwards, so that the code behind them is reached; bit 1:
 * every site is reported, with its series, and in all other tools' formats; bit 2: no job table.
 * seed_profiles.c writes the first inputs of the corpus. */
#include "libprof/analysis.h"
#include "libprof/export/export_formats.h"
#include "libprof/print/report_text.h"
#include "libprof/read/job_read.h"
#include "libprof/read/profile_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = SEEP_HEADER_BYTES + 24 * SEEP_CHUNK_BYTES };

struct area {
    uint8_t *bytes;
    size_t capacity, used, at;
};

static void put(struct area *a, const uint8_t *bytes, size_t n)
{
    if (a->at + n > a->capacity)
        n = a->capacity > a->at ? a->capacity - a->at : 0;
    if (!n)
        return;
    memcpy(a->bytes + a->at, bytes, n);
    a->at += n;
    if (a->at > a->used)
        a->used = a->at;
}

static void skip(struct area *a, size_t n)
{
    a->at = a->at + n < a->capacity ? a->at + n : a->capacity;
    if (a->at > a->used)
        a->used = a->at;
}

static void expand(const uint8_t *data, size_t size, struct area areas[3])
{
    struct area *a = &areas[0];

    for (size_t i = 0; i < size;) {
        uint8_t op = data[i++];
        if (op == 2 || op == 3) {
            a = &areas[op - 1];
            a->at = 0;
        } else if (op == 1 && i + 3 <= size) {
            skip(a, data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16);
            i += 3;
        } else if (op == 0 && i + 2 <= size) {
            size_t n = data[i] | (size_t)data[i + 1] << 8;
            i += 2;
            if (n > size - i)
                n = size - i;
            put(a, data + i, n);
            i += n;
        }
    }
}

static void heal(struct area *a, const struct area *parent)
{
    struct seep_header *h = (struct seep_header *)a->bytes;

    if (!a->used)
        return;
    if (a->used < SEEP_HEADER_BYTES)
        a->used = SEEP_HEADER_BYTES;
    h->magic = SEEP_PROFILE_MAGIC;
    h->version = SEEP_FORMAT_VERSION;
    h->header_bytes = SEEP_HEADER_BYTES;
    h->chunk_bytes = SEEP_CHUNK_BYTES;
    h->n_chunks =
        (uint32_t)((a->used - SEEP_HEADER_BYTES + SEEP_CHUNK_BYTES - 1) / SEEP_CHUNK_BYTES);
    if (!parent || h->inherited_end % SEEP_CHUNK_BYTES != SEEP_HEADER_BYTES % SEEP_CHUNK_BYTES ||
        h->inherited_end < SEEP_HEADER_BYTES || h->inherited_end > MAX_BYTES)
        h->inherited_end = SEEP_HEADER_BYTES;
    if (parent)
        strcpy(h->parent_file, "a.seep");
    h->check = seep_header_check(h);
}

static struct seep_job *job_of(const struct area *a, int healed)
{
    struct seep_job *job = NULL;
    struct seep_job *copy = calloc(1, sizeof *copy);

    if (!copy)
        return NULL;
    memcpy(copy, a->bytes, a->used < sizeof *copy ? a->used : sizeof *copy);
    if (healed) {
        copy->magic = SEEP_JOB_MAGIC;
        copy->version = SEEP_FORMAT_VERSION;
    }
    if (seep_job_from_bytes(copy, sizeof *copy, &job, NULL))
        job = NULL;
    free(copy);
    return job;
}

static void print(const json_t *report)
{
    char *text = NULL, *json = json_dumps(report, 0);
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (!json)
        abort(); /* jansson refuses what is no UTF-8 */
    if (out && seep_report_text(report, NULL, out, &(struct seep_report_look){.colour = true}))
        abort();
    if (out)
        fclose(out);
    free(text);
    free(json);
}

static void print_formats(const json_t *report)
{
    static seep_export *const all[] = {
#define SEEP_EXPORT_FORMAT(function, ...) seep_export_##function,
#include "libprof/export/export_formats.def"
#undef SEEP_EXPORT_FORMAT
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct seep_export_options o = {.profile = "x"};
        struct seep_json_stream_of_list sites;
        char *text = NULL;
        size_t n;
        FILE *out = open_memstream(&text, &n);
        seep_json_stream_of_list(&sites, json_object_get(report, "sites"));
        int rc = out ? all[i](report, &sites.stream, &o, out) : 0;
        if (rc && rc != -SEEP_ENODATA)
            abort();
        if (out)
            fclose(out);
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t all_bytes = 2 * (size_t)MAX_BYTES + sizeof(struct seep_job);
    static uint8_t *memory;
    struct seep_profile *profiles[2];
    size_t n = 0;
    json_t *report = NULL;

    if (size < 2)
        return 0;
    if (!memory)
        memory = malloc(all_bytes);
    if (!memory)
        return 0;
    struct area areas[3] = {{memory, MAX_BYTES, 0, 0},
                            {memory + MAX_BYTES, MAX_BYTES, 0, 0},
                            {memory + 2 * (size_t)MAX_BYTES, sizeof(struct seep_job), 0, 0}};
    memset(memory, 0, all_bytes);
    expand(data + 1, size - 1, areas);
    if (data[0] & 1) {
        heal(&areas[0], NULL);
        heal(&areas[1], &areas[0]);
    }
    if (!seep_profile_from_bytes("a.seep", areas[0].bytes, areas[0].used, &profiles[n], NULL))
        n++;
    if (!seep_profile_from_bytes("b.seep", areas[1].bytes, areas[1].used, &profiles[n], NULL))
        n++;
    if (!n)
        return 0;
    struct seep_job *job = data[0] & 4 ? NULL : job_of(&areas[2], data[0] & 1);
    const bool all = (data[0] & 2) != 0;
    struct seep_analysis_options opts = {.all_sites = all, .series = all, .layouts = all};
    if (!seep_analyse_profiles(profiles, n, job, &opts, &report, NULL)) {
        print(report);
        if (all)
            print_formats(report);
    }
    json_decref(report);
    return 0;
}

/* Writes the first inputs of fuzz_profile's corpus: seed_profiles DIR. Run it by hand if the format
 * changes:
 *   cc -D_GNU_SOURCE -I. -o /tmp/seed tests/fuzz/seed_profiles.c tests/profile_builder.c
 *   /tmp/seed build/fuzz/corpus/fuzz_profile && make fuzz-pack */
#include "tests/profile_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_literal(FILE *out, const uint8_t *bytes, size_t n)
{
    for (size_t k; n; bytes += k, n -= k) {
        k = n < 65535 ? n : 65535;
        fputc(0, out);
        fputc((int)(k & 255), out);
        fputc((int)(k >> 8), out);
        fwrite(bytes, 1, k, out);
    }
}

static void put_zeros(FILE *out, size_t n)
{
    for (size_t k; n; n -= k) {
        k = n < 0xffffff ? n : 0xffffff;
        fputc(1, out);
        fputc((int)(k & 255), out);
        fputc((int)(k >> 8 & 255), out);
        fputc((int)(k >> 16), out);
    }
}

/* Runs of eight zeros or more become one operation. */
static void put_compact(FILE *out, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t from = i, zeros = 0;
        while (i < n && zeros < 8)
            zeros = bytes[i++] ? 0 : zeros + 1;
        size_t end = i - zeros;
        while (i < n && !bytes[i])
            i++;
        if (end > from)
            put_literal(out, bytes + from, end - from);
        if (i > end)
            put_zeros(out, i - end);
    }
}

static void write_seed(const char *dir, const char *name, int flags, const struct builder *a,
                       const struct builder *b, const struct seep_job *job)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *out = fopen(path, "w");
    if (!out)
        exit(1);
    fputc(flags, out);
    put_compact(out, a->bytes, a->n_bytes);
    if (b) {
        fputc(2, out);
        put_compact(out, b->bytes, b->n_bytes);
    }
    if (job) {
        fputc(3, out);
        put_compact(out, (const uint8_t *)job, sizeof *job);
    }
    fclose(out);
}

static uint64_t rising(uint32_t period, void *arg)
{
    (void)arg;
    return period >= 3 ? 2 * (period - 2) : 0;
}

static uint64_t filling(uint32_t period, void *arg)
{
    (void)arg;
    return period >= 3 ? 4 * (period < 22 ? period - 2 : 20) : 0;
}

static uint64_t loaded(uint32_t period, void *arg)
{
    (void)arg;
    return period < 3 ? 8 * (period + 1) : period < 43 ? 24 : 0;
}

static void fill(struct builder *b)
{
    uint32_t outer = builder_stack(b, 0, builder_python(b, "/home/u/train.py", "main", 9));
    uint32_t item = builder_stack(b, outer, builder_python(b, "/home/u/data.py", "__getitem__", 3));
    uint32_t native = builder_stack(b, item, builder_native(b, "/usr/lib/libc10.so", "ab12", 0x40));

    builder_level(b, native, 0, 65536, 43, rising, NULL);
    builder_level(b, item, 1, 65536, 43, filling, NULL);
    builder_level(b, outer, 0, 1 << 20, 43, loaded, NULL);
    builder_site(b, outer, 2, 5, 500, 5, 500, 2);
    builder_timeline(b, 43, 1 << 26);
}

/* A segment of a device, and a tensor in it, as there was no room. */
static void fill_device(struct builder *b)
{
    const uint32_t stack =
        builder_stack(b, 0, builder_python(b, "/home/u/train.py", "forward", 12));

    strcpy(builder_header(b)->spaces[3].name, "device:0");
    strcpy(builder_header(b)->spaces[4].name, "tensor:0");
    const uint32_t segment = builder_site(b, stack, 3, 1, 1 << 21, 0, 0, 9);
    const uint32_t tensor = builder_site(b, stack, 4, 1, 1 << 20, 0, 0, 9);
    const uint32_t ref = builder_record(b, SEEP_CHUNK_LAYOUTS, NULL, SEEP_CHUNK_BYTES, 64);
    struct seep_layout_piece *its = builder_at(b, ref);
    *its = (struct seep_layout_piece){.t_ns = 1500000000,
                                      .end_t_ns = 1500000000,
                                      .asked_bytes = 1 << 23,
                                      .reason = SEEP_LAYOUT_FAILED,
                                      .period = 9,
                                      .n_pieces = 1,
                                      .n_blocks = 2};
    its->blocks[0] = (struct seep_layout_block){1 << 21, 1 << 21, segment / 8, SEEP_LAYOUT_SEGMENT};
    its->blocks[1] = (struct seep_layout_block){1 << 21, 1 << 20, tensor / 8, SEEP_LAYOUT_TENSOR};
    builder_header(b)->devices.tensors[0].reports = 1;
    builder_header(b)->devices.n_ooms = 2;
    builder_header(b)->devices.ooms[0] = (struct seep_device_oom){
        .t_ns = 1500000000, .asked_bytes = 1 << 23, .reserved_bytes = 1 << 21, .period = 9};
    builder_header(b)->devices.ooms[1] = (struct seep_device_oom){.t_ns = 1600000000,
                                                                  .asked_bytes = 1 << 23,
                                                                  .period = 9,
                                                                  .source = SEEP_OOM_BY_PROGRAM,
                                                                  .space = SEEP_SPACE_SHM};
    builder_header(b)->spaces[SEEP_SPACE_SHM].capacity_bytes = 1 << 24;
    builder_header(b)->host_ooms.n = 1;
    builder_header(b)->host_ooms.list[0] =
        (struct seep_host_oom){.t_ns = 1500000000, .asked_bytes = 1 << 30, .period = 9};
}

int main(int argc, char **argv)
{
    const uint64_t start = 1000000000;
    struct builder a, b;

    if (argc != 2)
        return 1;
    struct seep_job *job = builder_job(100, start, 40, 3);
    builder_init(&a, 100, start);
    write_seed(argv[1], "empty", 1, &a, NULL, NULL);
    fill(&a);
    for (uint32_t i = 0; i < 2; i++)
        builder_header(&a)->epochs[i] = (struct seep_epoch_mark){.t_ns = 1, .period = 3 + 20 * i};
    builder_header(&a)->n_epochs = 2;
    write_seed(argv[1], "steps", 3, &a, NULL, job);
    write_seed(argv[1], "time", 5, &a, NULL, NULL);
    write_seed(argv[1], "unhealed", 0, &a, NULL, job);
    fill_device(&a);
    write_seed(argv[1], "layout", 3, &a, NULL, job);
    builder_init_fork(&b, &a, "a.seep", 101, start + 1000000000);
    builder_header(&b)->process_plus_1 = 2;
    uint32_t loop = builder_stack(
        &b, 0,
        builder_python(&b, "/usr/lib/python3/dist-packages/torch/utils/data/_utils/worker.py",
                       "_worker_loop", 1));
    builder_level(&b, loop, 0, 65536, 43, rising, NULL);
    builder_timeline(&b, 30, 1 << 25);
    job->n_processes = 2;
    job->processes[1] = (struct seep_process){.pid = 101, .ppid = 100, .follows = 1};
    write_seed(argv[1], "fork", 1, &a, &b, job);
    free(job);
    builder_fini(&a);
    builder_fini(&b);
    return 0;
}

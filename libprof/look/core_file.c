#include "libprof/look/core_file.h"

#include "libprof/arch/arch.h"
#include "libprof/base/page_bytes.h"
#include "libprof/base/text.h"
#include "libprof/format/address_bits.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_SEGMENTS = 1 << 18,
    MAX_NOTES = 64 << 20, /* bytes: 4 KiB a thread */
    PAGES = 256 << 10,    /* bytes of pages that are looked at at once */
};
#define MAX_ADDRESS (UINT64_C(1) << SEEP_ADDRESS_BITS)

static bool read_at(const struct seep_core_file *core, uint64_t offset, void *to, size_t n)
{
    return offset <= core->size && n <= core->size - offset &&
           pread(core->fd, to, n, (off_t)offset) == (ssize_t)n;
}

/* ---- its memory ------------------------------------------------------------------------------ */

/* The first segment that ends after `address`; `n`: there is none. */
static size_t segment_after(const struct seep_core_file *core, uint64_t address)
{
    size_t low = 0, high = core->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (core->segments[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many bytes the core file itself has from `address` on. */
static size_t read_segment(const struct seep_core_file *core, uint64_t address, void *to, size_t n)
{
    const size_t i = segment_after(core, address);
    const struct seep_core_segment *s = &core->segments[i];

    if (i == core->n || address < s->start || address - s->start >= s->bytes)
        return 0;
    const uint64_t left = s->bytes - (address - s->start);
    const ssize_t got =
        pread(core->fd, to, n < left ? n : (size_t)left, (off_t)(s->offset + (address - s->start)));
    return got > 0 ? (size_t)got : 0;
}

static size_t read_memory(struct seep_core_file *core, uint64_t address, uint8_t *to, size_t n)
{
    size_t done = 0;

    while (done < n) {
        size_t got = read_segment(core, address + done, to + done, n - done);
        if (!got && core->files.fds) {
            /* Up to where the core file has its own contents again. */
            const size_t i = segment_after(core, address + done);
            const uint64_t next = i < core->n && core->segments[i].start > address + done
                                      ? core->segments[i].start - (address + done)
                                      : n - done;
            got = seep_file_pages_read(&core->files, address + done, to + done,
                                       next < n - done ? (size_t)next : n - done);
        }
        if (!got)
            break;
        done += got;
    }
    return done;
}

static size_t gather(struct seep_remote *remote, const struct seep_memory_piece *pieces, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        const size_t got = read_memory((struct seep_core_file *)remote, pieces[i].address,
                                       pieces[i].to, pieces[i].n);
        sum += got;
        if (got < pieces[i].n)
            break;
    }
    return sum;
}

static bool is_zero(const char *page, size_t n)
{
    return !page[0] && memcmp(page, page + 1, n - 1) == 0;
}

/* Pages [at, at + n) of memory that a program never touched are zeros in a core file. */
static int each_run(const char *pages, uint64_t at, size_t n, bool zeros_too,
                    seep_page_run_taker *take, void *arg)
{
    const size_t page = SEEP_MEMORY_PAGE;
    int rc = 0;

    for (size_t i = 0; i < n && !rc;) {
        const size_t from = i;
        while (i < n && (zeros_too || !is_zero(pages + i, page)))
            i += page;
        if (i > from)
            rc = take(arg, at + from, at + i);
        while (i < n && !zeros_too && is_zero(pages + i, page))
            i += page;
    }
    return rc;
}

/* The offset of the next byte that is not in a hole of the file. */
static uint64_t next_data(const struct seep_core_file *core, uint64_t offset)
{
    const off_t next = lseek(core->fd, (off_t)offset, SEEK_DATA);

    return next >= 0 ? (uint64_t)next : errno == ENXIO ? core->size : offset;
}

static int pages_of_segment(struct seep_core_file *core, const struct seep_core_segment *s,
                            uint64_t start, uint64_t end, seep_page_run_taker *take, void *arg)
{
    const uint64_t page = SEEP_MEMORY_PAGE, stop = s->start + s->bytes;
    const bool of_file = seep_core_mapping_at(&core->notes, s->start) != NULL;
    int rc = 0;

    start = start > s->start ? start : s->start;
    end = end < stop ? end : stop & ~(page - 1);
    while (start < end && !rc) {
        if (!of_file) { /* a hole reads as zeros */
            const uint64_t at = s->offset + (start - s->start), data = next_data(core, at);
            start += (data - at) & ~(page - 1);
        }
        const uint64_t n = start < end ? (end - start < PAGES ? end - start : PAGES) : 0;
        const size_t got = n ? read_segment(core, start, core->pages, n) & ~(page - 1) : 0;
        if (!got)
            break;
        rc = each_run(core->pages, start, got, of_file, take, arg);
        start += got;
    }
    return rc;
}

/* Those that a file has too are the file's or were changed: a core file does not say which. */
static int own_pages(struct seep_remote *remote, uint64_t start, uint64_t end, bool files_too,
                     seep_page_run_taker *take, void *arg)
{
    struct seep_core_file *core = (struct seep_core_file *)remote;
    int rc = 0;

    (void)files_too;
    for (size_t i = segment_after(core, start); i < core->n && !rc; i++) {
        if (core->segments[i].start >= end)
            break;
        rc = pages_of_segment(core, &core->segments[i], start, end, take, arg);
    }
    return rc;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct seep_core_segment *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static void add_segment(struct seep_core_file *core, const Elf64_Phdr *h, uint64_t *cut)
{
    const uint64_t page = SEEP_MEMORY_PAGE;
    uint64_t bytes = h->p_filesz < h->p_memsz ? h->p_filesz : h->p_memsz;
    const uint64_t there = h->p_offset < core->size ? core->size - h->p_offset : 0;

    if (h->p_vaddr % page || h->p_vaddr >= MAX_ADDRESS || !h->p_memsz ||
        h->p_memsz > MAX_ADDRESS - h->p_vaddr)
        return;
    *cut += bytes > there ? bytes - there : 0;
    bytes = bytes < there ? bytes : there;
    core->segments[core->n++] = (struct seep_core_segment){.start = h->p_vaddr,
                                                           .end = h->p_vaddr + h->p_memsz,
                                                           .offset = h->p_offset,
                                                           .bytes = bytes,
                                                           .flags = h->p_flags,
                                                           .left_out = !h->p_filesz};
}

/* Several that have the same contents would take more time than the file is large. */
static void sort_segments(struct seep_core_file *core)
{
    uint64_t room = core->size;
    size_t n = 0;

    if (core->n)
        qsort(core->segments, core->n, sizeof *core->segments, by_start);
    for (size_t i = 0; i < core->n; i++) {
        struct seep_core_segment s = core->segments[i];
        if (n && s.start < core->segments[n - 1].end)
            continue;
        s.bytes = s.bytes < room ? s.bytes : room;
        room -= s.bytes;
        core->segments[n++] = s;
    }
    core->n = n;
}

static int read_notes(struct seep_core_file *core, const Elf64_Phdr *h)
{
    uint64_t n = h->p_offset < core->size ? core->size - h->p_offset : 0;

    n = n < h->p_filesz ? n : h->p_filesz;
    n = n < MAX_NOTES ? n : MAX_NOTES;
    char *bytes = malloc((size_t)n + 1);
    if (!bytes)
        return -SEEP_ENOMEM;
    if (!read_at(core, h->p_offset, bytes, (size_t)n))
        n = 0;
    return seep_core_notes_parse(&core->notes, bytes, (size_t)n);
}

/* 65,535 and more are counted in the first section's head. */
static uint64_t count_segments(const struct seep_core_file *core, const Elf64_Ehdr *head)
{
    Elf64_Shdr first;

    if (head->e_phnum != PN_XNUM)
        return head->e_phnum;
    return read_at(core, head->e_shoff, &first, sizeof first) ? first.sh_info : 0;
}

static int read_segments(struct seep_core_file *core, const Elf64_Ehdr *head)
{
    const uint64_t all = count_segments(core, head);
    const size_t n = all < MAX_SEGMENTS ? (size_t)all : MAX_SEGMENTS;
    uint64_t cut = 0, lost = 0;
    char size[SEEP_SIZE_TEXT];
    int rc = 0;

    core->segments = malloc((n + 1) * sizeof *core->segments);
    if (!core->segments)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n && !rc; i++) {
        Elf64_Phdr h;
        if (head->e_phoff > core->size ||
            !read_at(core, head->e_phoff + i * sizeof h, &h, sizeof h))
            lost = all - i;
        if (lost)
            break;
        if (h.p_type == PT_LOAD)
            add_segment(core, &h, &cut);
        else if (h.p_type == PT_NOTE && !core->notes.bytes)
            rc = read_notes(core, &h);
    }
    sort_segments(core);
    if (cut) {
        seep_text_size((double)cut, size);
        seep_core_miss(core->missing, "the file is cut short by %s", size);
    }
    if (lost || all > n)
        seep_core_miss(core->missing, "%" PRIu64 " of its %" PRIu64 " segments cannot be read",
                       lost ? lost : all - n, all);
    return rc;
}

static int refuse(struct seep_error *err, const char *path, const char *why)
{
    return seep_error_set(err, SEEP_EFORMAT, path, 0, "%s", why);
}

static int open_it(struct seep_core_file *core, const char *path, Elf64_Ehdr *head,
                   struct seep_error *err)
{
    struct stat st;

    core->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (core->fd < 0 || fstat(core->fd, &st))
        return seep_error_set(err, SEEP_EIO, path, 0, "%s", strerror(errno));
    core->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    if (!read_at(core, 0, head, sizeof *head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
        return refuse(err, path, "this is no core file");
    if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != SEEP_ARCH_MACHINE)
        return seep_error_set(err, SEEP_EFORMAT, path, 0,
                              "this is a file of another processor: seep reads those of %s here",
                              SEEP_ARCH_NAME);
    if (head->e_type != ET_CORE || head->e_phentsize != sizeof(Elf64_Phdr))
        return refuse(err, path, "this is a program or library, not a core file");
    return 0;
}

static int read_maps(struct seep_remote *remote, struct seep_maps *maps)
{
    const struct seep_core_file *core = (const struct seep_core_file *)remote;

    return seep_maps_parse(maps, core->maps_text, core->n_maps_text);
}

static int make_maps(struct seep_core_file *core, const char *program, struct seep_error *err)
{
    const struct seep_core_parts parts = {.segments = core->segments,
                                          .n = core->n,
                                          .notes = &core->notes,
                                          .remote = &core->remote,
                                          .program = program,
                                          .missing = core->missing};
    const int rc = seep_core_maps_write(&parts, &core->maps_text, &core->n_maps_text, err);

    return rc ? rc : seep_maps_parse(&core->maps, core->maps_text, core->n_maps_text);
}

int seep_core_file_open(struct seep_core_file *core, const char *path, const char *program,
                        struct seep_error *err)
{
    Elf64_Ehdr head;

    *core = (struct seep_core_file){.remote = {gather, own_pages, read_maps, getpid(), false},
                                    .fd = -1,
                                    .pages = malloc(PAGES)};
    int rc = core->pages ? open_it(core, path, &head, err) : -SEEP_ENOMEM;
    if (!rc)
        rc = read_segments(core, &head);
    if (!rc && !core->n)
        rc = refuse(err, path, "no memory of a process is in it");
    core->remote.page_bytes = core->notes.page_bytes ? core->notes.page_bytes : seep_page_bytes();
    if (!rc)
        rc = make_maps(core, program, err);
    if (!rc)
        rc = seep_file_pages_init(&core->files, &core->maps, getpid());
    if (rc == -SEEP_ENOMEM)
        seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    return rc;
}

void seep_core_file_close(struct seep_core_file *core)
{
    seep_file_pages_fini(&core->files);
    seep_maps_fini(&core->maps);
    seep_core_notes_fini(&core->notes);
    free(core->maps_text);
    free(core->segments);
    free(core->pages);
    if (core->fd >= 0)
        close(core->fd);
    *core = (struct seep_core_file){.fd = -1};
}

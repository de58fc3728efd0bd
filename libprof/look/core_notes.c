#include "libprof/look/core_notes.h"

#include "libprof/base/text.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

_Static_assert(SEEP_CORE_COMMAND == ELF_PRARGSZ + 1, "a zero byte more");

enum { MOST_MAPPINGS = 1 << 18 }; /* the kernel's limit is 65,530, if nobody has raised it */

static uint64_t word_at(const char *bytes, size_t i)
{
    uint64_t word;

    memcpy(&word, bytes + i * sizeof word, sizeof word);
    return word;
}

static void take_process(struct seep_core_notes *notes, const char *bytes, size_t n)
{
    struct elf_prpsinfo info;

    if (n < sizeof info)
        return;
    memcpy(&info, bytes, sizeof info);
    notes->pid = info.pr_pid > 0 ? info.pr_pid : 0;
    notes->parent = info.pr_ppid > 0 ? info.pr_ppid : 0;
    size_t length = strnlen(info.pr_psargs, sizeof info.pr_psargs);
    while (length && info.pr_psargs[length - 1] == ' ')
        length--;
    memcpy(notes->command, info.pr_psargs, length);
    (void)seep_text_clean_in_place(notes->command, length);
}

static void take_auxiliary(struct seep_core_notes *notes, const char *bytes, size_t n)
{
    for (size_t i = 0; (i + 2) * sizeof(uint64_t) <= n && word_at(bytes, i) != AT_NULL; i += 2) {
        if (word_at(bytes, i) == AT_PHDR)
            notes->program = word_at(bytes, i + 1);
        else if (word_at(bytes, i) == AT_RANDOM)
            notes->stack = word_at(bytes, i + 1);
    }
}

static int by_start(const void *a, const void *b)
{
    const struct seep_core_mapping *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static void leave_out_overlaps(struct seep_core_notes *notes)
{
    size_t n = 0;

    if (notes->n)
        qsort(notes->mappings, notes->n, sizeof *notes->mappings, by_start);
    for (size_t i = 0; i < notes->n; i++) {
        const struct seep_core_mapping m = notes->mappings[i];
        if (m.start < m.end && m.end <= UINT64_C(1) << 47 &&
            (!n || m.start >= notes->mappings[n - 1].end))
            notes->mappings[n++] = m;
    }
    notes->n = n;
}

/* How many there are, the page size, three words for each, and their names. */
static int take_files(struct seep_core_notes *notes, const char *bytes, size_t n)
{
    enum { HEAD = 2, WORDS = 3 };
    const size_t words = n / sizeof(uint64_t);
    uint64_t count, page;

    if (words < HEAD || notes->mappings)
        return 0;
    count = word_at(bytes, 0);
    page = word_at(bytes, 1);
    if (count > (words - HEAD) / WORDS || count > MOST_MAPPINGS || page > UINT32_MAX)
        return 0;
    notes->mappings = calloc((size_t)count + 1, sizeof *notes->mappings);
    if (!notes->mappings)
        return -SEEP_ENOMEM;
    const char *name = bytes + (HEAD + count * WORDS) * sizeof(uint64_t), *end = bytes + n;
    for (size_t i = 0; i < count; i++) {
        const char *zero = memchr(name, 0, (size_t)(end - name));
        if (!zero)
            break;
        notes->mappings[notes->n++] =
            (struct seep_core_mapping){.start = word_at(bytes, HEAD + i * WORDS),
                                       .end = word_at(bytes, HEAD + i * WORDS + 1),
                                       .offset = word_at(bytes, HEAD + i * WORDS + 2) * page,
                                       .name = name};
        name = zero + 1;
    }
    leave_out_overlaps(notes);
    return 0;
}

static int take_note(struct seep_core_notes *notes, uint32_t type, const char *bytes, size_t n)
{
    if (type == NT_PRPSINFO)
        take_process(notes, bytes, n);
    else if (type == NT_AUXV)
        take_auxiliary(notes, bytes, n);
    else if (type == NT_FILE)
        return take_files(notes, bytes, n);
    return 0;
}

int seep_core_notes_parse(struct seep_core_notes *notes, char *bytes, size_t n)
{
    static const char owner[] = "CORE";
    int rc = 0;

    *notes = (struct seep_core_notes){.bytes = bytes};
    for (size_t at = 0; n - at >= sizeof(Elf64_Nhdr) && !rc;) {
        Elf64_Nhdr head;
        memcpy(&head, bytes + at, sizeof head);
        at += sizeof head;
        const size_t name = ((size_t)head.n_namesz + 3) & ~(size_t)3;
        const size_t text = ((size_t)head.n_descsz + 3) & ~(size_t)3;
        if (name > n - at || head.n_descsz > n - at - name)
            break;
        if (head.n_namesz == sizeof owner && memcmp(bytes + at, owner, sizeof owner) == 0)
            rc = take_note(notes, head.n_type, bytes + at + name, head.n_descsz);
        at += name;
        at += text < n - at ? text : n - at;
    }
    return rc;
}

void seep_core_notes_fini(struct seep_core_notes *notes)
{
    free(notes->bytes);
    free(notes->mappings);
    *notes = (struct seep_core_notes){0};
}

const struct seep_core_mapping *seep_core_mapping_at(const struct seep_core_notes *notes,
                                                     uint64_t address)
{
    size_t low = 0, high = notes->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (notes->mappings[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < notes->n && notes->mappings[low].start <= address ? &notes->mappings[low] : NULL;
}

#include "libprof/look/core_maps.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libprof/base/hash_index.h"
#include "libprof/base/text.h"
#include "libprof/format/address_bits.h"
#include "libprof/format/page_format.h"
#include "libprof/format/profile_format.h"

_Static_assert(SEEP_CORE_COMMAND == ELF_PRARGSZ + 1, "a zero byte more");

enum { MAX_MAPPINGS = 1 << 18 }; /* the kernel's limit is 65,530, if nobody has raised it */

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
        else if (word_at(bytes, i) == AT_PAGESZ && seep_is_page_size(word_at(bytes, i + 1)))
            notes->page_bytes = word_at(bytes, i + 1);
    }
}

static int by_file_start(const void *a, const void *b)
{
    const struct seep_core_mapping *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static void leave_out_overlaps(struct seep_core_notes *notes)
{
    size_t n = 0;

    if (notes->n)
        qsort(notes->mappings, notes->n, sizeof *notes->mappings, by_file_start);
    for (size_t i = 0; i < notes->n; i++) {
        const struct seep_core_mapping m = notes->mappings[i];
        if (m.start < m.end && m.end <= UINT64_C(1) << SEEP_ADDRESS_BITS &&
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
    if (count > (words - HEAD) / WORDS || count > MAX_MAPPINGS || page > UINT32_MAX)
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

enum { PAGE = SEEP_MEMORY_PAGE }; /* what a core file has is in whole pages, which are in these */

/* A line of /proc/PID/maps as it was. */
struct region {
    uint64_t start, end, offset, inode;
    uint32_t flags;        /* PF_… */
    const char *name;      /* NULL: of no file */
    uint64_t contents_end; /* what follows is not in the core file */
    bool left_out;         /* it was never given its contents */
    bool shared;
};

struct making {
    const struct seep_core_parts *core;
    const char *program;     /* as the user says */
    const char *program_was; /* the name that it had, or NULL */
    struct region *list;     /* [n] by address */
    size_t n, capacity;
    size_t n_same, n_other; /* files */
    const char *other;      /* a name of the latter kind */
    bool is_another;        /* `program` is not the one of the core file */
};

void seep_core_miss(char missing[SEEP_CORE_MISSING], const char *format, ...)
{
    const size_t n = strlen(missing), between = n ? 2 : 0;
    va_list arguments;

    va_start(arguments, format);
    if (n + between + 1 < SEEP_CORE_MISSING) {
        memcpy(missing + n, "; ", between);
        vsnprintf(missing + n + between, SEEP_CORE_MISSING - n - between, format, arguments);
    }
    va_end(arguments);
}

/* ---- regions --------------------------------------------------------------------------------- */

static int add(struct making *m, const struct region *region)
{
    if (region->start >= region->end)
        return 0;
    if (seep_grow(&m->list, &m->capacity, m->n + 1, sizeof *m->list))
        return -SEEP_ENOMEM;
    m->list[m->n++] = *region;
    return 0;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), k = strlen(end);

    return n >= k && strcmp(text + n - k, end) == 0;
}

/* Which mappings are shared is not in a core file. */
static bool is_shared(const char *name)
{
    return begins_with(name, "/dev/shm/") || begins_with(name, "/dev/zero") ||
           begins_with(name, "/memfd:") || begins_with(name, "/SYSV") ||
           ends_with(name, SEEP_PROFILE_SUFFIX) || ends_with(name, "/" SEEP_JOB_FILE);
}

static struct region region_of(const struct seep_core_mapping *of, uint64_t start, uint64_t end)
{
    struct region region = {.start = start, .end = end, .flags = PF_R};

    if (of) {
        region.name = of->name;
        region.offset = of->offset + (start - of->start);
        region.shared = is_shared(of->name);
    }
    return region;
}

/* Debuggers leave out what lies in files only. */
static int add_rest(struct making *m, const struct seep_core_mapping *of, size_t *segment)
{
    const struct seep_core_parts *core = m->core;
    uint64_t at = of->start;
    int rc = 0;

    while (*segment < core->n && core->segments[*segment].end <= at)
        ++*segment;
    for (size_t i = *segment; i < core->n && core->segments[i].start < of->end && !rc; i++) {
        const struct region gap = region_of(of, at, core->segments[i].start);
        rc = add(m, &gap);
        at = core->segments[i].end;
    }
    const struct region gap = region_of(of, at, of->end);
    return rc ? rc : add(m, &gap);
}

static int by_start(const void *a, const void *b)
{
    const struct region *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static int find_regions(struct making *m)
{
    const struct seep_core_parts *core = m->core;
    size_t segment = 0;
    int rc = 0;

    for (size_t i = 0; i < core->n && !rc; i++) {
        const struct seep_core_segment *s = &core->segments[i];
        struct region region =
            region_of(seep_core_mapping_at(core->notes, s->start), s->start, s->end);
        region.flags = s->flags;
        region.left_out = s->left_out;
        region.contents_end = s->start + ((s->bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1));
        rc = add(m, &region);
    }
    for (size_t i = 0; i < core->notes->n && !rc; i++)
        rc = add_rest(m, &core->notes->mappings[i], &segment);
    if (m->n)
        qsort(m->list, m->n, sizeof *m->list, by_start);
    return rc;
}

static bool is_private_memory(const struct region *r)
{
    return !r->name && (r->flags & (PF_R | PF_W)) == (PF_R | PF_W);
}

static void note_left_out(struct making *m)
{
    uint64_t private = 0, shared = 0;
    char size[SEEP_SIZE_TEXT];

    if (!m->core->notes->n) /* then nobody knows what is memory */
        return;
    for (size_t i = 0; i < m->n; i++) {
        const struct region *r = &m->list[i];
        private += r->left_out && is_private_memory(r) ? r->end - r->start : 0;
        shared += r->left_out && r->shared && !ends_with(r->name, SEEP_PROFILE_SUFFIX) &&
                          !ends_with(r->name, SEEP_JOB_FILE)
                      ? r->end - r->start
                      : 0;
    }
    if (private) {
        seep_text_size((double)private, size);
        seep_core_miss(m->core->missing, "%s of memory was left out of it (see coredump_filter)",
                       size);
    }
    if (shared) {
        seep_text_size((double)shared, size);
        seep_core_miss(m->core->missing,
                       "%s of shared memory was left out of it (see coredump_filter)", size);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

enum verdict { SAME, OTHER, UNKNOWN };

/* By its first page, which has the build id: a core file has that page of programs and libraries.
 */
static enum verdict compare(struct making *m, const char *path, uint64_t start, uint64_t *inode)
{
    uint8_t was[PAGE], is[PAGE];
    const struct seep_memory_piece piece = {start, was, sizeof was};
    const size_t n = m->core->remote->gather(m->core->remote, &piece, 1);
    struct stat st;

    const bool is_program = n >= SELFMAG && memcmp(was, ELFMAG, SELFMAG) == 0;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return is_program ? OTHER : UNKNOWN;
    *inode = (uint64_t)st.st_ino;
    if (!is_program)
        return UNKNOWN;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const ssize_t got = fd >= 0 ? pread(fd, is, sizeof is, 0) : -1;
    if (fd >= 0)
        close(fd);
    return got > 0 && (size_t)got <= n && memcmp(was, is, (size_t)got) == 0 ? SAME : OTHER;
}

/* A profile's name has the time at which its process began, so it is the same file. Its header is
 * mapped apart from its records, and chance decides which of the two comes first. */
static uint64_t profile_inode(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_ino : 0;
}

/* The inode of a file whose first mapping this is, if it is still the same; 0: it is not to be
 * read. */
static uint64_t inode_of(struct making *m, const struct region *first, bool is_program)
{
    const bool told = is_program && m->program;
    uint64_t inode = 0;

    if (ends_with(first->name, SEEP_PROFILE_SUFFIX))
        return profile_inode(first->name);
    if (first->offset)
        return 0;
    const enum verdict verdict = compare(m, told ? m->program : first->name, first->start, &inode);

    m->n_same += verdict == SAME;
    m->n_other += verdict == OTHER;
    m->is_another = m->is_another || (told && verdict == OTHER);
    if (verdict == OTHER)
        m->other = first->name;
    return verdict == SAME || (verdict == UNKNOWN && told) ? inode : 0;
}

/* The mappings of a file follow each other; what lies between them has no name. */
static void find_inodes(struct making *m)
{
    const char *current = "";
    bool is_program = false;
    uint64_t inode = 0;

    for (size_t i = 0; i < m->n; i++) {
        struct region *r = &m->list[i];
        if (!r->name || r->name[0] != '/')
            continue;
        if (strcmp(r->name, current) != 0) {
            current = r->name;
            is_program = m->program_was && strcmp(current, m->program_was) == 0;
            inode = inode_of(m, r, is_program);
        }
        r->inode = inode;
        if (is_program && m->program)
            r->name = m->program;
    }
}

static void find_files(struct making *m)
{
    const struct seep_core_notes *notes = m->core->notes;
    const struct seep_core_mapping *program = seep_core_mapping_at(notes, notes->program);

    m->program_was = program ? program->name : notes->n ? notes->mappings[0].name : NULL;
    find_inodes(m);
    if (m->n_other) {
        char name[SEEP_NAME_BYTES];
        const char *slash = strrchr(m->other, '/');
        snprintf(name, sizeof name, "%s", slash ? slash + 1 : m->other);
        (void)seep_text_clean_in_place(name, strlen(name));
        seep_core_miss(m->core->missing,
                       "%zu of the files that it had mapped %s not as then, such as %s", m->n_other,
                       m->n_other == 1 ? "is" : "are", name);
    } else if (!m->n_same) {
        seep_core_miss(m->core->missing,
                       "its program and libraries have no page in it to be compared by "
                       "(see coredump_filter)");
    }
}

/* ---- names that no note has ------------------------------------------------------------------ */

/* Whether malloc's first heap begins there. */
static bool begins_heap(const struct making *m, const struct region *r)
{
    enum { IN_USE_BEFORE = 1, IS_MAPPED = 2, FLAGS = 7, LEAST = 32, ALIGNMENT = 16 };
    uint64_t head[2];

    if (!seep_remote_read(m->core->remote, r->start, head, sizeof head))
        return false;
    const uint64_t bytes = head[1] & ~(uint64_t)FLAGS;
    return !head[0] && head[1] & IN_USE_BEFORE && !(head[1] & IS_MAPPED) && bytes >= LEAST &&
           bytes % ALIGNMENT == 0 && bytes <= r->end - r->start;
}

/* The break follows the program. Where a forked child has grown it, it is in several pieces. */
static void name_heap(struct making *m)
{
    size_t i = m->n;

    while (i && (!m->list[i - 1].name || !m->program_was ||
                 (strcmp(m->list[i - 1].name, m->program_was) != 0 &&
                  m->list[i - 1].name != m->program)))
        i--;
    for (; i < m->n && !m->list[i].name; i++)
        if (is_private_memory(&m->list[i]) && begins_heap(m, &m->list[i]))
            break;
    for (uint64_t end = 0; i < m->n && is_private_memory(&m->list[i]); i++) {
        if (end && m->list[i].start != end)
            break;
        end = m->list[i].end;
        m->list[i].name = "[heap]";
    }
}

static void name_stack(struct making *m)
{
    const uint64_t in = m->core->notes->stack;

    for (size_t i = 0; i < m->n; i++)
        if (in >= m->list[i].start && in < m->list[i].end && is_private_memory(&m->list[i]))
            m->list[i].name = "[stack]";
}

/* Nobody need search memory that can be read nowhere, however large it was. */
static void cut_unreadable(struct making *m)
{
    for (size_t i = 0; i < m->n; i++) {
        struct region *r = &m->list[i];
        if (r->flags & PF_W && !r->inode && r->contents_end < r->end)
            r->end = r->contents_end;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void put_name(FILE *out, const char *name)
{
    for (; *name; name++)
        fputc(*name == '\n' ? '?' : *name, out);
}

static int write_text(const struct making *m, char **text, size_t *n)
{
    FILE *out = open_memstream(text, n);

    if (!out)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < m->n; i++) {
        const struct region *r = &m->list[i];
        if (r->start >= r->end)
            continue;
        fprintf(out, "%lx-%lx %c%c%c%c %lx 00:00 %lu ", r->start, r->end,
                r->flags & PF_R ? 'r' : '-', r->flags & PF_W ? 'w' : '-',
                r->flags & PF_X ? 'x' : '-', r->shared ? 's' : 'p', r->offset, r->inode);
        put_name(out, r->name ? r->name : "");
        fputc('\n', out);
    }
    return fclose(out) ? -SEEP_ENOMEM : 0;
}

int seep_core_maps_write(const struct seep_core_parts *parts, char **text, size_t *n,
                         struct seep_error *err)
{
    struct making m = {.core = parts, .program = parts->program};
    int rc = find_regions(&m);

    *text = NULL;
    if (!rc) {
        note_left_out(&m);
        find_files(&m);
        if (m.is_another)
            rc = seep_error_set(err, SEEP_EINVAL, m.program, 0,
                                "it is not the program that the core file is of");
    }
    if (!rc) {
        name_heap(&m);
        name_stack(&m);
        cut_unreadable(&m);
        rc = write_text(&m, text, n);
    }
    free(m.list);
    return rc;
}

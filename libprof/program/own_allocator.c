#include "libprof/program/own_allocator.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE = 1 << 20,
    OVERLAP = 128, /* longer than any text searched for */
    MAX_SECTIONS = 4096,
    MAX_SECTION_NAMES = 1 << 16,
    COMMIT_DIGITS = 40,
};

#define MAX_LOOKED_AT (UINT64_C(96) << 20) /* of one file */

/* Texts that only the allocator's own code contains: a program that merely calls it has its
 * function names, too. An earlier line wins: a program may contain texts of several. */
static const struct {
    const char *text, *name;
} marks[] = {
    {"<jemalloc>: ", "jemalloc"},
    {"_rjem_mallctl", "jemalloc"},
    {"je_mallctl", "jemalloc"},
    {"je_arrow_mallctl", "jemalloc"},
    {"PartitionAlloc.", "PartitionAlloc"},
    {"TBBmalloc: ", "TBB's scalable malloc"},
    {"tcmalloc: large alloc", "tcmalloc"},
    {"TCMallocImplementation", "tcmalloc"},
    {"mimalloc: error: ", "mimalloc"},
    {"_mi_malloc_generic", "mimalloc"},
    {"ERROR: AddressSanitizer: ", "AddressSanitizer"},
    {"snmalloc", "snmalloc"},
    {"runtime.mallocgc", "Go's runtime"},
};

enum {
    N_MARKS = sizeof marks / sizeof *marks,
    STRIDE = 7, /* below the shortest text's length */
    N_PAIRS = 1 << 12,
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "5.3.0-0-g54ea…": a version, commits since, and the commit's 40 digits. Returns the length of the
 * version before `dash`, 0 if there is none. */
static size_t version_before(const char *bytes, size_t dash, size_t n)
{
    size_t at = dash + 1, start = dash;
    unsigned dots = 0;

    while (at < n && is_digit(bytes[at]))
        at++;
    if (at == dash + 1 || at + 2 + COMMIT_DIGITS > n || bytes[at] != '-' || bytes[at + 1] != 'g')
        return 0;
    for (size_t i = at + 2; i < at + 2 + COMMIT_DIGITS; i++) {
        if (!is_digit(bytes[i]) && !(bytes[i] >= 'a' && bytes[i] <= 'f'))
            return 0;
    }
    while (start > 0 && (is_digit(bytes[start - 1]) || bytes[start - 1] == '.'))
        dots += bytes[--start] == '.';
    return dots == 2 && is_digit(bytes[start]) && is_digit(bytes[dash - 1]) ? dash - start : 0;
}

/* The digits and dots of a version from `at` on. */
static size_t version_at(const char *bytes, size_t n)
{
    size_t k = 0;

    while (k < n && (is_digit(bytes[k]) || (bytes[k] == '.' && k && is_digit(bytes[k - 1]))))
        k++;
    return k && bytes[k - 1] == '.' ? k - 1 : k;
}

static void keep_version(struct seep_own_allocator *found, const char *text, size_t n)
{
    if (n && n < sizeof found->version) {
        memcpy(found->version, text, n);
        found->version[n] = 0;
    }
}

static void find_jemalloc_version(const char *bytes, size_t n, struct seep_own_allocator *found)
{
    const char *dash = bytes;

    while (!found->version[0] && (dash = memchr(dash, '-', n - (size_t)(dash - bytes)))) {
        size_t at = (size_t)(dash - bytes), length = version_before(bytes, at, n);
        keep_version(found, dash - length, length);
        dash++;
    }
}

static void find_text_version(const char *bytes, size_t n, const char *before,
                              struct seep_own_allocator *found)
{
    const char *hit = memmem(bytes, n, before, strlen(before));

    if (hit && !found->version[0]) {
        hit += strlen(before);
        keep_version(found, hit, version_at(hit, n - (size_t)(hit - bytes)));
    }
}

/* The version may come before the name does. */
static void find_version(const char *bytes, size_t n, struct seep_own_allocator *found)
{
    if (!found->name[0] || strcmp(found->name, "jemalloc") == 0)
        find_jemalloc_version(bytes, n, found);
    else if (strcmp(found->name, "tcmalloc") == 0)
        find_text_version(bytes, n, "gperftools ", found);
}

static uint16_t *entry_of_pair(uint16_t pairs[N_PAIRS], const char *at)
{
    return &pairs[((uint8_t)at[0] << 4 ^ (uint8_t)at[1]) & (N_PAIRS - 1)];
}

/* Whether the text has the byte at `at` among its first STRIDE. */
static bool is_around(const char *bytes, size_t n, size_t at, const char *text)
{
    for (size_t before = 0; before < STRIDE && before <= at; before++) {
        const char *start = bytes + at - before;
        if (*start != *text)
            continue;
        const size_t length = strlen(text);
        if (length <= n - (at - before) && memcmp(start, text, length) == 0)
            return true;
    }
    return false;
}

/* The index of the first mark whose text is there; N_MARKS: none is. Looks at every STRIDE-th pair
 * of bytes: a text has one of these among the pairs with which it begins. */
static size_t find_mark(const char *bytes, size_t n)
{
    uint16_t pairs[N_PAIRS] = {0}; /* a bit for each mark */
    size_t first = N_MARKS;

    _Static_assert(N_MARKS <= 16, "one bit each");
    for (size_t i = 0; i < N_MARKS; i++)
        for (size_t at = 0; at < STRIDE; at++)
            *entry_of_pair(pairs, marks[i].text + at) |= (uint16_t)(1u << i);
    for (size_t at = 0; at + 1 < n; at += STRIDE)
        for (unsigned left = *entry_of_pair(pairs, bytes + at); left; left &= left - 1u) {
            const size_t i = (size_t)__builtin_ctz(left);
            if (i >= first)
                break;
            if (is_around(bytes, n, at, marks[i].text))
                first = i;
        }
    return first;
}

bool seep_own_allocator_scan(const char *bytes, size_t n, struct seep_own_allocator *found)
{
    const size_t mark = found->name[0] ? N_MARKS : find_mark(bytes, n);

    if (mark < N_MARKS)
        snprintf(found->name, sizeof found->name, "%s", marks[mark].name);
    if (n && !found->version[0])
        find_version(bytes, n, found);
    return found->name[0] && found->version[0];
}

/* ---- files --------------------------------------------------------------------------------- */

/* Reads [at, at + n) in overlapping pieces. True: everything is known. */
static bool search_part(int fd, uint64_t at, uint64_t n, char *piece,
                        struct seep_own_allocator *found)
{
    size_t kept = 0;

    while (n) {
        size_t want = n < PIECE - kept ? (size_t)n : PIECE - kept;
        ssize_t got = pread(fd, piece + kept, want, (off_t)at);
        if (got <= 0)
            return false;
        size_t have = kept + (size_t)got;
        if (seep_own_allocator_scan(piece, have, found))
            return true;
        at += (uint64_t)got;
        n -= (uint64_t)got;
        kept = have < OVERLAP ? have : OVERLAP;
        memmove(piece, piece + have - kept, kept);
    }
    return false;
}

static bool is_text(const Elf64_Shdr *section, const char *names, size_t n_names)
{
    if (section->sh_type == SHT_STRTAB)
        return true;
    return section->sh_type == SHT_PROGBITS && section->sh_name < n_names &&
           strncmp(names + section->sh_name, ".rodata", 7) == 0;
}

static Elf64_Shdr *read_sections(int fd, const Elf64_Ehdr *head, size_t *n)
{
    *n = head->e_shnum < MAX_SECTIONS ? head->e_shnum : MAX_SECTIONS;
    Elf64_Shdr *sections = calloc(*n + 1, sizeof *sections);
    ssize_t bytes = (ssize_t)(*n * sizeof *sections);

    if (!sections || !*n || head->e_shentsize != sizeof *sections || head->e_shoff > INT64_MAX ||
        pread(fd, sections, (size_t)bytes, (off_t)head->e_shoff) != bytes) {
        free(sections);
        return NULL;
    }
    return sections;
}

/* NUL-terminated; *n does not count the NUL. */
static char *read_names(int fd, const Elf64_Shdr *sections, size_t n_sections, size_t index,
                        size_t *n)
{
    char *names = calloc(1, MAX_SECTION_NAMES + 1);
    ssize_t got = -1;

    if (names && index < n_sections && sections[index].sh_offset <= INT64_MAX) {
        uint64_t size = sections[index].sh_size;
        got = pread(fd, names, size < MAX_SECTION_NAMES ? size : MAX_SECTION_NAMES,
                    (off_t)sections[index].sh_offset);
    }
    *n = got > 0 ? (size_t)got : 0;
    return names;
}

/* Small sections first: names say most, and cost least. */
static void search_sections(int fd, const Elf64_Ehdr *head, char *piece,
                            struct seep_own_allocator *found)
{
    size_t n, n_names;
    Elf64_Shdr *sections = read_sections(fd, head, &n);
    char *names = sections ? read_names(fd, sections, n, head->e_shstrndx, &n_names) : NULL;
    uint64_t left = MAX_LOOKED_AT;
    bool done = !names;

    for (size_t i = 0; i < n && !done && left; i++) {
        const Elf64_Shdr *s = &sections[i];
        if (!is_text(s, names, n_names) || s->sh_offset > INT64_MAX)
            continue;
        uint64_t size = s->sh_size < left ? s->sh_size : left;
        done = search_part(fd, s->sh_offset, size, piece, found);
        left -= size;
    }
    free(names);
    free(sections);
}

bool seep_own_allocator_find(const char *path, struct seep_own_allocator *found)
{
    Elf64_Ehdr head = {0};
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    *found = (struct seep_own_allocator){0};
    if (fd < 0)
        return false;
    char *piece = malloc(PIECE);
    if (piece && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
        pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
        memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64)
        search_sections(fd, &head, piece, found);
    free(piece);
    close(fd);
    return found->name[0] != 0;
}

const char *seep_own_allocator_text(const struct seep_own_allocator *a,
                                    char text[SEEP_OWN_ALLOCATOR_TEXT])
{
    snprintf(text, SEEP_OWN_ALLOCATOR_TEXT, "%s%s%s", a->name, a->version[0] ? " " : "",
             a->version);
    return text;
}

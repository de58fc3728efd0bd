/* Allocators are recognised by what their files contain; any file can be inspected safely. */
#include "libprof/program/own_allocator.h"
#include "tests/suite.h"

#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMIT     "54eaed1d8b56b1aa528be3bdd1877e59c56fa90c"
#define TEXT(text) text, sizeof(text)

static const struct {
    const char *bytes;
    size_t n;
    const char *name, *version;
} texts[] = {
    {TEXT("<jemalloc>: out of memory\0"
          "5.3.0-0-g" COMMIT),
     "jemalloc", "5.3.0"},
    {TEXT("5.3.1-12-g" COMMIT "\0_rjem_mallctl"), "jemalloc", "5.3.1"},
    {TEXT("je_arrow_mallctl"), "jemalloc", ""},
    {TEXT("je_mallctl\0"
          "1.2-0-g" COMMIT),
     "jemalloc", ""},
    {TEXT("je_mallctl\0"
          "5.3.0-0-g54eaed1d8b56"),
     "jemalloc", ""},
    {TEXT("je_mallctl\0"
          "5.3.0-x-g" COMMIT),
     "jemalloc", ""},
    {TEXT("je_mallctl\0"
          "123456789.123456789.1234567-0-g" COMMIT),
     "jemalloc", ""},
    {TEXT("tcmalloc: large alloc %\0gperftools 2.10"), "tcmalloc", "2.10"},
    {TEXT("tcmalloc: large alloc %\0gperftools "), "tcmalloc", ""},
    {TEXT("mimalloc: error: "), "mimalloc", ""},
    {TEXT("PartitionAlloc.Layout"), "PartitionAlloc", ""},
    {TEXT("ERROR: AddressSanitizer: x"), "AddressSanitizer", ""},
    {TEXT("TBBmalloc: huge pages"), "TBB's scalable malloc", ""},
    {TEXT("malloc\0free\0mi_malloc"), "", ""},
    {TEXT(""), "", ""},
    {"", 0, "", ""},
    {"-", 1, "", ""},
};

TEST(allocators_are_known_by_their_words, .to = N(texts))
{
    struct seep_own_allocator found = {{0}, {0}};
    char text[SEEP_OWN_ALLOCATOR_TEXT];
    char *copy = malloc(texts[_i].n + 1); /* so that a sanitizer sees where it ends */

    memcpy(copy, texts[_i].bytes, texts[_i].n);
    bool whole = seep_own_allocator_scan(copy, texts[_i].n, &found);
    free(copy);
    ck_assert_str_eq(found.name, texts[_i].name);
    if (texts[_i].name[0])
        ck_assert_str_eq(found.version, texts[_i].version);
    ck_assert_int_eq(whole, texts[_i].name[0] && texts[_i].version[0]);
    seep_own_allocator_text(&found, text);
    ck_assert_int_eq(strncmp(text, texts[_i].name, strlen(texts[_i].name)), 0);
}

/* A text at each place of a window of many times the stride, to its last byte. */
TEST(words_are_found_at_each_place, .to = 40)
{
    char bytes[60] = "";
    struct seep_own_allocator found = {0};
    const size_t n = (size_t)_i + strlen("snmalloc");

    memset(bytes, 's', sizeof bytes);
    memcpy(bytes + _i, "snmalloc", strlen("snmalloc"));
    (void)seep_own_allocator_scan(bytes, n - 1, &found);
    ck_assert_str_eq(found.name, "");
    (void)seep_own_allocator_scan(bytes, n, &found);
    ck_assert_str_eq(found.name, "snmalloc");
}

/* ---- files --------------------------------------------------------------------------------- */

static char path[] = "/tmp/seep-own-allocator-XXXXXX";
static FILE *file;

static void setup(void)
{
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    file = fdopen(fd, "w");
}

static void teardown(void)
{
    unlink(path);
}

/* An ELF file whose section 1 is `type` and named by section 0, at `offset` and of `size`. */
static void write_elf(uint32_t type, const char *name, uint64_t offset, uint64_t size)
{
    Elf64_Ehdr head = {.e_shoff = sizeof head, .e_shnum = 2, .e_shentsize = sizeof(Elf64_Shdr)};
    Elf64_Shdr sections[2] = {{0}, {.sh_type = type, .sh_offset = offset, .sh_size = size}};

    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    sections[0].sh_offset = sizeof head + sizeof sections;
    sections[0].sh_size = strlen(name) + 1;
    fwrite(&head, sizeof head, 1, file);
    fwrite(sections, sizeof sections, 1, file);
    fwrite(name, strlen(name) + 1, 1, file);
}

static bool found_in_file(void)
{
    struct seep_own_allocator found;

    ck_assert_int_eq(fclose(file), 0);
    return seep_own_allocator_find(path, &found);
}

/* The words lie across the border of two pieces that are read. */
TEST(words_are_found_wherever_they_lie, .to = 4)
{
    static const long at[] = {4096, (1 << 20) + 4090, (2 << 20) - 7, (5 << 20) + 1};

    write_elf(_i % 2 ? SHT_STRTAB : SHT_PROGBITS, ".rodata.str", 4096, 8 << 20);
    fseek(file, at[_i], SEEK_SET);
    fputs("<jemalloc>: ", file);
    fseek(file, 9 << 20, SEEK_SET);
    fputc(0, file);
    ck_assert(found_in_file());
}

TEST(code_and_data_are_not_looked_at)
{
    write_elf(SHT_PROGBITS, ".text", 4096, 8192);
    fseek(file, 5000, SEEK_SET);
    fputs("<jemalloc>: ", file);
    ck_assert(!found_in_file());
}

TEST(files_that_lie_about_themselves_are_safe, .to = 5)
{
    static const struct {
        uint64_t offset, size;
    } lies[] = {{0, UINT64_MAX},
                {UINT64_MAX, 1},
                {INT64_MAX, UINT64_MAX},
                {1 << 30, 1 << 20},
                {0, UINT64_C(1) << 40}};

    write_elf(SHT_STRTAB, ".strtab", lies[_i].offset, lies[_i].size);
    ck_assert(!found_in_file());
}

TEST(any_bytes_are_safe, .to = 50)
{
    uint64_t random = (uint64_t)_i;
    Elf64_Ehdr head;

    for (size_t i = 0; i < sizeof head; i++) {
        random = random * UINT64_C(6364136223846793005) + 1;
        ((uint8_t *)&head)[i] = (uint8_t)(random >> 40);
    }
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    if (_i % 2) {
        head.e_shoff &= 0xff;
        head.e_shentsize = sizeof(Elf64_Shdr);
    }
    for (int i = 0; i < 1000; i++)
        fwrite(&head, sizeof head, 1, file);
    ck_assert(!found_in_file());
}

TEST(what_is_no_file_is_none)
{
    struct seep_own_allocator found;

    fclose(file);
    ck_assert(!seep_own_allocator_find("/nonexistent/program", &found));
    ck_assert(!seep_own_allocator_find("/tmp", &found));
    ck_assert(!seep_own_allocator_find("/dev/zero", &found));
    ck_assert(!seep_own_allocator_find(path, &found));
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert(!seep_own_allocator_find(path, &found));
}

SUITE("own allocator", .setup = setup, .teardown = teardown)

/* The mappings that are told of a core file. */
#include "libprof/format/profile_format.h"
#include "libprof/look/core_maps.h"
#include "tests/suite.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t gather_nothing(struct seep_remote *remote, const struct seep_memory_piece *pieces,
                             size_t n)
{
    (void)remote, (void)pieces, (void)n;
    return 0;
}

static char profile[64];
static struct seep_maps maps;
static char *text;

static void close_maps(void)
{
    seep_maps_fini(&maps);
    free(text);
    text = NULL;
}

static void close_it(void)
{
    close_maps();
    unlink(profile);
}

/* Those of a core file that has no memory of them. */
static void write_maps(const struct seep_core_mapping *list, size_t n_mappings)
{
    struct seep_core_mapping mappings[4];
    char missing[SEEP_CORE_MISSING] = "";
    struct seep_remote remote = {.gather = gather_nothing};
    struct seep_core_segment segments[4] = {{0}};
    struct seep_error error = {0};
    size_t n = 0;

    memcpy(mappings, list, n_mappings * sizeof *list);
    for (size_t i = 0; i < n_mappings; i++)
        segments[i] = (struct seep_core_segment){
            .start = list[i].start, .end = list[i].end, .flags = 4, .left_out = true};
    const struct seep_core_notes notes = {.mappings = mappings, .n = n_mappings};
    const struct seep_core_parts parts = {.segments = segments,
                                          .n = n_mappings,
                                          .notes = &notes,
                                          .remote = &remote,
                                          .missing = missing};
    ck_assert_int_eq(seep_core_maps_write(&parts, &text, &n, &error), 0);
    ck_assert_int_eq(seep_maps_parse(&maps, text, n), 0);
    ck_assert_uint_eq(maps.n, n_mappings);
}

static uint64_t make_profile(void)
{
    struct stat st;

    strcpy(profile, "/tmp/seep-core-maps-XXXXXX" SEEP_PROFILE_SUFFIX);
    const int fd = mkstemps(profile, (int)strlen(SEEP_PROFILE_SUFFIX));

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    close(fd);
    return (uint64_t)st.st_ino;
}

/* Where the kernel puts them is chance. */
TEST(a_profile_is_found_whichever_of_its_mappings_comes_first)
{
    const uint64_t inode = make_profile();
    const struct seep_core_mapping header = {0x10000, 0x20000, 0, profile};
    const struct seep_core_mapping records = {0x20000, 0x60000, 0x10000, profile};
    const struct seep_core_mapping header_behind = {0x60000, 0x70000, 0, profile};

    write_maps((struct seep_core_mapping[]){header, records}, 2);
    ck_assert_uint_eq(maps.list[0].inode, inode);
    ck_assert_uint_eq(maps.list[1].inode, inode);
    close_maps();
    write_maps((struct seep_core_mapping[]){records, header_behind}, 2);
    ck_assert_uint_eq(maps.list[0].inode, inode);
    ck_assert_uint_eq(maps.list[1].inode, inode);
    ck_assert(maps.list[1].shared);
}

TEST(a_file_without_its_first_page_is_not_read)
{
    make_profile();
    const struct seep_core_mapping library = {0x10000, 0x20000, 0x10000, "/bin/sh"};

    write_maps(&library, 1);
    ck_assert_uint_eq(maps.list[0].inode, 0);
}

/* A core file may be of a machine whose pages are larger than here; nonsense is not believed. */
static const struct {
    uint64_t told, taken;
} page_sizes[] = {{4096, 4096}, {65536, 65536}, {0, 0}, {12288, 0}, {1 << 30, 0}};

TEST(the_size_of_pages_is_told_by_the_auxiliary_vector, .to = N(page_sizes))
{
    const Elf64_Nhdr head = {.n_namesz = 5, .n_descsz = 32, .n_type = NT_AUXV};
    const uint64_t vector[] = {AT_PAGESZ, page_sizes[_i].told, AT_NULL, 0};
    struct seep_core_notes notes;
    char *bytes = calloc(1, 64);

    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, "CORE", 5);
    memcpy(bytes + sizeof head + 8, vector, sizeof vector);
    ck_assert_int_eq(seep_core_notes_parse(&notes, bytes, sizeof head + 8 + sizeof vector), 0);
    ck_assert_uint_eq(notes.page_bytes, page_sizes[_i].taken);
    seep_core_notes_fini(&notes);
}

SUITE("look: the mappings of a core file", NULL, close_it);

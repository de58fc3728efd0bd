/* Names of variables in programs and libraries: in files laid out by hand, and in damaged ones. */
#include "libprof/base/text.h"
#include "libprof/code/data_symbols.h"
#include "tests/fuzz/memory_file.h"
#include "tests/suite.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum { SECTIONS = 6, SYMBOLS = 8, STRINGS = 512 };

/* Its first byte is linked at `first`. */
static struct image {
    Elf64_Ehdr h;
    Elf64_Phdr p[2];
    Elf64_Shdr s[SECTIONS]; /* none, names of sections, two tables and the names of each */
    Elf64_Sym symbols[SYMBOLS], exported[SYMBOLS];
    char names[STRINGS];
} image;
static size_t n_symbols, n_exported, used;

static const uint64_t moved_to = UINT64_C(0x7f0012340000);

static Elf64_Word text(const char *name)
{
    size_t at = used, n = strlen(name) + 1;

    ck_assert_uint_le(at + n, STRINGS);
    memcpy(image.names + at, name, n);
    used += n;
    return (Elf64_Word)at;
}

static Elf64_Sym symbol(const char *name, unsigned char type, uint64_t at, uint64_t bytes)
{
    return (Elf64_Sym){.st_name = text(name),
                       .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
                       .st_shndx = 1,
                       .st_value = at,
                       .st_size = bytes};
}

static void add(const char *name, uint64_t at, uint64_t bytes)
{
    image.symbols[n_symbols++] = symbol(name, STT_OBJECT, at, bytes);
    image.s[2].sh_size = n_symbols * sizeof(Elf64_Sym);
}

static void export(const char *name, uint64_t at, uint64_t bytes)
{
    image.exported[n_exported++] = symbol(name, STT_OBJECT, at, bytes);
    image.s[4].sh_size = n_exported * sizeof(Elf64_Sym);
}

static Elf64_Shdr table(Elf64_Word type, size_t at, Elf64_Word names)
{
    return (Elf64_Shdr){.sh_name = 1,
                        .sh_type = type,
                        .sh_offset = at,
                        .sh_size = sizeof(Elf64_Sym),
                        .sh_link = names,
                        .sh_info = 1,
                        .sh_addralign = 8,
                        .sh_entsize = sizeof(Elf64_Sym)};
}

static void lay_out(uint64_t first)
{
    const Elf64_Shdr names = {.sh_name = 1,
                              .sh_type = SHT_STRTAB,
                              .sh_offset = offsetof(struct image, names),
                              .sh_size = STRINGS,
                              .sh_addralign = 1};

    memset(&image, 0, sizeof image);
    used = 1;
    n_symbols = n_exported = 1;
    memcpy(image.h.e_ident, ELFMAG, SELFMAG);
    image.h.e_ident[EI_CLASS] = ELFCLASS64;
    image.h.e_ident[EI_DATA] = ELFDATA2LSB;
    image.h.e_ident[EI_VERSION] = EV_CURRENT;
    image.h.e_type = ET_DYN;
    image.h.e_machine = EM_X86_64;
    image.h.e_version = EV_CURRENT;
    image.h.e_ehsize = sizeof image.h;
    image.h.e_phoff = offsetof(struct image, p);
    image.h.e_phentsize = sizeof image.p[0];
    image.h.e_phnum = 2;
    image.h.e_shoff = offsetof(struct image, s);
    image.h.e_shentsize = sizeof image.s[0];
    image.h.e_shnum = SECTIONS;
    image.h.e_shstrndx = 1;
    /* Data lies a page further on in memory than in the file, as linkers lay it out. */
    image.p[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = first, .p_memsz = 0x2000};
    image.p[1] = (Elf64_Phdr){
        .p_type = PT_LOAD, .p_offset = 0x2000, .p_vaddr = first + 0x3000, .p_memsz = 0x9000};
    (void)text("section");
    image.s[1] = image.s[3] = image.s[5] = names;
    image.s[2] = table(SHT_SYMTAB, offsetof(struct image, symbols), 3);
    image.s[4] = table(SHT_DYNSYM, offsetof(struct image, exported), 5);
}

static const char *name_at(uint64_t base, uint64_t address)
{
    static char to[64];
    const char *path = memory_file((const uint8_t *)&image, sizeof image);
    bool found = seep_data_symbol(path, base, address, to, sizeof to);

    ck_assert_int_eq(found, to[0] != '\0');
    return to;
}

TEST(a_librarys_variable_is_told_wherever_it_was_mapped)
{
    lay_out(0);
    add("before", 0x4000, 16);
    add("kept", 0x4010, 32);
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x4010), "kept");
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x402f), "kept");
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x400f), "before");
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x4030), "");
    ck_assert_str_eq(name_at(moved_to, moved_to - 8), "");
    ck_assert_str_eq(name_at(moved_to, 0), "");
}

TEST(a_program_that_is_not_moved_has_its_own_addresses)
{
    lay_out(0x400000);
    image.h.e_type = ET_EXEC;
    add("kept", 0x404010, 32);
    ck_assert_str_eq(name_at(0x400000, 0x404018), "kept");
    ck_assert_str_eq(name_at(0x400000, 0x4018), "");
}

/* As a linker does that spares the headers: the first byte is where it would have been. */
TEST(a_file_whose_head_is_not_mapped_is_counted_from_its_first_byte)
{
    lay_out(0x400000);
    image.p[0].p_offset = 0x1000;
    image.p[0].p_vaddr = 0x401000;
    add("kept", 0x404010, 32);
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x4010), "kept");
}

TEST(a_stripped_librarys_exports_are_told)
{
    lay_out(0);
    add("kept.0", 0x4000, 8);
    export("kept", 0x4000, 64);
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x4000), "kept.0"); /* its own names are finer */
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x4020), "kept");
    image.s[2].sh_type = SHT_NULL;
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x4000), "kept");
}

TEST(what_is_no_variable_here_has_no_name)
{
    lay_out(0);
    image.symbols[n_symbols++] = symbol("function", STT_FUNC, 0x4000, 64);
    image.symbols[n_symbols] = symbol("elsewhere", STT_OBJECT, 0x4000, 64);
    image.symbols[n_symbols++].st_shndx = SHN_UNDEF;
    image.symbols[n_symbols++] = symbol("thread_local", STT_TLS, 0x4000, 64);
    add("", 0x4000, 64);
    add("empty", 0x4000, 0);
    add("endless", 0x4008, UINT64_MAX);
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x4000), "");
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x4008), "endless");
}

TEST(names_are_as_in_the_source_and_plain)
{
    lay_out(0);
    add("_ZN6images5cacheE", 0x4000, 8);
    add("_Z", 0x4008, 8);
    add("a\nb\xff", 0x4010, 8);
    add("caf\u00e9", 0x4018, 8);
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x4000), "images::cache");
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x4008), "_Z");
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x4010), "a?b?");
    ck_assert_str_eq(name_at(moved_to, moved_to + 0x4018), "caf\u00e9");
}

TEST(a_long_name_is_cut_to_the_room_there_is)
{
    char to[8];

    lay_out(0);
    add("abcde\u00e9\u00e9", 0x4000, 8);
    for (size_t room = 1; room <= sizeof to; room++) {
        memset(to, '#', sizeof to);
        (void)seep_data_symbol(memory_file((const uint8_t *)&image, sizeof image), moved_to,
                               moved_to + 0x4000, to, room);
        ck_assert_uint_eq(strnlen(to, sizeof to), room - 1);
        ck_assert(seep_text_is_utf8(to));
        ck_assert(room == sizeof to || to[room] == '#');
    }
}

TEST(what_is_no_file_of_that_kind_has_no_names)
{
    static const char *const paths[] = {"",       "[heap]",    "libseep.so", "/no/such/file",
                                        "/proc/", "/dev/null", "/etc/passwd"};
    char to[8];

    for (size_t i = 0; i < N(paths); i++) {
        to[0] = 'x';
        ck_assert(!seep_data_symbol(paths[i], 0, 0x4000, to, sizeof to));
        ck_assert_str_eq(to, "");
    }
}

static void ask(size_t bytes)
{
    const char *path = memory_file((const uint8_t *)&image, bytes);
    char to[16];

    for (uint64_t at = 0; at < 0x8000; at += 0x1008) {
        bool found = seep_data_symbol(path, moved_to, moved_to + at, to, sizeof to);
        ck_assert_int_eq(found, to[0] != '\0');
        ck_assert_uint_lt(strnlen(to, sizeof to), sizeof to);
        ck_assert(seep_text_is_utf8(to));
    }
}

static void make_small(void)
{
    lay_out(0);
    add("kept", 0x4000, 0x1000);
    export("cached", 0x5000, 0x1000);
}

TEST(a_file_that_was_cut_harms_nobody)
{
    make_small();
    for (size_t n = 0; n < sizeof image; n += 7)
        ask(n);
}

TEST(a_damaged_file_harms_nobody, .to = 8)
{
    static const uint64_t odd[] = {0, 1, UINT64_MAX, INT64_MAX, 1ull << 32, 0xffffffff, 24, 4095};
    const size_t words = offsetof(struct image, names) / sizeof(uint64_t);

    for (size_t i = 1; i < words; i++) {
        make_small();
        memcpy((char *)&image + i * sizeof *odd, &odd[_i], sizeof *odd);
        ask(sizeof image);
    }
}

SUITE("data symbols")

/* What a kernel maps into each process may be linked anywhere, and may be anything. */
#include "libprof/arch/arch.h"
#include "libprof/runtime/store/os.h"
#include "libprof/runtime/store/vdso.h"
#include "preload/objects/elf_find.h"
#include "tests/suite.h"

#include <check.h>
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE ((size_t)seep_os_page_bytes())
enum { PAGES = 4, DYNAMIC = 0x200, SYMBOLS = 0x300, NAMES = 0x400, CODE = 0x1010 };

/* Of two pages, between two that are not there. */
struct image {
    char *at;
    ElfW(Ehdr) * head;
    ElfW(Phdr) * parts;
    ElfW(Dyn) * dynamic;
    ElfW(Sym) * symbols;
};

/* The image in `pages` as a linker makes it for the address `linked`. */
static struct image make(char *pages, uintptr_t linked)
{
    static const char names[] = "\0__vdso_time\0__vdso_clock_gettime";
    struct image i = {.at = pages + PAGE};

    memset(i.at, 0, 2 * PAGE);
    i.head = (ElfW(Ehdr) *)(void *)i.at;
    i.parts = (ElfW(Phdr) *)(void *)(i.at + sizeof(*i.head));
    i.dynamic = (ElfW(Dyn) *)(void *)(i.at + DYNAMIC);
    i.symbols = (ElfW(Sym) *)(void *)(i.at + SYMBOLS);
    memcpy(i.head->e_ident, ELFMAG, SELFMAG);
    i.head->e_ident[EI_CLASS] = ELFCLASS64;
    i.head->e_phoff = sizeof(*i.head);
    i.head->e_phentsize = sizeof(*i.parts);
    i.head->e_phnum = 2;
    i.parts[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_vaddr = linked, .p_memsz = 0x1273};
    i.parts[1] = (ElfW(Phdr)){.p_type = PT_DYNAMIC, .p_vaddr = linked + DYNAMIC};
    i.dynamic[0] = (ElfW(Dyn)){.d_tag = DT_STRTAB, .d_un.d_ptr = linked + NAMES};
    i.dynamic[1] = (ElfW(Dyn)){.d_tag = DT_SYMTAB, .d_un.d_ptr = linked + SYMBOLS};
    for (int n = 1; n < 3; n++)
        i.symbols[n] = (ElfW(Sym)){.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1};
    i.symbols[1].st_name = 1;
    i.symbols[1].st_value = linked + CODE + 0x100;
    i.symbols[2].st_name = 13;
    i.symbols[2].st_value = linked + CODE;
    memcpy(i.at + NAMES, names, sizeof(names));
    return i;
}

static char *room(void)
{
    char *pages =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    munmap(pages, PAGE);
    munmap(pages + 3 * PAGE, PAGE);
    return pages;
}

static uintptr_t find(const struct image *i)
{
    struct seep_vdso v;
    return seep_vdso_read(&v, (uintptr_t)i->at) ? seep_vdso_function(&v, "__vdso_clock_gettime")
                                                : 0;
}

static const uintptr_t linked_at[] = {0, 0x1000, UINT64_C(0xffffffffff700000), 0x7fff00000000};

TEST(the_clock_is_found_wherever_the_image_is_linked, .to = N(linked_at))
{
    char *pages = room();
    const struct image i = make(pages, linked_at[_i]);
    struct seep_vdso v;

    ck_assert_uint_eq(find(&i), (uintptr_t)i.at + CODE);
    ck_assert(seep_vdso_read(&v, (uintptr_t)i.at));
    ck_assert(v.is_linux == !linked_at[_i]);
    ck_assert_uint_eq(seep_vdso_function(&v, "__vdso_time"), (uintptr_t)i.at + CODE + 0x100);
    ck_assert_uint_eq(seep_vdso_function(&v, "__vdso_tim"), 0);
    ck_assert_uint_eq(seep_vdso_function(&v, "__vdso_of_a_name_that_is_much_too_long"), 0);
    munmap(pages + PAGE, 2 * PAGE);
}

/* Each breaks one thing. */
static void no_elf(const struct image *i)
{
    i->head->e_ident[0] = 'x';
}
static void of_32_bits(const struct image *i)
{
    i->head->e_ident[EI_CLASS] = ELFCLASS32;
}
static void headers_before_it(const struct image *i)
{
    i->head->e_phoff = -(uintptr_t)PAGE;
}
static void headers_far_away(const struct image *i)
{
    i->head->e_phoff = UINT64_C(1) << 46;
}
static void headers_cut_by_the_page(const struct image *i)
{
    i->head->e_phoff = PAGE - sizeof(ElfW(Phdr)) - 8;
}
static void headers_of_another_size(const struct image *i)
{
    i->head->e_phentsize = 8;
}
static void more_headers_than_fit(const struct image *i)
{
    i->head->e_phnum = UINT16_MAX;
}
static void no_headers(const struct image *i)
{
    i->head->e_phnum = 0;
}
static void nothing_loaded(const struct image *i)
{
    i->parts[0].p_type = PT_NOTE;
}
static void longer_than_memory(const struct image *i)
{
    i->parts[0].p_memsz = UINT64_MAX - 8;
}
static void longer_than_what_is_mapped(const struct image *i)
{
    i->parts[0].p_memsz = 2 * PAGE + 1;
}
static void offset_out_of_memory(const struct image *i)
{
    i->parts[0].p_offset = UINT64_C(1) << 60;
}
static void no_dynamic_section(const struct image *i)
{
    i->parts[1].p_type = PT_NOTE;
}
static void dynamic_section_far_away(const struct image *i)
{
    i->parts[1].p_vaddr += UINT64_C(1) << 40;
}
static void dynamic_section_without_an_end(const struct image *i)
{
    for (ElfW(Dyn) *d = i->dynamic + 2; (char *)(d + 1) <= i->at + 2 * PAGE; d++)
        d->d_tag = DT_DEBUG;
}
static void no_symbols(const struct image *i)
{
    i->dynamic[1].d_tag = DT_DEBUG;
}
static void no_names(const struct image *i)
{
    i->dynamic[0].d_tag = DT_DEBUG;
}
static void symbols_far_away(const struct image *i)
{
    i->dynamic[1].d_un.d_ptr ^= UINT64_C(1) << 62;
}
static void names_far_away(const struct image *i)
{
    i->dynamic[0].d_un.d_ptr += PAGES * PAGE;
}
static void symbols_at_the_end(const struct image *i)
{
    i->dynamic[1].d_un.d_ptr += 0x1273 - SYMBOLS - 1;
}
static void names_cut_by_the_end(const struct image *i)
{
    i->dynamic[0].d_un.d_ptr += 0x1273 - NAMES - 14;
}
static void name_far_away(const struct image *i)
{
    i->symbols[2].st_name = UINT32_MAX;
}
static void code_far_away(const struct image *i)
{
    i->symbols[2].st_value ^= UINT64_C(1) << 45;
}
static void undefined_function(const struct image *i)
{
    i->symbols[2].st_shndx = SHN_UNDEF;
}
static void data_of_that_name(const struct image *i)
{
    i->symbols[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
}

static void (*const breaks[])(const struct image *i) = {
    no_elf,
    of_32_bits,
    headers_before_it,
    headers_far_away,
    headers_cut_by_the_page,
    headers_of_another_size,
    more_headers_than_fit,
    no_headers,
    nothing_loaded,
    longer_than_memory,
    longer_than_what_is_mapped,
    offset_out_of_memory,
    no_dynamic_section,
    dynamic_section_far_away,
    dynamic_section_without_an_end,
    no_symbols,
    no_names,
    symbols_far_away,
    names_far_away,
    symbols_at_the_end,
    names_cut_by_the_end,
    name_far_away,
    code_far_away,
    undefined_function,
    data_of_that_name,
};

TEST(nothing_of_a_broken_image_is_used, .to = N(breaks))
{
    char *pages = room();
    for (size_t n = 0; n < N(linked_at); n++) {
        const struct image i = make(pages, linked_at[n]);
        breaks[_i](&i);
        ck_assert_uint_eq(find(&i), 0);
    }
    munmap(pages + PAGE, 2 * PAGE);
}

/* A hash table is not looked at, however large it says it is. */
TEST(a_wild_hash_table_does_not_matter)
{
    char *pages = room();
    const struct image i = make(pages, 0);
    uint32_t *hash = (uint32_t *)(void *)(i.at + 0x800);

    i.dynamic[2] = (ElfW(Dyn)){.d_tag = DT_HASH, .d_un.d_ptr = 0x800};
    i.dynamic[3] = (ElfW(Dyn)){.d_tag = DT_GNU_HASH, .d_un.d_ptr = UINT64_MAX};
    hash[0] = hash[1] = UINT32_MAX;
    ck_assert_uint_eq(find(&i), (uintptr_t)i.at + CODE);
    munmap(pages + PAGE, 2 * PAGE);
}

TEST(any_bytes_are_safe)
{
    char *pages = room();
    uint32_t state = 1;

    for (int round = 0; round < 20000; round++) {
        const struct image i = make(pages, linked_at[round % 4]);
        for (int n = 0; n < 4; n++) {
            state = state * 1664525 + 1013904223;
            i.at[state >> 8 & 0x3ff] = (char)(state >> 24);
        }
        const uintptr_t found = find(&i);
        ck_assert(!found || (found >= (uintptr_t)i.at && found < (uintptr_t)i.at + 2 * PAGE));
    }
    munmap(pages + PAGE, 2 * PAGE);
}

TEST(an_address_that_is_none_is_refused)
{
    char *pages = room();
    struct seep_vdso v;
    const struct image i = make(pages, 0);
    const uintptr_t none[] = {
        0, 8, (uintptr_t)i.at + 8, (uintptr_t)pages, -(uintptr_t)PAGE, UINT64_C(1) << 62};

    for (size_t n = 0; n < N(none); n++)
        ck_assert(!seep_vdso_read(&v, none[n]) && !seep_vdso_function(&v, "__vdso_time"));
    munmap(pages + PAGE, 2 * PAGE);
}

TEST(the_kernels_own_is_found_and_not_searched_like_a_library)
{
    const uintptr_t at = getauxval(AT_SYSINFO_EHDR);
    struct seep_elf_exports e;
    struct timespec t = {0};
    struct seep_vdso own;
    unsigned n = 0;

    if (!at)
        SKIP("this kernel has none");
    ck_assert(seep_vdso_read(&own, at));
    const uintptr_t clock = seep_vdso_function(&own, SEEP_ARCH_CLOCK);
    ck_assert(clock >= at && clock < own.end);
    ck_assert_int_eq(((int (*)(clockid_t, struct timespec *))clock)(CLOCK_MONOTONIC, &t), 0);
    ck_assert_int_gt(t.tv_sec, 0);
    ck_assert_uint_eq(seep_vdso_around((void *)(own.end - 1)), at);
    ck_assert_uint_eq(seep_vdso_around((void *)own.end), 0);
    ck_assert_uint_eq(seep_vdso_around((void *)(at - 1)), 0);
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
        n += seep_vdso_around(map->l_ld) != 0;
        ck_assert(!seep_vdso_around(map->l_ld) || !seep_elf_open(&e, map->l_addr, map->l_ld));
    }
    ck_assert_uint_le(n, 1);
}

SUITE("vdso")

/* Finds CPython among the loaded objects by the symbols it exports. */
#include "preload/python/pyframe_elf.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "libprof/arch/arch.h"
#include "libprof/runtime/store/os.h"
#include "preload/objects/elf_find.h"
#include "preload/objects/loader.h"

/* Whether an object's tables may be read: other objects could be unloaded meanwhile, but never the
 * program, and nobody unloads an interpreter while it loads. */
static bool is_candidate(const struct seep_object *o)
{
    return seep_loader_starting || !o->path[0] || strstr(o->path, "python");
}

static bool describe(const struct seep_object *o, bool is_program, struct seep_pyimage *image)
{
    struct seep_elf_exports e;

    if (!is_candidate(o) || !seep_elf_open(&e, o->bias, o->dynamic))
        return false;
    const ElfW(Sym) *eval = seep_elf_symbol(&e, "_PyEval_EvalFrameDefault");
    if (!eval)
        return false;
    const uintptr_t start = e.bias + eval->st_value;
    *image = (struct seep_pyimage){
        .bias = e.bias,
        .is_program = is_program,
        .path = is_program ? "" : o->map->l_name,
        .eh_frame_hdr = (uintptr_t)o->eh_frame_hdr,
        .text = {o->text_start, o->text_end},
        .eval = {start, start + eval->st_size},
        .runtime = seep_elf_address(&e, "_PyRuntime"),
        .thread_state = seep_elf_address(&e, "PyGILState_GetThisThreadState"),
        .version = seep_elf_address(&e, "Py_GetVersion"),
        .version_word = seep_elf_address(&e, "Py_Version"),
        .code_type = seep_elf_address(&e, "PyCode_Type"),
        .cell_type = seep_elf_address(&e, "PyCell_Type"),
    };
    return image->code_type && (image->version || image->version_word);
}

bool seep_pyimage_find(struct seep_pyimage *image)
{
    static SEEP_LARGE struct seep_object
        object; /* one thread attaches at a time; its stack may be small */
    const struct link_map *map = seep_loader_first();
    bool found = false;

    for (unsigned n = 0; map && !found && n < SEEP_LOADER_MOST; n++, map = seep_loader_next(map))
        found = seep_loader_describe(map, 0, &object) && describe(&object, n == 0, image);
    return found;
}

bool seep_pyimage_loaded(uintptr_t bias)
{
    const struct link_map *map = seep_loader_first();

    for (unsigned n = 0; map && n < SEEP_LOADER_MOST; n++, map = seep_loader_next(map)) {
        struct link_map copy;
        if (seep_loader_read((uintptr_t)map, &copy, sizeof(copy)) == sizeof(copy) &&
            copy.l_addr == bias)
            return true;
    }
    return false;
}

/* ---- parts of the loop elsewhere ------------------------------------------------------------- */

/* Parts of the evaluation loop that the compiler has placed outside it.
 *
 * Compilers move code that seldom runs out of a function (`_PyEval_EvalFrameDefault.cold`, a fifth
 * of the loop in Debian's 3.11), and calls are made from there. Only .symtab names such parts;
 * distributions strip it, and reading the file takes milliseconds. But the loop's conditional jumps
 * lead to them, and .eh_frame_hdr gives their extent. Names are used where jumps cannot help:
 * for 3.14, whose loop may be a set of functions. */

struct ranges {
    struct seep_pyrange *at;
    unsigned n, capacity;
};

/* Inserts in order; merges ranges that touch or have only padding between them. */
static void ranges_add(struct ranges *r, uintptr_t start, uintptr_t end)
{
    enum { PADDING = 64 };
    unsigned i = 0, j;

    while (i < r->n && r->at[i].end + PADDING < start)
        i++;
    for (j = i; j < r->n && r->at[j].start <= end + PADDING; j++) {
        start = r->at[j].start < start ? r->at[j].start : start;
        end = r->at[j].end > end ? r->at[j].end : end;
    }
    if (i == j && r->n == r->capacity)
        return;
    memmove(&r->at[i + 1], &r->at[j], (r->n - j) * sizeof(*r->at));
    r->at[i] = (struct seep_pyrange){start, end};
    r->n = r->n - (j - i) + 1;
}

/* ---- by name -------------------------------------------------------------------------------- */

struct file {
    const uint8_t *bytes;
    size_t size;
};

/* `size` bytes at `offset`, or NULL if the file ends before that. */
static const void *file_part(const struct file *f, uint64_t offset, uint64_t size)
{
    return offset <= f->size && size <= f->size - offset ? f->bytes + offset : NULL;
}

static bool file_map(struct file *f, const char *path)
{
    struct stat status;
    const int fd = seep_os_open(path, O_RDONLY, 0);

    if (fd < 0)
        return false;
    if (seep_os_call3(SYS_fstat, fd, (long)&status, 0) == 0 && status.st_size > 0) {
        f->size = (size_t)status.st_size;
        const void *at =
            (const void *)seep_os_call6(SYS_mmap, 0, (long)f->size, PROT_READ, MAP_PRIVATE, fd, 0);
        f->bytes = seep_os_failed(at) ? NULL : at;
    }
    seep_os_close(fd);
    return f->bytes != NULL;
}

static bool is_part_name(const char *name, size_t room)
{
    static const char *const prefixes[] = {"_PyEval_EvalFrameDefault.", "_TAIL_CALL_"};

    for (unsigned i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        const size_t n = strlen(prefixes[i]);
        if (n < room && !memcmp(name, prefixes[i], n))
            return true;
    }
    return false;
}

/* False if the file has no .symtab, or is not the one that was loaded. */
static bool add_named(const struct seep_pyimage *image, const struct file *f, struct ranges *r)
{
    const ElfW(Ehdr) *header = file_part(f, 0, sizeof(*header));
    const ElfW(Shdr) * sections, *table = NULL;
    bool same = false;

    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    sections = file_part(f, header->e_shoff, (uint64_t)header->e_shnum * sizeof(*sections));
    for (unsigned i = 0; sections && i < header->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < header->e_shnum)
            table = &sections[i];
    if (!table)
        return false;
    const ElfW(Shdr) *strings = &sections[table->sh_link];
    const ElfW(Sym) *symbols = file_part(f, table->sh_offset, table->sh_size);
    const char *names = file_part(f, strings->sh_offset, strings->sh_size);
    if (!symbols || !names)
        return false;
    for (uint64_t i = 0; i < table->sh_size / sizeof(*symbols); i++) {
        const uintptr_t start = image->bias + symbols[i].st_value;
        if ((symbols[i].st_info & 15) != STT_FUNC || symbols[i].st_name >= strings->sh_size)
            continue;
        if (start == image->eval.start)
            same = same || start + symbols[i].st_size == image->eval.end;
        else if (is_part_name(names + symbols[i].st_name, strings->sh_size - symbols[i].st_name))
            ranges_add(r, start, start + symbols[i].st_size);
    }
    return same;
}

/* ---- by the loop's jumps -------------------------------------------------------------------- */

static int32_t read_s32(const uint8_t *at)
{
    int32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

/* The part of a function around `pc`, by .eh_frame_hdr in the one encoding that linkers use. */
static bool find_part(const struct seep_pyimage *image, uintptr_t pc, struct seep_pyrange *part)
{
    const uint8_t *hdr = (const uint8_t *)image->eh_frame_hdr;
    const intptr_t target = (intptr_t)(pc - image->eh_frame_hdr);

    if (!hdr || hdr[0] != 1 || hdr[2] != 0x03 || hdr[3] != 0x3b)
        return false;
    const uint8_t *table = hdr + 12;
    uint32_t low = 0, high = (uint32_t)read_s32(hdr + 8);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (read_s32(table + 8 * (size_t)middle) <= target)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return false;
    /* length, CIE pointer, pc relative start, size */
    const uint8_t *fde = hdr + read_s32(table + 8 * (size_t)(low - 1) + 4);
    part->start = (uintptr_t)(fde + 8) + (uintptr_t)(intptr_t)read_s32(fde + 8);
    part->end = part->start + (uint32_t)read_s32(fde + 12);
    const int32_t start = read_s32(table + 8 * (size_t)(low - 1));
    return part->start == (uintptr_t)hdr + (uintptr_t)(intptr_t)start && pc < part->end;
}

static bool inside(const struct seep_pyrange *range, uintptr_t pc)
{
    return pc - range->start < range->end - range->start;
}

static bool leads_back(const struct seep_pyrange *part, const struct seep_pyrange *loop)
{
    for (uintptr_t pc = part->start; pc + SEEP_ARCH_JUMP_BYTES <= part->end;
         pc += SEEP_ARCH_CODE_STEP)
        if (inside(loop, seep_arch_jump_back((const uint8_t *)pc)))
            return true;
    return false;
}

static void add_followed(const struct seep_pyimage *image, struct ranges *r)
{
    enum { MAX_PARTS = 16, ENOUGH = 3 };
    struct seep_pyrange parts[MAX_PARTS], part;
    unsigned n_jumps[MAX_PARTS], n = 0, i;

    for (uintptr_t pc = image->eval.start; pc + SEEP_ARCH_JUMP_BYTES <= image->eval.end;
         pc += SEEP_ARCH_CODE_STEP) {
        const uintptr_t target = seep_arch_jump_out((const uint8_t *)pc);
        if (!target || !inside(&image->text, target) || inside(&image->eval, target))
            continue;
        for (i = 0; i < n && !inside(&parts[i], target); i++)
            ;
        if (i < n) {
            n_jumps[i]++;
        } else if (n < MAX_PARTS && find_part(image, target, &part)) {
            parts[n] = part;
            n_jumps[n++] = 1;
        }
    }
    for (i = 0; i < n; i++)
        if (n_jumps[i] >= ENOUGH && leads_back(&parts[i], &image->eval))
            ranges_add(r, parts[i].start, parts[i].end);
}

unsigned seep_pyimage_cold(const struct seep_pyimage *image, struct seep_pyrange *ranges,
                           unsigned capacity)
{
    const uint32_t version = image->version_word ? *(const uint32_t *)image->version_word : 0;
    struct ranges r = {ranges, 0, capacity};
    struct file f = {0};

    if (version >= 0x030e0000 && file_map(&f, image->is_program ? "/proc/self/exe" : image->path)) {
        const bool named = add_named(image, &f, &r);
        (void)seep_os_call3(SYS_munmap, (long)f.bytes, (long)f.size, 0);
        if (named)
            return r.n;
        r.n = 0;
    }
    add_followed(image, &r);
    return r.n;
}

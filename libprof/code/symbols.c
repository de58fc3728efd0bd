#include "libprof/code/symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libprof/code/elf_file.h"

/* Which function and which inlined calls an address lies in, by DWARF. A part of symbols.
 *
 * libdw's dwarf_getscopes() walks the whole unit for each address. Here the functions of the last
 * unit are kept sorted, so addresses in ascending order cost one pass per unit. */

struct seep_scope_function {
    uint64_t low, high; /* [low, high) */
    Dwarf_Off die;
};

/* Initially all zero. */
struct seep_scopes {
    Dwarf_Off unit; /* the unit of the functions below; 0: none */
    struct seep_scope_function *functions;
    size_t n, capacity;
};

enum { MAX_DEPTH = 64 }; /* of nested scopes; a hostile file may nest without end */

static void scopes_fini(struct seep_scopes *scopes)
{
    free(scopes->functions);
    *scopes = (struct seep_scopes){0};
}

static bool add(struct seep_scopes *scopes, uint64_t low, uint64_t high, Dwarf_Off die)
{
    if (scopes->n == scopes->capacity) {
        size_t capacity = scopes->capacity ? scopes->capacity * 2 : 256;
        struct seep_scope_function *larger = realloc(scopes->functions, capacity * sizeof *larger);
        if (!larger)
            return false;
        scopes->functions = larger;
        scopes->capacity = capacity;
    }
    scopes->functions[scopes->n++] = (struct seep_scope_function){low, high, die};
    return true;
}

/* Collects the functions among the children of `parent` and in namespaces below it. */
static bool collect(struct seep_scopes *scopes, Dwarf_Die *parent, int depth)
{
    Dwarf_Die child;
    bool more = dwarf_child(parent, &child) == 0;

    for (; more; more = dwarf_siblingof(&child, &child) == 0) {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_namespace && depth < MAX_DEPTH && !collect(scopes, &child, depth + 1))
            return false;
        if (tag != DW_TAG_subprogram)
            continue;
        Dwarf_Addr base, low, high;
        ptrdiff_t at = 0;
        while ((at = dwarf_ranges(&child, at, &base, &low, &high)) > 0)
            if (low < high && !add(scopes, low, high, dwarf_dieoffset(&child)))
                return false;
    }
    return true;
}

static int by_low(const void *a, const void *b)
{
    const struct seep_scope_function *p = a, *q = b;

    return (p->low > q->low) - (p->low < q->low);
}

static bool find(const struct seep_scopes *scopes, uint64_t address, Dwarf_Off *die)
{
    size_t low = 0, high = scopes->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scopes->functions[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || address >= scopes->functions[low - 1].high)
        return false;
    *die = scopes->functions[low - 1].die;
    return true;
}

/* The child of `parent` that covers the address, a block or an inlined call. */
static bool inner(Dwarf_Die *parent, uint64_t address, Dwarf_Die *child)
{
    for (bool more = dwarf_child(parent, child) == 0; more;
         more = dwarf_siblingof(child, child) == 0) {
        int tag = dwarf_tag(child);
        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
            dwarf_haspc(child, address) > 0)
            return true;
    }
    return false;
}

/* The DIEs around `address` in `unit`: inlined calls, innermost first, then the function. Returns
 * how many, at most `capacity`; 0 if no function covers the address or memory is short. */
static uint32_t scopes_at(struct seep_scopes *scopes, Dwarf *dwarf, Dwarf_Die *unit,
                          uint64_t address, Dwarf_Die *chain, uint32_t capacity)
{
    Dwarf_Die outside_in[MAX_DEPTH], at, child;
    Dwarf_Off die, unit_offset = dwarf_dieoffset(unit);
    uint32_t n = 0, stored = 0;

    if (scopes->unit != unit_offset) {
        scopes->n = 0;
        scopes->unit = 0;
        if (!collect(scopes, unit, 0))
            return 0;
        if (scopes->n)
            qsort(scopes->functions, scopes->n, sizeof *scopes->functions, by_low);
        scopes->unit = unit_offset;
    }
    if (!find(scopes, address, &die) || !dwarf_offdie(dwarf, die, &at))
        return 0;
    outside_in[n++] = at;
    for (int depth = 0; depth < MAX_DEPTH && n < MAX_DEPTH && inner(&at, address, &child);
         depth++) {
        at = child;
        if (dwarf_tag(&at) == DW_TAG_inlined_subroutine)
            outside_in[n++] = at;
    }
    while (n && stored < capacity)
        chain[stored++] = outside_in[--n];
    return stored;
}

enum { MAX_INLINES = 16, MAX_NAME_BYTES = 480, UNSIZED_BYTES = 4096 };

struct answer {
    struct seep_symbol *symbols;
    uint32_t n;
};

struct text { /* in a list, so that all can be freed */
    struct text *next;
    char bytes[];
};

struct seep_symbols {
    const struct seep_dictionary *dict;
    bool may_open;
    struct answer *answers; /* [n_answers] by frame */
    bool *asked;
    size_t n_answers;
    struct text *texts;
};

/* An address to look up in the current module. */
struct query {
    uint64_t address;
    uint32_t frame;
    uint64_t symbol_start; /* of the best symbol so far */
    const char *name;      /* in the ELF's string table */
    bool sized;
};

struct module_file {
    int fd, debug_fd;
    Elf *elf, *debug_elf; /* debug_elf: the separate debug file, or NULL */
    Dwarf *dwarf;
    Dwarf_Off unit_at; /* where the last unit was found that .debug_aranges does not list */
    struct seep_scopes scopes;
};

struct seep_symbols *seep_symbols_create(const struct seep_dictionary *dict, bool may_open)
{
    struct seep_symbols *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->dict = dict;
    s->may_open = may_open;
    s->n_answers = dict->n_frames;
    s->answers = calloc(s->n_answers, sizeof *s->answers);
    s->asked = calloc(s->n_answers, sizeof *s->asked);
    if (!s->answers || !s->asked) {
        seep_symbols_destroy(s);
        return NULL;
    }
    return s;
}

void seep_symbols_destroy(struct seep_symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->answers && i < s->n_answers; i++)
        free(s->answers[i].symbols);
    while (s->texts) {
        struct text *next = s->texts->next;
        free(s->texts);
        s->texts = next;
    }
    free(s->answers);
    free(s->asked);
    free(s);
}

static const char *keep_text(struct seep_symbols *s, const char *bytes)
{
    size_t n = strlen(bytes);
    bool cut = n > MAX_NAME_BYTES;

    if (cut)
        n = MAX_NAME_BYTES;
    struct text *t = malloc(sizeof *t + n + 4);
    if (!t)
        return NULL;
    memcpy(t->bytes, bytes, n);
    strcpy(t->bytes + n, cut ? "..." : "");
    t->next = s->texts;
    s->texts = t;
    return t->bytes;
}

static const char *keep_demangled(struct seep_symbols *s, const char *name)
{
    char *plain = seep_elf_demangle(name);
    const char *kept = keep_text(s, plain ? plain : name);

    free(plain);
    return kept;
}

/* ---- files ------------------------------------------------------------------------------- */

static bool same_build_id(Elf *elf, const char *wanted)
{
    const void *id;
    char hex[129] = "";
    ssize_t n = dwelf_elf_gnu_build_id(elf, &id);

    if (n > 64)
        n = 64;
    for (ssize_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", ((const unsigned char *)id)[i]);
    return strcmp(hex, wanted) == 0;
}

static void open_debug_file(struct module_file *file, const char *build_id)
{
    char path[256];

    if (strlen(build_id) < 3 || strlen(build_id) > 128 ||
        strspn(build_id, "0123456789abcdef") != strlen(build_id))
        return;
    snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
    file->debug_elf = seep_elf_file_open(path, &file->debug_fd);
}

static bool open_module(struct seep_symbols *s, uint32_t module, struct module_file *file)
{
    const struct seep_dict_module *m = &s->dict->modules[module];
    const char *path = seep_dictionary_text(s->dict, m->path);
    const char *build_id = seep_dictionary_text(s->dict, m->build_id);

    *file = (struct module_file){.fd = -1, .debug_fd = -1};
    if (path[0] != '/' || !s->may_open)
        return false;
    file->elf = seep_elf_file_open(path, &file->fd);
    if (!file->elf)
        return false;
    if (m->build_id && !same_build_id(file->elf, build_id)) {
        elf_end(file->elf);
        close(file->fd);
        return false;
    }
    Elf *with_lines = file->elf;
    if (!seep_elf_section(file->elf, 0, ".debug_info")) {
        open_debug_file(file, build_id);
        with_lines = file->debug_elf;
    }
    /* Nobody looks for a leak in glibc, and libdw would inflate 10 MB before the first line: 45 ms
     * in each report. */
    if (with_lines && !seep_elf_file_is_glibc(path) &&
        seep_elf_section(with_lines, 0, ".debug_info") &&
        seep_elf_section(with_lines, 0, ".debug_line"))
        file->dwarf = dwarf_begin_elf(with_lines, DWARF_C_READ, NULL);
    return true;
}

static void close_module(struct module_file *file)
{
    scopes_fini(&file->scopes);
    if (file->dwarf)
        dwarf_end(file->dwarf);
    if (file->debug_elf) {
        elf_end(file->debug_elf);
        close(file->debug_fd);
    }
    elf_end(file->elf);
    close(file->fd);
}

/* ---- symbol tables ----------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    const struct query *p = a, *q = b;

    return (p->address > q->address) - (p->address < q->address);
}

static size_t first_at_or_above(const struct query *queries, size_t n, uint64_t address)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (queries[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void offer(struct query *q, const Elf64_Sym *symbol, const char *name)
{
    bool sized = symbol->st_size != 0;

    if (q->name && (q->sized > sized || (q->sized == sized && q->symbol_start >= symbol->st_value)))
        return;
    q->name = name;
    q->symbol_start = symbol->st_value;
    q->sized = sized;
}

/* Offers a symbol to the queries that it covers. One without a size (assembly) may reach as far as
 * the next symbol, which later queries prefer. Most cover none, and their names are not read. */
static void offer_to_all(struct query *queries, size_t n, Elf *elf, size_t names,
                         const Elf64_Sym *symbol)
{
    uint64_t bytes = symbol->st_size ? symbol->st_size : UNSIZED_BYTES;
    size_t i = first_at_or_above(queries, n, symbol->st_value);

    if (i == n || queries[i].address - symbol->st_value >= bytes)
        return;
    const char *name = elf_strptr(elf, names, symbol->st_name);
    if (!name || !name[0] || name[0] == '$')
        return;
    for (; i < n && queries[i].address - symbol->st_value < bytes; i++)
        offer(&queries[i], symbol, name);
}

static bool scan_table(Elf *elf, uint32_t type, struct query *queries, size_t n)
{
    GElf_Shdr header;
    Elf_Scn *scn = seep_elf_section(elf, type, NULL);
    Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

    if (!data || !gelf_getshdr(scn, &header) || gelf_getclass(elf) != ELFCLASS64 ||
        data->d_type != ELF_T_SYM)
        return false;
    /* What gelf_getsym() copies; a library may have a million of them. */
    const Elf64_Sym *symbols = data->d_buf;
    const size_t count = data->d_size / sizeof *symbols;
    const uint64_t low = queries[0].address, high = queries[n - 1].address;
    for (size_t i = 0; i < count; i++) {
        const Elf64_Sym *symbol = &symbols[i];
        const unsigned kind = GELF_ST_TYPE(symbol->st_info);
        if ((kind != STT_FUNC && kind != STT_GNU_IFUNC && kind != STT_NOTYPE) ||
            symbol->st_shndx == SHN_UNDEF || symbol->st_value > high ||
            (symbol->st_size && symbol->st_value + symbol->st_size <= low))
            continue;
        offer_to_all(queries, n, elf, header.sh_link, symbol);
    }
    return true;
}

static void scan_symbols(const struct module_file *file, struct query *queries, size_t n)
{
    if (scan_table(file->elf, SHT_SYMTAB, queries, n))
        return;
    /* Exported names first: other tables call malloc() __GI___libc_malloc, too. */
    scan_table(file->elf, SHT_DYNSYM, queries, n);
    if (file->debug_elf)
        scan_table(file->debug_elf, SHT_SYMTAB, queries, n);
}

/* ---- lines and inlined calls ------------------------------------------------------------- */

static bool find_unit_between(Dwarf *dwarf, uint64_t address, Dwarf_Off from, Dwarf_Off to,
                              Dwarf_Off *at, Dwarf_Die *unit)
{
    Dwarf_Off next;
    size_t header_bytes;

    for (*at = from;
         *at < to && dwarf_nextcu(dwarf, *at, &next, &header_bytes, NULL, NULL, NULL) == 0;
         *at = next) {
        if (dwarf_offdie(dwarf, *at + header_bytes, unit) && dwarf_haspc(unit, address) > 0)
            return true;
    }
    return false;
}

/* Some compilers write no .debug_aranges. Addresses come in ascending order, and mostly lie in the
 * same unit, so the search continues where the last one ended. */
static bool find_unit(struct module_file *module, uint64_t address, Dwarf_Die *unit)
{
    Dwarf_Off last = module->unit_at;

    return dwarf_addrdie(module->dwarf, address, unit) ||
           find_unit_between(module->dwarf, address, last, UINT64_MAX, &module->unit_at, unit) ||
           find_unit_between(module->dwarf, address, 0, last, &module->unit_at, unit);
}

static const char *function_of(struct seep_symbols *s, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;

    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    if (!name)
        name = dwarf_diename(die);
    return name ? keep_demangled(s, name) : NULL;
}

/* Where an inlined call is in its caller. */
static void call_site(struct seep_symbols *s, Dwarf_Die *unit, Dwarf_Die *die,
                      struct seep_symbol *at)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t n_files;

    at->file = NULL;
    at->line = 0;
    if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line))
        at->line = (unsigned)line;
    if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) &&
        !dwarf_getsrcfiles(unit, &files, &n_files) && file < n_files) {
        const char *name = dwarf_filesrc(files, file, NULL, NULL);
        at->file = name ? keep_text(s, name) : NULL;
    }
}

static uint32_t lines_at(struct seep_symbols *s, struct module_file *module, uint64_t address,
                         struct seep_symbol *out)
{
    Dwarf_Die unit, scopes[MAX_INLINES];
    struct seep_symbol at = {0};
    uint32_t n = 0;

    if (!find_unit(module, address, &unit))
        return 0;
    Dwarf_Line *line = dwarf_getsrc_die(&unit, address);
    if (line) {
        int number = 0;
        const char *file = dwarf_linesrc(line, NULL, NULL);
        dwarf_lineno(line, &number);
        at.file = file ? keep_text(s, file) : NULL;
        at.line = number > 0 ? (unsigned)number : 0;
    }
    uint32_t n_scopes =
        scopes_at(&module->scopes, module->dwarf, &unit, address, scopes, MAX_INLINES);
    for (; n < n_scopes; n++) {
        at.function = function_of(s, &scopes[n]);
        out[n] = at;
        call_site(s, &unit, &scopes[n], &at);
    }
    if (n == 0 && (at.file || at.line))
        out[n++] = at;
    return n;
}

/* ---- all together ------------------------------------------------------------------------ */

static int answer(struct seep_symbols *s, struct module_file *file, const struct query *q)
{
    struct seep_symbol found[MAX_INLINES] = {{0}};
    uint32_t n = file->dwarf ? lines_at(s, file, q->address, found) : 0;

    if (q->name && n == 0)
        n = 1;
    if (n == 0)
        return 0;
    if (q->name && !found[n - 1].function)
        found[n - 1].function = keep_demangled(s, q->name);
    struct answer *a = &s->answers[q->frame];
    a->symbols = malloc(n * sizeof *a->symbols);
    if (!a->symbols)
        return -SEEP_ENOMEM;
    memcpy(a->symbols, found, n * sizeof *found);
    a->n = n;
    return 0;
}

static int resolve_module(struct seep_symbols *s, uint32_t module, struct query *queries, size_t n)
{
    struct module_file file;
    int rc = 0;

    if (!open_module(s, module, &file))
        return 0;
    qsort(queries, n, sizeof *queries, by_address);
    scan_symbols(&file, queries, n);
    for (size_t i = 0; i < n && !rc; i++)
        rc = answer(s, &file, &queries[i]);
    close_module(&file);
    return rc;
}

struct wanted {
    uint32_t module, frame;
};

static int by_module(const void *a, const void *b)
{
    const struct wanted *p = a, *q = b;

    return (p->module > q->module) - (p->module < q->module);
}

/* Chooses those of frames[] that lie in a module and were not looked up before. */
static size_t choose(struct seep_symbols *s, const uint32_t *frames, size_t n, struct wanted *out)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        if (frames[i] >= s->n_answers || s->asked[frames[i]])
            continue;
        const struct seep_dict_frame *f = &s->dict->frames[frames[i]];
        s->asked[frames[i]] = true;
        if (f->kind == SEEP_FRAME_NATIVE && !f->pseudo && f->source)
            out[k++] = (struct wanted){f->source, frames[i]};
    }
    return k;
}

int seep_symbols_resolve(struct seep_symbols *s, const uint32_t *frames, size_t n)
{
    struct wanted *wanted = malloc((n + 1) * sizeof *wanted);
    struct query *queries = malloc((n + 1) * sizeof *queries);
    int rc = wanted && queries ? 0 : -SEEP_ENOMEM;

    elf_version(EV_CURRENT);
    size_t k = rc ? 0 : choose(s, frames, n, wanted);
    if (k)
        qsort(wanted, k, sizeof *wanted, by_module);
    for (size_t i = 0, j; i < k && !rc; i = j) {
        for (j = i; j < k && wanted[j].module == wanted[i].module; j++)
            queries[j - i] = (struct query){.address = s->dict->frames[wanted[j].frame].where,
                                            .frame = wanted[j].frame};
        rc = resolve_module(s, wanted[i].module, queries, j - i);
    }
    free(wanted);
    free(queries);
    return rc;
}

size_t seep_symbols_get(const struct seep_symbols *s, uint32_t frame,
                        const struct seep_symbol **symbols)
{
    if (frame >= s->n_answers)
        return 0;
    *symbols = s->answers[frame].symbols;
    return s->answers[frame].n;
}

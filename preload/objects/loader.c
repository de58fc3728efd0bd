#include "preload/objects/loader.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "libprof/runtime/store/os.h"
#include "libprof/runtime/store/vdso.h"

bool seep_loader_starting;

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

size_t seep_loader_read(uintptr_t from, void *to, size_t bytes)
{
    if (seep_loader_starting) {
        memcpy(to, (const void *)from, bytes);
        return bytes;
    }
    return seep_os_read_memory(from, to, bytes);
}

static bool read_whole(uintptr_t from, void *to, size_t bytes)
{
    return seep_loader_read(from, to, bytes) == bytes;
}

const struct link_map *seep_loader_first(void)
{
    return _r_debug.r_map;
}

const struct link_map *seep_loader_next(const struct link_map *map)
{
    struct link_map copy;

    return read_whole((uintptr_t)map, &copy, sizeof(copy)) ? copy.l_next : NULL;
}

const struct link_map *seep_loader_self(void)
{
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (map->l_ld == _DYNAMIC)
            return map;
    return NULL;
}

/* A name that ends before its page does is read up to the page's end. */
static void read_path(uintptr_t from, char path[SEEP_PATH_BYTES])
{
    path[0] = '\0';
    if (!from)
        return;
    if (seep_loader_starting) {
        if (strlen((const char *)from) < SEEP_PATH_BYTES)
            strcpy(path, (const char *)from);
        return;
    }
    size_t n = seep_loader_read(from, path, SEEP_PATH_BYTES);
    if (!memchr(path, '\0', n))
        path[0] = '\0';
}

static void read_build_id(uintptr_t note, size_t bytes, struct seep_object *o)
{
    unsigned char text[256];
    size_t n = seep_loader_read(note, text, bytes < sizeof(text) ? bytes : sizeof(text));
    for (size_t at = 0; n - at > sizeof(ElfW(Nhdr));) {
        ElfW(Nhdr) head;
        memcpy(&head, text + at, sizeof(head));
        at += sizeof(head);
        size_t name = (head.n_namesz + (size_t)3) & ~(size_t)3;
        size_t value = (head.n_descsz + (size_t)3) & ~(size_t)3;
        if (name > n - at || value > n - at - name)
            return;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(text + at, "GNU", 4)) {
            o->build_id_bytes =
                head.n_descsz < SEEP_BUILD_ID_BYTES ? head.n_descsz : SEEP_BUILD_ID_BYTES;
            memcpy(o->build_id, text + at + name, o->build_id_bytes);
            return;
        }
        at += name + value;
    }
}

/* The same where nothing has said yet that the memory is there. */
static size_t read_unsure(uintptr_t from, void *to, size_t bytes)
{
    if (bytes > UINTPTR_MAX - from)
        return 0;
    for (uintptr_t at = from; seep_loader_starting && at < from + bytes;
         at = seep_os_page_down(at) + seep_os_page_bytes())
        if (!seep_os_readable((const void *)at))
            return 0;
    return seep_loader_read(from, to, bytes);
}

/* Where an object begins, with its ELF header, if it is linked at 0 or is the kernel's. */
static uintptr_t likely_start(const struct link_map *map)
{
    const uintptr_t kernels = seep_vdso_around(map->l_ld);

    return kernels ? kernels : map->l_addr;
}

/* The program headers lie after the ELF header; the kernel tells those of the program itself. */
static unsigned read_headers(bool is_program, uintptr_t start,
                             ElfW(Phdr) headers[SEEP_OBJECT_HEADERS])
{
    ElfW(Ehdr) head;
    uintptr_t at;
    unsigned n;

    if (is_program) {
        at = getauxval(AT_PHDR);
        n = (unsigned)getauxval(AT_PHNUM);
    } else {
        if (!start || read_unsure(start, &head, sizeof(head)) != sizeof(head) ||
            memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(*headers))
            return 0;
        at = start + head.e_phoff;
        n = head.e_phnum;
    }
    if (n > SEEP_OBJECT_HEADERS)
        n = SEEP_OBJECT_HEADERS;
    return (unsigned)(read_unsure(at, headers, n * sizeof(*headers)) / sizeof(*headers));
}

/* Whether a part lies in what was loaded. */
static bool is_loaded(const ElfW(Phdr) * headers, unsigned n, const ElfW(Phdr) * part)
{
    for (unsigned i = 0; i < n; i++)
        if (headers[i].p_type == PT_LOAD && part->p_vaddr >= headers[i].p_vaddr &&
            part->p_vaddr - headers[i].p_vaddr <= headers[i].p_memsz &&
            part->p_memsz <= headers[i].p_memsz - (part->p_vaddr - headers[i].p_vaddr))
            return true;
    return false;
}

bool seep_loader_describe(const struct link_map *map, uintptr_t start, struct seep_object *o)
{
    ElfW(Phdr) headers[SEEP_OBJECT_HEADERS];
    struct link_map copy;

    memset(o, 0, offsetof(struct seep_object, path) + 1);
    if (!read_whole((uintptr_t)map, &copy, sizeof(copy)))
        return false;
    o->map = map;
    o->bias = copy.l_addr;
    o->dynamic = copy.l_ld;
    o->start = UINTPTR_MAX;
    unsigned n = read_headers(map == _r_debug.r_map, start ? start : likely_start(&copy), headers);
    for (unsigned i = 0; i < n; i++) {
        uintptr_t from = o->bias + headers[i].p_vaddr;
        if (headers[i].p_type == PT_LOAD) {
            if (from < o->start)
                o->start = from;
            if (from + headers[i].p_memsz > o->end)
                o->end = from + headers[i].p_memsz;
            if (headers[i].p_flags & PF_X) {
                o->text_start = from;
                o->text_end = from + headers[i].p_memsz;
            }
        } else if (!is_loaded(headers, n, &headers[i])) {
            continue;
        } else if (headers[i].p_type == PT_GNU_EH_FRAME) {
            o->eh_frame_hdr = (const uint8_t *)from;
        } else if (headers[i].p_type == PT_NOTE && !o->build_id_bytes) {
            read_build_id(from, headers[i].p_memsz, o);
        }
    }
    read_path((uintptr_t)copy.l_name, o->path);
    return o->end > o->start;
}

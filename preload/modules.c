#include "preload/modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "libprof/arena.h"
#include "libprof/intern.h"

enum { MAX_MODULES = 4096 };

struct entry {
    struct seep_loaded loaded;
    char *build_id; /* in the object's own memory, NULL: none */
    uint32_t build_id_bytes;
    const char *path; /* the loader's own copy, valid while the object is loaded */
};

/* Two tables: one in use, one being filled. */
static struct entry *tables[2];
static unsigned in_use;
static unsigned n_entries;
static unsigned long long adds, subs;
static struct seep_lock table_lock;
static uint32_t refreshing;
static uint32_t last_id;
bool seep_modules_torch;

struct scan {
    struct entry *table;
    unsigned n;
    unsigned long long adds, subs;
    bool changed;
};

static void note_build_id(struct entry *entry, const ElfW(Phdr) * segment)
{
    const char *at = (const char *)(entry->loaded.bias + segment->p_vaddr);
    const char *end = at + segment->p_memsz;
    while (end - at > (long)sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)at;
        size_t name = (note->n_namesz + 3u) & ~3u;
        size_t value = (note->n_descsz + 3u) & ~3u;
        at += sizeof(*note);
        if ((size_t)(end - at) < name + value)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(at, "GNU", 4)) {
            entry->build_id = (char *)at + name;
            entry->build_id_bytes = note->n_descsz < 64 ? note->n_descsz : 64;
            return;
        }
        at += name + value;
    }
}

static int add_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct scan *scan = data;
    (void)size;
    scan->adds = info->dlpi_adds;
    scan->subs = info->dlpi_subs;
    if (info->dlpi_adds == adds && info->dlpi_subs == subs && n_entries)
        return 1; /* as it was */
    scan->changed = true;
    if (scan->n >= MAX_MODULES)
        return 1;
    struct entry *entry = &scan->table[scan->n];
    memset(entry, 0, sizeof(*entry));
    entry->loaded.bias = info->dlpi_addr;
    entry->path = info->dlpi_name;
    entry->loaded.start = UINTPTR_MAX;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD) {
            if (from < entry->loaded.start)
                entry->loaded.start = from;
            if (from + segment->p_memsz > entry->loaded.end)
                entry->loaded.end = from + segment->p_memsz;
        } else if (segment->p_type == PT_GNU_EH_FRAME) {
            entry->loaded.eh_frame_hdr = (const uint8_t *)from;
        } else if (segment->p_type == PT_NOTE && !entry->build_id) {
            note_build_id(entry, segment);
        }
    }
    if (entry->path && strstr(entry->path, "libtorch_python."))
        seep_modules_torch = true;
    scan->n += entry->loaded.end > entry->loaded.start;
    return 0;
}

static void sort(struct entry *table, unsigned n)
{
    /* The loader lists objects by age, and addresses mostly fall with it: insertion is near linear
     * when started from the reversed list. */
    for (unsigned i = 0, j = n; i + 1 < j; i++) {
        struct entry t = table[i];
        table[i] = table[--j];
        table[j] = t;
    }
    for (unsigned i = 1; i < n; i++) {
        struct entry t = table[i];
        unsigned j = i;
        for (; j > 0 && table[j - 1].loaded.start > t.loaded.start; j--)
            table[j] = table[j - 1];
        table[j] = t;
    }
}

/* What has stayed keeps its id and its record. */
static void carry_over(struct entry *table, unsigned n, const struct entry *old, unsigned n_old)
{
    for (unsigned i = 0, j = 0; i < n; i++) {
        while (j < n_old && old[j].loaded.start < table[i].loaded.start)
            j++;
        if (j < n_old && old[j].loaded.start == table[i].loaded.start &&
            old[j].loaded.end == table[i].loaded.end && old[j].build_id == table[i].build_id &&
            old[j].path == table[i].path) {
            table[i].loaded.module = old[j].loaded.module;
            table[i].loaded.id = old[j].loaded.id;
        } else {
            table[i].loaded.id = ++last_id;
        }
    }
}

bool seep_modules_refresh(void)
{
    if (__atomic_exchange_n(&refreshing, 1, __ATOMIC_ACQUIRE))
        return false;
    struct scan scan = {0};
    unsigned spare = !in_use;
    if (!tables[spare])
        tables[spare] = seep_os_pages(MAX_MODULES * sizeof(struct entry));
    scan.table = tables[spare];
    if (scan.table)
        dl_iterate_phdr(add_object, &scan);
    if (scan.changed && seep_os_lock(&table_lock)) {
        sort(scan.table, scan.n);
        carry_over(scan.table, scan.n, tables[in_use], n_entries);
        in_use = spare;
        n_entries = scan.n;
        adds = scan.adds;
        subs = scan.subs;
        seep_os_unlock(&table_lock);
    }
    __atomic_store_n(&refreshing, 0, __ATOMIC_RELEASE);
    return scan.changed;
}

static struct entry *search(uintptr_t address)
{
    struct entry *table = tables[in_use];
    unsigned low = 0, high = n_entries;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (table[middle].loaded.start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < table[low - 1].loaded.end ? &table[low - 1] : NULL;
}

bool seep_modules_find(uintptr_t address, struct seep_loaded *found)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        if (!seep_os_lock(&table_lock))
            return false;
        struct entry *entry = search(address);
        if (entry)
            *found = entry->loaded;
        seep_os_unlock(&table_lock);
        if (entry)
            return true;
        if (!seep_modules_refresh())
            return false;
    }
    return false;
}

static uint32_t intern_entry(const struct entry *entry)
{
    char hex[129];
    for (uint32_t i = 0; i < entry->build_id_bytes; i++) {
        static const char digits[] = "0123456789abcdef";
        unsigned char byte = (unsigned char)entry->build_id[i];
        hex[2 * i] = digits[byte >> 4];
        hex[2 * i + 1] = digits[byte & 15];
    }
    const char *path = entry->path;
    if (!path || !*path)
        path = seep_arena.header->exe; /* the program itself has no name in the list */
    struct seep_module module = {
        .path = seep_intern_string(path, (uint32_t)strlen(path)),
        .build_id = seep_intern_string(hex, entry->build_id_bytes * 2),
        .bias = entry->loaded.bias,
        .start = entry->loaded.start,
        .end = entry->loaded.end,
    };
    return seep_intern_module(&module);
}

uint32_t seep_modules_ref(uintptr_t address, uintptr_t *bias)
{
    struct seep_loaded loaded;
    *bias = 0;
    if (!seep_modules_find(address, &loaded))
        return 0;
    *bias = loaded.bias;
    if (loaded.module || !seep_os_lock(&table_lock))
        return loaded.module;
    struct entry *entry = search(address);
    if (entry && !entry->loaded.module && seep_os_lock(&seep_arena.lock)) {
        entry->loaded.module = intern_entry(entry);
        seep_os_unlock(&seep_arena.lock);
    }
    uint32_t ref = entry ? entry->loaded.module : 0;
    seep_os_unlock(&table_lock);
    return ref;
}

void seep_modules_after_fork(void)
{
    table_lock.word = 0;
    refreshing = 0;
}

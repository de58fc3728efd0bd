#include "preload/modules.h"

#include <elf.h>
#include <string.h>

#include "libprof/arena.h"
#include "libprof/intern.h"
#include "libprof/site_table.h"

enum { MAX_MODULES = 4096, TEXT_BYTES = 512 * 1024, BUILD_ID_BYTES = 32 };

/* Everything is copied: the object may be gone when it is asked for. */
struct entry {
    struct seep_loaded loaded;
    const void *map; /* what the loader's own look-up says of `start` */
    const char *path;
    uint32_t build_id_bytes; /* 0: none */
    unsigned char build_id[BUILD_ID_BYTES];
};

/* Two tables, each with its texts: one in use, one being filled. */
static struct entry *tables[2];
static char *texts[2];
static unsigned in_use;
static unsigned n_entries;
static unsigned long long adds, subs;
static struct seep_lock table_lock;
static struct seep_lock refresh_lock; /* taken before table_lock */
static uint32_t last_id;

/* In a forked child the loader's lock may be held for good, by a thread that is not there. The list
 * is asked for only once an object has come or gone in the child: then the lock was free. */
static bool inherited;

bool seep_modules_torch;
uint32_t seep_modules_generation;
seep_find_object_fn *seep_modules_find_object;
void (*seep_modules_on_object)(const struct dl_phdr_info *info);
void (*seep_modules_on_unload)(void);

struct scan {
    struct entry *table;
    unsigned n;
    char *text; /* TEXT_BYTES */
    size_t used;
    unsigned long long adds, subs;
    bool changed;
};

/* The loader keeps a path as it was given to it. */
static const char *keep_path(struct scan *scan, const char *path)
{
    char cwd[SEEP_PATH_BYTES];
    size_t n = path ? strlen(path) : 0, n_cwd = 0;
    bool relative = n && path[0] != '/' && strchr(path, '/');
    if (relative && seep_os_call3(SYS_getcwd, (long)cwd, sizeof(cwd), 0) > 0 && cwd[0] == '/') {
        n_cwd = strlen(cwd) + 1;
        while (n > 2 && path[0] == '.' && path[1] == '/') {
            path += 2;
            n -= 2;
        }
    }
    if (!n || n_cwd + n + 1 > TEXT_BYTES - scan->used)
        return "";
    char *kept = scan->text + scan->used;
    scan->used += n_cwd + n + 1;
    if (n_cwd) {
        memcpy(kept, cwd, n_cwd - 1);
        kept[n_cwd - 1] = '/';
    }
    memcpy(kept + n_cwd, path, n);
    kept[n_cwd + n] = '\0';
    return kept;
}

static const void *map_of(uintptr_t address)
{
    struct seep_found_object found;
    if (!seep_modules_find_object || seep_modules_find_object((void *)address, &found) != 0)
        return NULL;
    return found.map;
}

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
            entry->build_id_bytes =
                note->n_descsz < BUILD_ID_BYTES ? note->n_descsz : BUILD_ID_BYTES;
            memcpy(entry->build_id, at + name, entry->build_id_bytes);
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
    entry->path = keep_path(scan, info->dlpi_name);
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
        } else if (segment->p_type == PT_NOTE && !entry->build_id_bytes) {
            note_build_id(entry, segment);
        }
    }
    entry->map = map_of(entry->loaded.start);
    if (strstr(entry->path, "libtorch_python."))
        seep_modules_torch = true;
    if (seep_modules_on_object)
        seep_modules_on_object(info);
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

static bool same(const struct entry *a, const struct entry *b)
{
    return a->loaded.start == b->loaded.start && a->loaded.end == b->loaded.end &&
           a->build_id_bytes == b->build_id_bytes &&
           memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0 &&
           strcmp(a->path, b->path) == 0;
}

/* What has stayed keeps its id and its record. */
static void carry_over(struct entry *table, unsigned n, const struct entry *old, unsigned n_old)
{
    for (unsigned i = 0, j = 0; i < n; i++) {
        while (j < n_old && old[j].loaded.start < table[i].loaded.start)
            j++;
        if (j < n_old && same(&table[i], &old[j])) {
            table[i].loaded.module = old[j].loaded.module;
            table[i].loaded.id = old[j].loaded.id;
        } else {
            table[i].loaded.id = ++last_id;
        }
    }
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

/* The caller holds refresh_lock. */
static bool reread(void)
{
    unsigned spare = !in_use;
    if (!tables[spare])
        tables[spare] = seep_os_pages(MAX_MODULES * sizeof(struct entry));
    if (!texts[spare])
        texts[spare] = seep_os_pages(TEXT_BYTES);
    struct scan scan = {.table = tables[spare], .text = texts[spare]};
    if (scan.table && scan.text)
        dl_iterate_phdr(add_object, &scan);
    if (!scan.changed || !seep_os_lock(&table_lock))
        return false;
    bool gone = scan.subs != subs;
    sort(scan.table, scan.n);
    carry_over(scan.table, scan.n, tables[in_use], n_entries);
    in_use = spare;
    n_entries = scan.n;
    adds = scan.adds;
    subs = scan.subs;
    inherited = false;
    seep_os_unlock(&table_lock);
    if (gone && seep_modules_on_unload)
        seep_modules_on_unload();
    __atomic_fetch_add(&seep_modules_generation, 1, __ATOMIC_RELEASE);
    return true;
}

/* Whether the loader has an object that the table has not, for a libc that cannot be asked for one
 * address. Its list is read without its lock, so only while no other thread can change it. */
static bool any_fresh(void)
{
    if (seep_modules_find_object || seep_sites_threaded)
        return false;
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (!search((uintptr_t)map->l_ld))
            return true;
    return false;
}

/* Whether what is known of `address` is out of date, as far as can be told without a lock. */
static bool outdated(uintptr_t address)
{
    const struct entry *entry = search(address);
    if (seep_modules_find_object)
        return map_of(address) != (entry ? entry->map : NULL);
    return !entry && any_fresh();
}

static bool any_gone(void)
{
    for (unsigned i = 0; seep_modules_find_object && i < n_entries; i++)
        if (map_of(tables[in_use][i].loaded.start) != tables[in_use][i].map)
            return true;
    return false;
}

/* `address`: which one it is about. */
static bool refresh_for(uintptr_t address)
{
    if (!seep_os_lock(&refresh_lock))
        return false;
    bool changed = (!inherited || outdated(address)) && reread();
    seep_os_unlock(&refresh_lock);
    return changed;
}

bool seep_modules_refresh(void)
{
    if (!seep_os_lock(&refresh_lock))
        return false;
    bool changed = !inherited && reread();
    seep_os_unlock(&refresh_lock);
    return changed;
}

void seep_modules_closed(void)
{
    if (!seep_os_lock(&refresh_lock))
        return;
    if (!inherited || any_gone())
        (void)reread();
    seep_os_unlock(&refresh_lock);
}

/* What was known may be of an object that has gone and made place for another. */
bool seep_modules_find(uintptr_t address, struct seep_loaded *found)
{
    (void)refresh_for(address);
    return seep_modules_known(address, found);
}

bool seep_modules_known(uintptr_t address, struct seep_loaded *found)
{
    if (!seep_os_lock(&table_lock))
        return false;
    const struct entry *entry = search(address);
    if (entry)
        *found = entry->loaded;
    seep_os_unlock(&table_lock);
    return entry != NULL;
}

bool seep_modules_path(uintptr_t address, char *path, size_t capacity)
{
    path[0] = '\0';
    (void)refresh_for(address);
    if (!seep_os_lock(&table_lock))
        return false;
    const struct entry *entry = search(address);
    bool fits = entry && strlen(entry->path) < capacity;
    if (fits)
        strcpy(path, entry->path);
    seep_os_unlock(&table_lock);
    return fits;
}

static uint32_t intern_entry(const struct entry *entry)
{
    char hex[2 * BUILD_ID_BYTES + 1];
    for (uint32_t i = 0; i < entry->build_id_bytes; i++) {
        static const char digits[] = "0123456789abcdef";
        unsigned char byte = entry->build_id[i];
        hex[2 * i] = digits[byte >> 4];
        hex[2 * i + 1] = digits[byte & 15];
    }
    const char *path = entry->path;
    if (!*path)
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
    refresh_lock.word = 0;
    inherited = true;
}

struct seep_lock *seep_modules_lock(unsigned which)
{
    return which ? &table_lock : &refresh_lock;
}

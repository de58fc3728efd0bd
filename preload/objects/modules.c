#include "preload/objects/modules.h"

#include <string.h>

#include "libprof/runtime/store/arena.h"
#include "libprof/runtime/store/intern.h"
#include "preload/objects/elf_find.h"

enum { FIRST_CAPACITY = 128, PATH_ROOM = 128, MAX_TRIES = 64 };

struct entry {
    struct seep_loaded loaded;
    const struct link_map *map;
    const char *path;
    uint32_t build_id_bytes; /* 0: none */
    unsigned char build_id[SEEP_BUILD_ID_BYTES];
};

/* Says itself how many it has room for: a slow reader may meet an older array and a newer count. */
struct entries {
    unsigned capacity;
    struct entry list[];
};

/* Two tables ordered by address, each with its texts: `version` says which is in use; the other is
 * filled for the next version. Readers check `version` before and after. */
static struct table {
    struct entries *entries; /* NULL: none yet */
    char *texts;
    size_t text_used, text_bytes;
    unsigned n;
} tables[2];
static unsigned wanted = FIRST_CAPACITY; /* the least number of entries that a table has room for */
static bool overflowed;                  /* one had not */
static uint32_t version;
static struct seep_lock lock; /* of who writes */
static uint32_t last_id;

/* The last object of the loader's list when it was read: new ones follow it. */
static const struct link_map *list_end;

bool seep_modules_torch;
bool seep_modules_cuda;
uint32_t seep_modules_generation;
void (*seep_modules_on_object)(const struct seep_object *object);
void (*seep_modules_on_unload)(void);

/* ---- _dl_find_object() of glibc 2.35 and later: neither locks nor waits ---------------------- */

struct found_object {
    unsigned long long flags;
    void *start, *end;
    const struct link_map *map;
    void *eh_frame;
    unsigned long long reserved[7];
};
typedef int find_object_fn(void *address, struct found_object *found);

static find_object_fn *find_object;
static bool find_object_sought;

static void seek_find_object(void)
{
    struct seep_elf_exports e;
    uintptr_t at = 0;
    for (const struct link_map *map = _r_debug.r_map; map && !at; map = map->l_next)
        if (seep_elf_open(&e, map->l_addr, map->l_ld))
            at = seep_elf_address(&e, "_dl_find_object");
    find_object = (find_object_fn *)at;
    find_object_sought = true;
}

static bool ask(uintptr_t address, struct found_object *found)
{
    return find_object && find_object((void *)address, found) == 0;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static unsigned n_in(const struct table *t, const struct entries *entries)
{
    const unsigned n = __atomic_load_n(&t->n, __ATOMIC_RELAXED);
    return !entries ? 0 : n < entries->capacity ? n : entries->capacity;
}

static struct entry *search(const struct table *t, uintptr_t address)
{
    struct entries *entries = __atomic_load_n(&t->entries, __ATOMIC_ACQUIRE);
    unsigned low = 0, high = n_in(t, entries);
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (entries->list[middle].loaded.start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < entries->list[low - 1].loaded.end ? &entries->list[low - 1] : NULL;
}

static struct entry *numbered(const struct table *t, uintptr_t index)
{
    struct entries *entries = __atomic_load_n(&t->entries, __ATOMIC_ACQUIRE);
    return index < n_in(t, entries) ? &entries->list[index] : NULL;
}

/* Copies the entry, and its path if there is room for one. */
static bool copy_entry(const struct entry *from, struct entry *entry, char *path, size_t capacity)
{
    if (!from)
        return false;
    *entry = *from;
    if (!path)
        return true;
    size_t n = strnlen(from->path, capacity);
    if (n == capacity)
        return false;
    memcpy(path, from->path, n);
    path[n] = '\0';
    return true;
}

static bool read_entry(uintptr_t address, bool by_index, struct entry *entry, char *path,
                       size_t capacity)
{
    for (int tries = 0; tries < MAX_TRIES; tries++) {
        uint32_t now = __atomic_load_n(&version, __ATOMIC_ACQUIRE);
        const struct table *t = &tables[now & 1];
        const struct entry *at = by_index ? numbered(t, address) : search(t, address);
        bool ok = copy_entry(at, entry, path, capacity);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&version, __ATOMIC_RELAXED) == now)
            return ok;
    }
    return false;
}

bool seep_modules_known(uintptr_t address, struct seep_loaded *found)
{
    struct entry entry;
    if (!read_entry(address, false, &entry, NULL, 0))
        return false;
    *found = entry.loaded;
    return true;
}

bool seep_modules_at(unsigned index, struct seep_loaded *found, char *path, size_t capacity)
{
    struct entry entry;
    if (!read_entry(index, true, &entry, path, capacity))
        return false;
    *found = entry.loaded;
    return true;
}

/* ---- writing: the caller holds the lock -------------------------------------------------------
 */

static const char *keep_text(struct table *t, const char *text)
{
    size_t n = strlen(text) + 1;
    if (n > t->text_bytes - t->text_used) {
        overflowed = true;
        return "";
    }
    char *kept = memcpy(t->texts + t->text_used, text, n);
    t->text_used += n;
    return kept;
}

/* What was there before stays: a thread may still be reading it. */
static bool make_room(struct table *t)
{
    if (t->entries && t->entries->capacity >= wanted)
        return true;
    struct entries *entries = seep_os_pages(sizeof(*entries) + wanted * sizeof(entries->list[0]));
    char *texts = seep_os_pages((size_t)wanted * PATH_ROOM);
    if (!entries || !texts)
        return false;
    entries->capacity = wanted;
    __atomic_store_n(&t->entries, entries, __ATOMIC_RELEASE);
    t->texts = texts;
    t->text_bytes = (size_t)wanted * PATH_ROOM;
    return true;
}

/* The other table, with the entries of this one that still exist; NULL without memory. */
static struct table *begin(bool *gone)
{
    const struct table *now = &tables[version & 1];
    struct table *next = &tables[!(version & 1)];
    if (overflowed && wanted < SEEP_LOADER_MOST)
        wanted *= 2;
    overflowed = false;
    /* Whoever sees what is written now sees that this table is not in use any more. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (!make_room(next))
        return NULL;
    next->n = 0;
    next->text_used = 0;
    *gone = false;
    for (unsigned i = 0; i < now->n; i++) {
        const struct entry *entry = &now->entries->list[i];
        struct found_object found;
        if (find_object && (!ask(entry->loaded.start, &found) || found.map != entry->map)) {
            *gone = true;
            continue;
        }
        next->entries->list[next->n] = *entry;
        next->entries->list[next->n++].path = keep_text(next, entry->path);
    }
    return next;
}

static void commit(bool gone)
{
    __atomic_store_n(&version, version + 1, __ATOMIC_RELEASE);
    if (gone && seep_modules_on_unload)
        seep_modules_on_unload();
    __atomic_fetch_add(&seep_modules_generation, 1, __ATOMIC_RELEASE);
}

/* The loader keeps a path as it was given: a relative one refers to the working directory of that
 * time. */
static void make_absolute(char path[SEEP_PATH_BYTES])
{
    static SEEP_LARGE char cwd[SEEP_PATH_BYTES]; /* the lock's */
    if (!path[0] || path[0] == '/' || !strchr(path, '/') ||
        seep_os_call3(SYS_getcwd, (long)cwd, sizeof(cwd), 0) <= 0 || cwd[0] != '/')
        return;
    const char *name = path;
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    size_t n = strlen(cwd), n_name = strlen(name);
    if (n + 1 + n_name >= SEEP_PATH_BYTES)
        return;
    memmove(path + n + 1, name, n_name + 1);
    memcpy(path, cwd, n);
    path[n] = '/';
}

/* Replaces whatever it overlaps. */
static void insert(struct table *t, const struct seep_object *o)
{
    struct entry *list = t->entries->list;
    unsigned at = 0, kept = 0;
    for (unsigned i = 0; i < t->n; i++)
        if (list[i].loaded.end <= o->start || list[i].loaded.start >= o->end)
            list[kept++] = list[i];
    t->n = kept;
    if (t->n >= t->entries->capacity) {
        overflowed = true;
        return;
    }
    for (at = t->n; at > 0 && list[at - 1].loaded.start > o->start; at--)
        list[at] = list[at - 1];
    struct entry *entry = &list[at];
    *entry = (struct entry){
        .loaded = {.start = o->start,
                   .end = o->end,
                   .bias = o->bias,
                   .eh_frame_hdr = o->eh_frame_hdr,
                   .dynamic = o->dynamic,
                   .id = ++last_id},
        .map = o->map,
        .path = keep_text(t, o->path),
        .build_id_bytes = o->build_id_bytes,
    };
    memcpy(entry->build_id, o->build_id, o->build_id_bytes);
    t->n++;
    if (strstr(o->path, "libtorch_python."))
        seep_modules_torch = true;
    if (strstr(o->path, "/libcuda.so"))
        seep_modules_cuda = true;
    if (seep_modules_on_object)
        seep_modules_on_object(o);
}

static SEEP_LARGE struct seep_object object; /* under the lock: too large for a small stack */

static bool has_map(const struct table *t, const struct link_map *map)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->entries->list[i].map == map)
            return true;
    return false;
}

/* Enters all of the loader's list that the table does not have. */
static bool read_list_once(void)
{
    bool gone, added = false;
    struct table *next = begin(&gone);
    const struct link_map *last = NULL;
    unsigned n = 0;
    if (!next)
        return false;
    for (const struct link_map *map = seep_loader_first(); map && n++ < SEEP_LOADER_MOST;
         last = map, map = seep_loader_next(map)) {
        if (has_map(next, map) || !seep_loader_describe(map, 0, &object))
            continue;
        make_absolute(object.path);
        insert(next, &object);
        added = true;
    }
    list_end = last;
    if (!added && !gone)
        return false;
    commit(gone);
    return true;
}

/* The table grows until it holds them. */
static bool read_list(void)
{
    bool changed = read_list_once();
    while (overflowed && wanted < SEEP_LOADER_MOST)
        changed = read_list_once() || changed;
    return changed;
}

/* Whether the loader has appended to its list, or the known end is no longer in it. A list that
 * cannot be read is not read again at each address. */
static bool list_changed(void)
{
    struct link_map copy;
    if (!find_object_sought)
        seek_find_object();
    if (list_end && __atomic_load_n(&seep_os_is_blind, __ATOMIC_RELAXED))
        return false;
    return !list_end ||
           seep_loader_read((uintptr_t)list_end, &copy, sizeof(copy)) != sizeof(copy) ||
           copy.l_next || !copy.l_prev || seep_loader_next(copy.l_prev) != list_end;
}

bool seep_modules_refresh(void)
{
    if (!seep_os_lock(&lock))
        return false;
    bool changed = list_changed() && read_list();
    seep_os_unlock(&lock);
    return changed;
}

void seep_modules_closed(void)
{
    bool gone;
    if (!seep_os_lock(&lock))
        return;
    if (begin(&gone) && gone)
        commit(gone);
    seep_os_unlock(&lock);
}

/* An object whose code is on the stack cannot be unloaded; what cannot be read of it is known from
 * elsewhere. */
static void enter(const struct found_object *found)
{
    bool gone;
    struct table *next = begin(&gone);
    if (!next)
        return;
    if (!seep_loader_describe(found->map, (uintptr_t)found->start, &object)) {
        object.map = found->map;
        object.bias = found->map->l_addr;
        object.dynamic = found->map->l_ld;
        object.start = (uintptr_t)found->start;
        object.end = (uintptr_t)found->end;
        object.eh_frame_hdr = found->eh_frame;
        object.build_id_bytes = 0;
        object.path[0] = '\0';
    }
    make_absolute(object.path);
    insert(next, &object);
    commit(gone);
}

/* A known entry may belong to an object that was unloaded and replaced by another. */
static bool is_current(const struct entry *entry, const struct found_object *found)
{
    return entry->map == found->map && entry->loaded.start <= (uintptr_t)found->start &&
           entry->loaded.end >= (uintptr_t)found->end;
}

static bool find_entry(uintptr_t address, struct entry *entry, char *path, size_t capacity)
{
    struct found_object found;
    bool known = read_entry(address, false, entry, path, capacity);
    if (!find_object) {
        if (known || !seep_modules_refresh())
            return known;
    } else {
        bool there = ask(address, &found);
        if (there ? known && is_current(entry, &found) : !known)
            return known;
        if (!seep_os_lock(&lock))
            return false;
        bool late =
            read_entry(address, false, entry, NULL, 0) && there && is_current(entry, &found);
        if (there && !late)
            enter(&found);
        seep_os_unlock(&lock);
        if (!there) {
            seep_modules_closed();
            return false;
        }
    }
    return read_entry(address, false, entry, path, capacity);
}

bool seep_modules_find(uintptr_t address, struct seep_loaded *found)
{
    struct entry entry;
    if (!find_entry(address, &entry, NULL, 0))
        return false;
    *found = entry.loaded;
    return true;
}

bool seep_modules_path(uintptr_t address, char *path, size_t capacity)
{
    struct entry entry;
    path[0] = '\0';
    return find_entry(address, &entry, path, capacity);
}

static uint32_t intern_entry(const struct entry *entry)
{
    char hex[2 * SEEP_BUILD_ID_BYTES + 1];
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
    if (loaded.module || !seep_os_lock(&lock))
        return loaded.module;
    struct entry *entry = search(&tables[version & 1], address);
    if (entry && !entry->loaded.module && seep_os_lock(&seep_arena.lock)) {
        uint32_t ref = intern_entry(entry);
        __atomic_store_n(&entry->loaded.module, ref, __ATOMIC_RELEASE);
        seep_os_unlock(&seep_arena.lock);
    }
    uint32_t ref = entry ? entry->loaded.module : 0;
    seep_os_unlock(&lock);
    return ref;
}

void seep_modules_after_fork(void)
{
    lock.word = 0;
}

struct seep_lock *seep_modules_lock(void)
{
    return &lock;
}

#include "libprof/read/loaded_modules.h"

#include "libprof/read/profile_read.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* Whether the path is that of LIBRARY.so, or of a version of it. */
static bool is_of(const char *path, size_t n, const char *library)
{
    const char *slash = memrchr(path, '/', n);
    const char *name = slash ? slash + 1 : path;
    const size_t n_name = n - (size_t)(name - path), n_library = strlen(library);

    return n_name >= n_library + 3 && memcmp(name, library, n_library) == 0 &&
           memcmp(name + n_library, ".so", 3) == 0 &&
           (n_name == n_library + 3 || name[n_library + 3] == '.');
}

static bool chunk_has(struct seep_profile *p, uint32_t chunk, const char *const *libraries)
{
    const uint64_t begin = SEEP_HEADER_BYTES + (uint64_t)chunk * SEEP_CHUNK_BYTES;

    for (uint64_t at = begin; at + sizeof(struct seep_module) <= begin + SEEP_CHUNK_BYTES;
         at += sizeof(struct seep_module)) {
        const struct seep_module *m =
            seep_profile_at(p, (uint32_t)(at / 8), SEEP_CHUNK_MODULES, sizeof *m, NULL);
        uint32_t n = 0;
        const char *path = m && m->path ? seep_profile_string(p, m->path, &n, NULL) : NULL;
        for (const char *const *l = libraries; path && *l; l++)
            if (is_of(path, n, *l))
                return true;
    }
    return false;
}

static bool profile_has(const char *path, const char *const *libraries)
{
    struct seep_profile *p = NULL;
    struct seep_error err = {0};
    bool has = false;

    if (seep_profile_open(path, &p, &err))
        return false;
    if (!seep_profile_load(p, &err))
        for (uint32_t i = p->first_chunk; i < p->n_chunks && !has; i++)
            has = p->header->chunk_types[i] == SEEP_CHUNK_MODULES && chunk_has(p, i, libraries);
    seep_profile_close(p);
    return has;
}

bool seep_loaded_any(const char *dir, const char *const *libraries)
{
    DIR *stream = opendir(dir);
    bool any = false;

    if (!stream)
        return false;
    for (struct dirent *e; !any && (e = readdir(stream));) {
        const char *end = strrchr(e->d_name, '.');
        char path[4096];
        if (end && strcmp(end, SEEP_PROFILE_SUFFIX) == 0 &&
            snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < (int)sizeof path)
            any = profile_has(path, libraries);
    }
    closedir(stream);
    return any;
}

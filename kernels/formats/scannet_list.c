#include "kernels/formats/growing.h"
#include "kernels/formats/scannet.h"
#include "kernels/formats/scannet_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct list {
    char **names;
    size_t n;
};

static int add(struct list *list, const char *name, size_t n)
{
    char **place = seep_array_append(&list->names, list->n, sizeof *place);

    if (!place)
        return -SEEP_ENOMEM;
    *place = strndup(name, n);
    if (!*place)
        return -SEEP_ENOMEM;
    list->n++;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int collect(DIR *dir, struct list *list)
{
    const size_t n_suffix = strlen(SEEP_SCANNET_MESH);
    int rc = 0;

    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (rc || !entry)
            return rc ? rc : errno ? -SEEP_EIO : 0;
        size_t n = strlen(entry->d_name);
        if (n > n_suffix && !strcmp(entry->d_name + n - n_suffix, SEEP_SCANNET_MESH))
            rc = add(list, entry->d_name, n - n_suffix);
    }
}

int seep_scannet_list(const char *folder, char ***names, size_t *n, struct seep_error *err)
{
    struct list list = {.n = 0};
    DIR *dir = opendir(folder);

    if (!dir)
        return seep_error_set(err, errno == ENOMEM ? SEEP_ENOMEM : SEEP_EIO, folder, 0, "%s",
                              strerror(errno));
    int rc = collect(dir, &list);
    int reason = errno;
    closedir(dir);
    if (rc) {
        for (size_t i = 0; i < list.n; i++)
            free(list.names[i]);
        free(list.names);
        return seep_error_set(err, -rc, folder, 0, "%s",
                              rc == -SEEP_EIO ? strerror(reason) : "no memory");
    }
    if (list.n)
        qsort(list.names, list.n, sizeof *list.names, compare_names);
    *names = list.names;
    *n = list.n;
    return 0;
}

#include "viewer/look/process_stat.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PF_KTHREAD of the kernel's include/linux/sched.h */
enum { OF_KERNEL = 0x00200000 };

bool seep_process_stat(pid_t pid, struct seep_process_stat *stat)
{
    char path[64], text[1024] = "";
    int parent = 0;
    unsigned flags = 0;
    unsigned long long started = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    const char *behind_name = strrchr(text, ')'); /* a name may have parentheses of its own */
    *stat = (struct seep_process_stat){.pid = pid};
    if (!behind_name || sscanf(behind_name + 1,
                               " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                               "%*d %*d %*d %llu",
                               &stat->state, &parent, &flags, &started) != 4)
        return false;
    stat->parent = (pid_t)parent;
    stat->is_kernels = flags & OF_KERNEL;
    stat->started = started;
    stat->status = (int)strtol(strrchr(behind_name, ' '), NULL, 10); /* the last field */
    return true;
}

bool seep_process_is_over(const struct seep_process_stat *stat)
{
    return stat->state == 'Z' || stat->state == 'X';
}

bool seep_process_has_ended(pid_t pid)
{
    struct seep_process_stat stat;

    return seep_process_stat(pid, &stat) && seep_process_is_over(&stat);
}

/* All that run, in any order. Returns how many. Allocates: *list; free(). */
static size_t list_all(struct seep_process_stat **list)
{
    DIR *dir = opendir("/proc");
    size_t n = 0, capacity = 0;
    struct dirent *entry;

    *list = NULL;
    while (dir && (entry = readdir(dir))) {
        struct seep_process_stat stat;
        const long pid = strtol(entry->d_name, NULL, 10);
        if (pid < 1 || !seep_process_stat((pid_t)pid, &stat) || seep_process_is_over(&stat))
            continue;
        if (n == capacity) {
            const size_t larger = capacity ? 2 * capacity : 256;
            struct seep_process_stat *grown = reallocarray(*list, larger, sizeof **list);
            if (!grown)
                break;
            *list = grown;
            capacity = larger;
        }
        (*list)[n++] = stat;
    }
    if (dir)
        closedir(dir);
    return n;
}

size_t seep_process_tree(pid_t root, struct seep_process_stat *list, size_t most, bool *more)
{
    struct seep_process_stat *all;
    const size_t n_all = list_all(&all);
    size_t n = 0;

    *more = false;
    if (most && seep_process_stat(root, &list[0]) && !seep_process_is_over(&list[0]))
        n = 1;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n_all; k++) {
            if (all[k].parent != list[i].pid)
                continue;
            *more = *more || n == most;
            if (n < most)
                list[n++] = all[k];
        }
    }
    free(all);
    return n;
}

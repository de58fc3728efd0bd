/* Makes the folder of a node with many ranks from the folders of recorded ranks.
 *   usage: node_of NODE HOST WORLD OUT FOLDER…
 * OUT gets the processes of each FOLDER, as local rank 0, 1, … of the node's; every process keeps
 * what it recorded, and has a pid, a rank and a host of its own. */
#include "libprof/format/job_format.h"
#include "libprof/format/profile_format.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIDS_OF_A_RANK = 1000000 }; /* above any pid that was recorded */

struct node {
    uint32_t number, world, n_ranks;
    const char *host, *out;
    struct seep_job *job;
};

static void *map_file(const char *path, size_t *bytes)
{
    int fd = open(path, O_RDWR);
    struct stat st;

    if (fd < 0 || fstat(fd, &st))
        err(1, "%s", path);
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        err(1, "%s", path);
    close(fd);
    *bytes = (size_t)st.st_size;
    return map;
}

/* Leaves out what is a hole or zero. */
static void copy(const char *from, const char *to)
{
    char command[4200];

    snprintf(command, sizeof command, "cp --sparse=always '%s' '%s'", from, to);
    if (system(command))
        errx(1, "%s cannot be copied", from);
}

static void rename_in(char *text, size_t capacity, uint32_t local)
{
    char old[SEEP_NAME_BYTES];

    snprintf(old, sizeof old, "%s", text);
    snprintf(text, capacity, "%u%s", (uint32_t)atoi(old) + local * PIDS_OF_A_RANK,
             strchr(old, '-') ? strchr(old, '-') : "");
}

static void patch(const struct node *node, const char *path, uint32_t local, uint32_t n_before)
{
    size_t bytes;
    struct seep_header *h = map_file(path, &bytes);

    h->pid += local * PIDS_OF_A_RANK;
    h->ppid += local * PIDS_OF_A_RANK;
    if (h->process_plus_1)
        h->process_plus_1 += n_before;
    if (h->parent_file[0])
        rename_in(h->parent_file, sizeof h->parent_file, local);
    memset(h->host, 0, sizeof h->host);
    snprintf(h->host, sizeof h->host, "%s", node->host);
    h->rank = (int32_t)(node->number * node->n_ranks + local);
    h->ranks = (struct seep_rank_notes){.local_rank_plus_1 = local + 1,
                                        .node_plus_1 = node->number + 1,
                                        .world_size = node->world,
                                        .local_size = node->n_ranks};
    snprintf(h->ranks.job_id, sizeof h->ranks.job_id, "fleet");
    for (int i = 0; i < SEEP_MAX_SLOTS; i++)
        h->slots[i].tid += h->slots[i].tid ? local * PIDS_OF_A_RANK : 0;
    h->check = seep_header_check(h);
    munmap(h, bytes);
}

static void add_entries(const struct node *node, const struct seep_job *from, uint32_t local)
{
    const uint32_t n_before = node->job->n_processes;

    for (uint32_t i = 0; i < from->n_processes && n_before + i < SEEP_MAX_PROCESSES; i++) {
        struct seep_process *p = &node->job->processes[n_before + i];
        *p = from->processes[i];
        p->pid += local * PIDS_OF_A_RANK;
        p->ppid += local * PIDS_OF_A_RANK;
        p->follows += p->follows ? n_before : 0;
        p->parent_plus_1 += p->parent_plus_1 ? n_before : 0;
        node->job->n_processes++;
    }
}

static void add_rank(struct node *node, const char *folder, uint32_t local)
{
    char path[2048], to[2048];
    size_t bytes;
    struct dirent *entry;
    DIR *dir = opendir(folder);

    snprintf(path, sizeof path, "%s/%s", folder, SEEP_JOB_FILE);
    if (!dir)
        err(1, "%s", folder);
    if (!node->job) {
        snprintf(to, sizeof to, "%s/%s", node->out, SEEP_JOB_FILE);
        copy(path, to);
        if (truncate(to, sizeof(struct seep_job)))
            err(1, "%s", to);
        node->job = map_file(to, &bytes);
        node->job->n_processes = 0;
        node->job->started_unix_ns += node->number; /* a folder of its own */
        memset(node->job->host, 0, sizeof node->job->host);
        snprintf(node->job->host, sizeof node->job->host, "%s", node->host);
    }
    const uint32_t n_before = node->job->n_processes;
    const struct seep_job *from = map_file(path, &bytes);
    while ((entry = readdir(dir))) {
        char name[SEEP_NAME_BYTES];
        if (!strstr(entry->d_name, SEEP_PROFILE_SUFFIX) || strstr(entry->d_name, "job") ||
            strlen(entry->d_name) >= sizeof name)
            continue;
        strcpy(name, entry->d_name);
        rename_in(name, sizeof name, local);
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        snprintf(to, sizeof to, "%s/%s", node->out, name);
        copy(path, to);
        patch(node, to, local, n_before);
    }
    add_entries(node, from, local);
    munmap((void *)from, bytes);
    closedir(dir);
}

int main(int argc, char **argv)
{
    if (argc < 6)
        errx(1, "usage: node_of NODE HOST WORLD OUT FOLDER…");
    struct node node = {.number = (uint32_t)atoi(argv[1]),
                        .host = argv[2],
                        .world = (uint32_t)atoi(argv[3]),
                        .out = argv[4],
                        .n_ranks = (uint32_t)(argc - 5)};
    if (mkdir(node.out, 0700))
        err(1, "%s", node.out);
    for (int i = 5; i < argc; i++)
        add_rank(&node, argv[i], (uint32_t)(i - 5));
    return 0;
}

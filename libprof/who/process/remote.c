#include "libprof/who/process/remote.h"

#include "libprof/who/process/thread_places.h"

#include <stdlib.h>

bool seep_remote_read(struct seep_remote *remote, uint64_t address, void *to, size_t bytes)
{
    const struct seep_memory_piece piece = {address, to, bytes};

    return remote->gather(remote, &piece, 1) == bytes;
}

static size_t gather(struct seep_remote *remote, const struct seep_memory_piece *pieces, size_t n)
{
    return seep_copy_memory_gather(&((struct seep_remote_process *)remote)->memory, pieces, n);
}

static int own_pages(struct seep_remote *remote, uint64_t start, uint64_t end, bool files_too,
                     seep_page_run_taker *take, void *arg)
{
    struct seep_page_states *pages = ((struct seep_remote_process *)remote)->pages;
    const int rc = seep_page_states_each(pages, start, end, files_too, take, arg);

    remote->cut = remote->cut || !pages->most_pages;
    return rc;
}

static bool read_all(void *remote, uint64_t address, void *to, size_t bytes)
{
    return seep_remote_read(remote, address, to, bytes);
}

uint64_t seep_remote_thread_pointer(struct seep_remote *remote)
{
    return seep_thread_pointer_find(&(struct seep_thread_source){remote->files, read_all, remote});
}

static int read_maps(struct seep_remote *remote, struct seep_maps *maps)
{
    const int rc = seep_maps_read(maps, ((struct seep_remote_process *)remote)->memory.pid);

    return rc ? rc
              : seep_thread_stacks_split(
                    &(struct seep_thread_source){remote->files, read_all, remote}, maps);
}

int seep_remote_process_init(struct seep_remote_process *remote, pid_t pid)
{
    *remote = (struct seep_remote_process){.remote = {gather, own_pages, read_maps, pid, false},
                                           .pages = malloc(sizeof *remote->pages)};
    seep_copy_memory_init(&remote->memory, pid);
    if (!remote->pages)
        return -SEEP_ENOMEM;
    seep_page_states_init(remote->pages, pid);
    return 0;
}

void seep_remote_process_fini(struct seep_remote_process *remote)
{
    seep_copy_memory_fini(&remote->memory);
    if (remote->pages)
        seep_page_states_fini(remote->pages);
    free(remote->pages);
    remote->pages = NULL;
}

#include "libprof/who/process/page_states.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "libprof/base/page_bytes.h"

#define PRESENT   (UINT64_C(1) << 63)
#define SWAPPED   (UINT64_C(1) << 62)
#define OF_A_FILE (UINT64_C(1) << 61) /* or shared */

#define MAX_PAGES (UINT64_C(1) << 24) /* 64 GiB, if they are of 4 KiB: a third of a second */

void seep_page_states_init(struct seep_page_states *states, pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
    states->fd = open(path, O_RDONLY | O_CLOEXEC);
    states->page_bytes = seep_page_bytes();
    states->most_pages = MAX_PAGES;
}

void seep_page_states_fini(struct seep_page_states *states)
{
    if (states->fd >= 0)
        close(states->fd);
    states->fd = -1;
}

static bool is_taken(uint64_t entry, bool files_too)
{
    return entry & (PRESENT | SWAPPED) && (files_too || !(entry & OF_A_FILE));
}

static int each_run(const struct seep_page_states *states, size_t n, uint64_t start, bool files_too,
                    seep_page_run_taker *take, void *arg)
{
    const uint64_t *entries = states->entries, page = states->page_bytes;
    int rc = 0;

    for (size_t i = 0; i < n && !rc;) {
        size_t from = i;
        while (i < n && is_taken(entries[i], files_too))
            i++;
        if (i > from)
            rc = take(arg, start + from * page, start + i * page);
        while (i < n && !is_taken(entries[i], files_too))
            i++;
    }
    return rc;
}

int seep_page_states_each(struct seep_page_states *states, uint64_t start, uint64_t end,
                          bool files_too, seep_page_run_taker *take, void *arg)
{
    int rc = 0;

    while (start < end && !rc && states->most_pages) {
        size_t n = (size_t)((end - start) / states->page_bytes), most = SEEP_PAGE_STATES;
        n = n < most ? n : most;
        ssize_t got = states->fd < 0
                          ? -1
                          : pread(states->fd, states->entries, n * sizeof(uint64_t),
                                  (off_t)(start / states->page_bytes * sizeof(uint64_t)));
        if (got <= 0)
            return take(arg, start, end);
        n = (size_t)got / sizeof(uint64_t);
        states->most_pages -= n < states->most_pages ? n : states->most_pages;
        rc = each_run(states, n, start, files_too, take, arg);
        start += n * states->page_bytes;
    }
    return rc;
}

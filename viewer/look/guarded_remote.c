#include "viewer/look/guarded_remote.h"

#include "libprof/base/clock.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define TELL_NS (UINT64_C(500) * 1000 * 1000)

/* On a line of its own, which is taken back at the end. */
static void tell(struct seep_guarded_remote *g, uint64_t ns)
{
    if (ns < g->told_ns + TELL_NS || !isatty(STDERR_FILENO))
        return;
    g->told_ns = ns;
    fprintf(stderr, "\rseep: it has stood still for %.1f s of about %.1f s", (double)ns / 1e9,
            (double)g->about_ns / 1e9);
}

bool seep_guarded_remote_is_over(struct seep_guarded_remote *g)
{
    if (g->most_ns && !g->is_late) {
        const uint64_t ns = seep_clock_ns(CLOCK_MONOTONIC) - g->began_ns;
        tell(g, ns);
        g->is_late = ns > g->most_ns;
    }
    return g->is_late || g->watch->is_short;
}

static size_t gather(struct seep_remote *remote, const struct seep_memory_piece *pieces, size_t n)
{
    struct seep_guarded_remote *g = (struct seep_guarded_remote *)remote;

    return seep_guarded_remote_is_over(g) ? 0 : g->of->gather(g->of, pieces, n);
}

static int own_pages(struct seep_remote *remote, uint64_t start, uint64_t end, bool files_too,
                     seep_page_run_taker *take, void *arg)
{
    struct seep_guarded_remote *g = (struct seep_guarded_remote *)remote;

    if (seep_guarded_remote_is_over(g))
        return -SEEP_EIO;
    const int rc = g->of->own_pages(g->of, start, end, files_too, take, arg);
    remote->cut = g->of->cut;
    return rc;
}

static int read_maps(struct seep_remote *remote, struct seep_maps *maps)
{
    struct seep_guarded_remote *g = (struct seep_guarded_remote *)remote;

    return g->of->read_maps(g->of, maps);
}

void seep_guarded_remote_init(struct seep_guarded_remote *g, struct seep_remote *of,
                              const struct seep_room_watch *watch, uint64_t most_ns,
                              uint64_t about_ns)
{
    *g = (struct seep_guarded_remote){
        .remote = {gather, own_pages, read_maps, of->files, of->cut, of->page_bytes},
        .of = of,
        .watch = watch,
        .began_ns = seep_clock_ns(CLOCK_MONOTONIC),
        .most_ns = most_ns,
        .about_ns = about_ns};
}

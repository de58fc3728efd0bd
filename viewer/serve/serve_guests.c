#include "viewer/serve/serve_guests.h"

#include <math.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

/* A request's head arrives within seconds. Between two requests of a page are 25 s at most, while
 * it waits here. Megabytes over a slow line take minutes. */
static const double patience_s[] = {
    [SEEP_GUEST_ASKS] = 20, [SEEP_GUEST_WAITS] = 25, [SEEP_GUEST_TAKES] = 600};
static const double follows_s = 60; /* after the last request: a page in the background sleeps */

enum {
    MAX_GUESTS = 256
}; /* fewer than the daemon accepts, which at its own limit would accept no
    * more */

double seep_guests_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The daemon finds the socket closed, and reports it. */
static void shut(struct seep_guest *guest)
{
    shutdown(guest->socket, SHUT_RDWR);
    guest->due_s = INFINITY;
}

/* Shuts down the guest that has been idle longest. */
static void make_room(struct seep_guests *guests)
{
    struct seep_guest *longest = NULL;

    for (struct seep_guest *g = guests->first; g; g = g->next) {
        if (g->state == SEEP_GUEST_ASKS && (!longest || g->due_s < longest->due_s))
            longest = g;
    }
    if (longest)
        shut(longest);
}

struct seep_guest *seep_guests_add(struct seep_guests *guests, struct MHD_Connection *connection,
                                   int socket)
{
    struct seep_guest *guest = calloc(1, sizeof *guest);

    if (!guest)
        return NULL;
    if (guests->n >= MAX_GUESTS)
        make_room(guests);
    guest->connection = connection;
    guest->socket = socket;
    guest->due_s = seep_guests_now() + patience_s[SEEP_GUEST_ASKS];
    guest->next = guests->first;
    guest->from = &guests->first;
    if (guest->next)
        guest->next->from = &guest->next;
    guests->first = guest;
    guests->n++;
    return guest;
}

void seep_guests_remove(struct seep_guests *guests, struct seep_guest *guest)
{
    guests->n_waiting -= guest->state == SEEP_GUEST_WAITS;
    guests->n--;
    *guest->from = guest->next;
    if (guest->next)
        guest->next->from = guest->from;
    free(guest);
}

void seep_guest_set(struct seep_guests *guests, struct seep_guest *guest,
                    enum seep_guest_state state)
{
    guests->n_waiting += state == SEEP_GUEST_WAITS;
    guests->n_waiting -= guest->state == SEEP_GUEST_WAITS;
    guest->state = state;
    guest->due_s = seep_guests_now() + patience_s[state];
    if (state != SEEP_GUEST_ASKS)
        guests->asked_s = seep_guests_now();
    else
        guest->has_waited = false;
}

void seep_guests_sweep(struct seep_guests *guests, bool all)
{
    const double now = seep_guests_now();

    for (struct seep_guest *g = guests->first, *next; g; g = next) {
        const bool due = now >= g->due_s;
        next = g->next;
        if (g->state != SEEP_GUEST_WAITS) {
            if (due)
                shut(g);
        } else if (due || all) {
            g->has_waited = g->has_waited || due;
            seep_guest_set(guests, g, SEEP_GUEST_TAKES);
            MHD_resume_connection(g->connection);
        }
    }
}

double seep_guests_next_s(const struct seep_guests *guests)
{
    double next_s = INFINITY;

    for (const struct seep_guest *g = guests->first; g; g = g->next)
        next_s = fmin(next_s, g->due_s);
    return isinf(next_s) ? -1 : fmax(0, next_s - seep_guests_now());
}

bool seep_guests_follow(const struct seep_guests *guests)
{
    return guests->n_waiting ||
           (guests->asked_s > 0 && seep_guests_now() - guests->asked_s < follows_s);
}

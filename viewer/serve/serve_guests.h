/* Who is connected, and until when: nobody keeps a connection by being slow. */
#ifndef SEEP_VIEWER_SERVE_SERVE_GUESTS_H
#define SEEP_VIEWER_SERVE_SERVE_GUESTS_H

#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;

enum seep_guest_state {
    SEEP_GUEST_ASKS,  /* has sent no whole request, or none since the last answer */
    SEEP_GUEST_WAITS, /* for a newer reading; suspended */
    SEEP_GUEST_TAKES, /* an answer */
};

/* One connection. */
struct seep_guest {
    struct MHD_Connection *connection;
    struct seep_guest *next, **from;
    enum seep_guest_state state;
    double due_s; /* when patience with this state ends */
    int socket;
    bool has_waited; /* for as long as anyone waits, in this request */
};

/* What all have in common. */
struct seep_guests {
    struct seep_guest *first;
    size_t n, n_waiting;
    double asked_s; /* when one asked last */
};

/* Seconds of a clock that only goes forward. */
double seep_guests_now(void);

/* A new connection; NULL without memory. Where very many are connected, one that asks nothing is
 * shut down for it. */
struct seep_guest *seep_guests_add(struct seep_guests *guests, struct MHD_Connection *connection,
                                   int socket);
void seep_guests_remove(struct seep_guests *guests, struct seep_guest *guest);

void seep_guest_set(struct seep_guests *guests, struct seep_guest *guest,
                    enum seep_guest_state state);

/* Shuts down who is overdue, and resumes who has waited long enough; `all`: whoever waits. */
void seep_guests_sweep(struct seep_guests *guests, bool all);

/* Seconds until the next sweep has something to do, < 0: none is needed. */
double seep_guests_next_s(const struct seep_guests *guests);

/* Whether somebody follows: waits, or asked a short while ago. */
bool seep_guests_follow(const struct seep_guests *guests);

#endif

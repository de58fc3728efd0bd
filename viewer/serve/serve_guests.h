/* The connections and their deadlines: a slow client cannot keep a connection for ever. */
#ifndef SEEP_VIEWER_SERVE_SERVE_GUESTS_H
#define SEEP_VIEWER_SERVE_SERVE_GUESTS_H

#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;

enum seep_guest_state {
    SEEP_GUEST_ASKS,  /* has not sent a complete request since it connected or since the last
                       * answer */
    SEEP_GUEST_WAITS, /* waits for a newer reading; suspended */
    SEEP_GUEST_TAKES, /* receives an answer */
};

/* One connection. */
struct seep_guest {
    struct MHD_Connection *connection;
    struct seep_guest *next, **from;
    enum seep_guest_state state;
    double due_s; /* when this state times out */
    int socket;
    bool has_waited; /* has waited as long as it may, in this request */
};

/* The connections, and what they share. */
struct seep_guests {
    struct seep_guest *first;
    size_t n, n_waiting;
    double asked_s; /* time of the last request */
};

/* Seconds of a monotonic clock. */
double seep_guests_now(void);

/* A new connection; NULL without memory. Where very many are connected, an idle one is shut down
 * for it. */
struct seep_guest *seep_guests_add(struct seep_guests *guests, struct MHD_Connection *connection,
                                   int socket);
void seep_guests_remove(struct seep_guests *guests, struct seep_guest *guest);

void seep_guest_set(struct seep_guests *guests, struct seep_guest *guest,
                    enum seep_guest_state state);

/* Shuts down overdue connections, and resumes those that have waited long enough; `all`: every one
 * that waits. */
void seep_guests_sweep(struct seep_guests *guests, bool all);

/* Seconds until the next sweep has something to do; < 0: never. */
double seep_guests_next_s(const struct seep_guests *guests);

/* Whether anybody follows the job: is waiting, or asked a short while ago. */
bool seep_guests_follow(const struct seep_guests *guests);

#endif

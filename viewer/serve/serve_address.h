/* Where a page is served: what `--serve ADDR:PORT` says, without looking up a name. */
#ifndef SEEP_VIEWER_SERVE_SERVE_ADDRESS_H
#define SEEP_VIEWER_SERVE_SERVE_ADDRESS_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <sys/socket.h>

enum { SEEP_SERVE_HOST_BYTES = INET6_ADDRSTRLEN + 2 };

struct seep_serve_address {
    struct sockaddr_storage socket; /* port 0: any that is free */
    socklen_t length;
    char host[SEEP_SERVE_HOST_BYTES]; /* as a URL has it: "127.0.0.1", "[::1]" */
    bool loopback;                    /* only this machine reaches it */
    bool wildcard;                    /* every address of the machine */
};

/* Whether a word has the form of such an address, right or wrong, and so is meant as one: a number,
 * something with ":NUMBER" at its end, or an address alone. */
bool seep_serve_is_address(const char *word);

/* "ADDR:PORT", "ADDR", ":PORT", "PORT", or NULL: 127.0.0.1 and any free port. ADDR is an IPv4
 * address, an IPv6 address in brackets, or localhost. Returns whether it is one. */
bool seep_serve_address_parse(const char *text, struct seep_serve_address *address);

/* The port, in the machine's order of bytes. */
unsigned seep_serve_port(const struct seep_serve_address *address);

#endif

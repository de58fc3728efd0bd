/* Where a page is served: parses the ADDR:PORT of `--serve`, without looking up names. */
#ifndef SEEP_VIEWER_SERVE_SERVE_ADDRESS_H
#define SEEP_VIEWER_SERVE_SERVE_ADDRESS_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <sys/socket.h>

enum { SEEP_SERVE_HOST_BYTES = INET6_ADDRSTRLEN + 2 };

struct seep_serve_address {
    struct sockaddr_storage socket; /* port 0: any free one */
    socklen_t length;
    char host[SEEP_SERVE_HOST_BYTES]; /* as in a URL: "127.0.0.1", "[::1]" */
    bool loopback;                    /* reachable from this machine alone */
    bool wildcard;                    /* every address of the machine */
};

/* Whether a word looks like such an address, valid or not, and so is meant as one: a number,
 * something that ends in ":NUMBER", or an address alone. */
bool seep_serve_is_address(const char *word);

/* "ADDR:PORT", "ADDR", ":PORT", "PORT", or NULL: 127.0.0.1 and any free port. ADDR is an IPv4
 * address, an IPv6 address in brackets, or localhost. Returns whether it is one. */
bool seep_serve_address_parse(const char *text, struct seep_serve_address *address);

/* The port, in host byte order. */
unsigned seep_serve_port(const struct seep_serve_address *address);

#endif

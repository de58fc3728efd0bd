#include "viewer/serve/serve_address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_PORT = 65535 };

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static bool read_port(const char *text, unsigned *port)
{
    if (!is_number(text) || strlen(text) > 5)
        return false;
    *port = (unsigned)atoi(text);
    return *port <= MAX_PORT;
}

static bool set_ipv4(struct seep_serve_address *a, const char *host, unsigned port)
{
    struct sockaddr_in *in = (struct sockaddr_in *)&a->socket;

    if (inet_pton(AF_INET, host, &in->sin_addr) != 1)
        return false;
    in->sin_family = AF_INET;
    in->sin_port = htons((in_port_t)port);
    a->length = sizeof *in;
    a->loopback = ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    a->wildcard = in->sin_addr.s_addr == htonl(INADDR_ANY);
    return inet_ntop(AF_INET, &in->sin_addr, a->host, sizeof a->host) != NULL;
}

static bool set_ipv6(struct seep_serve_address *a, const char *host, unsigned port)
{
    struct sockaddr_in6 *in = (struct sockaddr_in6 *)&a->socket;
    char text[INET6_ADDRSTRLEN];

    if (inet_pton(AF_INET6, host, &in->sin6_addr) != 1)
        return false;
    in->sin6_family = AF_INET6;
    in->sin6_port = htons((in_port_t)port);
    a->length = sizeof *in;
    a->loopback = IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
    a->wildcard = IN6_IS_ADDR_UNSPECIFIED(&in->sin6_addr);
    if (!inet_ntop(AF_INET6, &in->sin6_addr, text, sizeof text))
        return false;
    snprintf(a->host, sizeof a->host, "[%s]", text);
    return true;
}

static bool set_host(struct seep_serve_address *a, const char *host, unsigned port)
{
    char inner[INET6_ADDRSTRLEN];
    const size_t n = strlen(host);

    if (host[0] != '[')
        return set_ipv4(a, strcasecmp(host, "localhost") == 0 ? "127.0.0.1" : host, port);
    if (n < 3 || n - 2 >= sizeof inner || host[n - 1] != ']')
        return false;
    memcpy(inner, host + 1, n - 2);
    inner[n - 2] = '\0';
    return set_ipv6(a, inner, port);
}

bool seep_serve_address_parse(const char *text, struct seep_serve_address *address)
{
    char host[SEEP_SERVE_HOST_BYTES + 1];
    unsigned port = 0;

    memset(address, 0, sizeof *address);
    if (!text || is_number(text))
        return (!text || read_port(text, &port)) && set_host(address, "127.0.0.1", port);
    /* The last colon outside of brackets. */
    const char *colon = strrchr(text, ':'), *bracket = strrchr(text, ']');
    if (colon && bracket && colon < bracket)
        colon = NULL;
    if (colon && !read_port(colon + 1, &port))
        return false;
    const size_t n = colon ? (size_t)(colon - text) : strlen(text);
    if (n >= sizeof host || (n == 0 && !colon))
        return false;
    memcpy(host, text, n);
    host[n] = '\0';
    return set_host(address, n ? host : "127.0.0.1", port);
}

bool seep_serve_is_address(const char *word)
{
    struct seep_serve_address address;
    const char *colon = strrchr(word, ':');

    return is_number(word) || (colon && is_number(colon + 1) && !strchr(word, '/')) ||
           seep_serve_address_parse(word, &address);
}

unsigned seep_serve_port(const struct seep_serve_address *address)
{
    return ntohs(address->socket.ss_family == AF_INET6
                     ? ((const struct sockaddr_in6 *)&address->socket)->sin6_port
                     : ((const struct sockaddr_in *)&address->socket)->sin_port);
}

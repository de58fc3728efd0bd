#include "viewer/serve/serve_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HTTP_PORT = 80 };

/* Compares all bytes, so that the time does not tell where the first difference is. */
static bool is_same(const char *a, const char *b, size_t n)
{
    volatile unsigned char differs = 0;

    for (size_t i = 0; i < n; i++)
        differs = (unsigned char)(differs | (a[i] ^ b[i]));
    return differs == 0;
}

enum seep_serve_path seep_serve_path_of(const char *path, const char *token, bool open_metrics)
{
    static const struct {
        const char *name;
        enum seep_serve_path path;
    } table[] = {{"", SEEP_SERVE_PAGE}, {"data", SEEP_SERVE_DATA}, {"metrics", SEEP_SERVE_METRICS}};
    const size_t n = strlen(token), length = strlen(path);

    if (open_metrics && strcmp(path, "/metrics") == 0)
        return SEEP_SERVE_METRICS;
    if (length < n + 2 || path[0] != '/' || path[n + 1] != '/' || !is_same(path + 1, token, n))
        return SEEP_SERVE_NOTHING;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(path + n + 2, table[i].name) == 0)
            return table[i].path;
    }
    return SEEP_SERVE_NOTHING;
}

static bool is_host(const char *host, const char *name, unsigned port)
{
    char full[SEEP_SERVE_HOST_BYTES + 8];

    snprintf(full, sizeof full, "%s:%u", name, port);
    return strcasecmp(host, full) == 0 || (port == HTTP_PORT && strcasecmp(host, name) == 0);
}

bool seep_serve_host_is_own(const struct seep_serve_address *address, const char *host)
{
    static const char *const loopback[] = {"127.0.0.1", "localhost", "[::1]"};
    const unsigned port = seep_serve_port(address);

    if (!host || address->wildcard)
        return host != NULL;
    for (size_t i = 0; address->loopback && i < sizeof loopback / sizeof *loopback; i++) {
        if (is_host(host, loopback[i], port))
            return true;
    }
    return is_host(host, address->host, port);
}

bool seep_serve_takes_gzip(const char *accepted)
{
    for (const char *at = accepted; at && *at; at += *at == ',') {
        at += strspn(at, " \t");
        const size_t n = strcspn(at, ",");
        if (n >= 4 && strncasecmp(at, "gzip", 4) == 0 && (n == 4 || strchr(" \t;", at[4]))) {
            const char *q = memchr(at, '=', n);
            return !q || strtod(q + 1, NULL) > 0;
        }
        at += n;
    }
    return false;
}

bool seep_serve_names_version(const char *tags, unsigned long version)
{
    char tag[32];

    snprintf(tag, sizeof tag, "\"%lu\"", version);
    return tags && (strstr(tags, tag) != NULL || strcmp(tags, "*") == 0);
}

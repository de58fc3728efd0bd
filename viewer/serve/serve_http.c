#include "viewer/serve/serve_http.h"

#include "viewer/page/page_html.h"
#include "viewer/serve/serve_guests.h"
#include "viewer/serve/serve_rules.h"

#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* More connections than guests (serve_guests.c), so that those being shut down have time to go. A
 * request's head is far smaller than HEAD_BYTES. */
enum { TOKEN_BYTES = 20, MAX_CONNECTIONS = 512, HEAD_BYTES = 16 << 10, BACKLOG = 256 };

struct seep_http {
    struct seep_serve_address address;
    struct MHD_Daemon *daemon;
    int fd; /* the daemon's epoll descriptor */
    char token[2 * TOKEN_BYTES + 1];
    char url[SEEP_SERVE_HOST_BYTES + 256 + 2 * TOKEN_BYTES];
    bool open_metrics;
    struct seep_guests guests;
    struct seep_served *newest,
        *page; /* the last reading, and the last one that has a page; NULL: none yet */
};

/* Headers of every answer: the page may only ask this server, is never in a frame, and is never
 * cached. */
static const char *const headers[][2] = {
    {MHD_HTTP_HEADER_CONTENT_SECURITY_POLICY, SEEP_PAGE_POLICY_SERVED "; frame-ancestors 'none'"},
    {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
    {MHD_HTTP_HEADER_X_FRAME_OPTIONS, "DENY"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

/* Answers are shared, so headers are added when an answer is first used. */
static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
                             struct MHD_Response *response)
{
    if (!response)
        return MHD_NO;
    if (!MHD_get_response_header(response, headers[0][0])) {
        for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
            MHD_add_response_header(response, headers[i][0], headers[i][1]);
    }
    return MHD_queue_response(connection, status, response);
}

/* An answer of one line, which is copied. */
static enum MHD_Result say(struct MHD_Connection *connection, unsigned status, const char *text)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);

    if (response && text[0])
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain");
    if (response && status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, "Refresh", "1");
    if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result r = queue(connection, status, response);
    if (response)
        MHD_destroy_response(response);
    return r;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Sends a reading, unless the client has it already. */
static enum MHD_Result give(struct MHD_Connection *connection, struct seep_served *served,
                            enum seep_served_part part)
{
    if (seep_serve_names_version(header(connection, MHD_HTTP_HEADER_IF_NONE_MATCH),
                                 served->version))
        return say(connection, MHD_HTTP_NOT_MODIFIED, "");
    const bool gzip = seep_serve_takes_gzip(header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING));
    return queue(connection, MHD_HTTP_OK, seep_served_response(served, part, gzip));
}

static const enum seep_served_part part_of[] = {[SEEP_SERVE_PAGE] = SEEP_SERVED_PAGE,
                                                [SEEP_SERVE_DATA] = SEEP_SERVED_DATA,
                                                [SEEP_SERVE_METRICS] = SEEP_SERVED_METRICS};

/* The page and the metrics exist after the first reading; the metrics of a job that has not begun
 * do not. The data newer than the reading that the page has (?after=N) exists after the next one. A
 * request for any of them waits, up to a limit. */
static enum MHD_Result answer_path(struct seep_http *http, struct seep_guest *guest,
                                   enum seep_serve_path path)
{
    struct MHD_Connection *c = guest->connection;
    const char *after = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "after");
    const bool data = path == SEEP_SERVE_DATA;
    struct seep_served *served = data ? http->newest : http->page;
    const unsigned long known = after && data ? strtoul(after, NULL, 10) : 0;

    if (served && path == SEEP_SERVE_METRICS && !served->metrics)
        return say(c, MHD_HTTP_SERVICE_UNAVAILABLE, "There is no profile yet.\n");
    if (served && served->version > known)
        return give(c, served, part_of[path]);
    if (guest->has_waited && served)
        return say(c, MHD_HTTP_NO_CONTENT, "");
    if (guest->has_waited)
        return say(c, MHD_HTTP_SERVICE_UNAVAILABLE, "The profile is still being read.\n");
    seep_guest_set(&http->guests, guest, SEEP_GUEST_WAITS);
    MHD_suspend_connection(c);
    return MHD_YES;
}

static bool has_body(struct MHD_Connection *connection)
{
    const char *length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);

    return header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING) ||
           (length && strcmp(length, "0") != 0);
}

/* Refusals come first. The first call for a request comes before its body is read. */
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **request)
{
    struct seep_http *http = context;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct seep_guest *guest = info ? info->socket_context : NULL;

    (void)version;
    (void)upload;
    (void)upload_size;
    if (!guest)
        return MHD_NO;
    const bool first = *request == NULL;
    *request = guest;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return say(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD are allowed.\n");
    if (has_body(connection))
        return say(connection, MHD_HTTP_BAD_REQUEST, "A request must have no body.\n");
    if (first)
        return MHD_YES;
    if (!seep_serve_host_is_own(&http->address, header(connection, MHD_HTTP_HEADER_HOST)))
        return say(connection, MHD_HTTP_MISDIRECTED_REQUEST, "Unknown host.\n");
    const enum seep_serve_path path = seep_serve_path_of(url, http->token, http->open_metrics);
    if (path == SEEP_SERVE_NOTHING)
        return say(connection, MHD_HTTP_NOT_FOUND, "Not found.\n");
    seep_guest_set(&http->guests, guest, SEEP_GUEST_TAKES);
    return answer_path(http, guest, path);
}

static void request_ended(void *context, struct MHD_Connection *connection, void **request,
                          enum MHD_RequestTerminationCode code)
{
    struct seep_http *http = context;

    (void)connection;
    (void)code;
    if (*request)
        seep_guest_set(&http->guests, *request, SEEP_GUEST_ASKS);
}

static void connection_changed(void *context, struct MHD_Connection *connection, void **guest,
                               enum MHD_ConnectionNotificationCode code)
{
    struct seep_http *http = context;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        *guest = info ? seep_guests_add(&http->guests, connection, info->connect_fd) : NULL;
    else if (*guest)
        seep_guests_remove(&http->guests, *guest);
}

/* The token is a name in the URL that nobody can guess. */
static int make_token(char *token)
{
    unsigned char random[TOKEN_BYTES];

    if (getrandom(random, sizeof random, 0) != sizeof random)
        return -1;
    for (size_t i = 0; i < sizeof random; i++)
        sprintf(token + 2 * i, "%02x", random[i]);
    return 0;
}

/* The wildcard address has no name of its own: the URL has the machine's. */
static void make_url(struct seep_http *http)
{
    char name[254];

    if (!http->address.wildcard || gethostname(name, sizeof name) < 0)
        snprintf(name, sizeof name, "%s", http->address.host);
    name[sizeof name - 1] = '\0';
    snprintf(http->url, sizeof http->url, "http://%s:%u/%s/", name, seep_serve_port(&http->address),
             http->token);
}

/* A listening socket, or −1 with errno. Notes the port that it got. */
static int listen_at(struct seep_serve_address *address)
{
    const int one = 1;
    int s = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (s < 0)
        return -1;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(s, (struct sockaddr *)&address->socket, address->length) == 0 &&
        listen(s, BACKLOG) == 0 &&
        getsockname(s, (struct sockaddr *)&address->socket, &address->length) == 0)
        return s;
    int error = errno;
    close(s);
    errno = error;
    return -1;
}

static struct MHD_Daemon *start_daemon(struct seep_http *http, int socket)
{
    const unsigned flags =
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME |
        (http->address.socket.ss_family == AF_INET6 ? MHD_USE_IPv6 : MHD_NO_FLAG);

    return MHD_start_daemon(flags, 0, NULL, NULL, answer, http, MHD_OPTION_LISTEN_SOCKET, socket,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES,
                            MHD_OPTION_NOTIFY_CONNECTION, connection_changed, http,
                            MHD_OPTION_NOTIFY_COMPLETED, request_ended, http, MHD_OPTION_END);
}

static int start(struct seep_http *http, const char *name, struct seep_error *err)
{
    int s = listen_at(&http->address);

    if (s < 0)
        return seep_error_set(err, SEEP_EIO, name, 0, "cannot be served on (%s)", strerror(errno));
    if (make_token(http->token) < 0) {
        close(s);
        return seep_error_set(err, SEEP_EIO, name, 0,
                              "the kernel gave no random bytes for the URL");
    }
    http->daemon = start_daemon(http, s);
    if (!http->daemon) {
        close(s);
        return seep_error_set(err, SEEP_ENOMEM, name, 0, "the server does not start (%s)",
                              strerror(errno));
    }
    http->fd = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    make_url(http);
    return 0;
}

struct seep_http *seep_http_start(struct seep_serve_address *address, bool open_metrics,
                                  struct seep_error *err)
{
    struct seep_http *http = calloc(1, sizeof *http);
    char name[SEEP_SERVE_HOST_BYTES + 8];

    snprintf(name, sizeof name, "%s:%u", address->host, seep_serve_port(address));
    if (!http) {
        seep_error_set(err, SEEP_ENOMEM, name, 0, "out of memory");
        return NULL;
    }
    http->address = *address;
    http->open_metrics = open_metrics;
    if (start(http, name, err) < 0) {
        free(http);
        return NULL;
    }
    *address = http->address;
    return http;
}

const char *seep_http_url(const struct seep_http *http)
{
    return http->url;
}

int seep_http_fd(const struct seep_http *http)
{
    return http->fd;
}

double seep_http_wait_s(const struct seep_http *http)
{
    double next_s = seep_guests_next_s(&http->guests);
    MHD_UNSIGNED_LONG_LONG ms;

    if (MHD_get_timeout(http->daemon, &ms) != MHD_YES)
        return next_s;
    return next_s < 0 ? (double)ms / 1000 : fmin(next_s, (double)ms / 1000);
}

void seep_http_run(struct seep_http *http)
{
    seep_guests_sweep(&http->guests, false);
    MHD_run(http->daemon);
}

void seep_http_show(struct seep_http *http, struct seep_served *served)
{
    struct seep_served *newest = http->newest, *page = http->page;

    http->newest = served;
    if (!page || served->state != SEEP_SERVED_FAILED)
        http->page = served;
    if (newest && newest != http->page)
        seep_served_release(newest);
    if (page && page != http->page && page != newest)
        seep_served_release(page);
    seep_guests_sweep(&http->guests, true);
}

bool seep_http_is_followed(const struct seep_http *http)
{
    return seep_guests_follow(&http->guests);
}

void seep_http_stop(struct seep_http *http)
{
    seep_guests_sweep(&http->guests, true);
    MHD_stop_daemon(http->daemon);
    if (http->page != http->newest)
        seep_served_release(http->page);
    seep_served_release(http->newest);
    free(http);
}

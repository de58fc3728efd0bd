#include "viewer/serve/served.h"

#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"
#include "viewer/page/page_html.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

static const char *const state_names[] = {
    [SEEP_SERVED_WAITING] = "waiting", [SEEP_SERVED_FAILED] = "failed", [SEEP_SERVED_LIVE] = "live",
    [SEEP_SERVED_UNKNOWN] = "unknown", [SEEP_SERVED_ENDED] = "ended",
};

static double now_unix_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The data as text; NULL without memory. */
static char *data_text(struct seep_page *page, const struct seep_served *served, size_t *n)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, n);
    struct seep_page *none = page ? NULL : seep_page_of_parts(json_object()),
                     *all = page ? page : none;
    json_t *live =
        json_pack("{s:I, s:f, s:s, s:s}", "version", (json_int_t)served->version, "unix_s",
                  now_unix_s(), "state", state_names[served->state], "why", served->why);
    int failed = json_object_set_new(all ? all->parts : NULL, "live", live) < 0 || !out ||
                 seep_page_put_data(all, out) < 0;

    seep_page_free(none);
    if (out && (fclose(out) != 0 || failed)) {
        free(text);
        return NULL;
    }
    return out ? text : NULL;
}

/* Writes text with "<", "&" and quotes escaped for HTML. */
static void put_html(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (strchr("<>&\"'", *text))
            fprintf(out, "&#%d;", *text);
        else
            fputc(*text, out);
    }
}

/* A page without data, which reloads itself until there is some. */
static int put_waiting(const char *why, FILE *out)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta http-equiv=\"refresh\" content=\"2\"><meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\"><link rel=\"icon\" href=\"data:,\">"
          "<title>seep waits</title><style>:root { color-scheme: light dark; } "
          "body { font: 15px/1.5 system-ui, sans-serif; margin: 3em; overflow-wrap: anywhere; }"
          "</style></head>\n<body><p id=\"waits\">seep waits for the job: <bdi>",
          out);
    put_html(why, out);
    fputs("</bdi>.</p><p>This page shows it as soon as there is something to show.</p></body>"
          "</html>\n",
          out);
    return ferror(out) ? -SEEP_EIO : 0;
}

static int put_page(const struct seep_served *served, FILE *out)
{
    if (!served->has_page)
        return put_waiting(served->why, out);
    int r = seep_page_put_begin(true, out);
    if (!r && fwrite(served->data, 1, served->n_data, out) != served->n_data)
        r = -SEEP_EIO;
    return r ? r : seep_page_put_end(served->look, out);
}

struct seep_served *seep_served_create(struct seep_page *page, enum seep_served_state state,
                                       unsigned long version, const char *why)
{
    struct seep_served *served = calloc(1, sizeof *served);

    if (!served)
        return NULL;
    served->state = state;
    served->version = version;
    served->has_page = page;
    served->look = page && json_object_get(page->parts, "look");
    served->steps = seep_get_number(json_object_get(page ? page->parts : NULL, "job"), "steps");
    snprintf(served->why, sizeof served->why, "%s", why);
    /* The cut may have split a character. */
    (void)seep_text_clean_in_place(served->why, strlen(served->why));
    served->data = data_text(page, served, &served->n_data);
    if (served->data)
        return served;
    seep_served_release(served);
    return NULL;
}

/* Answers that are still being sent keep their response alive. */
void seep_served_release(struct seep_served *served)
{
    if (!served)
        return;
    for (int i = 0; i < 2 * SEEP_SERVED_N_PARTS; i++) {
        if (served->responses[i / 2][i % 2])
            MHD_destroy_response(served->responses[i / 2][i % 2]);
    }
    free(served->data);
    free(served->metrics);
    free(served);
}

static void add_headers(struct MHD_Response *response, const struct seep_served *served,
                        enum seep_served_part part, bool gzip)
{
    static const char *const types[SEEP_SERVED_N_PARTS] = {
        [SEEP_SERVED_DATA] = "application/json",
        [SEEP_SERVED_PAGE] = "text/html; charset=utf-8",
        [SEEP_SERVED_METRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8"};
    char tag[32];

    snprintf(tag, sizeof tag, "W/\"%lu\"", served->version);
    MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, tag);
    MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, types[part]);
    if (gzip)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
}

/* Replaces a text by its gzip file. Without memory it returns false, and the text is as before. */
static bool compress_text(char **text, size_t *n)
{
    enum { LEVEL = 4, GZIP_WINDOW = 15 + 16 /* the largest, and gzip's header */ };
    z_stream z = {.next_in = (unsigned char *)*text, .avail_in = (unsigned)*n};

    /* No browser takes a report of 4 GiB. */
    if (*n > UINT32_MAX / 2 ||
        deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    const size_t room = deflateBound(&z, *n);
    unsigned char *out = malloc(room);
    z.next_out = out;
    z.avail_out = (unsigned)room;
    const bool whole = out && deflate(&z, Z_FINISH) == Z_STREAM_END;
    deflateEnd(&z);
    if (!whole) {
        free(out);
        return false;
    }
    free(*text);
    *text = (char *)out;
    *n = room - z.avail_out;
    return true;
}

/* A part as text; NULL without memory. */
static char *text_of(const struct seep_served *served, enum seep_served_part part, size_t *n)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, n);
    int r = -SEEP_ENOMEM;

    if (out && part == SEEP_SERVED_PAGE)
        r = put_page(served, out);
    else if (out && part == SEEP_SERVED_DATA)
        r = fwrite(served->data, 1, served->n_data, out) == served->n_data ? 0 : -SEEP_EIO;
    else if (out)
        r = fputs(served->metrics, out) < 0 ? -SEEP_EIO : 0;
    if (out && (fclose(out) != 0 || r < 0)) {
        free(text);
        return NULL;
    }
    return out ? text : NULL;
}

struct MHD_Response *seep_served_response(struct seep_served *served, enum seep_served_part part,
                                          bool gzip)
{
    struct MHD_Response **response = &served->responses[part][gzip];
    size_t n;

    if (*response)
        return *response;
    char *text = text_of(served, part, &n);
    if (text && (!gzip || compress_text(&text, &n)))
        *response = MHD_create_response_from_buffer(n, text, MHD_RESPMEM_MUST_FREE);
    if (*response)
        add_headers(*response, served, part, gzip);
    else
        free(text);
    return *response;
}

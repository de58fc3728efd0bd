#include "viewer/serve/served.h"

#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"
#include "viewer/page/page_html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
static char *waiting_text(const char *why, size_t *n)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, n);

    if (!out)
        return NULL;
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
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static int fill_in(struct seep_served *served, struct seep_page *page)
{
    size_t n = 0, n_page = 0;
    char *text = data_text(page, served, &n);

    if (!text || seep_piece_init(&served->data, text, n) < 0) {
        free(text);
        return -SEEP_ENOMEM;
    }
    if (page)
        return 0;
    text = waiting_text(served->why, &n_page);
    if (!text || seep_piece_init(&served->page, text, n_page) < 0) {
        free(text);
        return -SEEP_ENOMEM;
    }
    return 0;
}

struct seep_served *seep_served_create(struct seep_page *page, enum seep_served_state state,
                                       unsigned long version, const char *why,
                                       const struct seep_piece *begin, const struct seep_piece *end)
{
    struct seep_served *served = calloc(1, sizeof *served);

    if (!served)
        return NULL;
    served->state = state;
    served->version = version;
    served->references = 1;
    served->steps = seep_get_number(json_object_get(page ? page->parts : NULL, "job"), "steps");
    served->begin = page ? begin : NULL;
    served->end = page ? end : NULL;
    snprintf(served->why, sizeof served->why, "%s", why);
    /* The cut may have split a character. */
    (void)seep_text_clean_in_place(served->why, strlen(served->why));
    if (fill_in(served, page) < 0) {
        seep_served_release(served);
        return NULL;
    }
    return served;
}

static void release_one(void *of)
{
    struct seep_served *served = of;

    if (--served->references)
        return;
    free((char *)served->data.text);
    free((char *)served->page.text);
    free((char *)served->metrics.text);
    seep_piece_fini(&served->data);
    seep_piece_fini(&served->page);
    seep_piece_fini(&served->metrics);
    free(served);
}

/* Answers that are still being sent keep it alive. */
void seep_served_release(struct seep_served *served)
{
    if (!served)
        return;
    for (int i = 0; i < 2 * SEEP_SERVED_N_PARTS; i++) {
        struct MHD_Response **response = &served->responses[i / 2][i % 2];
        if (*response)
            MHD_destroy_response(*response);
        *response = NULL;
    }
    release_one(served);
}

int seep_served_add_metrics(struct seep_served *served, char *text, size_t n)
{
    if (seep_piece_init(&served->metrics, text, n) == 0)
        return 0;
    free(text);
    served->metrics = (struct seep_piece){0};
    return -SEEP_ENOMEM;
}

static void add_headers(struct MHD_Response *response, const struct seep_served *served,
                        enum seep_served_part part)
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
}

struct MHD_Response *seep_served_response(struct seep_served *served, enum seep_served_part part,
                                          bool gzip)
{
    const struct seep_piece *const parts[SEEP_SERVED_N_PARTS] = {[SEEP_SERVED_DATA] = &served->data,
                                                                 [SEEP_SERVED_PAGE] = &served->page,
                                                                 [SEEP_SERVED_METRICS] =
                                                                     &served->metrics};
    const struct seep_piece *all[] = {served->begin, &served->data, served->end};
    struct MHD_Response **response = &served->responses[part][gzip];

    if (*response)
        return *response;
    if (part == SEEP_SERVED_PAGE && served->begin)
        *response = seep_pieces_response(all, 3, gzip, release_one, served);
    else
        *response = seep_pieces_response(&parts[part], 1, gzip, release_one, served);
    if (*response) {
        served->references++;
        add_headers(*response, served, part);
    }
    return *response;
}

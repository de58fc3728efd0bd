/* Requests for memory that failed. */
#include "libprof/print/put_text.h"
#include "libprof/print/text_parts.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/space.h"

#include <string.h>

/* For the host, the outcome decides, which `retried` says. */
static const char *shortage_ends_text(const json_t *its)
{
    if (json_is_true(json_object_get(its, "retried")))
        return ". The program then asked for less and got it.";
    return strcmp(seep_get_text(its, "source", "allocator"), "runtime") == 0
               ? ". The CUDA runtime refused it; the caller may have tried again."
               : "";
}

static void put_shortage(const json_t *job, FILE *to, const json_t *its)
{
    const char *source = seep_get_text(its, "source", "allocator");
    char words[SEEP_SPACE_WORDS], when[SEEP_WHEN_TEXT];

    seep_space_words(seep_get_text(its, "space", "?"), words);
    if (strcmp(source, "host") == 0)
        fputs("Out of host memory: ", to);
    else
        fprintf(to, "%s (%s): ",
                strcmp(source, "program") == 0 ? "Out of memory" : "CUDA out of memory", words);
    seep_put_size(to, seep_get_number(its, "asked_bytes"));
    fprintf(to, " requested %s",
            seep_get_when(seep_get_step_unit(job), seep_get_number(its, "step"),
                          seep_get_number(job, "steps"), when));
    if (json_is_object(json_object_get(its, "frame"))) {
        fputs(", ", to);
        seep_put_frame(to, json_object_get(its, "frame"), seep_get_text(job, "cwd", ""));
    }
    if (strcmp(source, "allocator") != 0 && !(seep_get_number(its, "reserved_bytes") > 0)) {
        fputs(shortage_ends_text(its), to);
        return;
    }
    fputs("; ", to);
    seep_put_size(to, seep_get_number(its, "allocated_bytes"));
    fputs(" of ", to);
    seep_put_size(to, seep_get_number(its, "reserved_bytes"));
    fputs(" reserved were in use", to);
}

void seep_shortages_text(const json_t *report, FILE *out, bool last_only)
{
    const json_t *all = json_object_get(report, "out_of_memory");
    const size_t n = json_array_size(all);

    for (size_t i = last_only && n ? n - 1 : 0; i < n; i++) {
        struct seep_paragraph line;
        put_shortage(json_object_get(report, "job"), seep_put_begin(&line, out, 0, SEEP_PUT_LABEL),
                     json_array_get(all, i));
        seep_put_end(&line);
    }
}

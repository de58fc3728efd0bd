#include "libprof/print/text_parts.h"

#include "libprof/print/put_text.h"
#include "libprof/report_read/holder_view.h"

#include <stdlib.h>
#include <string.h>

static const char HELD[] = "held by  ", KEPT[] = "kept at  ", PASSED[] = "goes to  ";

static void put_path(FILE *out, const json_t *holders, const json_t *path, int column)
{
    char *words = seep_get_path_words(holders, path);

    seep_put_wrapped(out, words ? words : "?", column, column);
    free(words);
}

typedef char *get_line(const json_t *finding, const char *cwd, size_t i);

/* The statements that put it there, or pass it on, one per line. */
static void put_lines(const json_t *finding, const char *cwd, FILE *out, int indent,
                      const char *label, get_line *get)
{
    const int column = indent + (int)strlen(label);
    char *words = get(finding, cwd, 0), *more = words ? get(finding, cwd, 1) : NULL;
    const bool several = more != NULL;

    free(more);
    if (words)
        fprintf(out, "%*s%s%s", indent, "", label, several ? "one of\n" : "");
    for (size_t i = 1; words; words = get(finding, cwd, i++)) {
        if (several)
            fprintf(out, "%*s", column, "");
        seep_put_wrapped(out, words, column, column + 2);
        free(words);
    }
}

static void put_holders(const json_t *finding, FILE *out, int indent)
{
    const json_t *holders = seep_get_holders(finding);
    const char *words = seep_get_holders_words(holders);
    const int column = indent + (int)strlen(HELD);
    json_t *path;
    size_t i;

    if (!*words && !json_array_size(json_object_get(holders, "paths")))
        return;
    fprintf(out, "%*s%s", indent, "", HELD);
    if (*words)
        seep_put_wrapped(out, words, column, column);
    json_array_foreach (json_object_get(holders, "paths"), i, path) {
        if (*words)
            fprintf(out, "%*s- ", column, "");
        else if (i)
            fprintf(out, "%*s", column, "");
        put_path(out, holders, path, *words ? column + 2 : column);
    }
}

void seep_holder_text(const json_t *finding, const char *cwd, FILE *out, int indent)
{
    put_lines(finding, cwd, out, indent, KEPT, seep_get_kept_words);
    put_lines(finding, cwd, out, indent, PASSED, seep_get_passed_words);
    put_holders(finding, out, indent);
}

/* seep-lab's messages for people, complaints and progress; and names that people give. */
#include "kernels/lab/lab.h"
#include "libprof/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool line_is_shown; /* a progress line that must be cleared */

static void write_all(const char *text, size_t n)
{
    ssize_t written = write(STDERR_FILENO, text, n); /* a failure cannot be reported */
    (void)written;
}

void seep_lab_complain(const char *format, ...)
{
    char line[2048];
    va_list args;

    seep_lab_progress(NULL);
    va_start(args, format);
    size_t n = seep_text_complaint(line, sizeof line, "seep-lab", format, args);
    va_end(args);
    write_all(line, n);
}

void seep_lab_complain_error(int rc, const struct seep_error *err, const char *what_to_do)
{
    const char *text = err->text[0] ? err->text : seep_error_name(rc);

    if (err->file[0])
        seep_lab_complain("%s: %s: %s", err->file, text, what_to_do);
    else
        seep_lab_complain("%s: %s", text, what_to_do);
}

void seep_lab_progress(const char *format, ...)
{
    char line[256] = "\r\033[K";
    size_t start = strlen(line);
    va_list args;

    if (!isatty(STDERR_FILENO) || (!format && !line_is_shown))
        return;
    line_is_shown = format != NULL;
    if (format) {
        va_start(args, format);
        vsnprintf(line + start, sizeof line - start, format, args);
        va_end(args);
    }
    write_all(line, strlen(line));
}

const struct seep_scenario *seep_lab_find_scenario(const char *name)
{
    for (const struct seep_scenario *const *s = seep_scenarios; *s; s++) {
        if (strcmp((*s)->name, name) == 0)
            return *s;
    }
    return NULL;
}

const struct seep_variant *seep_lab_find_variant(const struct seep_scenario *scenario,
                                                 const char *name)
{
    for (const struct seep_variant *v = scenario->variants; v->name; v++) {
        if (strcmp(v->name, name) == 0)
            return v;
    }
    return NULL;
}

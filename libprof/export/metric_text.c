#include "libprof/export/metric_text.h"

#include <math.h>
#include <string.h>

void seep_metric_family(const struct seep_metrics *m, const char *name, const char *unit,
                        const char *help)
{
    fprintf(m->out, "# TYPE %s gauge\n", name);
    if (*unit)
        fprintf(m->out, "# UNIT %s %s\n", name, unit);
    fprintf(m->out, "# HELP %s %s\n", name, help);
}

/* UTF-8: a byte 10xxxxxx continues a character. */
static size_t length_of(const char *text)
{
    size_t n = strnlen(text, SEEP_METRIC_LABEL_BYTES + 1);

    if (n <= SEEP_METRIC_LABEL_BYTES)
        return n;
    for (n--; n && (text[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

const char *seep_metric_label_text(const char *text, char to[SEEP_METRIC_LABEL_BYTES + 1])
{
    const size_t n = length_of(text);

    memcpy(to, text, n);
    to[n] = '\0';
    return to;
}

static void put_label(FILE *out, const char *before, const char *name, const char *text)
{
    const size_t n = length_of(text);

    fprintf(out, "%s%s=\"", before, name);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n')
            fputs("\\n", out);
        else if (text[i] == '"' || text[i] == '\\')
            fprintf(out, "\\%c", text[i]);
        else
            fputc(text[i], out);
    }
    fputc('"', out);
}

void seep_metric_put(const struct seep_metrics *m, const char *name,
                     const struct seep_metric_label *labels, size_t n, double value)
{
    fprintf(m->out, "%s{", name);
    put_label(m->out, "", "profile", m->profile);
    if (m->job_id)
        put_label(m->out, ",", "job_id", m->job_id);
    for (size_t i = 0; i < n; i++) {
        if (labels[i].text && labels[i].text[0])
            put_label(m->out, ",", labels[i].name, labels[i].text);
    }
    if (fabs(value) < 0x1p53 && value == trunc(value))
        fprintf(m->out, "} %.0f\n", value);
    else
        fprintf(m->out, "} %.17g\n", value);
}

void seep_metric_put_one(const struct seep_metrics *m, const char *name, const char *label,
                         const char *text, double value)
{
    const struct seep_metric_label one = {label, text};

    seep_metric_put(m, name, &one, label ? 1 : 0, value);
}

/* OpenMetrics text, one family of samples after the other. All labels are bounded: names of a job
 * come from anybody, and a monitoring system keeps every text that it ever saw. */
#ifndef SEEP_LIBPROF_EXPORT_METRIC_TEXT_H
#define SEEP_LIBPROF_EXPORT_METRIC_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes of a label's value; longer ones are cut between two characters. */
enum { SEEP_METRIC_LABEL_BYTES = 120 };

struct seep_metrics {
    FILE *out;
    const char *profile; /* labels of every sample; job_id: NULL if no launcher told one */
    const char *job_id;
};

struct seep_metric_label {
    const char *name, *text; /* NULL or "": this label is left out */
};

/* unit: "", or the end of the name. */
void seep_metric_family(const struct seep_metrics *m, const char *name, const char *unit,
                        const char *help);

/* labels: n of them besides those of every sample. */
void seep_metric_put(const struct seep_metrics *m, const char *name,
                     const struct seep_metric_label *labels, size_t n, double value);

/* The same with one label, or with none (NULL). */
void seep_metric_put_one(const struct seep_metrics *m, const char *name, const char *label,
                         const char *text, double value);

/* Copies a text, cut to what a label has room for: texts that differ only behind that are one
 * label. Returns `to`. */
const char *seep_metric_label_text(const char *text, char to[SEEP_METRIC_LABEL_BYTES + 1]);

/* The parts of a report, one file for each. `report` is any JSON. Returns 0 or -SEEP_ENOMEM. */
int seep_metric_findings(const struct seep_metrics *m, const json_t *report);
int seep_metric_processes(const struct seep_metrics *m, const json_t *report);

/* Seconds that a step took lately: over the later half of the steps; 0: not known. */
double seep_metric_step_s(const json_t *report);

#endif

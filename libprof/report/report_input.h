/* What a report is made from. */
#ifndef SEEP_LIBPROF_REPORT_REPORT_INPUT_H
#define SEEP_LIBPROF_REPORT_REPORT_INPUT_H

#include "libprof/measure/resident/resident_memory.h"
#include "libprof/verdict/diagnosis.h"

#include <jansson.h>

struct seep_job_sources;
struct seep_space_growths;

struct seep_report_pieces {
    const struct seep_code *code;
    const struct seep_findings *findings;
    const struct seep_rss_table *rss;
    const struct seep_holders *holders; /* all zero if nobody looked */
    const struct seep_line_holders *line_holders;
    bool may_open;  /* files of programs and libraries */
    bool all_sites; /* every site, not only those of at least 0.1 % of their space's peak */
    bool brief;     /* no sites but those that findings are about */
    bool series;    /* also levels of sites and processes over steps and time */
    bool layouts;   /* each block of a device's memory at its peak and when it ran out */

    /* Filled by seep_report_json(). */
    struct seep_space_growths *growths;
    struct seep_job_sources *sources; /* opened when needed */
    json_t **frame_json; /* [n_frames] the frame printed for each, or an array of several */
    json_t *frame_texts; /* {text: itself}, shared by the frames */
    bool *shown;         /* [n_sites] whether it is listed */
    size_t n_left_out;   /* large enough to be listed, but beyond the limit */
};

#endif

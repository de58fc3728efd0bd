/* What `seep look` was asked for. */
#ifndef SEEP_VIEWER_LOOK_LOOK_OPTIONS_H
#define SEEP_VIEWER_LOOK_LOOK_OPTIONS_H

#include "viewer/look/take_look.h"
#include "viewer/output.h"

struct seep_look_options {
    pid_t pid;
    const char *core;    /* a core file to look at instead; NULL: the process */
    const char *program; /* the file of its program; NULL: where it was */
    const struct seep_output_format *format;
    const char *out; /* NULL: standard output */
    enum seep_look_way way;
    double every_s; /* between two looks */
    long times;
    bool each_line; /* a look for each line of standard input, `times` at most */
    bool tree;      /* its descendants, too */
    bool open;      /* as a page in a browser, as well */
};

/* Reads the command line. Returns −1 to go on, or the exit status. */
int seep_look_options_read(int argc, char **argv, struct seep_look_options *options);

#endif

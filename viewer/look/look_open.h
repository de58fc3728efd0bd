/* `seep look --open`: what was seen, as a page in a browser. */
#ifndef SEEP_VIEWER_LOOK_LOOK_OPEN_H
#define SEEP_VIEWER_LOOK_LOOK_OPEN_H

#include <jansson.h>
#include <sys/types.h>

/* Has `seep view` write the page of a look document to look-PID.html, and open it. Returns 0, or
 * SEEP_EXIT_UNUSABLE after a complaint. */
int seep_look_open(const json_t *document, pid_t pid);

#endif

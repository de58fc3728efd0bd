/* The rules that give a frame its role in a training job: a table, first match wins. */
#ifndef SEEP_LIBPROF_ROLES_H
#define SEEP_LIBPROF_ROLES_H

#include "libprof/frames.h"

/* SEEP_SITE_OTHER where no rule matches. `own` says that the frame is the user's code. Pure. */
enum seep_role seep_roles_of_frame(const struct seep_dictionary *d, const struct seep_dict_frame *f,
                                   bool own);

#endif

/* Operators new and delete of a C++ runtime that is not found by RTLD_NEXT (see modules.h). */
#ifndef SEEP_PRELOAD_HOOKS_NEW_H
#define SEEP_PRELOAD_HOOKS_NEW_H

struct seep_object;

/* Looks for the operators in an object: seep_modules_on_object. */
void seep_new_find(const struct seep_object *object);

/* Objects have been unloaded, perhaps the runtime too. */
void seep_new_forget(void);

#endif

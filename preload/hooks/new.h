/* Operators new and delete of a C++ runtime that RTLD_NEXT does not find (see modules.h). */
#ifndef SEEP_PRELOAD_HOOKS_NEW_H
#define SEEP_PRELOAD_HOOKS_NEW_H

struct seep_object;

/* Looks for the operators in an object: seep_modules_on_object. */
void seep_new_find(const struct seep_object *object);

/* Objects were unloaded, perhaps the runtime among them. */
void seep_new_forget(void);

#endif

/* What to look for in a source: a name, its owner, and what a statement may do with it. */
#ifndef SEEP_LIBPROF_SOURCE_KEPT_IN_H
#define SEEP_LIBPROF_SOURCE_KEPT_IN_H

enum seep_kept_in {
    SEEP_KEPT_IN_LOCAL,     /* a variable of the function `owner` */
    SEEP_KEPT_IN_GLOBAL,    /* one of the module itself */
    SEEP_KEPT_IN_IMPORTED,  /* one of another module, by its name or through the module */
    SEEP_KEPT_IN_ATTRIBUTE, /* of an object of the class `owner`, or of that class */
    SEEP_KEPT_IN_HOOKS,     /* what libraries store for register_…hook() */
    SEEP_KEPT_IN_CACHE,     /* of the function `name`, which has a cache decorator */
};

struct seep_stores_asked {
    enum seep_kept_in in;
    const char *name;
    const char *owner; /* a function's qualified name, a class's, a module's; "" unknown */
};

enum seep_store_how {
    SEEP_STORES_NOTHING, /* it is read, or something empty is assigned to it */
    SEEP_STORES_WHOLE,   /* it is assigned: its content may have been made elsewhere */
    SEEP_STORES_ENTRY,   /* stored under a key or an index, which may have held another */
    SEEP_STORES_MORE,    /* appended, added, joined */
};

#endif

/* What is looked for in a source: a name, whose it is, and what a statement may do with it. */
#ifndef SEEP_LIBPROF_SOURCE_KEPT_IN_H
#define SEEP_LIBPROF_SOURCE_KEPT_IN_H

enum seep_kept_in {
    SEEP_KEPT_IN_LOCAL,     /* a variable of the function `owner` */
    SEEP_KEPT_IN_GLOBAL,    /* one of the module itself */
    SEEP_KEPT_IN_IMPORTED,  /* one of another module, by its name or by way of that */
    SEEP_KEPT_IN_ATTRIBUTE, /* of an object of the class `owner`, or of that class */
    SEEP_KEPT_IN_HOOKS,     /* what libraries keep for register_…hook() */
    SEEP_KEPT_IN_CACHE,     /* of the function `name`, which is decorated so */
};

struct seep_stores_asked {
    enum seep_kept_in in;
    const char *name;
    const char *owner; /* a function's qualified name, a class's, a module's; "" unknown */
};

enum seep_store_how {
    SEEP_STORES_NOTHING, /* it is read, or something empty is assigned to it */
    SEEP_STORES_WHOLE,   /* it is assigned: what it holds was made elsewhere maybe */
    SEEP_STORES_ENTRY,   /* under a key or an index, which may have had another */
    SEEP_STORES_MORE,    /* appended, added, joined */
};

#endif

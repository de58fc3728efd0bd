/* A path from a root to a block, as hops that a user can read, and what its nodes are. */
#ifndef SEEP_LIBPROF_WHO_WAYS_PATH_H
#define SEEP_LIBPROF_WHO_WAYS_PATH_H

#include "libprof/who/graph/py_walk.h"
#include "libprof/who/ways/reach.h"

#include <jansson.h>

enum seep_hop_kind {
    SEEP_HOP_ATTRIBUTE, /* .name, also a slot or a C member */
    SEEP_HOP_KEY,       /* of a dict; name: its text if that may be shown, else "" */
    SEEP_HOP_INDEX,     /* of a list, tuple, deque */
    SEEP_HOP_ELEMENT,   /* of a set */
    SEEP_HOP_LOCAL,     /* a variable of a function whose frame is kept, by a generator or an
                         * exception */
    SEEP_HOP_PART,      /* name: __closure__ and the like */
    SEEP_HOP_FIELD,     /* of an object, without a name */
    SEEP_HOP_NATIVE,    /* blocks of C and C++; type: their classes */
    SEEP_HOP_SELF,      /* the root's name says it already */
};

enum { SEEP_HOP_NAME = 64, SEEP_HOP_TYPE = 96, SEEP_PATH_HOPS = 48 };

struct seep_hop {
    enum seep_hop_kind kind;
    size_t at; /* index of its first node, from the root on */
    char name[SEEP_HOP_NAME];
    char type[SEEP_HOP_TYPE]; /* of the object that it leads to, without its module */
    int64_t length;           /* of the container that it leads out of; −1: none */
    int64_t index;            /* of a tuple; −1: one of many */
    uint32_t repeated;        /* how many consecutive hops are alike: a linked list */
};

struct seep_path {
    struct seep_root root;
    char root_name[SEEP_HOP_NAME];     /* a variable's, a module's; "" */
    uint64_t root_address;             /* of a variable in static data; 0: the root has a name, or
                                        * is none */
    char root_function[SEEP_HOP_NAME]; /* of the variable */
    char root_file[256];
    bool shared; /* by the root and others: hops begin at what they share */
    size_t n;
    bool cut; /* there are more hops behind these */
    struct seep_hop hops[SEEP_PATH_HOPS];
};

/* The path to a node that was reached, cut to the most hops. `keys`: texts of dict keys may be
 * shown. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_path_of(struct seep_reach *reach, uint32_t node, bool keys,
                                 struct seep_path *path);

/* The same, if the root is just one of those that lead to `shared`, a node of the path. */
SEEP_MUST_CHECK int seep_path_of_shared(struct seep_reach *reach, uint32_t node, uint32_t shared,
                                        bool keys, struct seep_path *path);

/* The root at which the path to a node begins, and the number of nodes from there to it. */
uint32_t seep_path_root(const struct seep_reach *reach, uint32_t node, size_t *n);

/* Stores the first nodes of the path, from the root on, at most `capacity`; returns how many the
 * path has. */
size_t seep_path_begin(const struct seep_reach *reach, uint32_t node, uint32_t *nodes,
                       size_t capacity);

/* A number of its names and types, without lengths and indices: equal in all processes where the
 * same variable leads to the same kind of thing. */
uint64_t seep_path_key(const struct seep_path *path);

/* As one line. Returns a text to be freed, or NULL without memory. */
char *seep_path_text(const struct seep_path *path);

/* Names the container that hop `i` leads out of, or what the path leads to if there is no such hop:
 * "Annotations.by_name", "local 'history' of main()". */
void seep_path_holder_name(const struct seep_path *path, size_t i, char *to, size_t capacity);

/* {text, root, hops} of a holders file; a new reference, or NULL without memory. */
json_t *seep_path_json(const struct seep_path *path);

/* The word for it in files. */
const char *seep_root_kind_word(enum seep_root_kind kind);
const char *seep_hop_kind_word(enum seep_hop_kind kind);

/* Places in a larger container are contents, and not told apart. */
enum { SEEP_WAY_MANY_KEYS = SEEP_DICT_FEW };

/* The most that a container can hold, by its own bound; −1: no bound. A cache's dict is bounded as
 * the cache is. */
int64_t seep_way_bound(const struct seep_reach *reach, uint32_t node);

/* Whether the label that leads to a node is a meaningful name, like an attribute's. */
bool seep_way_has_name(enum seep_label_kind kind);

/* Whether a node is reached from its parent in the same way as the parent from its own: a linked
 * list. */
bool seep_way_repeats(const struct seep_reach *reach, uint32_t node);

#endif

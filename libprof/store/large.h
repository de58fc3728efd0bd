/* Where the recorder's tables lie in its library. */
#ifndef SEEP_LIBPROF_STORE_LARGE_H
#define SEEP_LIBPROF_STORE_LARGE_H

/* For tables: they lie behind all that is small, which so lies on a few pages. A forked child, and
 * its parent, copy each page that they write to. */
#define SEEP_LARGE __attribute__((section(".bss.large")))

#endif

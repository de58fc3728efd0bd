/* What a contract says in words, checked where a program is built to be tested: with DEBUG=1 and by
 * the sanitizers. Elsewhere it costs nothing. For what only a mistake of ours can break: what a
 * file, the kernel or a job says is checked in every build. Any room may include it. */
#ifndef SEEP_LIBPROF_CONTRACT_H
#define SEEP_LIBPROF_CONTRACT_H

#ifdef SEEP_CHECKED
/* Ends the process at this instruction: no message, for the shim has no stdio. */
#define SEEP_CHECK(what) ((what) ? (void)0 : __builtin_trap())
#else
#define SEEP_CHECK(what) ((void)sizeof(!(what)))
#endif

#endif

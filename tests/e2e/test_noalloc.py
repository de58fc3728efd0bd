"""The shim allocates nothing of the job's while it records, and shows the job nothing but its hooks."""
import os
import shutil
import subprocess
import unittest

from tests.e2e.support import SHIM, SOURCES, SeepCase, compile_c, job_env, needs, sum_sites

# Not denied: dlopen, which only looks for what is loaded (operator new); pthread_key_create and pthread_setspecific, whose
# first 32 keys lie in the thread's own descriptor. That none of them allocates later the counting test shows.
DENIED = set("""
malloc calloc realloc reallocarray free cfree posix_memalign memalign aligned_alloc valloc pvalloc
strdup strndup __strdup asprintf vasprintf __asprintf_chk __vasprintf_chk getline getdelim
fopen fopen64 fdopen freopen fclose fflush fread fwrite fputs fputc putc puts putchar fgets fscanf sscanf
printf fprintf vprintf vfprintf dprintf vdprintf sprintf snprintf vsprintf vsnprintf
__printf_chk __fprintf_chk __vfprintf_chk __sprintf_chk __snprintf_chk __vsnprintf_chk __dprintf_chk
open_memstream fmemopen tmpfile perror error err warn strerror syslog vsyslog
opendir fdopendir readdir readdir64 scandir glob realpath get_current_dir_name
setenv putenv unsetenv clearenv getpwuid getpwnam gethostbyname getaddrinfo localtime localtime_r strftime
qsort qsort_r setlocale newlocale iconv_open regcomp
dlclose backtrace backtrace_symbols backtrace_symbols_fd
pthread_create thrd_create tss_create timer_create
__tls_get_addr __assert_fail __assert _Znwm _Znam _ZdlPv _ZdaPv exit
""".split())


def undefined():
    out = subprocess.run(["nm", "-D", "-u", SHIM], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines() if line.strip()}


class NoAllocation(SeepCase):
    def setUp(self):
        super().setUp()
        self.assertTrue(os.path.exists(SHIM), SHIM)

    @needs(shutil.which("nm"), "no nm")
    def test_the_shim_refers_to_nothing_that_allocates_or_prints(self):
        self.assertFalse(undefined() & DENIED)

    @needs(shutil.which("readelf"), "no readelf")
    def test_thread_storage_of_the_shim_is_there_from_the_start(self):
        out = subprocess.run(["readelf", "-Wr", SHIM], stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertNotIn("DTPMOD", out, "lazily made thread storage allocates")

    def test_no_call_of_the_shim_reaches_the_allocator(self):
        counting = compile_c(self, SOURCES / "lib/counting_malloc.c", self.path("counting.so"), "-fPIC", "-shared")
        folder = self.fresh()
        env = job_env(LD_PRELOAD=SHIM + " " + counting, SEEP_OUT=folder)
        done = self.command([self.subject("noalloc")], env=env)
        self.assertEqual(done.status, 0, repr(done))
        for phase, (made, reached, freed, frees_reached) in done.json().items():
            self.assertEqual((reached, frees_reached), (made, freed), phase)
        report = self.report(folder, "--all")  # and it did record
        made = sum(v[0] for k, v in done.json().items() if k != "kinds")
        self.assertEqual(sum_sites(report, "descend")["allocations"], made)

    def test_the_program_below_counts_rightly_without_the_shim(self):
        counting = compile_c(self, SOURCES / "lib/counting_malloc.c", self.path("counting.so"), "-fPIC", "-shared")
        done = self.command([self.subject("noalloc")], env=job_env(LD_PRELOAD=counting))
        for phase, (made, reached, freed, frees_reached) in done.json().items():
            self.assertEqual((reached, frees_reached), (made, freed), phase)


if __name__ == "__main__":
    unittest.main()

"""The table of foreign programs that test_foreign.py runs: what each needs, does, and what must be said of it.

A script runs in an empty folder of its own (with `files`), which is HOME and TMPDIR, and whose path is @WORK@ in the
files; servers listen on sockets in it. Their states are waited for, never a time."""
import glob
import os
import re
import shutil
import subprocess
import sys

from tests.e2e.alike import JEMALLOC, MIMALLOC, TCMALLOC
from tests.e2e.support import SYSTEM_PYTHON, has_module

# Until a command succeeds, or 60 s have passed.
UNTIL = """
until_() {
    n=0
    while ! "$@" >/dev/null 2>&1; do
        n=$((n + 1)); [ $n -lt 600 ] || { echo "never: $*"; exit 9; }
        sleep 0.1
    done
}
"""


def defines_malloc(path):
    """Whether an executable brings its own malloc, so that libraries call that one."""
    try:
        out = subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return False
    return re.search(r" [TWi] malloc(@|$)", out, re.M) is not None


class Program:
    """name; needs: commands; modules: of the system's Python; files: {name: text}; seen: names of programs that must
    be in the report; brings: {name: path of an executable, or what finds it}, which must be told of where it defines
    malloc; drops: runs as nobody where the tests are root's; normal: what of the output is compared."""

    def __init__(self, name, script, needs=(), modules=(), files=None, seen=(), brings=None, drops=False,
                 env=None, normal=None, told=None, without=None):
        self.name, self.script, self.needs, self.modules = name, script, needs, modules
        self.files, self.seen, self.brings, self.drops = files or {}, seen, brings or {}, drops
        self.env, self._normal, self._told, self.without = env or {}, normal, told, without

    def lacking(self):
        for command in self.needs:
            if not (command and shutil.which(command)):
                return command or self.name
        for module in self.modules:
            if not has_module(SYSTEM_PYTHON, module):
                return "python3-" + module
        return self.without() if self.without else None

    def environment(self):
        return self.env() if callable(self.env) else self.env

    def normal(self, output):
        return self._normal(output) if self._normal else output

    def own(self):
        """Names of the programs that bring their own malloc."""
        paths = {name: path() if callable(path) else path for name, path in self.brings.items()}
        return [name for name, path in paths.items() if path and defines_malloc(path)]

    def told(self):
        return self._told() if self._told else ()


def output_of(*argv):
    try:
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60)
        return done.stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


# ---- compilers ------------------------------------------------------------------------------

RUST = """fn main() {
    let words: Vec<String> = (0..5000).map(|i| format!("word {}", i)).collect();
    println!("{} {}", words.len(), words.iter().map(|w| w.len()).sum::<usize>());
}
"""


def rust_environment():
    """Installed by rustup it is found through the real home; nothing is fetched, and locks are the test's own."""
    home = os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup"))
    env = {"CARGO_NET_OFFLINE": "true"}
    if os.path.isdir(home):
        env["RUSTUP_HOME"] = home
    return env


def rustc_itself():
    return os.path.join(output_of("rustc", "--print", "sysroot"), "bin/rustc")


COMPILERS = [
    Program("rustc", "rustc -O hello.rs -o hello && ./hello", ("rustc", "cc"), files={"hello.rs": RUST},
            env=rust_environment, seen=("hello",), brings={"rustc": rustc_itself}),
    Program("cargo", "mkdir src; mv main.rs src; cargo build --offline -q && target/debug/tiny",
            ("cargo", "rustc", "cc"),
            files={"main.rs": RUST, "Cargo.toml": '[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2018"\n'},
            env=rust_environment, seen=("cargo", "tiny"), brings={"rustc": rustc_itself}),
    Program("gcc", "gcc -O2 -c a.c; ar rcs liba.a a.o; gcc -O2 -o b b.c -L. -la; ./b; gcc -E b.c | md5sum",
            ("gcc", "ar"),
            files={"a.c": "#include <stdlib.h>\n#include <string.h>\n"
                          "char *twice(const char *s) { char *p = malloc(2 * strlen(s) + 1);\n"
                          "    return strcat(strcpy(p, s), s); }\n",
                   "b.c": "#include <stdio.h>\n#include <stdlib.h>\nchar *twice(const char *);\n"
                          "int main(void) { char *p = twice(\"ab\"); puts(p); free(p); return 0; }\n"},
            seen=("gcc", "cc1", "b")),
    Program("gxx", "g++ -O1 -o a a.cc && ./a | sort -r", ("g++",),
            files={"a.cc": "#include <iostream>\n#include <map>\n#include <string>\n"
                           "int main() { std::map<std::string, int> m;\n"
                           "    for (int i = 0; i < 999; i++) m[std::to_string(i % 77)] += i;\n"
                           "    for (auto &p : m) std::cout << p.first << ' ' << p.second << '\\n'; }\n"},
            seen=("g++", "cc1plus", "a")),
]

# ---- tools ----------------------------------------------------------------------------------

GIT = """
git init -q one
cd one
for i in 1 2 3 4 5; do seq $((i * 100)) >file$i; git add .; git commit -qm "number $i"; done
git gc -q
cd ..
git clone -q one two
git -C two fsck
git -C two log --format='%H %s'
"""
BASH = """
seq 3000 | sed 's/1/one/' | grep one | sort | uniq -c | awk '{ n += $1 } END { print n }'
for i in $(seq 30); do x=$(echo $i | tr 0-9 a-j); printf '%s ' "$x"; done; echo
cat <(seq 5) <(seq 3) | wc -l
( exit 3 ) || echo "status $?"
"""
GIT_ENV = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
           "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z"}
PERL = """my %h; $h{$_ % 97} .= "$_," for 1 .. 5000;
my $out = `echo from a child`; print $out;
my $pid = fork; if (!$pid) { print "child\\n"; exit 5 } waitpid $pid, 0;
print $? >> 8, " ", join(" ", map { length } @h{sort keys %h}), "\\n";
"""

FFMPEG = """
ffmpeg -nostdin -v error -f lavfi -i testsrc=duration=1:size=96x64:rate=10 -c:v mpeg4 -threads 1 \\
    -fflags +bitexact -flags:v +bitexact out.avi
ffmpeg -nostdin -v error -i out.avi -f framemd5 -
md5sum out.avi
"""

TOOLS = [
    Program("git", GIT, ("git",), env=GIT_ENV, seen=("git",)),
    Program("perl", "perl a.pl", ("perl",), files={"a.pl": "$| = 1;\n" + PERL}, seen=("perl",)),
    Program("bash", "bash a.sh", ("bash", "awk"), files={"a.sh": BASH}, seen=("bash", "sed", "sort")),
    Program("ffmpeg", FFMPEG, ("ffmpeg",), seen=("ffmpeg",)),
]

# ---- runtimes -------------------------------------------------------------------------------

NODE = """const { Worker, isMainThread, parentPort } = require('worker_threads');
const crypto = require('crypto');
const hash = s => crypto.createHash('sha256').update(s).digest('hex').slice(0, 16);
if (isMainThread) {
    const all = [...Array(20000).keys()].map(i => ({ i, s: 'x'.repeat(i % 50) }));
    console.log(hash(JSON.stringify(all)), hash(Buffer.alloc(1 << 20, 7)));
    console.log(require('child_process').execSync('echo child').toString().trim());
    new Worker(__filename).on('message', m => console.log(m));
} else
    parentPort.postMessage('worker ' + hash('worker'));
"""
JAVA = """import java.nio.ByteBuffer;
import java.util.*;
public class Small {
    public static void main(String[] a) throws Exception {
        Map<String, Integer> m = new TreeMap<>();
        for (int i = 0; i < 100000; i++) m.merge("k" + i % 97, 1, Integer::sum);
        List<ByteBuffer> direct = new ArrayList<>();
        for (int i = 0; i < 50; i++) direct.add(ByteBuffer.allocateDirect(1 << 16));
        Thread t = new Thread(() -> System.out.println("thread")); t.start(); t.join();
        System.out.println(m.size() + " " + m.get("k5") + " " + direct.size());
        System.exit(4 - 4);
    }
}
"""
MPI = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int n, char **v) {
    int rank, mine, sum;
    MPI_Init(&n, &v);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *p = malloc(100000 * sizeof *p);
    for (int i = 0; i < 100000; i++) p[i] = rank + 1;
    MPI_Allreduce(MPI_IN_PLACE, p, 100000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    mine = (int)p[99999];
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("sum %d\\n", sum);
    free(p);
    MPI_Finalize();
    return 0;
}
"""
MPIRUN = "mpirun --oversubscribe --mca btl self,vader --mca plm isolated -n 2 ./ranks"
PAGE = """<html><body><p id=p>none</p><script>
let a = [];
for (let i = 0; i < 1e5; i++) a.push({i});
document.getElementById('p').textContent = a.length;
</script></body></html>
"""
CHROMIUM = next(filter(shutil.which, ("chromium", "chromium-browser", "google-chrome")), None)


def chromium_itself():
    found = glob.glob("/usr/lib/chromium*/chromium") + glob.glob("/opt/google/chrome/chrome")
    return found[0] if found else None


RUNTIMES = [
    Program("node", "node a.js", ("node",), files={"a.js": NODE}, seen=("node",)),
    Program("java", "java -version 2>&1; javac Small.java && java -Xmx128m Small", ("java", "javac"),
            files={"Small.java": JAVA}, seen=("java", "javac")),
    Program("mpirun", "mpicc -O1 -o ranks ranks.c && " + MPIRUN, ("mpirun", "mpicc"), files={"ranks.c": MPI},
            env={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}, seen=("mpirun", "ranks")),
    Program("chromium", "%s --headless %s --disable-gpu --disable-dev-shm-usage --no-first-run "
                        "--user-data-dir=$PWD/profile --dump-dom file://$PWD/page.html"
            % (CHROMIUM, "--no-sandbox" if os.geteuid() == 0 else ""), (CHROMIUM,), files={"page.html": PAGE},
            brings={"chromium": chromium_itself}),
]

# ---- servers --------------------------------------------------------------------------------

# The server is the same file as redis-check-rdb, which comes without a service that starts by itself.
REDIS = UNTIL + """
ln -s "$(command -v redis-check-rdb)" redis-server
./redis-server --port 0 --unixsocket $PWD/s --save '' --appendonly no >log &
until_ redis-cli -s s PING
redis-cli -s s SET key value
for i in $(seq 20); do redis-cli -s s RPUSH list "entry $i"; done
redis-cli -s s GET key
redis-cli -s s BGREWRITEAOF >/dev/null
redis-cli -s s SHUTDOWN NOSAVE || true
wait $!
echo "ended $?"
"""
NGINX_CONF = """daemon off; pid @WORK@/pid; error_log @WORK@/log; worker_processes 2;
events { worker_connections 32; }
http { access_log off; client_body_temp_path @WORK@/t1; proxy_temp_path @WORK@/t2; fastcgi_temp_path @WORK@/t3;
    uwsgi_temp_path @WORK@/t4; scgi_temp_path @WORK@/t5;
    server { listen unix:@WORK@/s; location / { root @WORK@; } } }
"""
FETCH = """import http.client, socket, sys
c = http.client.HTTPConnection("localhost")
c.sock = socket.socket(socket.AF_UNIX)
c.sock.connect("s")
c.request("GET", "/page.txt")
r = c.getresponse()
sys.stdout.write("%d %s" % (r.status, r.read().decode()))
"""
NGINX = UNTIL + """
nginx -e $PWD/log -c $PWD/conf &
until_ test -S s
for i in 1 2 3; do %s fetch.py; done
kill -QUIT $!
wait $!
echo "ended $?"
""" % SYSTEM_PYTHON


def postgres_bin():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    return os.path.dirname(found[-1]) if found else os.path.dirname(shutil.which("initdb") or "")


POSTGRES = """
PATH=%s:$PATH
initdb -D data -U me -A trust --no-locale -E UTF8 --no-sync >log
pg_ctl -D data -w -t 60 -l log -o "-k $PWD -c listen_addresses= -c fsync=off" start >/dev/null
psql -h $PWD -U me -d postgres -At -c "create table t as select i, repeat('x', i) s from generate_series(1, 500) i"
psql -h $PWD -U me -d postgres -At -c "select count(*), sum(length(s)), md5(string_agg(s, '' order by i)) from t"
pg_ctl -D data -w -t 60 -m fast stop >/dev/null
echo "ended $?"
""" % postgres_bin()

SERVERS = [
    Program("redis", REDIS, ("redis-check-rdb", "redis-cli"), seen=("redis-server", "redis-cli")),
    Program("nginx", NGINX, ("nginx",), files={"conf": NGINX_CONF, "page.txt": "served\n", "fetch.py": FETCH},
            seen=("nginx",)),
    # It will not run as root.
    Program("postgresql", POSTGRES, (os.path.join(postgres_bin(), "initdb"), "psql", "setpriv"), drops=True,
            seen=("initdb", "postgres", "psql")),
]

# ---- libraries with allocators of their own --------------------------------------------------

NUMPY = """import numpy as np
a = np.random.default_rng(1).random((300, 300))
b = [a @ a.T for _ in range(5)]
print(float(np.linalg.norm(sum(b))).hex()[:12], np.sort(a.ravel())[:3].round(9))
"""
PANDAS = """import pandas as pd
d = pd.DataFrame({"k": [i % 97 for i in range(20000)], "v": range(20000)})
print(d.groupby("k").v.agg(["sum", "count"]).describe().round(3).to_csv())
"""
PYARROW = """import pyarrow as pa
t = pa.table({"k": list(range(200000)), "s": ["x" * (i % 9) for i in range(200000)]})
print(t.nbytes, t.slice(5, 3).to_pydict(), pa.total_allocated_bytes() > 0)
"""
POLARS = """import polars as pl
d = pl.DataFrame({"k": [i % 97 for i in range(20000)], "v": range(20000)})
print(d.group_by("k").agg(pl.col("v").sum()).sort("k").head(3).to_dict(as_series=False))
"""


def pyarrow_told():
    """Its own allocator is named, unless it takes from malloc."""
    pool = output_of(SYSTEM_PYTHON, "-c", "import pyarrow; print(pyarrow.default_memory_pool().backend_name)")
    return () if pool in ("", "system") else ("pyarrow",)


def python(name, text, told=None):
    return Program("python_" + name, SYSTEM_PYTHON + " a.py", modules=(name,), files={"a.py": text}, seen=("python3",),
                   told=told)


def behind(name, library):
    """Another malloc that is preloaded behind seep: Python makes, frees, forks and starts threads with it."""
    script = ("import threading, subprocess\nx = [bytearray(i) for i in range(3000)]\n"
              "t = [threading.Thread(target=lambda: [bytearray(2000) for _ in range(500)]) for _ in range(4)]\n"
              "[u.start() for u in t]\n[u.join() for u in t]\n"
              "print(len(x), subprocess.check_output(['sh', '-c', 'echo child']))\n")
    return Program("behind_" + name, SYSTEM_PYTHON + " a.py", files={"a.py": script}, seen=("python3",),
                   env={"LD_PRELOAD": library or ""}, without=lambda: None if library else "lib" + name)


LIBRARIES = [
    python("numpy", NUMPY), python("pandas", PANDAS), python("pyarrow", PYARROW, pyarrow_told),
    python("polars", POLARS, lambda: ("polars",)),
    behind("jemalloc", JEMALLOC), behind("tcmalloc", TCMALLOC), behind("mimalloc", MIMALLOC),
]

PROGRAMS = COMPILERS + TOOLS + RUNTIMES + SERVERS + LIBRARIES

if __name__ == "__main__":
    for program in PROGRAMS:
        print("%-18s %s" % (program.name, "no " + program.lacking() if program.lacking() else "here"))
    sys.exit(0)

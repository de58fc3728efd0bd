"""The tables of a digest: what their columns say, and that DuckDB and pandas read them back (`make check-parquet` brings
these from PyPI)."""
import json
import os
import subprocess
import sys
import unittest

from tests.cli.test_digest import LEAKING, RANKS, DigestCase
from tests.e2e.support import MODULES, marked_line

PARQUET = os.environ.get("SEEP_PARQUET")  # a Python with pyarrow, duckdb and pandas
READ_BACK = """
import duckdb, json, pandas, sys
folder = sys.argv[1]
leak = duckdb.sql("select n, max_rank, \\"sum\\" from '%s/findings.parquet' where severity = 'leak'" % folder).fetchall()
peaks = duckdb.sql("select sum(n)::bigint, sum(\\"sum\\")::bigint from '%s/spaces.parquet' where of = 'host'" % folder).fetchall()
nodes = pandas.read_parquet(folder + "/nodes.parquet")
print(json.dumps([leak, peaks, nodes["local_rank"].tolist()]))
"""


class Tables(DigestCase):
    def setUp(self):
        super().setUp()
        self.path_of_digest, data = self.digest(self.profile)
        self.written = json.loads(data)

    def python(self, *args, python=sys.executable):
        return subprocess.run([python, *args], env=dict(os.environ, PYTHONPATH=MODULES), capture_output=True, text=True)

    def tables(self):
        code = "import json, seep.tables, sys; print(json.dumps(seep.tables.tables(sys.argv[1])))"
        done = self.python("-c", code, self.path_of_digest)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_columns_are_as_long_as_the_rows_and_say_the_same(self):
        tables = self.tables()
        for kind in ("processes", "ends", "spaces", "sites", "rest", "findings"):
            self.assertEqual(tables[kind]["sum"], [row["sum"] for row in self.written[kind]])
            self.assertEqual(tables[kind]["max_rank"], [row["max"]["rank"] for row in self.written[kind]])
            self.assertEqual({len(column) for column in tables[kind].values()}, {len(self.written[kind])})
        self.assertEqual(tables["job"]["world_size"], [RANKS])
        self.assertEqual(sorted(tables["nodes"]["local_rank"]), list(range(RANKS)))

    def test_a_finding_has_its_line_and_its_growth(self):
        findings = self.tables()["findings"]
        at = findings["severity"].index("leak")
        line = marked_line(os.path.join(self.root, "job.py"), "LEAK")
        self.assertEqual(findings["frame"][at], "%s:%d in <module>" % (os.path.join(self.root, "job.py"), line))
        self.assertEqual(findings["max_rank"][at], LEAKING)
        self.assertAlmostEqual(findings["growth_sum_bytes_per_step"][at], 100_000, delta=200)
        self.assertIn(findings["frame"][at], [line for line in self.tables()["sites"]["line"]])

    def test_what_is_no_digest_is_an_error(self):
        for content in ("", "{}", '{"format": "seep-digest", "version": 2}', '{"format": "seep-digest", "version": 1}'):
            with open(self.path("wrong"), "w") as f:
                f.write(content)
            done = self.python("-m", "seep.tables", self.path("wrong"), "-o", self.path("tables"))
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    @unittest.skipUnless(PARQUET, "SEEP_PARQUET names no Python with pyarrow, duckdb and pandas: make check-parquet")
    def test_duckdb_and_pandas_read_them_back(self):
        folder = self.path("tables")
        done = self.python("-m", "seep.tables", self.path_of_digest, "-o", folder, python=PARQUET)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        back = self.python("-c", READ_BACK, folder, python=PARQUET)
        self.assertEqual(back.returncode, 0, back.stderr)
        leak, peaks, local_ranks = json.loads(back.stdout)
        finding, = [row for row in self.written["findings"] if row["severity"] == "leak"]
        host = [row for row in self.written["spaces"] if row["of"] == "host"]
        self.assertEqual(leak, [[1, LEAKING, finding["sum"]]])
        self.assertEqual(peaks, [[sum(row["n"] for row in host), sum(row["sum"] for row in host)]])
        self.assertEqual(sorted(local_ranks), list(range(RANKS)))


del DigestCase  # or its module's tests would run here, too
if __name__ == "__main__":
    unittest.main()

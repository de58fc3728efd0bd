"""What tests of `seep look` ask of its document: it is as the schema says."""
import json
import subprocess

from tests.cli.ci_jobs import validate
from tests.e2e.support import ROOT, SEEP, SeepCase


class LookCase(SeepCase):
    def look(self, *arguments):
        done = subprocess.run([SEEP, "look", "--format", "json", *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(validate(ROOT / "docs/look.schema.json", document), [])
        return document

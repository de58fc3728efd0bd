"""Holds reports against docs/report.schema.json: validate_reports.py FILE…; exit status 1 on a breach."""
import json
import pathlib
import sys

import jsonschema

SCHEMA = pathlib.Path(__file__).resolve().parent.parent / "docs/report.schema.json"


def main(paths):
    schema = json.loads(SCHEMA.read_text())
    cls = jsonschema.validators.validator_for(schema)
    cls.check_schema(schema)
    validator, wrong = cls(schema), 0
    for path in paths:
        for error in validator.iter_errors(json.loads(pathlib.Path(path).read_bytes().decode())):
            print("%s: %s: %s" % (path, "/".join(map(str, error.absolute_path)), error.message[:300]))
            wrong += 1
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

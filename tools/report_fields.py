"""The part of docs/report.schema.json that the rows of report_fields.def give: for each object there what its fields are and
which are required. Definitions that the rows name, and what has no rows, are written by hand in the schema.

tools/lists.py (make pages) writes it."""
import json
import re

from patterns import ROOT, fields

TABLE = ROOT / "libprof/report_read/report_fields.def"
TYPES = {"TEXT": {"type": "string"}, "COUNT": {"$ref": "#/$defs/count"}, "REAL": {"type": "number"},
         "BOOL": {"type": "boolean"}, "SLOPE": {"$ref": "#/$defs/growth"}, "SEVERITY": {"$ref": "#/$defs/severity"}}
PLAIN = {"text": TYPES["TEXT"], "integer": {"type": "integer"}}
FORM = re.compile(r"(\w+)(\[(?:(\d*)(?:\+|-(\d+)))?\])?(\?)?")


def objects():
    """(name, OPEN or CLOSED, description, [(key, type, form, presence, description)]) of each."""
    for row in re.findall(r"^SEEP_(?:OBJECT|FIELD|RENAMED|END)\(.*?\)$", TABLE.read_text(encoding="utf-8"), re.M | re.S):
        if row.startswith("SEEP_OBJECT"):
            its = (*fields(row), [])
        elif row.startswith("SEEP_FIELD"):
            its[-1].append(tuple(fields(row)))
        elif row.startswith("SEEP_RENAMED"):
            its[-1].append(tuple(fields(row)[1:]))
        else:
            yield its


def or_null(schema):
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else {"oneOf": [schema, {"type": "null"}]}


def schema_of(kind, form):
    """What the schema holds a field of that type and form to."""
    name, several, least, most, null = FORM.fullmatch(form).groups() if form else (None,) * 5
    schema = PLAIN.get(name) or ({"$ref": "#/$defs/" + name} if name else TYPES[kind.removesuffix("_OR_NULL")])
    if several:
        schema = {"type": "array", "items": schema}
        schema.update({limit: int(n) for limit, n in (("minItems", least), ("maxItems", most)) if n})
    return or_null(schema) if null or kind.endswith("_OR_NULL") else schema


def described(schema, description):
    return {**schema, "description": description} if description else schema


def filled(schema):
    for name, openness, description, rows in objects():
        its = {"type": "object", "required": [key for key, _, _, presence, _ in rows if presence == "ALWAYS"],
               "properties": {key: described(schema_of(kind, form), said) for key, kind, form, _, said in rows}}
        if openness == "CLOSED":
            its["additionalProperties"] = False
        its.update({key: rule for key, rule in schema["$defs"].get(name, {}).items() if key == "allOf"})
        schema["$defs"][name] = described(its, description)
    return schema


def dumped(value, indent=0):
    """As JSON: what fits is on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= 120 or not isinstance(value, (dict, list)):
        return line
    begin, end = "[]" if isinstance(value, list) else "{}"
    parts = ["" for _ in value] if isinstance(value, list) else [json.dumps(key) + ": " for key in value]
    values = value if isinstance(value, list) else value.values()
    inner = " " * (indent + 2)
    lines = [inner + part + dumped(one, indent + 2) for part, one in zip(parts, values, strict=True)]
    return "%s\n%s\n%s%s" % (begin, ",\n".join(lines), " " * indent, end)

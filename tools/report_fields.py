"""docs/report.schema.json from the rows of report_fields.def: the report itself, and each object there, with what its
fields are and which are required. By hand in the schema are only the definitions that rows name and that are no objects
(words, numbers, patterns of texts), a frame, and what an object says of several of its fields together (allOf).

tools/lists.py (make pages) writes it."""
import json
import re

from patterns import ROOT, fields, rows

TABLE = ROOT / "libprof/report_read/report_fields.def"
DIGEST = ROOT / "libprof/digest"
TYPES = {"TEXT": {"type": "string"}, "COUNT": {"$ref": "#/$defs/count"}, "REAL": {"type": "number"},
         "BOOL": {"type": "boolean"}, "SLOPE": {"$ref": "#/$defs/growth"}, "SEVERITY": {"$ref": "#/$defs/severity"}}
PLAIN = {"text": TYPES["TEXT"], "integer": {"type": "integer"}}
FORM = re.compile(r"(?:(?P<names>\w+):)?(?P<name>\w+)(?P<each_null>\?(?=[\[{]))?"
                  r"(?:(?P<list>[\[{])(?P<least>\d*)(?:\+|-(?P<most>\d+))?[\]}])?(?P<null>\?)?")
ROOT_OBJECT = "report"


def objects():
    """(name, OPEN or CLOSED, READ or WRITTEN, description, [(key, type, form, presence, description)]) of each."""
    for row in re.findall(r"^SEEP_(?:OBJECT|FIELD|RENAMED|END)\(.*?\)$", TABLE.read_text(encoding="utf-8"), re.M | re.S):
        if row.startswith("SEEP_OBJECT"):
            its = (*fields(row), [])
        elif row.startswith("SEEP_FIELD"):
            its[-1].append(tuple(fields(row)))
        elif row.startswith("SEEP_RENAMED"):
            its[-1].append(tuple(fields(row)[1:]))
        else:
            yield its


HOWS = {"SUM": "summed", "MOST": "the most", "LEAST": "the least; 0: not known"}


def numbers():
    """A digest's single numbers, as rows."""
    return [(name, "COUNT", "", "ALWAYS", ": ".join(filter(None, (said, HOWS[how]))))
            for _, _, (_, name, how, said) in rows(DIGEST / "digest_numbers.def", "SEEP_DIGEST_NUMBER")]


def measures():
    return [(name, "JSON", "cell_measure", "ALWAYS", said)
            for _, _, (_, name, said) in rows(DIGEST / "digest_measures.def", "SEEP_DIGEST_MEASURE")]


# What an object has besides.
MORE = {"many": numbers, "cell": measures}


def or_null(schema):
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else {"oneOf": [schema, {"type": "null"}]}


def named(name):
    return PLAIN.get(name) or {"$ref": "#/$defs/" + name}


def schema_of(kind, form, presence):
    """What the schema holds a field to."""
    if not form:
        schema = TYPES[kind.removesuffix("_OR_NULL")]
    else:
        its = FORM.fullmatch(form).groupdict()
        schema = or_null(named(its["name"])) if its["each_null"] else named(its["name"])
        if its["names"]:
            schema = {"type": "object", "propertyNames": named(its["names"]), "additionalProperties": schema}
        elif its["list"]:
            schema = {"type": "array", "items": schema}
            schema.update({limit: int(its[n]) for limit, n in (("minItems", "least"), ("maxItems", "most")) if its[n]})
            schema.update({"uniqueItems": True} if its["list"] == "{" else {})
        if its["null"]:
            schema = or_null(schema)
    return or_null(schema) if kind.endswith("_OR_NULL") and presence != "OPTIONAL" else schema


def described(schema, description):
    return {**schema, "description": description} if description else schema


def object_schema(openness, its_rows):
    its = {"type": "object", "required": [key for key, _, _, presence, _ in its_rows if presence == "ALWAYS"],
           "properties": {key: described(schema_of(kind, form, presence), said) for key, kind, form, presence, said in its_rows}}
    return {**its, "additionalProperties": False} if openness == "CLOSED" else its


def filled(schema):
    made, by_hand = {}, schema["$defs"]
    for name, openness, _, description, its_rows in objects():
        its = object_schema(openness, MORE.get(name, list)() + its_rows)
        if name == ROOT_OBJECT:
            schema.update(its)
            continue
        made[name] = described({**its, **{key: rule for key, rule in by_hand.get(name, {}).items() if key == "allOf"}}, description)
    schema["$defs"] = {**made, **{name: its for name, its in by_hand.items() if name not in made}}
    return schema


def filled_digest(schema):
    """docs/digest.schema.json, as far as its tables go."""
    schema["properties"]["numbers"] = object_schema("CLOSED", numbers())
    schema["$defs"]["measure"]["enum"] = [name for name, *_ in measures()]
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

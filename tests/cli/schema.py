# SPDX-License-Identifier: Apache-2.0
# schema.py SCHEMA FILE: validates JSON. Supports the subset of JSON Schema that the schemas in doc/ use.

import json
import sys

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None), "boolean": bool}


def check(value, schema, where):
    if "$ref" in schema:
        schema = WHOLE["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "enum" in schema and value not in schema["enum"]:
        sys.exit("%s: %r is none of %s" % (where, value, schema["enum"]))
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    if types and not any(isinstance(value, TYPES[t]) for t in types):
        sys.exit("%s: %r is no %s" % (where, value, types))
    if isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                sys.exit("%s: there is no %s" % (where, key))
        for key in value:
            if key not in schema["properties"]:
                sys.exit("%s: %s is not in the schema" % (where, key))
            check(value[key], schema["properties"][key], where + "." + key)
    if isinstance(value, list):
        for i, item in enumerate(value):
            check(item, schema["items"], "%s[%d]" % (where, i))


WHOLE = json.load(open(sys.argv[1]))
check(json.load(open(sys.argv[2])), WHOLE, "it")

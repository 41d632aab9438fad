"""Says quickly whether a value obeys a JSON Schema; jsonschema, many times slower, says why not.

Knows the keywords that results/schema uses; any other is an error, found by the first test.
"""

import re
from typing import Any, Callable

Check = Callable[[Any], bool]

TYPES = {
    "null": (type(None),),
    "boolean": (bool,),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
    "number": (int, float),
    "integer": (int,),
}
SAYS_NOTHING = {"$schema", "title", "description", "then", "else", "additionalProperties"}


def listed(value: Any) -> list:
    return value if isinstance(value, list) else [value]


def is_number(value: Any) -> bool:
    return type(value) in (int, float)


def same(one: Any, other: Any) -> bool:
    """JSON's equality: true is not 1."""
    return one == other and (type(one) is bool) == (type(other) is bool)


def check_type(names: Any, _: dict) -> Check:
    types = frozenset(t for name in listed(names) for t in TYPES[name])
    whole = "integer" in listed(names) and "number" not in listed(names)
    return lambda v: type(v) in types or (whole and type(v) is float and v.is_integer())


def check_items(schema: dict, _: dict) -> Check:
    check = compile_schema(schema)
    return lambda v: type(v) is not list or all(map(check, v))


def check_properties(schemas: dict, schema: dict) -> Check:
    checks = [(key, compile_schema(one)) for key, one in schemas.items()]
    other = schema.get("additionalProperties")
    others = compile_schema(other) if other is not None else None

    def check(v: Any) -> bool:
        if type(v) is not dict:
            return True
        for key, one in checks:
            if key in v and not one(v[key]):
                return False
        return others is None or all(others(v[key]) for key in v if key not in schemas)

    return check


def check_required(keys: list, _: dict) -> Check:
    wanted = frozenset(keys)
    return lambda v: type(v) is not dict or v.keys() >= wanted


def check_if(condition: dict, schema: dict) -> Check:
    holds = compile_schema(condition)
    then, otherwise = (compile_schema(schema.get(key, {})) for key in ("then", "else"))
    return lambda v: then(v) if holds(v) else otherwise(v)


def check_all_of(schemas: list, _: dict) -> Check:
    checks = [compile_schema(one) for one in schemas]
    return lambda v: all(check(v) for check in checks)


KEYWORDS: dict[str, Callable[[Any, dict], Check]] = {
    "type": check_type,
    "const": lambda one, _: lambda v: same(v, one),
    "enum": lambda many, _: lambda v: any(same(v, one) for one in many),
    "minimum": lambda low, _: lambda v: not is_number(v) or v >= low,
    "maximum": lambda high, _: lambda v: not is_number(v) or v <= high,
    "exclusiveMinimum": lambda low, _: lambda v: not is_number(v) or v > low,
    "minLength": lambda least, _: lambda v: type(v) is not str or len(v) >= least,
    "minItems": lambda least, _: lambda v: type(v) is not list or len(v) >= least,
    "pattern": lambda text, _: lambda v: type(v) is not str or bool(re.search(text, v)),
    "items": check_items,
    "properties": check_properties,
    "required": check_required,
    "if": check_if,
    "allOf": check_all_of,
}


def compile_schema(schema: dict) -> Check:
    """A check that agrees with jsonschema. Raises KeyError for a keyword that it does not know."""
    if "additionalProperties" in schema and "properties" not in schema:
        schema = schema | {"properties": {}}
    checks = [KEYWORDS[k](schema[k], schema) for k in schema if k not in SAYS_NOTHING]
    if len(checks) == 1:
        return checks[0]
    if len(checks) == 2:  # nearly all
        first, second = checks
        return lambda v: first(v) and second(v)
    return lambda v: all([check(v) for check in checks])

#!/usr/bin/env python3
"""Writes src/mnem/_verbs.py from the OpenAPI document that "mnem serve --openapi" prints.

    python3 generate.py --mnem PROGRAM        write the file
    python3 generate.py --document FILE       write it from a document that was printed before
    python3 generate.py … --check             fail if the file is not current
"""

from __future__ import annotations

import argparse
import difflib
import json
import keyword
import pathlib
import re
import subprocess
import sys
import textwrap
from typing import Any

TARGET = pathlib.Path(__file__).parent / "src" / "mnem" / "_verbs.py"

# Operations whose bodies or answers are not JSON, or do not end.
SKIPPED = {"export", "import", "pack_send", "pack_take", "watch"}

# Verbs whose other forms no caller gets: those of flags of the command line, and of conflicts, which are errors.
FIRST_FORM = {"commit", "remember", "remember_batch"}

# Verbs with several forms of answers: the names of the forms after the first.
FORMS = {
    "branch": ["BranchRemoved"],
    "communities": ["CommunityAnswer"],
    "consolidate": ["ConsolidateDone"],
    "cues": ["CuesWritten"],
    "diff": ["DiffStat"],
    "get": ["GetAnswerWithImportance", "GetField"],
    "ls": ["LsEdges"],
    "merge": ["MergeState"],
    "remote_redactions": ["RedactionsClosed"],
    "restore": ["RestoreMarks"],
    "show": ["ShowNode"],
    "tag": ["TagRemoved"],
}

# Names of objects that several verbs answer with, by their members.
NAMES = {
    ("added", "changed", "removed"): "Counts",
    ("from", "ref", "to"): "RefMove",
    ("op", "seq"): "OperationName",
    ("code", "field", "file", "item", "line", "message", "remedy", "rule"): "SecretWarning",
}

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[_\W]+", name))


def snake(name: str) -> str:
    name = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda m: "_" + m[1].lower(), name)
    return name + "_" if keyword.iskeyword(name) else name


def singular(name: str) -> str:
    for end, one in (("ies", "y"), ("ches", "ch"), ("sses", "ss")):
        if name.endswith(end):
            return name[: -len(end)] + one
    return name[:-1] if name.endswith("s") and not name.endswith(("ss", "us")) else name


def form(schema: dict[str, Any]) -> str:
    return json.dumps(schema, sort_keys=True)


class Classes:
    """Dataclasses for the objects in answers: one for each distinct schema."""

    def __init__(self) -> None:
        self.name_of: dict[str, str] = {}
        self.taken: dict[str, str] = {}
        self.text: list[str] = []
        self.users: dict[str, set[str]] = {}

    def count(self, verb: str, schema: Any) -> None:
        """Notes which verbs use an object: one of several verbs has a short name."""
        if isinstance(schema, dict):
            if schema.get("properties"):
                self.users.setdefault(self.key(schema), set()).add(verb)
            for value in schema.values():
                self.count(verb, value)
        elif isinstance(schema, list):
            for value in schema:
                self.count(verb, value)

    @staticmethod
    def key(schema: dict[str, Any]) -> str:
        return form({k: schema[k] for k in ("properties", "required") if k in schema})

    def named(self, schema: dict[str, Any], field: str, parent: str) -> str:
        key = self.key(schema)
        if key in self.name_of:
            return self.name_of[key]
        shared = NAMES.get(tuple(sorted(schema["properties"])), camel(singular(field)))
        prefix = re.sub("Answer$", "", parent)
        choices = [prefix + shared, prefix + shared + "Detail"]
        if len(self.users.get(key, ())) > 1:
            choices.insert(0, shared)
        name = next(n for n in choices if n not in self.taken)
        self.name_of[key] = name
        return self.define(schema, name)

    def define(self, schema: dict[str, Any], name: str) -> str:
        """Writes the class of an object and the function that reads it."""
        key = self.key(schema)
        if name in self.taken:
            return name
        self.taken[name] = key
        required = set(schema.get("required", ()))
        fields, reads = [], []
        properties = schema["properties"]
        for prop in sorted(properties, key=lambda p: (p not in required, p)):
            kind, read = self.type_of(properties[prop], prop, name)
            default = ""
            value = f"d[{prop!r}]"
            if prop not in required:
                value = f"d.get({prop!r})"
                if kind.startswith("list["):
                    default = " = field(default_factory=list)"
                elif not kind.endswith("| None") and kind != "Any":
                    kind += " | None"
                if not default:
                    default = " = None"
            fields.append(f"    {snake(prop)}: {kind}{default}")
            reads.append(f"        {snake(prop)}={self.reading(read, value, kind)},")
        self.text.append(
            f"@dataclass(kw_only=True, eq=False, repr=False)\nclass {name}(Answer):\n" + "\n".join(fields) + "\n\n\n"
            f"def read_{name}(d: Any) -> {name}:\n    return {name}(\n" + "\n".join(reads) + "\n    )\n"
        )
        return name

    @staticmethod
    def reading(read: str, value: str, kind: str) -> str:
        if kind.startswith("list[") and read:
            return f"[{read}(x) for x in {value} or ()]"
        if kind.startswith("list["):
            return f"{value} or []"
        if read and kind.endswith("| None"):
            return f"{read}(v) if (v := {value}) is not None else None"
        return f"{read}({value})" if read else value

    def type_of(self, schema: dict[str, Any], field: str, parent: str) -> tuple[str, str]:
        """Returns the type of a value and the function that reads it, "" for none."""
        kind = schema.get("type")
        if "anyOf" in schema:
            return self.type_of(schema["anyOf"][0], field, parent)
        if "enum" in schema and kind is None:
            kind = ["string", "null"] if None in schema["enum"] else "string"
        optional = ""
        if isinstance(kind, list):
            optional = " | None"
            kind = next(k for k in kind if k != "null")
        if kind == "array":
            inner, read = self.type_of(schema.get("items", {}), field, parent)
            return f"list[{inner}]", read
        if kind == "object" and schema.get("properties"):
            name = self.named(schema, field, parent)
            return name + optional, f"read_{name}"
        if kind == "object":
            return "dict[str, Any]" + optional, ""
        if kind in SCALARS:
            return SCALARS[kind] + optional, ""
        return "Any" if kind is None else "None", ""


def argument_type(schema: dict[str, Any]) -> str:
    kind = schema.get("type")
    if "anyOf" in schema:
        return " | ".join(argument_type(s) for s in schema["anyOf"])
    if "enum" in schema:
        return "Literal[" + ", ".join(json.dumps(v) if isinstance(v, str) else repr(v) for v in schema["enum"]) + "]"
    if kind == "array":
        items = schema.get("items", {})
        if items.get("type") == "object":
            return "Sequence[Mapping[str, Any]]"
        return f"Sequence[{argument_type(items)}]"
    return SCALARS.get(kind or "", "Any")


def answer(classes: Classes, verb: str, schema: dict[str, Any]) -> tuple[str, str]:
    """Returns the type of an answer and the function that reads it."""
    name = camel(verb) + "Answer"
    forms = schema.get("anyOf")
    if forms and verb in FIRST_FORM:
        schema, forms = forms[0], None
    if not forms:
        return classes.define(schema, name), f"read_{name}"
    of = FORMS.get(verb.removesuffix("_batch"))
    if of is None or len(of) != len(forms) - 1:
        raise SystemExit(f"{verb}: name the forms of its answers in FORMS")
    names, cases = [], []
    for one, form_name in zip(forms, [name, *of]):
        if not one.get("properties"):
            names.append("dict[str, Any]")
            cases.append(("", "dict(d)"))
            continue
        names.append(classes.define(one, form_name))
        cases.append((form(one.get("required", [])), f"read_{form_name}(d)"))
    lines = [f"def read_{name}_forms(d: Any) -> {' | '.join(names)}:"]
    # The form with the most required members goes first: another form may have a part of them.
    for required, call in sorted(cases, key=lambda c: -len(json.loads(c[0] or "[]"))):
        if required and required != "[]":
            lines.append(f"    if has(d, {tuple(json.loads(required))!r}):\n        return {call}")
    lines.append("    return " + next((call for required, call in cases if not required), cases[0][1]))
    classes.text.append("\n".join(lines) + "\n")
    return " | ".join(names), f"read_{name}_forms"


def method(verb: str, doc: dict[str, Any], schema: dict[str, Any], returns: str, awaited: bool) -> str:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    positional = [p for p in doc.get("x-positional", ()) if p in properties]
    positional.sort(key=lambda p: p not in required)
    args = ["self"]
    described = []
    order = positional + [p for p in sorted(properties, key=lambda p: (p not in required, p)) if p not in positional]
    for i, prop in enumerate(order):
        if i == len(positional):
            args.append("*")
        kind = argument_type(properties[prop])
        args.append(f"{snake(prop)}: {kind}" + ("" if prop in required else " | None = None"))
        if text := properties[prop].get("description"):
            described.append(f"{snake(prop)}: {text}")
    body = "\n\n".join(textwrap.fill(p, 96) for p in re.split(r"\n\s*\n", doc["description"]))
    if described:
        body += "\n\n" + "\n".join(textwrap.fill(d, 96, subsequent_indent="    ") for d in described)
    body = body.replace("\\", "\\\\").replace('"""', "'''")
    head = f"    {'async ' if awaited else ''}def {snake(verb)}(\n        " + ",\n        ".join(args)
    call = f"self._verb({verb!r}, locals())"
    text = "" if awaited else textwrap.indent(f'"""{body}\n"""\n', "        ").replace("\n        \n", "\n\n")
    return (
        head + f",\n    ) -> {returns}:\n" + text
        + f"        answer: {returns} = {'await ' if awaited else ''}{call}\n        return answer\n"
    )


HEAD = '''"""The verbs of mnem and their answers. Times are RFC 3339 texts; scores are integers."""

# Written by generate.py from the OpenAPI document of mnem. Changes are made there.
# ruff: noqa
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


class Answer:
    """What all answers share. Each is a dataclass; these are written once, which makes the import faster."""

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({members})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


def has(d: Any, names: tuple[str, ...]) -> bool:
    return all(name in d for name in names)


'''


def generate(doc: dict[str, Any]) -> str:
    schemas = doc["components"]["schemas"]
    verbs = sorted(
        path.removeprefix("/v1/")
        for path, item in doc["paths"].items()
        if path.startswith("/v1/") and path.removeprefix("/v1/") not in SKIPPED and "post" in item
    )
    classes = Classes()
    for verb in verbs:
        schema = schemas[verb + "_answer"]
        if verb in FIRST_FORM:
            schema = schema["anyOf"][0]
        classes.count(verb.removesuffix("_batch"), schema)
    sync, asynchronous, table = [], [], []
    for verb in verbs:
        post = doc["paths"]["/v1/" + verb]["post"]
        returns, read = answer(classes, verb, schemas[verb + "_answer"])
        stream = post["responses"]["200"]["content"]["application/json"]["schema"].get("type") == "array"
        if stream:
            returns = f"list[{returns}]"
        table.append(f"    {verb!r}: ({read}, {stream}),")
        sync.append(method(verb, post, schemas[verb + "_arguments"], returns, False))
        asynchronous.append(method(verb, post, schemas[verb + "_arguments"], returns, True))
    intro = '    """A method for each verb."""\n\n    '
    same = '    """The methods of Verbs as coroutines."""\n\n    '
    verb_method = "def _verb(self, name: str, arguments: dict[str, Any]) -> Any:\n        raise NotImplementedError\n"
    names = sorted(classes.taken)
    return (
        HEAD + "\n\n".join(classes.text)
        + "\n\n# By the name of the verb: what reads an answer, and whether there is a list of them.\n"
        + "READERS: dict[str, tuple[Callable[[Any], Any], bool]] = {\n" + "\n".join(table) + "\n}\n\n\n"
        + "class Verbs:\n" + intro + verb_method + "\n" + "\n".join(sync)
        + "\n\nclass AsyncVerbs:\n" + same + "async " + verb_method + "\n" + "\n".join(asynchronous)
        + "\n\nANSWERS = (\n" + "".join(f"    {n!r},\n" for n in names) + ")\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mnem", default="mnem", help="the program, by default the one in PATH")
    parser.add_argument("--document", type=pathlib.Path, help="what 'mnem serve --openapi' printed")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.document:
        printed = options.document.read_bytes()
    else:
        printed = subprocess.run([options.mnem, "serve", "--openapi"], capture_output=True, check=True).stdout
    text = generate(json.loads(printed))
    if not options.check:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    current = TARGET.read_text(encoding="utf-8")
    if current == text:
        return 0
    diff = difflib.unified_diff(current.splitlines(), text.splitlines(), "src/mnem/_verbs.py", "generated", lineterm="")
    print("\n".join(list(diff)[:60]))
    print("src/mnem/_verbs.py is not current: run generate.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())

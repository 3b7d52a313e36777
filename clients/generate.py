#!/usr/bin/env python3
"""Writes the verbs of the clients for Python and TypeScript, and the types of the web view, from the document that
"mnem serve --openapi" prints.

    python3 generate.py --mnem PROGRAM        write all files
    python3 generate.py --document FILE       write them from a document that was printed before
    python3 generate.py … --check             fail if one is not current
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
from collections.abc import Callable, Sequence
from typing import Any

HERE = pathlib.Path(__file__).parent

# Operations whose bodies or answers are not JSON, or do not end.
SKIPPED = {"export", "import", "pack_send", "pack_take", "op_watch"}

# Verbs whose other forms no caller gets: those of flags of the command line, and of conflicts, which are errors.
FIRST_FORM = {"commit", "remember", "remember_batch"}

# Verbs with several forms of answers: the names of the forms after the first.
FORMS = {
    "branch": ["BranchRemoved"],
    "config_profile": ["ProfilesChange"],
    "embed_cues": ["CuesWritten"],
    "consolidate": ["ConsolidateDone"],
    "diff": ["DiffStat"],
    "ls": ["LsEdges"],
    "merge": ["MergeState"],
    "remote_redactions": ["RedactionsClosed"],
    "restore": ["RestoreMarks"],
    "show": ["ShowCommit", "ShowEdge", "ShowOperation", "ShowBlock", "ShowField"],
    "stats": ["StatsSchema"],
    "tag": ["TagRemoved"],
}

# Names of objects that several verbs answer with, by their members.
NAMES = {
    ("added", "changed", "removed"): "Counts",
    ("from", "ref", "to"): "RefMove",
    ("op", "seq"): "OperationName",
    ("code", "field", "file", "item", "line", "message", "remedy", "rule"): "SecretWarning",
}

# Parameters without which a verb answers with its first form.
CHOOSES_FORM = {"diff": ["stat"], "ls": ["edges"], "stats": ["schema"]}

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
TYPES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
GLOBALS = ("Date", "Error", "Event", "Map", "Number", "Object", "Promise", "Record", "Set", "String", "Symbol")
OBJECT = "Readonly<Record<string, unknown>>"


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

    def __init__(self, doc: dict[str, Any]) -> None:
        self.name_of: dict[str, str] = {}
        self.taken: dict[str, str] = {}
        self.text: list[str] = []
        self.users: dict[str, set[str]] = {}
        for verb in verbs_of(doc):
            self.count(verb.removesuffix("_batch"), answer_schema(doc, verb))

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
    if not forms:
        return classes.define(schema, name), f"read_{name}"
    of = FORMS.get(verb.removesuffix("_batch"))
    if of is None or len(of) != len(forms) - 1:
        raise SystemExit(f"{verb}: name the forms of its answers in FORMS")
    names, cases = [], []
    for one, form_name in zip(forms, [name, *of]):
        if not one.get("properties"):
            names.append("Any")
            cases.append(("", "d"))
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
    """Returns the text of a method, with the more exact signature before it that a verb has without some parameters."""
    full = signature(verb, doc, schema, returns, awaited, ())
    exact = ""
    if chooses := CHOOSES_FORM.get(verb):
        first = returns.split(" | ")[0]
        both = [signature(verb, doc, schema, r, awaited, left_out) for r, left_out in ((first, chooses), (returns, []))]
        exact = "".join(f"    @overload\n{text} ...\n\n" for text in both)
    properties = schema.get("properties", {})
    order = [p for p in arguments(doc, schema)[0] if "description" in properties[p]]
    described = [f"{snake(p)}: {properties[p]['description']}" for p in order]
    body = "\n\n".join(textwrap.fill(p, 96) for p in re.split(r"\n\s*\n", doc["description"]))
    if described:
        body += "\n\n" + "\n".join(textwrap.fill(d, 96, subsequent_indent="    ") for d in described)
    body = body.replace("\\", "\\\\").replace('"""', "'''")
    text = "" if awaited else textwrap.indent(f'"""{body}\n"""\n', "        ").replace("\n        \n", "\n\n")
    call = f"{'await ' if awaited else ''}self._verb({verb!r}, locals())"
    return f"{exact}{full}\n{text}        answer: {returns} = {call}\n        return answer\n"


def arguments(doc: dict[str, Any], schema: dict[str, Any]) -> tuple[list[str], int]:
    """Returns the parameters in their order, and how many of them are positional."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    positional = [p for p in doc.get("x-positional", ()) if p in properties]
    positional.sort(key=lambda p: p not in required)
    others = sorted((p for p in properties if p not in positional), key=lambda p: (p not in required, p))
    return positional + others, len(positional)


def signature(
    verb: str, doc: dict[str, Any], schema: dict[str, Any], returns: str, awaited: bool, without: Sequence[str]
) -> str:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    order, positional = arguments(doc, schema)
    args = ["self"]
    for i, prop in enumerate(order):
        if i == positional:
            args.append("*")
        if prop not in without:
            kind = argument_type(properties[prop])
            args.append(f"{snake(prop)}: {kind}" + ("" if prop in required else " | None = None"))
    separator = ",\n        "
    return f"    {'async ' if awaited else ''}def {snake(verb)}(\n        {separator.join(args)},\n    ) -> {returns}:"


HEAD = '''"""The verbs of mnem and their answers. Times are RFC 3339 texts; scores are integers."""

# Written by generate.py from the OpenAPI document of mnem. Changes are made there.
# ruff: noqa
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload


class Answer:
    """What all answers share. Each is a dataclass; these are written once, which makes the import faster."""

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({members})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


def has(d: Any, names: tuple[str, ...]) -> bool:
    return isinstance(d, dict) and all(name in d for name in names)


'''


def verbs_of(doc: dict[str, Any]) -> list[str]:
    return sorted(
        path.removeprefix("/v1/")
        for path, item in doc["paths"].items()
        if path.startswith("/v1/") and path.removeprefix("/v1/") not in SKIPPED and "post" in item
    )


def answer_schema(doc: dict[str, Any], verb: str) -> dict[str, Any]:
    schema: dict[str, Any] = doc["components"]["schemas"][verb + "_answer"]
    return schema["anyOf"][0] if verb in FIRST_FORM else schema  # type: ignore[no-any-return]


def is_stream(post: dict[str, Any]) -> bool:
    """Reports whether a verb answers with a list."""
    return post["responses"]["200"]["content"]["application/json"]["schema"].get("type") == "array"  # type: ignore[no-any-return]


def python(doc: dict[str, Any]) -> str:
    schemas = doc["components"]["schemas"]
    verbs = verbs_of(doc)
    classes = Classes(doc)
    sync, asynchronous, table = [], [], []
    for verb in verbs:
        post = doc["paths"]["/v1/" + verb]["post"]
        returns, read = answer(classes, verb, answer_schema(doc, verb))
        if stream := is_stream(post):
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


class Interfaces(Classes):
    """Interfaces of TypeScript for the objects in answers, with the names that Python's classes have."""

    def __init__(self, doc: dict[str, Any]) -> None:
        super().__init__(doc)
        self.taken = dict.fromkeys(["Conflict", *GLOBALS], "")  # Conflict is a class of errors

    def define(self, schema: dict[str, Any], name: str) -> str:
        if name in self.taken:
            return name
        self.taken[name] = self.key(schema)
        required, properties = set(schema.get("required", ())), schema["properties"]
        members = [
            f"  {prop}{'' if prop in required else '?'}: {self.type_of(properties[prop], prop, name)[0]};"
            for prop in sorted(properties, key=lambda p: (p not in required, p))
        ]
        self.text.append(f"export interface {name} {{\n" + "\n".join(members) + "\n}\n")
        return name

    def type_of(self, schema: dict[str, Any], field: str, parent: str) -> tuple[str, str]:
        kind = schema.get("type")
        if "anyOf" in schema:
            return self.type_of(schema["anyOf"][0], field, parent)
        if "enum" in schema:
            return " | ".join(map(json.dumps, schema["enum"])), ""
        null = ""
        if isinstance(kind, list):
            null = " | null"
            kind = next(k for k in kind if k != "null")
        if kind == "array":
            inner = self.type_of(schema.get("items", {}), field, parent)[0]
            return (f"({inner})[]" if "|" in inner else f"{inner}[]"), ""
        if kind == "object":
            named = self.named(schema, field, parent) if schema.get("properties") else "Record<string, unknown>"
            return named + null, ""
        return TYPES.get(kind or "", "unknown") + null, ""


def ts_argument(schema: dict[str, Any]) -> str:
    kind = schema.get("type")
    if "anyOf" in schema:
        return " | ".join(ts_argument(s) for s in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if kind == "array":
        items = schema.get("items", {})
        return f"readonly {OBJECT}[]" if items.get("type") == "object" else f"readonly ({ts_argument(items)})[]"
    return TYPES.get(kind or "", "unknown")


def ts_doc(text: str, indent: str) -> str:
    paragraphs = re.split(r"\n\s*\n", text.replace("*/", "* /"))
    lines = "\n\n".join(textwrap.fill(p, 110 - len(indent), subsequent_indent="") for p in paragraphs).split("\n")
    if len(lines) == 1 and len(lines[0]) < 105:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines) + f"{indent} */\n"


def ts_answer(classes: Interfaces, verb: str, schema: dict[str, Any]) -> str:
    """Returns the type of an answer: one form, or a choice in which the members of all can be read.

    A form without members, the value of a field, is left to the class Memory.
    """
    name = camel(verb) + "Answer"
    forms = schema.get("anyOf")
    if not forms:
        return classes.define(schema, name)
    names = [name, *FORMS[verb.removesuffix("_batch")]]
    return f"OneOf<{', '.join(classes.define(f, n) for f, n in zip(forms, names) if f.get('properties'))}>"


def ts_method(verb: str, doc: dict[str, Any], schema: dict[str, Any], returns: str) -> tuple[str, str]:
    """Returns the interface of a method's options, "" if it has none, and the method."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    positional = sorted((p for p in doc.get("x-positional", ()) if p in properties), key=lambda p: p not in required)
    options = [p for p in sorted(properties, key=lambda p: (p not in required, p)) if p not in positional]
    name, text = camel(verb) + "Options", ""
    if options:
        members = (
            ts_doc(properties[p].get("description", p), "  ")
            + f"  {p}{'' if p in required else '?'}: {ts_argument(properties[p])}{'' if p in required else ' | undefined'};\n"
            for p in options
        )
        text = f"/** Parameters of {method_name(verb)}. */\nexport interface {name} {{\n" + "".join(members) + "}\n"
    described = doc["description"] + "".join(
        f"\n\n@param {parameter(p)} {properties[p]['description']}" for p in positional if properties[p].get("description")
    )
    out = ts_doc(described, "  ")
    at_least = sum(p in required for p in positional)
    last = [f"options{'' if any(p in required for p in options) else '?'}: {name}"] if options else []
    for given in range(at_least, len(positional) + 1):
        args = [f"{parameter(p)}: {ts_argument(properties[p])}" for p in positional[:given]] + last
        out += f"  {method_name(verb)}({', '.join(args)}): Promise<{returns}>;\n"
    names = json.dumps(positional)
    out += f"  {method_name(verb)}(...given: unknown[]): Promise<unknown> {{\n    return this.verb({json.dumps(verb)}, {names}, given);\n  }}\n"
    return text, out


def method_name(verb: str) -> str:
    name = camel(verb)
    return name[:1].lower() + name[1:]


def parameter(name: str) -> str:
    return name + "_" if name in {"from", "in", "continue", "type", "of"} else name


TS_HEAD = '''// Written by clients/generate.py from the OpenAPI document of mnem. Changes are made there.
//
// The verbs of mnem, their parameters and answers. Times are RFC 3339 texts; scores are integers.

type Names<T> = T extends unknown ? keyof T : never;
type Open<T, All extends PropertyKey> = T & { [K in Exclude<All, keyof T>]?: undefined };
type Each<T, All extends PropertyKey> = T extends unknown ? Open<T, All> : never;

/** One of several forms of an answer: the members of the other forms are undefined. */
export type OneOf<A, B = never, C = never, D = never, E = never> = Each<A | B | C | D | E, Names<A | B | C | D | E>>;

'''


def typescript(doc: dict[str, Any]) -> str:
    schemas = doc["components"]["schemas"]
    classes = Interfaces(doc)
    options, methods, streams = [], [], []
    for verb in verbs_of(doc):
        post = doc["paths"]["/v1/" + verb]["post"]
        returns = ts_answer(classes, verb, answer_schema(doc, verb))
        if is_stream(post):
            streams.append(verb)
            returns += "[]"
        text, method_text = ts_method(verb, post, schemas[verb + "_arguments"], returns)
        options.append(text)
        methods.append(method_text)
    return (
        TS_HEAD + "\n".join(classes.text) + "\n" + "\n".join(o for o in options if o)
        + "\n/** Verbs that answer with a list. */\nexport const LISTS: ReadonlySet<string> = new Set([\n"
        + "".join(f"  {json.dumps(v)},\n" for v in streams) + "]);\n\n"
        + "/** A method for each verb. Trailing parameters may be omitted; options come after the arguments. */\n"
        + "export abstract class Verbs {\n"
        + "  protected abstract verb(name: string, positional: readonly string[], given: readonly unknown[]): Promise<unknown>;\n\n"
        + "\n".join(methods) + "}\n"
    )


WEB_HEAD = """// Written by clients/generate.py from the OpenAPI document of mnem. Changes are made there.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

"""


def web(doc: dict[str, Any]) -> str:
    """Returns the types of the arguments and answers of the operations that the sources of the web view name."""
    sources = [f for f in (HERE / "../web/src").glob("*.ts*") if f.name != "operations.gen.ts"]
    named = {n for f in sources for n in re.findall(r"(?:[aA]sk|run)\([^'\n]*'([a-z_]+)'", f.read_text(encoding="utf-8"))}
    schemas = doc["components"]["schemas"]
    arguments, answers = "", ""
    for verb in sorted(p.removeprefix("/v1/") for p in doc["paths"] if p.removeprefix("/v1/") in named):
        post = doc["paths"]["/v1/" + verb]["post"]
        asked, answered = post["requestBody"], post["responses"]["200"]
        arguments += f"  {verb}: {web_type(schemas, asked['content']['application/json']['schema'], '  ')};\n"
        answers += f"  {verb}: {web_type(schemas, answered['content']['application/json']['schema'], '  ')};\n"
    return (
        WEB_HEAD + "/** Arguments of operations by name. */\nexport interface Arguments {\n" + arguments
        + "}\n\n/** Answers of operations by name; unions have one form for each use. */\nexport interface Answers {\n" + answers + "}\n"
    )


def web_type(schemas: dict[str, Any], schema: dict[str, Any], indent: str) -> str:
    """Returns the type of a value: an object stands on one line if that has at most 100 columns."""
    if ref := schema.get("$ref"):
        schema = schemas[ref.removeprefix("#/components/schemas/")]
    if forms := schema.get("anyOf"):
        return " | ".join(dict.fromkeys(web_type(schemas, f, indent) for f in forms))
    if values := schema.get("enum") or [schema[k] for k in ("const",) if k in schema]:
        return " | ".join(json.dumps(v, ensure_ascii=False).replace('"', "'") for v in values)
    kinds = schema.get("type")
    return " | ".join(web_kind(schemas, schema, kind, indent) for kind in (kinds if isinstance(kinds, list) else [kinds]))


def web_kind(schemas: dict[str, Any], schema: dict[str, Any], kind: str | None, indent: str) -> str:
    if kind == "array":
        item = web_type(schemas, schema["items"], indent)
        return f"({item})[]" if web_unites(schemas, schema["items"]) else f"{item}[]"
    if kind != "object":
        return {None: "Json", "integer": "number"}.get(kind, kind)  # type: ignore[return-value]
    if "properties" not in schema:
        return "Record<string, Json>"
    inner, required = indent + "  ", schema.get("required", ())
    members = [
        f"{name}{'' if name in required else '?'}: {web_type(schemas, schema['properties'][name], inner)}"
        for name in sorted(schema["properties"])
    ]
    line = "{ " + "; ".join(members) + " }"
    return line if len(line) <= 100 and "\n" not in line else f"{{\n{inner}" + f";\n{inner}".join(members) + f";\n{indent}}}"


def web_unites(schemas: dict[str, Any], schema: dict[str, Any]) -> bool:
    """Reports whether the type of a value is a union."""
    if ref := schema.get("$ref"):
        schema = schemas[ref.removeprefix("#/components/schemas/")]
    kinds = schema.get("type")
    return len(schema.get("anyOf", ())) > 1 or len(schema.get("enum", ())) > 1 or isinstance(kinds, list) and len(kinds) > 1


TARGETS: dict[str, Callable[[dict[str, Any]], str]] = {
    "python/src/mnem/_verbs.py": python,
    "typescript/src/verbs.ts": typescript,
    "../web/src/operations.gen.ts": web,
}


def current(path: str, text: str) -> bool:
    """Reports whether a file has a text, and prints how they differ."""
    target = HERE / path
    found = target.read_text(encoding="utf-8") if target.exists() else ""
    if found == text:
        return True
    diff = difflib.unified_diff(found.splitlines(), text.splitlines(), path, "generated", lineterm="")
    print("\n".join(list(diff)[:60]))
    print(f"clients/{path} is not current: run clients/generate.py, or go test ./internal/door/cli -run SurfacesOfClients -rewrite")
    return False


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
    texts = {path: write(json.loads(printed)) for path, write in TARGETS.items()}
    if options.check:
        return 0 if all([current(path, text) for path, text in texts.items()]) else 1
    for path, text in texts.items():
        (HERE / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

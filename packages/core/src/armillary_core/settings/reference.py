"""Settings as text: what holds, an example file and the reference page, all made from the model."""

from __future__ import annotations

import json
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from armillary_core.settings.load import groups_of
from armillary_core.settings.model import ProjectWish, Section, Settings

MASK = "********"

_EXAMPLE_HEAD = """\
# Every setting of Armillary with its default; made from the code by `make docs`. Nothing here is needed.
# Copy what you change to ~/.config/armillary/config.yaml, or name your file with --config or ARMILLARY_CONFIG.
# Arguments win over ARMILLARY_ variables, these over secret files, these over this file.
"""

_PAGE_HEAD = """\
# Settings

Made from the code by `make docs`. No setting is needed; unknown ones are refused.

Where a value comes from, the first that says so wins:

1. arguments (`--port`),
2. environment variables: the name in capitals after `ARMILLARY_`, groups joined by two underscores
   (`ARMILLARY_EMBEDDING__THREADS`); a list may be written with commas,
3. secret files: a file of that name in lower case in `/run/secrets`, or in the folder that `ARMILLARY_SECRETS` names,
4. the YAML file: `--config`, `ARMILLARY_CONFIG`, or `~/.config/armillary/config.yaml` when it is there
   ([an example with every setting](../../config.example.yaml)),
5. the default.

`ARMILLARY_TOKEN` is the token that the command line sends to a server which wants one. Variables that begin with
`ARMILLARY_TEST_` belong to the tests and are ignored.

| setting | default | meaning |
|---|---|---|
"""


def masked(settings: Settings) -> dict[str, Any]:
    """Every setting as plain values; a secret is shown as stars, or as null when there is none."""
    return {name: _plain(getattr(settings, name)) for name in Settings.model_fields}


def yaml_text(values: dict[str, Any]) -> str:
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=110)


def example_file() -> str:
    """`config.example.yaml`: every setting with its default, commented out."""
    lines = [*_EXAMPLE_HEAD.splitlines(), ""]
    for name, field in Settings.model_fields.items():
        lines += _example(name, field, indent="# ")
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def reference_page() -> str:
    """`docs/reference/settings.md`."""
    rows = [row for name, field in Settings.model_fields.items() for row in _rows(name, field)]
    return "\n".join([*_PAGE_HEAD.splitlines(), *rows]) + "\n"


def _rows(name: str, field: FieldInfo) -> list[str]:
    groups = groups_of(field.annotation)
    if groups:
        rows: list[str] = []
        for group in groups:
            for inner, inner_field in group.model_fields.items():
                row = _rows(f"{name}.{inner}", inner_field)
                rows += [line for line in row if line not in rows]
        return rows
    if get_origin(field.annotation) is dict and get_args(field.annotation)[1] is ProjectWish:
        rows = [f"| `{name}` | none | {field.description} |"]
        for inner, inner_field in ProjectWish.model_fields.items():
            rows += _rows(f"{name}.NAME.{inner}", inner_field)
        return rows
    default = _default(field)
    shown = f"{len(default)} types" if isinstance(default, dict) else f"`{json.dumps(default, ensure_ascii=False)}`"
    return [f"| `{name}` | {shown} | {field.description}{_bounds(field)} |"]


def _bounds(field: FieldInfo) -> str:
    found = {
        name: getattr(rule, name) for rule in field.metadata for name in ("ge", "gt", "le", "lt") if hasattr(rule, name)
    }
    low = f"at least {found['ge']:,}" if "ge" in found else f"above {found['gt']:,}" if "gt" in found else ""
    high = f"at most {found['le']:,}" if "le" in found else ""
    words = ", ".join(part for part in (low, high) if part)
    return f" ({words})" if words else ""


def _example(name: str, field: FieldInfo, *, indent: str) -> list[str]:
    lines = [f"{indent}# {field.description}{_bounds(field)}"]
    default = _default(field)
    if isinstance(default, BaseModel):
        lines.append(f"{indent}{name}:")
        for inner, inner_field in type(default).model_fields.items():
            lines += _example(inner, inner_field, indent=f"{indent}  ")
        for other in groups_of(field.annotation):
            if type(default) is not other:
                lines.append(f"{indent}  # or {other.model_fields['engine'].default}: {_engine_words(other)}")
        return lines
    if name == "projects":
        lines.append(f"{indent}{name}:")
        lines.append(f"{indent}  notes:")
        for inner, inner_field in ProjectWish.model_fields.items():
            lines += _example(inner, inner_field, indent=f"{indent}    ")
        return lines
    text = yaml_text({name: default}).rstrip("\n").split("\n")
    return [*lines, *(f"{indent}{line}" for line in text)]


def _engine_words(section: type[BaseModel]) -> str:
    return section.model_fields["engine"].description or ""


def _default(field: FieldInfo) -> Any:
    value = field.get_default(call_default_factory=True, validated_data={})
    return value if isinstance(value, BaseModel) else _plain(value)


def _plain(value: Any) -> Any:
    match value:
        case SecretStr():
            return MASK if value.get_secret_value() else None
        case Section():
            return {name: _plain(getattr(value, name)) for name in type(value).model_fields}
        case dict():
            return {str(name): _plain(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)

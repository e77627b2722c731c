"""Pages made from the code: `python tools/reference.py [--check]`."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer.main
from mcp.server import MCPServer

from armillary_cli.exit_codes import MEANINGS, ExitCode, exit_code
from armillary_cli.main import app
from armillary_core.domain.errors import AppError
from armillary_core.settings.reference import example_file, reference_page
from armillary_gateway.errors import NEXT_STEP
from armillary_gateway.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent
_MADE = "Made from the code by `make docs`."


def exit_codes_page() -> str:
    lines = ["# Exit codes", "", _MADE, "", "| code | meaning |", "|---|---|"]
    lines += [f"| {code.value} | {MEANINGS[code]} |" for code in ExitCode]
    return _page([*lines, "| 130 | stopped with Ctrl-C before it was done |"])


def errors_page() -> str:
    lines = [
        "# Errors",
        "",
        f"{_MADE} Every error is one line that says what is wrong with which thing, and the way out if there is one.",
        "The command line prints it to standard error; an MCP tool answers with it (`isError`) and the next step.",
        "",
        "| error | when | try again | exit code | next step for an agent |",
        "|---|---|---|---|---|",
    ]
    for kind in _tree(AppError):
        again = "yes" if kind.retryable else "no"
        step = next(NEXT_STEP[base] for base in kind.__mro__ if base in NEXT_STEP) or "in the message"
        lines.append(f"| `{kind.code}` | {_first(kind)} | {again} | {exit_code(kind('')).value} | {step} |")
    return _page(lines)


def commands_page() -> str:
    group: Any = typer.main.get_command(app)
    lines = ["# Commands", "", f"{_MADE} `armillary COMMAND --help` shows the same.", ""]
    for name, command in group.commands.items():
        for path, leaf in _leaves(name, command):
            lines += _command(path, leaf)
    return _page(lines)


def tools_page() -> str:
    server: MCPServer[Any] = MCPServer("reference")
    for tool in TOOLS:
        server.add_tool(**tool.describe())
    listed = {tool.name: tool for tool in asyncio.run(server.list_tools())}
    lines = [
        "# MCP tools",
        "",
        f"{_MADE} A token sees only the tools that its rights allow: `enrich` includes `read`, `manage` includes both.",
        "",
    ]
    for tool in TOOLS:
        found = listed[tool.name]
        lines += [
            f"## {tool.name}",
            "",
            inspect.cleandoc(found.description or ""),
            "",
            f"Right: `{tool.right.value}`.",
            "",
        ]
        schema = found.input_schema
        if schema.get("properties"):
            lines += ["| argument | type | default | meaning |", "|---|---|---|---|"]
        for name, field in schema.get("properties", {}).items():
            default = "needed" if name in schema.get("required", ()) else f"`{field.get('default')}`"
            lines.append(f"| `{name}` | {_kind(field)} | {default} | {_cell(field.get('description', ''))} |")
        lines.append("")
    return _page(lines)


PAGES: dict[str, Callable[[], str]] = {
    "config.example.yaml": example_file,
    "docs/reference/settings.md": reference_page,
    "docs/reference/commands.md": commands_page,
    "docs/reference/tools.md": tools_page,
    "docs/reference/errors.md": errors_page,
    "docs/reference/exit-codes.md": exit_codes_page,
}


def outdated() -> list[str]:
    """Names of pages that are not what the code says."""
    return [name for name, make in PAGES.items() if _read(ROOT / name) != make()]


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _page(lines: list[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"


def _tree(kind: type[AppError]) -> Iterator[type[AppError]]:
    """The errors of the domain, parents first; what a client adds for itself is not among them."""
    for child in kind.__subclasses__():
        if child.__module__ == AppError.__module__:
            yield child
            yield from _tree(child)


def _leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):
        for name, child in command.commands.items():
            yield from _leaves(f"{path} {name}", child)
    else:
        yield path, command


def _command(path: str, command: Any) -> list[str]:
    arguments = [part for part in command.params if part.param_type_name == "argument"]
    options = [part for part in command.params if part.param_type_name == "option" and not part.hidden]
    usage = " ".join(["armillary", path, *(_metavar(part) for part in arguments)])
    lines = [f"## armillary {path}", "", _cell(command.help or ""), "", f"`{usage}`", ""]
    if options or any(getattr(part, "help", "") for part in arguments):
        lines += ["| | |", "|---|---|"]
    lines += [f"| `{_metavar(part)}` | {_cell(part.help or '')} |" for part in arguments]
    lines += [f"| `{', '.join([*part.opts, *part.secondary_opts])}` | {_cell(part.help or '')} |" for part in options]
    return [*lines, ""]


def _metavar(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _kind(field: dict[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_kind(part) for part in field["anyOf"] if part.get("type") != "null")
    if field.get("type") == "array":
        return f"list of {_kind(field.get('items', {}))}"
    return str(field.get("type", "object"))


def _first(kind: type[AppError]) -> str:
    return _cell(inspect.getdoc(kind) or "") if kind.__doc__ else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> int:
    if "--check" in sys.argv:
        found = outdated()
        if found:
            print(f"{', '.join(found)}: out of date. Run: make docs", file=sys.stderr)
        return 1 if found else 0
    for name, make in PAGES.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(make(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

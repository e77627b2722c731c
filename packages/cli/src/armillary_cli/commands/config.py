"""`armillary config`: what is set, and where it comes from."""

from __future__ import annotations

import typer

from armillary_cli.options import ConfigOption, DataOption, JsonOption, read_settings

config_app = typer.Typer(help="Settings.", no_args_is_help=True)


@config_app.command("show")
def show_config(as_json: JsonOption = False, data: DataOption = None, config: ConfigOption = None) -> None:
    """Print every setting as it holds, secrets masked."""
    from armillary_cli.console import say, say_json
    from armillary_core.settings.load import config_file
    from armillary_core.settings.reference import masked, yaml_text

    settings = read_settings(data, config)
    if as_json:
        say_json(masked(settings))
        return
    file = config_file(config)
    say(f"# configuration file: {file or 'none'}")
    say(yaml_text(masked(settings)).rstrip("\n"))

"""The command line, `holdfast`."""

from holdfast.cli.app import main

__all__ = ["main"]

"""What is wrong in a configuration, with file, line, key and hint of each fault."""

from burnish.protocols.errors import DocumentError, Problem


class ConfigError(DocumentError):
    """A configuration that cannot be used. Nothing is started with one."""


def config_error(message: str, hint: str, *, key: str = "") -> ConfigError:
    """An error about a value that stands in no file, such as a flag."""
    return ConfigError([Problem(file="", key=key, message=message, hint=hint)])

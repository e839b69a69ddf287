"""What can be wrong with a prompt."""

from burnish.core.errors import BurnishError, ErrorKind


class PromptError(BurnishError):
    """A prompt that cannot be used: a file that is not there, or a text that does not fit its values."""

    kind = ErrorKind.CONFIGURATION

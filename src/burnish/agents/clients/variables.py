"""The variables of the user's environment that each client may see: keys, addresses, and how to reach the network.

Nothing else in burnish names them. What is not listed is not passed on, unless the agent's own settings name it.
"""

from burnish.core.values import Value
from burnish.settings.agent_kinds import AgentKind

_NETWORK = (
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)
_AMAZON = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION")
_GOOGLE_CLOUD = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS")


class Variables(Value):
    """What one client is let see."""

    keys: tuple[str, ...]
    """Any one of them is a login."""
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.keys, *self.others, *_NETWORK)


VARIABLES: dict[AgentKind, Variables] = {
    AgentKind.CLAUDE: Variables(
        keys=(
            *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
            *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"),
        ),
        others=("ANTHROPIC_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", *_AMAZON, *_GOOGLE_CLOUD),
    ),
    AgentKind.CODEX: Variables(keys=("OPENAI_API_KEY", "CODEX_API_KEY"), others=("OPENAI_BASE_URL",)),
    AgentKind.GEMINI: Variables(
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
        others=(
            *("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI"),
            *("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
        ),
    ),
    AgentKind.ACP: Variables(keys=()),  # whatever it is, the user must say what it may see
    AgentKind.OPENCODE: Variables(
        keys=(
            *("OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
            *("GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY"),
            "OPENCODE_CONFIG_CONTENT",  # names a service of the user's own, with its key
        ),
        others=(*_AMAZON, *_GOOGLE_CLOUD),
    ),
}

"""The words of the sandbox: which there are, and what a confined command may touch. Values only."""

from enum import Enum

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.values import Value

DEFAULT_SECRETS = (
    *("~/.ssh", "~/.gnupg", "~/.netrc", "~/.git-credentials", "~/.config/git/credentials", "~/.Xauthority"),
    *("~/.aws", "~/.azure", "~/.config/gcloud", "~/.config/doctl", "~/.config/hcloud", "~/.oci", "~/.boto", "~/.s3cfg"),
    *("~/.kube", "~/.docker", "~/.config/containers", "~/.config/helm", "~/.terraform.d", "~/.vault-token"),
    *("~/.config/gh", "~/.config/glab-cli", "~/.config/hub", "~/.config/rclone", "~/.config/sops", "~/.config/op"),
    *("~/.password-store", "~/.local/share/password-store", "~/.local/share/keyrings", "~/.local/share/kwalletd"),
    *("~/.config/keepassxc", "~/.config/Bitwarden", "~/.config/Bitwarden CLI"),
    *("~/.pypirc", "~/.npmrc", "~/.yarnrc", "~/.yarnrc.yml", "~/.config/pnpm", "~/.bunfig.toml"),
    *("~/.gem/credentials", "~/.composer/auth.json"),
    *("~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.m2/settings.xml", "~/.gradle/gradle.properties"),
    *("~/.pgpass", "~/.my.cnf", "~/.config/heroku", "~/.config/wrangler", "~/.config/netlify"),
    # Logins of agents that burnish does not run itself; those of the others are on their cards.
    *("~/.qwen", "~/.local/share/crush", "~/.config/crush", "~/.config/goose"),
    *("~/.copilot", "~/.config/github-copilot", "~/.cursor", "~/.config/cursor", "~/.config/amp", "~/.local/share/amp"),
    *("~/.factory", "~/.kimi", "~/.kiro", "~/.local/share/amazon-q", "~/.continue", "~/.aider.conf.yml"),
    *("~/.mozilla", "~/.config/google-chrome", "~/.config/chromium", "~/.config/BraveSoftware", "~/.thunderbird"),
    *("~/.bash_history", "~/.zsh_history", "~/.python_history", "~/.psql_history", "~/.local/share/fish"),
    *("/etc/shadow", "/etc/gshadow", "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key"),
    *("/etc/ssh/ssh_host_ed25519_key", "/etc/krb5.keytab", "/run/secrets", "/var/lib/kubelet", "/etc/kubernetes"),
)
"""What no agent needs to see, whatever it works on."""


class SandboxError(BurnishError):
    """A command cannot be confined as it must be."""

    kind = ErrorKind.CONFIGURATION


class SandboxKind(Enum):
    """What keeps a command in its place, best first."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    NONE = "none"


class Sandbox(Value):
    """The sandbox of this machine, and for the user, why it is not a better one."""

    kind: SandboxKind
    reason: str = ""


class Mount(Value):
    """Something that a command sees at another path than its own, instead of what is there. Only bubblewrap can."""

    source: str
    target: str
    writable: bool = False


class Confinement(Value):
    """What a command may touch. Of two paths that hold, the deeper decides; at the same path, what is given.

    Everything that a clone borrows from must be named: the object folders of its alternates, the common directory of a
    linked worktree. It is not looked up here, as a confined command may have written those files itself.
    """

    readable: tuple[str, ...] = ()
    """Seen beside the folders of the system, which are read-only, too."""
    writable: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    """Read-only below something writable, and held in place. Only bubblewrap can: Landlock has no rule that takes away,
    and granting everything but these would forbid new files beside them."""
    hidden: tuple[str, ...] = DEFAULT_SECRETS
    owned: tuple[str, ...] = ()
    """Seen below folders that all belong to this user. Some programs refuse a file if another user owns a folder on the
    way to it, and in a user namespace even `/` belongs to another. Without one the owners are the real ones."""
    mounts: tuple[Mount, ...] = ()
    """In this order, over everything else: nothing that was there at or below a target is seen. A command whose folder
    is the source of one, or below it, starts at the same place of its target."""
    temporary: str
    """Its own writable folder, also its TMPDIR and HOME unless its environment names others."""
    network: bool = True

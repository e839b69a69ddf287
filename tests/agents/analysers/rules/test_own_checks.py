"""What burnish looks for itself: passwords in configuration, and where links lead."""

import pytest

from burnish.agents.panel.own_checks.credentials import without_known_examples
from burnish.agents.panel.own_checks.looking import look_into
from burnish.agents.panel.own_checks.reporting import OwnRule
from burnish.workspace.names import stays_inside

CHECKOUT, EXPANDED = OwnRule.CHECKOUT.value, OwnRule.EXPANDED.value
NUL_BYTE, PASSWORD = OwnRule.NUL_BYTE.value, OwnRule.PASSWORD.value


def rules(path: str, text: str | bytes, *, is_code: bool = False) -> list[str]:
    content = text.encode() if isinstance(text, str) else text
    return [hit.rule for hit in look_into(path, content, is_code=is_code)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("config.yml", "db:\n  password: hunter2\n"),
        ("config.yaml", '- db_password: "Tr0ub4dor&3"  # the new one\n'),
        (".env", "export DB_PASSWORD=hunter2xyz\n"),
        (".env.production", "DB_PASS='x9!kkkk'\n"),
        ("app.properties", "spring.datasource.password=Sup3rS3cret!\n"),
        ("a/settings.toml", 'smtp_passwd = "k33p0ut"\r\n'),
        ("settings.json", '{\n  "password": "hunter2",\n}\n'),
        ("config.yml", "password: docs/hunter2\n"),
        ("config.yml", "password: hunter2.docx\n"),
        ("app.ini", "api_key = 9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c\n"),
    ],
)
def test_a_password_in_a_configuration_file_is_found_and_not_repeated(path: str, text: str) -> None:
    (hit,) = look_into(path, text.encode(), is_code=False)
    assert hit.rule == PASSWORD
    assert not any(
        secret in str(hit) for secret in ("hunter2", "Tr0ub4dor", "x9!kkkk", "Sup3rS3cret", "k33p0ut", "9f8a")
    )


@pytest.mark.parametrize(
    "text",
    [
        "password: ${DB_PASSWORD}\n",
        "password: {{ vault_password_1 }}\n",
        "password: <password1>\n",
        "password: changeme1\n",
        "password: xxxx1\n",
        "password: ''\n",
        "password: null\n",
        "password: postgres\n",
        "password: Passwort\n",
        "password: !vault |\n",
        "password: ENV['DB_PASSWORD1']\n",
        "password_file: /run/secrets/db1\n",
        "password: /run/secrets/db1\n",
        "password: secrets/db1.txt\n",
        "tls_passphrase: server1.pem\n",
        "password:\n  type: string1\n",
        "password: Enter your password, 8 characters\n",
        "secret: my-tls-secret-v2\n",
        "token: ${{ secrets.GITHUB_TOKEN }}\n",
        "api_key: test_1234567890abcdef12\n",
        "password_min_length: 12abc\n",
        "# password: hunter2 \n",
        "password: Zugangswörter2\n",
        "output_token: StreamDescription.Shards[-1].ShardId\n",
        "- 1Password: guide/1password.md\n",
    ],
)
def test_placeholders_references_and_labels_are_no_passwords(text: str) -> None:
    assert rules("config.yml", text) == []


def test_other_files_are_left_to_the_search_for_secrets() -> None:
    assert rules("a.py", 'password = "hunter2"\n') == []


def test_tokens_of_documentation_are_nobodys() -> None:
    example = ("AKIA" + "IOSFODNN7EXAMPLE").encode()
    assert without_known_examples(b"key = " + example + b"\n") == b"key = " + b"." * len(example) + b"\n"


def test_attributes_by_which_a_checkout_differs() -> None:
    text = "*.py working-tree-encoding=UTF-7\n*.c filter=evil\n# *.x filter=y\n*.png filter=lfs -text\n*.h ident\n"
    assert rules("sub/.gitattributes", text) == [CHECKOUT, CHECKOUT, EXPANDED, EXPANDED]
    assert rules(".gitattributes", "*.sh text eol=lf\n*.min.js -diff\n*.md diff=markdown\n") == []
    assert rules(".gitattributes", "* text=auto working-tree-encoding=UTF-8\n*.x working-tree-encoding=utf8\n") == []


def test_a_byte_that_hides_code() -> None:
    assert rules("run.sh", b"#!/bin/sh\ne\0val x\n", is_code=True) == [NUL_BYTE]
    assert rules("a.png", b"\x89PNG\0") == []


@pytest.mark.parametrize(
    ("target", "inside"),
    [
        ("a.py", True),
        ("../b.py", True),
        ("./x/../y", True),
        ("../../b.py", False),
        ("/etc/passwd", False),
        ("../.git/hooks", False),
        ("../.GIT/config", False),
        ("up/.git", False),
        ("up/up/a.py", True),
        ("loop", False),
    ],
)
def test_where_a_link_leads(target: str, inside: bool) -> None:
    links = {"d/link": target, "d/up": "..", "up": ".", "d/loop": "loop"}
    assert stays_inside("d/link", links) is inside


def test_an_access_key_is_found_without_its_secret() -> None:
    key = "AKIA" + "UJZDEGXDNCF32EPF"
    assert rules("a.py", f'x\nos.environ["AWS_ACCESS_KEY_ID"] = "{key}"\n') == [OwnRule.ACCESS_KEY.value]
    assert not rules("a.py", 'key = "AKIAIOSFODNN7EXAMPLE"\nother = "AKIAXXXXXXXXXXXXXXXX"\n')


@pytest.mark.parametrize(
    "code",
    [
        "connect(password='Tr0ub4dor&3x!')",
        'db_password: str = "kX9#mP2vL5n"',
        'const x = { passwd: "s3cr3t-Pg-24" }',
        "connect(password='Tr0ub4dor/3.x')",
    ],
)
def test_a_password_in_code_is_found(code: str) -> None:
    assert rules("a.py", code, is_code=True) == [OwnRule.PASSWORD_IN_CODE.value]


@pytest.mark.parametrize(
    "code",
    [
        "connect(password=os.environ['DB_PASSWORD'])",
        "label = {'password': 'Your password'}",
        "password = 'changeme1!A'",
        "if password == 'Tr0ub4dor&3x!': f()",
        "reset_password_url = '/Account/reset-1'",
        "password = 'hunter2'",
        "password = 'Login/Reset-1.html'",
    ],
)
def test_code_that_only_names_a_password_is_left_alone(code: str) -> None:
    assert not rules("a.py", code, is_code=True)

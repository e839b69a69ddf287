"""What a path says about the purpose of a file."""

import pytest

from burnish.agents.panel.places import surroundings


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app.py", "program"),
        ("src/data/loader.py", "program"),
        ("src/contest.py", "program"),
        ("latest/app.py", "program"),
        ("tests/test_app.py", "tests"),
        ("src/pkg/test_app.py", "tests"),
        ("src/pkg/app_test.go", "tests"),
        ("web/src/app.test.tsx", "tests"),
        ("web/src/app.spec.ts", "tests"),
        ("web/__tests__/app.ts", "tests"),
        ("src/test/java/AppTest.java", "tests"),
        ("conftest.py", "tests"),
        ("examples/hello.py", "tests"),
        ("docs/conf.py", "tests"),
        ("benchmarks/run.py", "tests"),
        ("tests/data/broken.py", "material"),
        ("pkg/testdata/broken.go", "material"),
        ("tests/unit/fixtures/bad.py", "material"),
        ("", "program"),
    ],
)
def test_a_path_says_what_a_file_is_for(path: str, expected: str) -> None:
    assert surroundings(path).value == expected

"""Totals of coverage reports, as the tools write them, and as nobody should write them."""

import json

import pytest

from burnish.contracts.coverage import REPORTS, coverage_of

PYTHON = json.dumps({"meta": {"version": "7.6"}, "files": {}, "totals": {"covered_lines": 29, "percent_covered": 72.5}})
COBERTURA = """<?xml version="1.0" ?>
<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage version="7.6" timestamp="1700000000" lines-valid="40" lines-covered="29" line-rate="0.1" branch-rate="0">
<packages><package name="a" line-rate="1"/></packages></coverage>
"""
LCOV = "TN:\nSF:a.py\nDA:1,1\nLF:30\nLH:29\nend_of_record\nSF:b.py\nLF:10\nLH:0\nend_of_record\n"


@pytest.mark.parametrize(
    ("report", "content", "percent"),
    [
        ("coverage.json", PYTHON, 72.5),
        ("coverage.xml", COBERTURA, 72.5),
        ("cobertura.xml", '<coverage line-rate="0.725">', 72.5),
        ("coverage/cobertura-coverage.xml", "<coverage lines-covered='1' lines-valid='1'/>", 100.0),
        ("lcov.info", LCOV, 72.5),
        ("coverage/lcov.info", LCOV.replace("\n", "\r\n"), 72.5),
    ],
)
def test_the_total_of_each_format(report: str, content: str, percent: float) -> None:
    assert coverage_of(report, content.encode()).percent == pytest.approx(percent)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"{}",
        b'{"totals": {"percent_covered": "100"}}',
        b'{"totals": {"percent_covered": 100.1}}',
        b'{"totals": {"percent_covered": -1}}',
        b'{"totals": {"percent_covered": 72.5',
        b'<coverage line-rate="1.1">',
        b'<coverage line-rate="1.2.3">',
        b'<coverage lines-valid="0" lines-covered="0">',
        b'<coverages line-rate="1">',
        b'<coverage line-rate="1"',
        b"LF:0\nLH:0\n",
        b"LF:1\nLH:2\n",
        b"LF:ten\n",
    ],
)
@pytest.mark.parametrize("report", REPORTS)
def test_what_cannot_be_read_is_no_measure(report: str, content: bytes) -> None:
    assert coverage_of(report, content).percent is None

"""The alarms for Prometheus: its own checker takes them, and they go off when they should and not before."""

import re
import subprocess

import pytest
from http_client import exchange, request
from packing import ROOT
from programs import Server

ALARMS = ROOT / "packaging/prometheus/alarms.yml"

# An alarm, a series that sets it off within half an hour, and one that does not.
CASES = [
    ("ForageIsDown", 'up{job="forage",instance="a"}', "0x60", "1x60"),
    ("ForageHasTrouble", 'forage_trouble{part="the memory store",instance="a"}', "1x60", "_x60"),
    ("ForageRefuses", 'forage_stock_refused_total{stock="workers",instance="a"}', "0+20x60", "0+1x60"),
    ("ForageIsLarge", 'process_resident_memory_bytes{job="forage",instance="a"}', "600000000x60", "40000000x60"),
    ("ForageLosesLog", 'forage_log_dropped_lines_total{instance="a"}', "0+3x60", "7x60"),
]


def promtool(*arguments):
    return subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)


def test_promtool_takes_them():
    checked = promtool("check", "rules", str(ALARMS))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "7 rules found" in checked.stdout


@pytest.mark.parametrize(("alarm", "series", "bad", "good"), CASES)
def test_goes_off(alarm, series, bad, good, tmp_path):
    for values, expected in ((bad, 1), (good, 0)):
        path = tmp_path / "test.yml"
        path.write_text(
            f"rule_files: ['{ALARMS}']\nevaluation_interval: 1m\ntests:\n- interval: 1m\n"
            f"  input_series:\n  - series: '{series}'\n    values: '{values}'\n"
            f"  promql_expr_test:\n  - expr: count(ALERTS{{alertname=\"{alarm}\",alertstate=\"firing\"}}) or vector(0)\n"
            f"    eval_time: 45m\n    exp_samples: [{{value: {expected}}}]\n"
        )
        tested = promtool("test", "rules", str(path))
        assert tested.returncode == 0, tested.stdout + tested.stderr


def test_they_name_metrics_that_exist():
    with Server() as server:
        given = exchange(server.port, request("GET", "/metrics")).body.decode()
    for name in set(re.findall(r"\b(?:forage|process)_\w+", ALARMS.read_text())):
        assert f"# TYPE {name} " in given, name

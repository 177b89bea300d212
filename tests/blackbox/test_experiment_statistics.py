"""What experiments say is what SciPy says: intervals, differences and verdicts on a thousand random tables; and of
experiments whose arms are the same, hardly any is called different.

The program computes from trials in its database, as it does for an operator; the oracle below takes the same trials."""

import itertools
import math

import numpy
import pytest
from conftest import report
from experimenting import PLAIN, add_trials, experiment, results, write
from scipy import stats

TABLES = 1000
SAME = 2000
AT_ONCE = 50  # experiments in one run of the program
METRICS = ["latency", "cost", "errors", "verified", "nothing_found", "reformulation", "pages"]
RATES = {"errors", "nothing_found", "reformulation"}
HIGHER = {"verified", "pages"}
CLOSE = 1e-8


# ---- the oracle ----


def value_of(metric, trial):
    """What one call says of a metric; None: nothing."""
    known = {name: value for name, value in trial.items() if value != -1}
    if metric == "latency":
        return None if trial["failed"] else math.log(max(trial["took_us"], 1) / 1000)
    if metric == "cost":
        return trial["nano_usd"] / 1e9
    if metric == "errors":
        return float(trial["failed"])
    if metric == "verified":
        return trial["verified"] / trial["claims"] if trial["claims"] > 0 else None
    if metric == "pages" and trial["failed"]:
        return None
    return known.get({"reformulation": "reformulates"}.get(metric, metric))


def units_that_count(content, trials):
    """{arm: {unit: its trials}} of those that count, and whether the sample is full."""
    units = {arm: {} for arm in content["arms"]}
    for trial in trials:
        mine = units[trial["arm"]]
        if trial["unit"] in mine or len(mine) < content["sample"]:
            mine.setdefault(trial["unit"], []).append(trial)
        if all(len(of_arm) == content["sample"] for of_arm in units.values()):
            return units, True
    return units, False


def observations(units, metric):
    """The values of each arm's units, and whether all of them are single calls that something happened to or not."""
    once = metric in RATES
    found = {}
    for arm, of_arm in units.items():
        found[arm] = []
        for calls in of_arm.values():
            values = [value for call in calls if (value := value_of(metric, call)) is not None]
            if values:
                found[arm].append(numpy.mean(values))
                once = once and len(values) == 1
    return {arm: numpy.array(values) for arm, values in found.items()}, once


def wilson(values, level):
    return stats.binomtest(int(round(values.sum())), len(values)).proportion_ci(level, method="wilson")


def estimate(values, once, level=0.95):
    if len(values) == 0:
        return None, None, None
    if once:
        interval = wilson(values, level)
    elif len(values) < 2:
        return values.mean(), None, None
    elif numpy.ptp(values) == 0:
        return values.mean(), values.mean(), values.mean()
    else:
        interval = stats.ttest_1samp(values, 0).confidence_interval(level)
    return values.mean(), interval.low, interval.high


def difference(one, other, once, level):
    """Of the second less the first."""
    if len(one) == 0 or len(other) == 0:
        return None, None, None
    change = other.mean() - one.mean()
    if not once and min(len(one), len(other)) < 2:
        return change, None, None
    if once:
        a, b = wilson(one, level), wilson(other, level)
        low = change - math.hypot(other.mean() - b.low, a.high - one.mean())
        high = change + math.hypot(b.high - other.mean(), one.mean() - a.low)
        return change, low, high
    if numpy.ptp(one) == 0 and numpy.ptp(other) == 0:
        return change, change, change
    interval = stats.ttest_ind(other, one, equal_var=False).confidence_interval(level)
    return change, interval.low, interval.high


def verdict(content, found, once, full):
    """The pairs that are compared, and the arm that is better."""
    arms = list(content["arms"])
    sign = 1 if content["better"] == "higher" else -1
    level = 1 - 0.05 / (len(arms) - 1)
    known = [arm for arm in arms if len(found[arm])]
    if not known:
        return [], "undecided"
    best = max(known, key=lambda arm: sign * found[arm].mean())
    first = arms[1] if len(arms) == 2 else best
    pairs, wins = [], True
    for other in arms:
        if other == first:
            continue
        change = difference(found[other], found[first], once, level)
        pairs.append((first, other, *change))
        towards = sign if first == best else -sign
        wins = wins and change[1] is not None and (change[1] > 0 if towards > 0 else change[2] < 0)
    return pairs, best if wins and full else "undecided"


# ---- comparing ----


def shown(metric, value):
    return math.exp(value) if metric == "latency" and value is not None else value


def same(ours, theirs):
    return ours == theirs or (None not in (ours, theirs) and math.isclose(ours, theirs, rel_tol=CLOSE, abs_tol=CLOSE))


def check(result, content, trials):
    units, full = units_that_count(content, trials)
    assert result["status"] == ("full" if full else "running")
    for arm in result["arms"]:
        assert arm["units"] == len(units[arm["arm"]])
        assert arm["calls"] == sum(map(len, units[arm["arm"]].values()))
    for metric in METRICS:
        found, once = observations(units, metric)
        for arm in result["arms"]:
            ours = arm["metrics"][metric]
            theirs = [shown(metric, value) for value in estimate(found[arm["arm"]], once)]
            assert ours["n"] == len(found[arm["arm"]])
            assert all(map(same, (ours["estimate"], ours["low"], ours["high"]), theirs)), (metric, ours, theirs)
    found, once = observations(units, content["metric"])
    pairs, winner = verdict(content, found, once, full)
    assert len(pairs) == len(result["difference"]["pairs"])
    for ours, theirs in zip(result["difference"]["pairs"], pairs):
        assert (ours["arm"], ours["against"]) == theirs[:2]
        numbers = [shown(content["metric"], value) for value in theirs[2:]]
        assert all(map(same, (ours["estimate"], ours["low"], ours["high"]), numbers)), (ours, numbers)
    assert result["verdict"] == winner
    assert full or "of" in result["why"]
    return winner


# ---- tables ----


def judged(tmp_path, made):
    """Lets the program judge experiments, each with its trials; (result, content, trials) of each."""
    for number, group in enumerate(made[start : start + AT_ONCE] for start in range(0, len(made), AT_ONCE)):
        folder, data = write(tmp_path / f"files-{number}", *(content for content, _ in group)), tmp_path / f"data-{number}"
        data.mkdir()
        versions = {name: one["version"] for name, one in results(folder, data).items()}
        rows = []
        for content, trials in group:
            rows += [{**trial, "experiment": content["name"], "version": versions[content["name"]]} for trial in trials]
        add_trials(data, rows)
        found = results(folder, data)
        yield from ((found[content["name"]], content, trials) for content, trials in group)


def trial(arm, unit, **more):
    return {**PLAIN, "arm": arm, "unit": unit, "tool": "web_search", "at_ms": 1_700_000_000_000, **more}


def random_call(random, effect):
    """A call as any tool may leave one: what it does not tell is -1."""
    failed = int(random.random() < 0.1 + 0.1 * effect)
    claims = int(random.integers(-1, 12))
    return {
        "took_us": int(random.lognormal(12 + 0.4 * effect, 0.8)),
        "nano_usd": int(random.exponential(2e6) * (random.random() < 0.7)),
        "failed": failed,
        "claims": claims,
        "verified": int(random.integers(0, claims + 1)) if claims >= 0 else -1,
        "nothing_found": int(random.choice([-1, 0, 0, 1])) if not failed else -1,
        "pages": int(random.poisson(3 + effect)) if random.random() < 0.9 else -1,
        "reformulates": int(random.random() < 0.3 - 0.1 * effect),
    }


def random_table(random, number):
    arms = ["A", "B", "C", "D"][: int(random.choice([2, 2, 2, 3, 4]))]
    metric = str(random.choice(METRICS))
    better = str(random.choice(["lower", "higher"])) if random.random() < 0.5 else None
    sample = int(random.integers(10, 40))
    content = experiment(f"table-{number}", metric=metric, better=better, sample=sample, arms={arm: {} for arm in arms})
    effects = {arm: float(random.choice([0, 0, 1, 3])) for arm in arms}
    most_calls = int(random.choice([1, 1, 3, 6]))
    # Sometimes the sample stays open; usually more units come than count.
    units = sample - 2 if random.random() < 0.15 else sample + int(random.integers(0, 8))
    trials = [
        trial(arm, f"{arm}{unit:04}", **random_call(random, effects[arm]))
        for arm in arms
        for unit in range(units)
        for _ in range(int(random.integers(1, most_calls + 1)))
    ]
    random.shuffle(trials)
    return content, trials


def with_defaults(content):
    return {**content, "better": content.get("better") or ("higher" if content["metric"] in HIGHER else "lower")}


def test_a_thousand_random_tables(tmp_path):
    random = numpy.random.default_rng(20261118)
    winners = [
        check(result, with_defaults(content), trials)
        for result, content, trials in judged(tmp_path, [random_table(random, number) for number in range(TABLES)])
    ]
    decided = sum(winner != "undecided" for winner in winners)
    assert len(winners) == TABLES and TABLES / 10 < decided < TABLES * 9 / 10, "both kinds of verdicts are compared"
    report(f"experiments: {TABLES} random tables are what SciPy says, {decided} of them with a winner")


def test_small_and_still_samples(tmp_path):
    """What a formula could stumble over: no value at all, one value, values that do not vary."""
    cases = {
        "none": [{"pages": -1}] * 10,
        "one": [{"pages": 4}] + [{"pages": -1}] * 9,
        "still": [{"pages": 4}] * 10,
        "all": [{"failed": 1}] * 10,
        "nothing": [{"failed": 0}] * 10,
    }
    made = []
    for (one, first), (other, second) in itertools.product(cases.items(), repeat=2):
        for metric in ("pages", "errors"):
            content = experiment(f"{one}-{other}-{metric}", metric=metric, arms={"A": {}, "B": {}})
            rows = [trial("A", f"a{i}", **call) for i, call in enumerate(first)]
            rows += [trial("B", f"b{i}", **call) for i, call in enumerate(second)]
            made.append((content, rows))
    for result, content, rows in judged(tmp_path, made):
        check(result, with_defaults(content), rows)


def test_what_comes_later_changes_nothing(tmp_path):
    """From the trial on that fills the sample, the verdict stands: nobody gains by looking again."""
    random = numpy.random.default_rng(7)
    content = with_defaults(experiment("stands", metric="latency", sample=20, arms={"A": {}, "B": {}}))
    rows = [trial(arm, f"{arm}{unit}", **random_call(random, arm == "B")) for unit in range(20) for arm in "AB"]
    folder, data = write(tmp_path / "files", content), tmp_path / "data"
    data.mkdir()
    version = results(folder, data)["stands"]["version"]
    named = [{**row, "experiment": "stands", "version": version} for row in rows]
    add_trials(data, named[:-1])
    assert results(folder, data)["stands"]["verdict"] == "undecided"
    assert results(folder, data)["stands"]["why"] == "so far 20 of 20 sessions in A, 19 of 20 in B"
    strangers = [trial("C", "c1"), *(trial("B", "A0", took_us=1) for _ in range(5))]  # no arm of that name; a unit has one arm
    add_trials(data, [{**row, "experiment": "stands", "version": version} for row in strangers])
    add_trials(data, named[-1:])
    before = results(folder, data)["stands"]
    check(before, content, rows)
    later = [trial(arm, f"{arm}{unit}", took_us=1 if arm == "A" else 10**9) for unit in range(60) for arm in "AB"]
    add_trials(data, [{**row, "experiment": "stands", "version": version} for row in later])
    assert results(folder, data)["stands"] == before and before["status"] == "full"


# ---- arms that are the same ----


def skewed(random):
    """Times as services have them."""
    return "latency", ["A", "B"], 1, lambda: {"took_us": int(random.lognormal(13, 1.2))}


def costs(random):
    """Mostly nothing, sometimes much."""
    return "cost", ["A", "B"], 3, lambda: {"nano_usd": int(random.exponential(1e7) * (random.random() < 0.4))}


def rates(random):
    share = float(random.choice([0.05, 0.2, 0.5]))
    return "errors", ["A", "B"], 1, lambda: {"failed": int(random.random() < share)}


def clustered(random):
    """Units that have much in common with themselves, and many calls."""
    shares = {}

    def call(unit):
        share = shares.setdefault(unit, random.beta(0.5, 1.5))
        return {"nothing_found": int(random.random() < share)}

    return "nothing_found", ["A", "B"], 8, call


def counts(random):
    return "pages", ["A", "B"], 2, lambda: {"pages": int(random.poisson(3))}


def three(random):
    return "latency", ["A", "B", "C"], 2, lambda: {"took_us": int(random.lognormal(13, 0.8))}


KINDS = [skewed, costs, rates, clustered, counts, three]


def same_arms(random, number):
    kind = KINDS[number % len(KINDS)]
    metric, arms, most_calls, call = kind(random)
    sample = int(random.integers(10, 80))
    content = experiment(f"same-{number}", metric=metric, sample=sample, arms={arm: {} for arm in arms})
    rows = []
    for arm, unit in itertools.product(arms, range(sample)):
        for _ in range(int(random.integers(1, most_calls + 1))):
            rows.append(trial(arm, f"{arm}{unit}", **(call(f"{arm}{unit}") if kind is clustered else call())))
    random.shuffle(rows)
    return content, rows


@pytest.fixture(scope="module")
def of_the_same(tmp_path_factory):
    """Which experiments whose arms are the same were called different, by their kind."""
    random = numpy.random.default_rng(20261119)
    made = [same_arms(random, number) for number in range(SAME)]
    different = {kind.__name__: [] for kind in KINDS}
    for number, (result, _, _) in enumerate(judged(tmp_path_factory.mktemp("same"), made)):
        different[KINDS[number % len(KINDS)].__name__].append(result["verdict"] != "undecided")
        assert result["status"] == "full"
    return different


def test_arms_that_are_the_same_are_hardly_called_different(of_the_same):
    wrong = {kind: sum(all) / len(all) for kind, all in of_the_same.items()}
    share = sum(map(sum, of_the_same.values())) / SAME
    report(f"experiments: of {SAME} whose arms are the same {share:.1%} are called different ({wrong})")
    assert sum(map(len, of_the_same.values())) == SAME and share <= 0.06, wrong


def test_arms_that_differ_are_found(tmp_path):
    """The other side of it: what is twice as slow, or fails three times as often, is seen."""
    random = numpy.random.default_rng(11)
    made = []
    for number in range(100):
        metric = ["latency", "errors"][number % 2]
        content = experiment(f"differ-{number}", metric=metric, sample=80, arms={"A": {}, "B": {}})
        made.append((content, [
            trial(arm, f"{arm}{unit}", took_us=int(random.lognormal(12 + 0.7 * (arm == "A"), 1)),
                  failed=int(random.random() < (0.45 if arm == "A" else 0.15)) if metric == "errors" else 0)
            for arm in "AB" for unit in range(80)
        ]))
    verdicts = [result["verdict"] for result, _, _ in judged(tmp_path, made)]
    assert verdicts.count("B") >= 90 and "A" not in verdicts, verdicts

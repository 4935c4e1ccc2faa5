"""Tables, curves and claims of the experiment with few labels, the paper's numbers beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccm_tasks import CITATION_RULES
from ccm_trials import Mean, Setting, without_rules
from common import Findings, ResultTable, new_figure, save_figure

import trelliswork as tw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from trelliswork.learn.protocols import Protocol

    Means = Mapping[Setting, Mean]

ALL_ADDRESSES = 1362  # sentences of the training set
SIZES, ADDRESS_SIZES = (5, 10, 20, 300), (5, 10, 20, 100, ALL_ADDRESSES)
ABLATION_SIZE = 20
PROTOCOLS_OF: dict[str, tuple[Protocol, ...]] = {
    "HMM": ("L", "L+CI", "L+wCI"),
    "perceptron": ("L", "L+CI", "L+wCI", "CIBT", "wCIBT"),
    "CRF": ("L", "L+CI", "L+wCI", "CIBT", "wCIBT"),
}
SEMI_OF: dict[str, tuple[Protocol, ...]] = {
    "HMM": ("L", "L+wCI"),
    "perceptron": (),
    "CRF": ("L", "L+wCI"),
}
PAPER_2 = {  # supervised: HMM, L+wCI; semi-supervised: HMM, L+wCI
    5: (58.48, 70.85, 64.39, 77.09),
    10: (68.61, 75.11, 70.34, 81.25),
    20: (70.81, 81.31, 75.83, 85.00),
    300: (86.66, 94.08, 87.80, 94.51),
}
PAPER_3 = {  # L, L+CI, CIBT, wCIBT
    5: (50.14, 66.36, 64.79, 61.65),
    10: (59.90, 72.91, 68.52, 69.64),
    20: (68.26, 77.28, 72.79, 78.46),
    300: (89.83, 91.63, 87.83, 93.89),
}
COLUMNS_3 = ("L", "L+CI", "CIBT", "wCIBT")
WANTED_GAIN, WANTED_AT_20, WANTED_AT_300 = 0.08, 0.85, 0.94
ALL, NONE = "all rules", "no rules"


def protocols(task: str, base: str) -> list[tuple[Protocol, bool]]:
    """Return how a base is trained, each with whether it is semi-supervised."""
    found: list[tuple[Protocol, bool]] = [(how, False) for how in PROTOCOLS_OF[base]]
    if task == "usaddress":  # decoding under hard rules 7,000 times would take too long
        found = [one for one in found if one[0] != "CIBT"]
    return found + [(how, True) for how in SEMI_OF[base]]


def sizes_of(found: Means, task: str, base: str) -> list[int]:
    """Return the sizes that were run."""
    return sorted({s.size for s in found if (s.task, s.base) == (task, base) and s.rules is None})


def compared_table(found: Means, task: str, part: str) -> ResultTable:
    """Return table 2."""
    columns: list[tuple[str, Protocol, bool]] = [
        ("HMM", "L", False),
        ("L+CI", "L+CI", False),
        ("L+wCI", "L+wCI", False),
        ("semi: HMM", "L", True),
        ("semi: L+wCI", "L+wCI", True),
    ]
    rows = []
    for size in sizes_of(found, task, "HMM"):
        paper = PAPER_2.get(size) if task == "cora" else None
        printed = dict(zip(("HMM", "L+wCI", "semi: HMM", "semi: L+wCI"), paper or (), strict=False))
        cells = []
        for name, how, semi in columns:
            mean = found[Setting(task, "HMM", how, size, semi)]
            cells.append(f"{mean} ({printed[name]:.2f})" if name in printed else str(mean))
        rows.append([str(size), *cells])
    title = f"Table 2: {task} {part}, hidden Markov models, token accuracy (the paper's)"
    return ResultTable(title, ("labelled", *(name for name, _, _ in columns)), rows)


def protocol_table(found: Means, base: str, part: str) -> ResultTable:
    """Return table 3, or the same for another base."""
    columns = [
        (f"semi: {how}" if semi else how, how, semi) for how, semi in protocols("cora", base)
    ]
    rows = []
    for size in sizes_of(found, "cora", base):
        paper = PAPER_3.get(size) if base == "perceptron" else None
        printed = dict(zip(COLUMNS_3, paper or (), strict=False))
        cells = []
        for name, how, semi in columns:
            mean = found[Setting("cora", base, how, size, semi)]
            cells.append(f"{mean} ({printed[name]:.2f})" if name in printed else str(mean))
        rows.append([str(size), *cells])
    title = f"{'Table 3' if base == 'perceptron' else 'Another base'}: cora {part}, {base}"
    title += ", token accuracy" + (" (the paper's)" if base == "perceptron" else "")
    return ResultTable(title, ("labelled", *(name for name, _, _ in columns)), rows)


def address_table(found: Means, part: str) -> ResultTable:
    """Return what rules give for addresses."""
    columns = [
        (f"{base} {'semi ' if semi else ''}{how}", base, how, semi)
        for base in PROTOCOLS_OF
        for how, semi in protocols("usaddress", base)
    ]
    sizes = sizes_of(found, "usaddress", "HMM")
    rows = [
        [name, *(str(found.get(Setting("usaddress", base, how, size, semi), "")) for size in sizes)]
        for name, base, how, semi in columns
    ]
    header = ("labelled", *map(str, sizes))
    return ResultTable(f"Addresses: usaddress {part}, token accuracy", header, rows)


def rule_groups() -> dict[str, list[int]]:
    """Return places in the rule file by the heading that stands over them."""
    groups: dict[str, list[int]] = {}
    heading, place, in_comment = "", 0, False
    for line in CITATION_RULES.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            if not in_comment:
                heading = line.lstrip("# ").rstrip(".")
            in_comment = True
        else:
            in_comment = False
            if line.strip():
                groups.setdefault(heading, []).append(place)
                place += 1
    assert place == len(tw.read_rules(CITATION_RULES))
    return groups


def ablation_units() -> dict[str, list[int]]:
    """Return what is left out together: groups of rules, and every rule of the larger ones."""
    rules = tw.read_rules(CITATION_RULES)
    units: dict[str, list[int]] = {}
    for heading, places in rule_groups().items():
        units[heading] = places
        if len(places) > 1 and "at most" not in heading:
            units.update({f"· {_short(str(rules[place]))}": [place] for place in places})
    return units


def ablation_settings(size: int, *, quick: bool = False) -> list[Setting]:
    """Return a setting without each unit of rules and one with it alone, after all and none."""
    whole = Setting("cora", "HMM", "L+wCI", size)
    n_rules = len(tw.read_rules(CITATION_RULES))
    units = list(ablation_units().values())[: 2 if quick else None]
    found = [whole, Setting("cora", "HMM", "L", size)]
    for places in units:
        others = set(range(n_rules)) - set(places)
        found += [without_rules(whole, n_rules, places), without_rules(whole, n_rules, others)]
    return found


def show_ablation(found: Means, findings: Findings) -> None:
    """Show what each rule is worth."""
    whole = Setting("cora", "HMM", "L+wCI", ABLATION_SIZE)
    none = Setting("cora", "HMM", "L", ABLATION_SIZE)
    n_rules = len(tw.read_rules(CITATION_RULES))
    best, least = found[whole].accuracy, found[none].accuracy
    rows = [[ALL, f"{100 * best:.2f}", ""], [NONE, "", f"{100 * least:.2f}"]]
    for name, places in ablation_units().items():
        left = found.get(without_rules(whole, n_rules, places))
        alone = found.get(without_rules(whole, n_rules, set(range(n_rules)) - set(places)))
        if left is not None and alone is not None:
            lost = f"{100 * left.accuracy:.2f} ({100 * (left.accuracy - best):+.2f})"
            gained = f"{100 * alone.accuracy:.2f} ({100 * (alone.accuracy - least):+.2f})"
            rows.append([name, lost, gained])
    title = f"Rule by rule: cora, HMM, L+wCI, {ABLATION_SIZE} labels"
    findings.table(ResultTable(title, ("rules", "left out", "alone"), rows))


def draw_curves(found: Means, path: Path) -> bool:
    """Draw accuracy by labels; returns whether there was anything to draw."""
    bases = [base for base in PROTOCOLS_OF if len(sizes_of(found, "cora", base)) > 1]
    if not bases:
        return False
    figure = new_figure(4.2 * len(bases), 3.8)
    for axis, base in zip(figure.subplots(1, len(bases), squeeze=False)[0], bases, strict=True):
        sizes = sizes_of(found, "cora", base)
        for how, semi in protocols("cora", base):
            own = [found[Setting("cora", base, how, size, semi)] for size in sizes]
            axis.errorbar(
                sizes,
                [100 * mean.accuracy for mean in own],
                [100 * mean.error for mean in own],
                fmt="s--" if semi else "o-",
                color=f"C{PROTOCOLS_OF[base].index(how)}",
                label=f"{how}, semi-supervised" if semi else how,
            )
        axis.set(xscale="log", xlabel="labelled references", title=base, ylim=(40, 100))
        axis.set_xticks(sizes, [str(size) for size in sizes], minor=False)
        axis.legend(fontsize="small")
    figure.axes[0].set_ylabel("token accuracy, %")
    save_figure(figure, path)
    return True


def claims(found: Means) -> dict[str, bool]:
    """Return what must hold on Cora, as far as it was run with all sizes."""
    held: dict[str, bool] = {}

    def mean(base: str, how: Protocol, size: int, *, semi: bool = False) -> float | None:
        own = found.get(Setting("cora", base, how, size, semi))
        return None if own is None else own.accuracy

    def compare(name: str, base: str, how: Protocol) -> None:
        sizes: Sequence[int] = sizes_of(found, "cora", base)
        pairs = [(mean(base, "L", size), mean(base, how, size)) for size in sizes]
        if len(sizes) == len(SIZES):
            held[name] = all(a is not None and b is not None and b > a for a, b in pairs)

    compare("HMM: L+wCI better at every size", "HMM", "L+wCI")
    compare("perceptron: L+CI better at every size", "perceptron", "L+CI")
    if len(sizes_of(found, "cora", "HMM")) < len(SIZES):
        return held
    plain, ruled = mean("HMM", "L", 20), mean("HMM", "L+wCI", 20)
    both = mean("HMM", "L+wCI", 20, semi=True)
    most = mean("HMM", "L+wCI", 300)
    assert plain is not None
    assert ruled is not None
    assert both is not None
    assert most is not None
    held["20 labels: rules give 8 points"] = ruled - plain >= WANTED_GAIN
    held["20 labels, semi-supervised: 85%"] = both >= WANTED_AT_20
    held["300 labels: 94%"] = most >= WANTED_AT_300
    crf = mean("CRF", "L+wCI", 300)
    if crf is not None:
        others = [own.accuracy for s, own in found.items() if s.task == "cora" and s.base != "CRF"]
        held["300 labels: the CRF at least as good as all others"] = crf >= max(others)
    return held


def _short(text: str) -> str:
    """Return an expression that fits a table."""
    return text if len(text) <= 70 else f"{text[:44]} … {text[-24:]}"

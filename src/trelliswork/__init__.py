"""Trelliswork: sequence labelling that obeys rules.

>>> import trelliswork as tw
>>> tagger = tw.CRFTagger(features="word[0]").fit([["a", "b"]], [["X", "Y"]])
>>> tagger.predict([["b", "a"]])
[['Y', 'X']]
"""

# ruff: noqa: TC004
# `__all__` names what is imported for type checkers alone, and served when asked for.

from typing import TYPE_CHECKING

from trelliswork import on_demand

if TYPE_CHECKING:
    from trelliswork import citations, factors
    from trelliswork.assign import assign
    from trelliswork.automaton import Automaton
    from trelliswork.calibration import calibration
    from trelliswork.certificate import Certificate, Leaf
    from trelliswork.codl import CODLTagger
    from trelliswork.constraints import (
        Constraint,
        at,
        at_least,
        at_most,
        changes_only_at,
        contiguous,
        count,
        ends_with,
        exactly,
        excludes,
        matches,
        no_overlap,
        not_at,
        only_on,
        precedes,
        predicate,
        read_rules,
        requires,
        starts_with,
        token,
        valid_scheme,
        where,
    )
    from trelliswork.corpus import (
        Corpus,
        Sentence,
        iter_conll,
        iter_jsonl,
        read_conll,
        read_jsonl,
        write_conll,
        write_jsonl,
    )
    from trelliswork.decoded import Decoding
    from trelliswork.errors import (
        DataError,
        InfeasibleError,
        LabelError,
        ModelFileError,
        NotInLanguageError,
        RegexError,
        RuleError,
        SearchLimitError,
        TemplateError,
        TooLargeError,
        TrellisworkError,
    )
    from trelliswork.estimators import CRFTagger
    from trelliswork.factor_graph import FactorGraph
    from trelliswork.features import Templates
    from trelliswork.graph_certificate import GraphCertificate, GraphLeaf
    from trelliswork.graph_solution import AD3Options, Solution
    from trelliswork.hmm import HMMTagger
    from trelliswork.inference import Trellis
    from trelliswork.labels import LabelSet, convert
    from trelliswork.learn.group_lasso import GroupLasso
    from trelliswork.learn.path import regularization_path
    from trelliswork.learn.path_points import PathPoint, RegularizationPath
    from trelliswork.learn.penalties import learn_penalties
    from trelliswork.loading import load
    from trelliswork.mining import MinedRule, MinedRules, mine
    from trelliswork.perceptron import PerceptronTagger
    from trelliswork.plan import Plan, plan
    from trelliswork.problem import Problem
    from trelliswork.report import Report, report
    from trelliswork.significance import randomization_test
    from trelliswork.solve import solve
    from trelliswork.spans import Assignment, SpanTable
    from trelliswork.srl import srl_language
    from trelliswork.template_selection import TemplateSelection, select_templates
    from trelliswork.text import Tokenizer
    from trelliswork.verify import Verification, verify

__version__ = "0.1.0"

__all__ = [
    "AD3Options",
    "Assignment",
    "Automaton",
    "CODLTagger",
    "CRFTagger",
    "Certificate",
    "Constraint",
    "Corpus",
    "DataError",
    "Decoding",
    "FactorGraph",
    "GraphCertificate",
    "GraphLeaf",
    "GroupLasso",
    "HMMTagger",
    "InfeasibleError",
    "LabelError",
    "LabelSet",
    "Leaf",
    "MinedRule",
    "MinedRules",
    "ModelFileError",
    "NotInLanguageError",
    "PathPoint",
    "PerceptronTagger",
    "Plan",
    "Problem",
    "RegexError",
    "RegularizationPath",
    "Report",
    "RuleError",
    "SearchLimitError",
    "Sentence",
    "Solution",
    "SpanTable",
    "TemplateError",
    "TemplateSelection",
    "Templates",
    "Tokenizer",
    "TooLargeError",
    "Trellis",
    "TrellisworkError",
    "Verification",
    "assign",
    "at",
    "at_least",
    "at_most",
    "calibration",
    "changes_only_at",
    "citations",
    "contiguous",
    "convert",
    "count",
    "ends_with",
    "exactly",
    "excludes",
    "factors",
    "iter_conll",
    "iter_jsonl",
    "learn_penalties",
    "load",
    "matches",
    "mine",
    "no_overlap",
    "not_at",
    "only_on",
    "plan",
    "precedes",
    "predicate",
    "randomization_test",
    "read_conll",
    "read_jsonl",
    "read_rules",
    "regularization_path",
    "report",
    "requires",
    "select_templates",
    "solve",
    "srl_language",
    "starts_with",
    "token",
    "valid_scheme",
    "verify",
    "where",
    "write_conll",
    "write_jsonl",
]

# Where each name is. None is imported before it is asked for: all of them together take longer than
# most programs that use a few.
_NAMES = {
    "assign": ("assign",),
    "automaton": ("Automaton",),
    "calibration": ("calibration",),
    "certificate": (
        "Certificate",
        "Leaf",
    ),
    "codl": ("CODLTagger",),
    "constraints": (
        "Constraint",
        "at",
        "at_least",
        "at_most",
        "changes_only_at",
        "contiguous",
        "count",
        "ends_with",
        "exactly",
        "excludes",
        "matches",
        "no_overlap",
        "not_at",
        "only_on",
        "precedes",
        "predicate",
        "read_rules",
        "requires",
        "starts_with",
        "token",
        "valid_scheme",
        "where",
    ),
    "corpus": (
        "Corpus",
        "Sentence",
        "iter_conll",
        "iter_jsonl",
        "read_conll",
        "read_jsonl",
        "write_conll",
        "write_jsonl",
    ),
    "decoded": ("Decoding",),
    "errors": (
        "DataError",
        "InfeasibleError",
        "LabelError",
        "ModelFileError",
        "NotInLanguageError",
        "RegexError",
        "RuleError",
        "SearchLimitError",
        "TemplateError",
        "TooLargeError",
        "TrellisworkError",
    ),
    "estimators": ("CRFTagger",),
    "factor_graph": ("FactorGraph",),
    "features": ("Templates",),
    "graph_certificate": (
        "GraphCertificate",
        "GraphLeaf",
    ),
    "graph_solution": (
        "AD3Options",
        "Solution",
    ),
    "hmm": ("HMMTagger",),
    "inference": ("Trellis",),
    "labels": (
        "LabelSet",
        "convert",
    ),
    "learn.group_lasso": ("GroupLasso",),
    "learn.path": ("regularization_path",),
    "learn.path_points": (
        "PathPoint",
        "RegularizationPath",
    ),
    "learn.penalties": ("learn_penalties",),
    "loading": ("load",),
    "mining": (
        "MinedRule",
        "MinedRules",
        "mine",
    ),
    "perceptron": ("PerceptronTagger",),
    "plan": (
        "Plan",
        "plan",
    ),
    "problem": ("Problem",),
    "report": (
        "Report",
        "report",
    ),
    "significance": ("randomization_test",),
    "solve": ("solve",),
    "spans": (
        "Assignment",
        "SpanTable",
    ),
    "srl": ("srl_language",),
    "template_selection": (
        "TemplateSelection",
        "select_templates",
    ),
    "text": ("Tokenizer",),
    "verify": (
        "Verification",
        "verify",
    ),
}
on_demand.serve(__name__, _NAMES)

"""The names of `trelliswork`: each is imported when it is asked for."""

from trelliswork import (
    citations as citations,
)
from trelliswork import (
    constraints as constraints,
)
from trelliswork import (
    factors as factors,
)
from trelliswork import (
    features as features,
)
from trelliswork import (
    inference as inference,
)
from trelliswork.automata.automaton import Automaton as Automaton
from trelliswork.automata.semantic_roles import srl_language as srl_language
from trelliswork.constraints import (
    Constraint as Constraint,
)
from trelliswork.constraints import (
    at as at,
)
from trelliswork.constraints import (
    at_least as at_least,
)
from trelliswork.constraints import (
    at_most as at_most,
)
from trelliswork.constraints import (
    changes_only_at as changes_only_at,
)
from trelliswork.constraints import (
    contiguous as contiguous,
)
from trelliswork.constraints import (
    count as count,
)
from trelliswork.constraints import (
    ends_with as ends_with,
)
from trelliswork.constraints import (
    exactly as exactly,
)
from trelliswork.constraints import (
    excludes as excludes,
)
from trelliswork.constraints import (
    matches as matches,
)
from trelliswork.constraints import (
    no_overlap as no_overlap,
)
from trelliswork.constraints import (
    not_at as not_at,
)
from trelliswork.constraints import (
    only_on as only_on,
)
from trelliswork.constraints import (
    precedes as precedes,
)
from trelliswork.constraints import (
    predicate as predicate,
)
from trelliswork.constraints import (
    read_rules as read_rules,
)
from trelliswork.constraints import (
    requires as requires,
)
from trelliswork.constraints import (
    starts_with as starts_with,
)
from trelliswork.constraints import (
    token as token,
)
from trelliswork.constraints import (
    valid_scheme as valid_scheme,
)
from trelliswork.constraints import (
    where as where,
)
from trelliswork.data.corpus import (
    Corpus as Corpus,
)
from trelliswork.data.corpus import (
    Sentence as Sentence,
)
from trelliswork.data.corpus import (
    iter_conll as iter_conll,
)
from trelliswork.data.corpus import (
    iter_jsonl as iter_jsonl,
)
from trelliswork.data.corpus import (
    read_conll as read_conll,
)
from trelliswork.data.corpus import (
    read_jsonl as read_jsonl,
)
from trelliswork.data.corpus import (
    write_conll as write_conll,
)
from trelliswork.data.corpus import (
    write_jsonl as write_jsonl,
)
from trelliswork.data.tokenizer import Tokenizer as Tokenizer
from trelliswork.decoding.answers import Decoding as Decoding
from trelliswork.decoding.certificate import (
    Certificate as Certificate,
)
from trelliswork.decoding.certificate import (
    Leaf as Leaf,
)
from trelliswork.decoding.problem import Problem as Problem
from trelliswork.errors import (
    DataError as DataError,
)
from trelliswork.errors import (
    InfeasibleError as InfeasibleError,
)
from trelliswork.errors import (
    LabelError as LabelError,
)
from trelliswork.errors import (
    ModelFileError as ModelFileError,
)
from trelliswork.errors import (
    NotInLanguageError as NotInLanguageError,
)
from trelliswork.errors import (
    RegexError as RegexError,
)
from trelliswork.errors import (
    RuleError as RuleError,
)
from trelliswork.errors import (
    SearchLimitError as SearchLimitError,
)
from trelliswork.errors import (
    TemplateError as TemplateError,
)
from trelliswork.errors import (
    TooLargeError as TooLargeError,
)
from trelliswork.errors import (
    TrellisworkError as TrellisworkError,
)
from trelliswork.evaluation.calibration import calibration as calibration
from trelliswork.evaluation.report import (
    Report as Report,
)
from trelliswork.evaluation.report import (
    report as report,
)
from trelliswork.evaluation.significance import randomization_test as randomization_test
from trelliswork.features import Templates as Templates
from trelliswork.graphs.answers import (
    AD3Options as AD3Options,
)
from trelliswork.graphs.answers import (
    Solution as Solution,
)
from trelliswork.graphs.certificate import (
    GraphCertificate as GraphCertificate,
)
from trelliswork.graphs.certificate import (
    GraphLeaf as GraphLeaf,
)
from trelliswork.graphs.graph import FactorGraph as FactorGraph
from trelliswork.inference.verbs import Trellis as Trellis
from trelliswork.labels.label_set import (
    LabelSet as LabelSet,
)
from trelliswork.labels.label_set import (
    convert as convert,
)
from trelliswork.learn.penalties.learn import learn_penalties as learn_penalties
from trelliswork.learn.sparsity.group_lasso import GroupLasso as GroupLasso
from trelliswork.mining.mine import (
    MinedRule as MinedRule,
)
from trelliswork.mining.mine import (
    MinedRules as MinedRules,
)
from trelliswork.mining.mine import (
    mine as mine,
)
from trelliswork.planning.plan import (
    Plan as Plan,
)
from trelliswork.planning.plan import (
    plan as plan,
)
from trelliswork.proofs.answer import Answer as Answer
from trelliswork.proofs.verification import Verification as Verification
from trelliswork.selection.path import regularization_path as regularization_path
from trelliswork.selection.path_points import (
    PathPoint as PathPoint,
)
from trelliswork.selection.path_points import (
    RegularizationPath as RegularizationPath,
)
from trelliswork.selection.templates import (
    TemplateSelection as TemplateSelection,
)
from trelliswork.selection.templates import (
    select_templates as select_templates,
)
from trelliswork.solving import (
    solve as solve,
)
from trelliswork.solving import (
    verify as verify,
)
from trelliswork.spans.answers import Assignment as Assignment
from trelliswork.spans.solve import assign as assign
from trelliswork.spans.table import SpanTable as SpanTable
from trelliswork.taggers.codl import CODLTagger as CODLTagger
from trelliswork.taggers.crf import CRFTagger as CRFTagger
from trelliswork.taggers.hmm import HMMTagger as HMMTagger
from trelliswork.taggers.load import load as load
from trelliswork.taggers.perceptron import PerceptronTagger as PerceptronTagger

__version__: str

"""The names of `trelliswork`: each is imported when it is asked for."""

from trelliswork import (
    citations as citations,
    constraints as constraints,
    factors as factors,
    features as features,
    inference as inference,
)
from trelliswork.automata.automaton import Automaton as Automaton
from trelliswork.automata.semantic_roles import srl_language as srl_language
from trelliswork.constraints import (
    Constraint as Constraint,
    at as at,
    at_least as at_least,
    at_most as at_most,
    changes_only_at as changes_only_at,
    contiguous as contiguous,
    count as count,
    ends_with as ends_with,
    exactly as exactly,
    excludes as excludes,
    matches as matches,
    no_overlap as no_overlap,
    not_at as not_at,
    only_on as only_on,
    precedes as precedes,
    predicate as predicate,
    read_rules as read_rules,
    requires as requires,
    starts_with as starts_with,
    token as token,
    valid_scheme as valid_scheme,
    where as where,
)
from trelliswork.data.corpus import (
    Corpus as Corpus,
    Sentence as Sentence,
    iter_conll as iter_conll,
    iter_jsonl as iter_jsonl,
    read_conll as read_conll,
    read_jsonl as read_jsonl,
    write_conll as write_conll,
    write_jsonl as write_jsonl,
)
from trelliswork.data.tokenizer import Tokenizer as Tokenizer
from trelliswork.decoding.answers import Decoding as Decoding
from trelliswork.decoding.certificate import (
    Certificate as Certificate,
    Leaf as Leaf,
)
from trelliswork.decoding.problem import Problem as Problem
from trelliswork.errors import (
    DataError as DataError,
    InfeasibleError as InfeasibleError,
    LabelError as LabelError,
    ModelFileError as ModelFileError,
    NotInLanguageError as NotInLanguageError,
    PrecisionError as PrecisionError,
    RegexError as RegexError,
    RuleError as RuleError,
    SearchLimitError as SearchLimitError,
    TemplateError as TemplateError,
    TooLargeError as TooLargeError,
    TrellisworkError as TrellisworkError,
)
from trelliswork.evaluation.calibration import calibration as calibration
from trelliswork.evaluation.report import (
    Report as Report,
    report as report,
)
from trelliswork.evaluation.significance import randomization_test as randomization_test
from trelliswork.features import Templates as Templates
from trelliswork.graphs.answers import (
    AD3Options as AD3Options,
    Solution as Solution,
)
from trelliswork.graphs.certificate import (
    GraphCertificate as GraphCertificate,
    GraphLeaf as GraphLeaf,
)
from trelliswork.graphs.graph import FactorGraph as FactorGraph
from trelliswork.inference.verbs import Trellis as Trellis
from trelliswork.labels.label_set import (
    LabelSet as LabelSet,
    convert as convert,
)
from trelliswork.learn.penalties.learn import learn_penalties as learn_penalties
from trelliswork.learn.sparsity.group_lasso import GroupLasso as GroupLasso
from trelliswork.mining.mine import (
    MinedRule as MinedRule,
    MinedRules as MinedRules,
    mine as mine,
)
from trelliswork.planning.plan import (
    Plan as Plan,
    plan as plan,
)
from trelliswork.proofs.answer import Answer as Answer
from trelliswork.proofs.verification import Verification as Verification
from trelliswork.selection.path import regularization_path as regularization_path
from trelliswork.selection.path_points import (
    PathPoint as PathPoint,
    RegularizationPath as RegularizationPath,
)
from trelliswork.selection.templates import (
    TemplateSelection as TemplateSelection,
    select_templates as select_templates,
)
from trelliswork.solving import (
    solve as solve,
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

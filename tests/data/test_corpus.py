import gzip
import io
import pickle

import pytest
from hypothesis import given, strategies as st

from trelliswork.data.corpus import (
    Corpus,
    Sentence,
    iter_conll,
    iter_jsonl,
    read_conll,
    read_jsonl,
    write_conll,
    write_jsonl,
)
from trelliswork.errors import DataError

# No separators, line ends, surrogates or byte order marks: those are errors, tested on their own.
CELL = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufeff |?"),
    min_size=1,
    max_size=6,
).filter(str.strip)
LABEL = st.one_of(CELL, st.none(), st.frozensets(CELL, min_size=2, max_size=3))


@st.composite
def corpora(draw):
    labelled = draw(st.booleans())
    sentences = []
    for length in draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)):
        row = st.lists(CELL, min_size=length, max_size=length)
        labels = st.lists(LABEL, min_size=length, max_size=length)
        columns = {"pos": draw(row)}
        sentences.append(Sentence(draw(row), columns, draw(labels) if labelled else None))
    return Corpus(sentences)


def test_a_sentence_by_hand():
    sentence = Sentence(["Ann", "sings"])
    assert sentence.tokens == ("Ann", "sings")
    assert sentence.columns == {"word": ("Ann", "sings")}
    assert sentence.labels is None
    assert len(sentence) == 2
    assert hash(sentence) == hash(Sentence(("Ann", "sings")))
    assert pickle.loads(pickle.dumps(sentence)) == sentence


def test_the_token_column_has_a_name():
    words = ["a", "b"]
    assert list(Sentence(words, {"lemma": ["a", "b"]}).columns) == ["word", "lemma"]
    sentence = Sentence(words, {"form": words, "lemma": ["a", "b"]})
    assert list(sentence.columns) == ["form", "lemma"]
    assert list(sentence.with_labels(["X", "X"]).columns) == ["form", "lemma"]
    assert list(pickle.loads(pickle.dumps(sentence)).with_labels(None).columns) == ["form", "lemma"]


def test_a_sentence_keeps_partial_labels():
    sentence = Sentence(["a", "b", "c"], labels=["X", None, {"X", "Y"}])
    assert sentence.labels == ("X", None, frozenset({"X", "Y"}))
    assert sentence.with_labels(None).labels is None


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"tokens": "Ann"}, TypeError, "got the string 'Ann'"),
        ({"tokens": ["a", 1]}, TypeError, "int 1 at position 1"),
        ({"tokens": ["a"], "labels": "X"}, TypeError, "got the string 'X'"),
        ({"tokens": ["a"], "labels": ["X", "Y"]}, DataError, "labels: expected 1 entries"),
        ({"tokens": ["a"], "labels": [set()]}, DataError, "position 0 is empty"),
        ({"tokens": ["a"], "labels": [3]}, TypeError, "int 3 at position 0"),
        ({"tokens": ["a"], "columns": {"pos": []}}, DataError, "column 'pos': expected 1"),
        ({"tokens": ["a"], "columns": {"word": ["b"]}}, DataError, "differs from the tokens"),
        ({"tokens": ["a"], "columns": {"label": ["X"]}}, DataError, "'label' is reserved"),
        ({"tokens": ["a"], "text": "a", "offsets": [(0, 2)]}, DataError, "outside the text"),
        ({"tokens": ["a", "b"], "offsets": [(1, 2), (0, 1)]}, DataError, "position 1"),
        ({"tokens": ["a"], "offsets": []}, DataError, "offsets: expected 1"),
    ],
)
def test_a_bad_sentence_is_refused(arguments, error, message):
    with pytest.raises(error, match=message.replace("(", r"\(")):
        Sentence(**arguments)


def test_surface_is_the_raw_text_where_known():
    sentence = Sentence(["Ann", ",", "Bob"], text="Ann,  Bob", offsets=[(0, 3), (3, 4), (6, 9)])
    assert sentence.surface(0, 3) == "Ann,  Bob"
    assert sentence.surface(1, 1) == ""
    assert Sentence(["Ann", ",", "Bob"]).surface(0, 2) == "Ann ,"
    with pytest.raises(IndexError, match="2:5"):
        sentence.surface(2, 5)


def test_a_corpus_is_an_immutable_sequence():
    corpus = Corpus.from_lists([["a"], ["b", "c"]], [["X"], ["Y", "X"]], pos=[["N"], ["N", "V"]])
    assert len(corpus) == 2
    assert corpus[1].columns == {"word": ("b", "c"), "pos": ("N", "V")}
    assert isinstance(corpus[1:], Corpus)
    assert corpus[-1:] == Corpus([corpus[1]])
    assert corpus.tokens == [("a",), ("b", "c")]
    assert corpus.labels == [("X",), ("Y", "X")]
    assert corpus.column_names == ("word", "pos")
    assert "2 sentences, 3 tokens" in repr(corpus)
    with pytest.raises(TypeError):
        corpus[0] = corpus[1]


def test_a_corpus_checks_its_sentences():
    with pytest.raises(TypeError, match="list at index 0"):
        Corpus([["a"]])
    with pytest.raises(DataError, match="Sentence 1 has the columns word, pos"):
        Corpus([Sentence(["a"]), Sentence(["a"], {"pos": ["N"]})])
    with pytest.raises(DataError, match="labels: expected 1 lists, one a sentence, got 2"):
        Corpus.from_lists([["a"]], [["X"], ["Y"]])
    with pytest.raises(DataError, match="sentence 1: labels: expected 1 entries"):
        Corpus.from_lists([["a"], ["b"]], [["X"], ["Y", "Z"]])
    with pytest.raises(DataError, match="sentence 0 has no labels"):
        _ = Corpus.from_lists([["a"]]).labels


@pytest.mark.parametrize(
    "text",
    [
        "a\tX\nb\tY\n\nc\tX\n\n",
        "a\tX\nb\tY\n\nc\tX",
        "a X\nb   Y\n\nc X\n",
        "a\tX\r\nb\tY\r\n\r\nc\tX\r\n",
        "\ufeffa\tX\nb\tY\n \t\n\n\nc\tX\n",
        "\n\na\tX\nb\tY\n\nc\tX\n",
    ],
    ids=["plain", "no-last-blank", "spaces", "crlf", "bom-and-blanks", "leading-blanks"],
)
def test_read_conll_takes_files_as_they_come(tmp_path, text):
    expected = Corpus.from_lists([["a", "b"], ["c"]], [["X", "Y"], ["X"]])
    path = tmp_path / "x.conll"
    path.write_bytes(text.encode())
    assert read_conll(path) == expected
    assert read_conll(str(path)).source == str(path)
    assert read_conll(io.StringIO(text, newline="")) == expected
    assert read_conll(io.BytesIO(text.encode())) == expected
    packed = tmp_path / "x.conll.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_conll(packed) == expected


def test_columns_separators_and_comments():
    text = "# note\nB-NP,New York,NNP\n# note\nO,is,VBZ\n"
    corpus = read_conll(
        io.StringIO(text), columns=("label", "form", "pos"), separator=",", comment="#"
    )
    assert corpus[0].tokens == ("New York", "is")
    assert corpus[0].columns == {"form": ("New York", "is"), "pos": ("NNP", "VBZ")}
    assert corpus[0].labels == ("B-NP", "O")


def test_no_break_spaces_do_not_cut_tokens():
    assert read_conll(io.StringIO("10\u00a0000 X\n"))[0].tokens == ("10\u00a0000",)


def test_docstart_is_data():
    assert read_conll(io.StringIO("-DOCSTART- O\n\na X\n")).tokens == [("-DOCSTART-",), ("a",)]


def test_inferred_columns():
    corpus = read_conll(io.StringIO("a N 1 X\n"), columns=None)
    assert corpus.column_names == ("word", "col1", "col2")
    assert corpus[0].labels == ("X",)
    corpus = read_conll(io.StringIO("a N\n"), columns=None, labelled=False)
    assert corpus.column_names == ("word", "col1")
    assert corpus[0].labels is None
    assert not read_conll(io.StringIO("a\n"), columns=None, labelled=None).is_labelled
    with pytest.raises(DataError, match="<stream>:1: expected at least 2 columns"):
        read_conll(io.StringIO("a\n"), columns=None)


def test_labels_may_be_absent_when_asked():
    columns = ("word", "pos", "label")
    assert read_conll(io.StringIO("a N X\n"), columns, labelled=None)[0].labels == ("X",)
    assert read_conll(io.StringIO("a N\n"), columns, labelled=None)[0].labels is None
    assert read_conll(io.StringIO("a N\n"), columns, labelled=False)[0].labels is None
    assert read_conll(io.StringIO("a N\n"), ("word", "pos"))[0].labels is None


def test_partial_labels_only_when_asked():
    text = "a X|Y\nb ?\n"
    assert read_conll(io.StringIO(text))[0].labels == ("X|Y", "?")
    corpus = read_conll(io.StringIO(text), unknown="?", alternatives="|")
    assert corpus[0].labels == (frozenset("XY"), None)
    assert read_conll(io.StringIO("a\t\n"), unknown="")[0].labels == (None,)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a N X\n\n# c\nb N X\n#\nc N\n", {"comment": "#"}, ":6: expected 3 columns, got 2"),
        ("a\tN\tX\nb\tN\tX\tY\n", {}, ":2: expected 3 columns, got 4"),
        ("a N\n", {}, ":1: expected 3 columns, got 2"),
        ("a\tN\tX\nb\tN\t\n", {}, ":2: expected a label, got an empty cell"),
        ("", {}, "got no sentence"),
        (" \n\t\n", {}, "got no sentence"),
    ],
)
def test_conll_errors_name_file_and_line(tmp_path, text, options, message):
    path = tmp_path / "train.conll"
    path.write_text(text)
    with pytest.raises(DataError, match=f"train.conll.*{message}"):
        read_conll(path, ("word", "pos", "label"), **options)


@pytest.mark.parametrize(
    ("columns", "separator", "message"),
    [(("word", "word"), None, "different names"), (("label",), None, "not 'label'")],
)
def test_bad_options_are_refused(columns, separator, message):
    with pytest.raises(ValueError, match=message):
        read_conll(io.StringIO("a X\n"), columns, separator)
    with pytest.raises(ValueError, match="separator"):
        read_conll(io.StringIO("a X\n"), separator="")


def test_iter_conll_streams():
    """A sentence comes out before the next one is read."""
    read = []

    def lines():
        for line in ["a X\n", "\n", "b X\n", "\n"]:
            read.append(line)
            yield line

    sentences = iter_conll(lines())
    assert next(sentences).tokens == ("a",)
    assert read == ["a X\n", "\n"]


@given(corpora())
def test_conll_round_trip(tmp_path_factory, corpus):
    path = tmp_path_factory.mktemp("trip") / "x.conll.gz"
    write_conll(corpus, path)
    columns = ("word", "pos", "label")
    again = read_conll(path, columns, "\t", labelled=None, unknown="?", alternatives="|")
    assert again == corpus


@given(corpora())
def test_jsonl_round_trip(tmp_path_factory, corpus):
    path = tmp_path_factory.mktemp("trip") / "x.jsonl"
    write_jsonl(corpus, path)
    assert read_jsonl(path) == corpus


def test_jsonl_keeps_text_and_empty_sentences(tmp_path):
    corpus = Corpus([Sentence(["a", "b"], text="a  b", offsets=[(0, 1), (3, 4)]), Sentence([])])
    write_jsonl(corpus, tmp_path / "x.jsonl.gz")
    assert read_jsonl(tmp_path / "x.jsonl.gz") == corpus


def test_jsonl_columns():
    line = '{"id": 7, "tokens": ["a"], "pos": ["N"], "frames": [{}]}\n'
    sentence = next(iter_jsonl(io.StringIO(line), columns=["pos"]))
    assert sentence.columns == {"word": ("a",), "pos": ("N",)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "invalid JSON"),
        ("[1]", "expected a JSON object, got list"),
        ('{"words": []}', 'under "tokens", got NoneType; the keys are words'),
        ('{"tokens": "ab"}', 'under "tokens", got str'),
        ('{"tokens": [1]}', "int 1 at position 0"),
        ('{"tokens": ["a"], "labels": []}', "labels: expected 1 entries"),
        ('{"tokens": ["a"], "labels": 5}', "int"),
        ('{"tokens": ["a"], "labels": "X"}', "labels"),
        ('{"tokens": ["a"], "labels": [[["X"]]]}', "labels"),
        ('{"tokens": ["a"], "pos": ["N", "V"]}', "column 'pos': expected 1"),
        ('{"tokens": ["a"], "text": 3}', 'under "text", got int'),
        ('{"tokens": ["a"], "offsets": [[0]]}', ":2: "),
    ],
)
def test_jsonl_errors_name_file_and_line(line, message):
    with pytest.raises(DataError, match=r"<stream>:2: ") as error:
        read_jsonl(io.StringIO("\n" + line))
    assert message in str(error.value)


def test_jsonl_missing_column_and_empty_file():
    with pytest.raises(DataError, match="expected a column 'pos', got tokens"):
        read_jsonl(io.StringIO('{"tokens": []}'), columns=["pos"])
    with pytest.raises(DataError, match="got no sentence"):
        read_jsonl(io.StringIO(""))
    with pytest.raises(DataError, match="named 'text'"):
        write_jsonl([Sentence(["a"], {"text": ["b"]})], io.StringIO())


@pytest.mark.parametrize("token", ["a\tb", "a\nb", "a\r"])
def test_write_conll_refuses_what_it_could_not_read_back(token, tmp_path):
    path = tmp_path / "x.conll"
    with pytest.raises(DataError, match="sentence 1: a cell holds"):
        write_conll([Sentence(["fine"], labels=["X"]), Sentence([token], labels=["X"])], path)
    assert list(tmp_path.iterdir()) == []


def test_write_conll_refuses_missing_columns_and_empty_sentences():
    with pytest.raises(DataError, match="no column 'label'; it has word"):
        write_conll([Sentence(["a"])], io.StringIO(), columns=("word", "label"))
    with pytest.raises(DataError, match="no tokens"):
        write_conll([Sentence([])], io.StringIO())
    with pytest.raises(DataError, match="blank"):
        write_conll([Sentence([" "])], io.StringIO())


def test_real_data_round_trips(data_dir, tmp_path):
    path = data_dir / "conll2000" / "train.conll.gz"
    corpus = read_conll(path, ("word", "pos", "label"))
    assert len(corpus) == 8936
    assert sum(map(len, corpus)) == 211727
    write_conll(corpus[:500], tmp_path / "x")
    assert read_conll(tmp_path / "x", ("word", "pos", "label")) == corpus[:500]

import pytest
from hypothesis import given, strategies as st

from trelliswork.citations import load_works
from trelliswork.citations.meaning.identifiers import (
    find_arxiv,
    find_doi,
    find_isbn,
    find_issn,
    find_url,
    parse_doi,
    parse_url,
)

DOIS = st.sampled_from(sorted({work.doi for work in load_works() if work.doi})) | st.builds(
    "10.{}/{}".format,
    st.integers(1000, 99999),
    st.from_regex(
        r"[A-Za-z0-9]([A-Za-z0-9._/-]{0,10}\([A-Z]{1,4}\)[0-9]{1,4}|[0-9]{0,6})", fullmatch=True
    ),
)
URLS = st.sampled_from(sorted({work.url for work in load_works() if work.url})) | st.from_regex(
    r"https?://[a-z]{1,8}\.(org|com)(/[A-Za-z0-9_~%=&?-]{0,8}){0,3}", fullmatch=True
)
NOISE = st.text(max_size=50) | st.text(alphabet="10.1/ahtps:w(<>)%2F ", max_size=50)


@given(
    DOIS,
    st.sampled_from(
        (
            *("{}", "doi:{}", "DOI {}.", "https://doi.org/{}", "http://dx.doi.org/{}.", "({})"),
            *("<{}>,", "doi: {}. Accessed 2010", "[{}]"),
        )
    ),
)
def test_a_doi_is_found_in_any_surroundings(doi, form):
    assert parse_doi(form.format(doi)) == doi
    assert find_doi(form.format(doi)) == doi


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.1002 / j . 1538-7305.1948 . tb01338 . x", "10.1002/j.1538-7305.1948.tb01338.x"),
        (
            "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O",
            "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O",
        ),
        ("doi.org/10.1000%2Fxyz", "10.1000/xyz"),
        ("doi:10.1000/xyz. In German", "10.1000/xyz"),
        ("in press", ""),
    ],
)
def test_labelled_dois(text, doi):
    assert parse_doi(text) == doi


@given(
    URLS,
    st.sampled_from(
        (
            *("{}", "Available at: {}", "URL {}", "<{}>", "({}).", "{} (accessed May 2010)"),
            *("Retrieved May 3, 2010, from {}", "{}, accessed 2010", "[Online]. Available: {}."),
        )
    ),
)
def test_an_address_is_found_in_any_surroundings(url, form):
    assert parse_url(form.format(url)) == url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://www. w3.org/Provider/ Style/URI", "http://www.w3.org/Provider/Style/URI"),
        ("http : / / www . foo . org / bar", "http://www.foo.org/bar"),
        ("http://link. springer. com/10. 1007/978-3", "http://link.springer.com/10.1007/978-3"),
        ("http://x.org/foo. Then more", "http://x.org/foo"),
        ("http://a.org/x_(1)", "http://a.org/x_(1)"),
        ("en.wikipedia.org/wiki/X", "en.wikipedia.org/wiki/X"),
        ("nowhere", ""),
    ],
)
def test_labelled_addresses(text, url):
    assert parse_url(text) == url


def test_an_address_in_other_text_says_that_it_is_one():
    assert find_url("see www.w3.org.") == "www.w3.org"
    assert find_url("node.js and others") == ""


@pytest.mark.parametrize(
    ("text", "arxiv"),
    [
        ("arXiv:1706.03762 [cs.CL]", "1706.03762"),
        ("arXiv preprint arXiv:1706.03762v5", "1706.03762"),
        ("arXiv: 1006. 1769v2", "1006.1769"),
        ("https://arxiv.org/abs/1706.03762", "1706.03762"),
        ("10.48550/arXiv.1706.03762", "1706.03762"),
        ("CoRR abs/1706.03762", "1706.03762"),
        ("hep-ph/9209268", "hep-ph/9209268"),
        ("math.AG/0211159v1", "math.AG/0211159"),
        ("pp. 1234.5678", ""),
        ("foo/9209268", ""),
    ],
)
def test_arxiv_numbers(text, arxiv):
    assert find_arxiv(text) == arxiv


def test_a_labelled_arxiv_number_needs_no_word():
    assert find_arxiv("1706.03762", labelled=True) == "1706.03762"


@pytest.mark.parametrize(
    ("text", "isbn"),
    [
        ("ISBN 0-262-03384-4", "0-262-03384-4"),
        ("978-0-262-03384-8.", "978-0-262-03384-8"),
        ("ISBN: 9780262033848", "9780262033848"),
        ("026203384x", "026203384X"),
        ("978–0–262–03384–8", "978-0-262-03384-8"),
        ("12345678901", ""),
        ("0028-0836", ""),
    ],
)
def test_isbns_have_ten_or_thirteen_digits(text, isbn):
    assert find_isbn(text) == isbn


def test_issns():
    assert find_issn("ISSN 0028-0836") == "0028-0836"
    assert find_issn("pp. 0028-0836") == ""
    assert find_issn("0028–083x", labelled=True) == "0028-083X"


@given(NOISE)
def test_noise_gives_identifiers_without_blanks(text):
    found = [parse_doi(text), find_doi(text), parse_url(text), find_url(text), find_arxiv(text)]
    assert not any(character.isspace() for value in found for character in value)
    for doi in found[:2]:
        assert doi == "" or doi.startswith("10.")


@pytest.mark.parametrize("unit", ["a", "a.", "1-", "A.-"])
def test_long_noise_without_an_address_is_read(unit):
    assert parse_url(unit * 20_000) in ("", unit * 20_000)
    assert parse_url("see foo.org/bar.") == "foo.org/bar"

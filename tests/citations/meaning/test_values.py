import pytest
from hypothesis import given, strategies as st

from trelliswork.citations.fields import BARE_MONTHS, GERMAN_MONTHS, MONTHS, SHORT_MONTHS
from trelliswork.citations.meaning.values import (
    is_page_count,
    parse_container,
    parse_date,
    parse_edition,
    parse_issue,
    parse_pages,
    parse_report,
    parse_title,
    parse_volume,
)
from trelliswork.citations.styles.wording import ordinal

YEARS = st.integers(1400, 2099)
NOISE = st.text(max_size=40) | st.text(alphabet="12 .,-–()no.pV年", max_size=40)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("(1991, July 3)", ("1991", "July", "3")),
        ("Jan. 1993", ("1993", "January", "")),
        ("2012 July 5-8", ("2012", "July", "5")),
        ("5–8 July 2012", ("2012", "July", "5")),
        ("3rd of July, 1991", ("1991", "July", "3")),
        ("1999 Nov 15", ("1999", "November", "15")),
        ("[1994]", ("1994", "", "")),
        ("1994a", ("1994a", "", "")),
        ("1859/1964", ("1859", "", "")),
        ("1990-91", ("1990", "", "")),
        ("Jan.-Feb. 1993", ("1993", "January", "")),
        ("Spring 1994", ("1994", "Spring", "")),
        ("5. März 1978", ("1978", "March", "5")),
        ("1er août 2003", ("2003", "August", "1")),
        ("5 de mayo de 1999", ("1999", "May", "5")),
        ("12 dicembre 2004", ("2004", "December", "12")),
        ("março de 2010", ("2010", "March", "")),
        ("2012-07-05", ("2012", "July", "5")),
        ("05.07.2012", ("2012", "July", "5")),
        ("7/13/1999", ("1999", "July", "13")),
        ("7/3/1999", ("1999", "", "")),
        ("2012年7月5日", ("2012", "July", "5")),
        ("2009 (accessed 3 May 2010)", ("2009", "", "")),
        ("accessed 3 May 2010", ("", "", "")),
        ("n.d.", ("", "", "")),
        ("in press", ("", "", "")),
        ("", ("", "", "")),
    ],
)
def test_dates(text, date):
    assert parse_date(text) == date


@given(
    YEARS,
    st.integers(0, 11),
    st.integers(1, 31),
    st.sampled_from([MONTHS, SHORT_MONTHS, BARE_MONTHS, GERMAN_MONTHS]),
    st.sampled_from(
        ["{m} {d}, {y}", "{d} {m} {y}", "({y}, {m} {d})", "{d}. {m} {y}", "{y} {m} {d}"]
    ),
)
def test_any_day_in_any_form(year, month, day, names, form):
    text = form.format(y=year, m=names[month], d=day)
    assert parse_date(text) == (str(year), MONTHS[month], str(day))


@given(NOISE)
def test_a_date_is_a_year_a_month_and_a_day(text):
    year, month, day = parse_date(text)
    assert year == "" or 1000 <= int(year[:4]) <= 2999
    assert month in ("", "Spring", "Summer", "Autumn", "Winter", *MONTHS)
    assert day == "" or 1 <= int(day) <= 31


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("pp. 379–83", "379-383"),
        ("1735-80", "1735-1780"),
        ("pp. 99–107", "99-107"),
        ("123--130", "123-130"),
        ("S. 12-15", "12-15"),
        ("5 – 24", "5-24"),
        ("L69", "L69"),
        ("e1234", "e1234"),
        ("B864-B871", "B864-B871"),
        ("xii-xv", "xii-xv"),
        ("1:1–1:20", "1:1-1:20"),
        ("379 ff.", "379"),
        ("379-", "379"),
        ("pages 12-15, 20-25", "12-15, 20-25"),
        ("200-100", "200-100"),
        ("in press", ""),
        ("", ""),
    ],
)
def test_pages(text, pages):
    assert parse_pages(text) == pages


@given(st.integers(1, 99999), st.integers(0, 9999), st.sampled_from(["–", "-", "--", " – "]))
def test_a_shortened_last_page_is_completed(first, length, dash):
    last = first + length
    short = str(last)
    while len(short) > 1 and len(str(first)) == len(str(last)) and str(first)[0] == short[0]:
        if str(first)[: len(str(first)) - len(short) + 1] != str(last)[: -len(short) + 1 or None]:
            break
        short = short[1:]
    expected = str(first) if first == last else f"{first}-{last}"
    assert parse_pages(f"pp. {first}{dash}{last}") == expected
    if last > first:
        assert parse_pages(f"{first}{dash}{short}") == expected


@pytest.mark.parametrize(
    ("text", "counts"),
    [("345 pp.", True), ("xii + 345 p.", True), ("pp. 3-5", False), ("345", False), ("", False)],
)
def test_page_counts(text, counts):
    assert is_page_count(text) is counts


@pytest.mark.parametrize(
    ("text", "volume", "issue"),
    [
        ("27", "27", ""),
        ("vol. 27", "27", ""),
        ("(Vol. 30)", "30", ""),
        ("volume 30 of Lecture Notes", "30", ""),
        ("Bd. 4", "4", ""),
        ("27(3)", "27", "3"),
        ("27 (3–4)", "27", "3-4"),
        ("27 (3/4)", "27", "3/4"),
        ("27 (no. 3)", "27", "3"),
        ("52 (Suppl. 1)", "52", "Suppl. 1"),
        ("27, 3", "27", "3"),
        ("27:3", "27", "3"),
        ("27.3", "27", "3"),
        ("45/4", "45", "4"),
        ("15;9(8)", "9", "8"),
        ("vol. 27, no. 3", "27", "3"),
        ("vol. 2, nos. 3-4", "2", "3-4"),
        ("Jg. 12, Heft 3", "12", "3"),
        ("ser. 2, vol. 42", "42", ""),
        ("no. 3", "", "3"),
        ("II, n° 525", "II", "525"),
        ("A247", "A247", ""),
        ("33A(2)", "33A", "2"),
        ("XII", "XII", ""),
        ("LATTICE 2008", "LATTICE 2008", ""),
        ("", "", ""),
    ],
)
def test_volumes(text, volume, issue):
    assert parse_volume(text) == (volume, issue)


@given(
    st.integers(1, 9999),
    st.integers(1, 999),
    st.sampled_from(
        ["{v}({i})", "{v} ({i})", "vol. {v}, no. {i}", "Bd. {v}, Heft {i}", "{v}:{i}", "{v}, {i}"]
    ),
)
def test_any_volume_and_issue_in_any_form(volume, issue, form):
    assert parse_volume(form.format(v=volume, i=issue)) == (str(volume), str(issue))


@pytest.mark.parametrize(
    ("text", "issue"),
    [("no. 3", "3"), ("(3)", "3"), ("Heft 2", "2"), ("3–4", "3-4"), ("Suppl. 1", "Suppl. 1")],
)
def test_issues(text, issue):
    assert parse_issue(text) == issue


@pytest.mark.parametrize(
    ("text", "edition"),
    [
        ("2nd ed.", "2nd"),
        ("(3rd edition)", "3rd"),
        ("2. Aufl.", "2"),
        ("second edition", "second"),
        ("Revised edition", "Revised"),
        ("edition", "edition"),
        ("", ""),
    ],
)
def test_editions(text, edition):
    assert parse_edition(text) == edition


@given(st.integers(1, 99).map(ordinal), st.sampled_from(["{} ed.", "{} edn", "({} edition)"]))
def test_any_numbered_edition(nth, form):
    assert parse_edition(form.format(nth)) == nth


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("“A Title,”", "A Title"),
        ("‘Newton’s Laws’.", "Newton’s Laws"),
        ("``A Title,''", "A Title"),
        ('"A Title."', "A Title"),
        ("“A” and “B”", "“A” and “B”"),
        ("Why?", "Why?"),
        ("The U.S.", "The U.S."),
        ("Plan 9 from Bell Labs.", "Plan 9 from Bell Labs"),
    ],
)
def test_titles(text, title):
    assert parse_title(text) == title


@pytest.mark.parametrize(
    ("text", "label", "container"),
    [
        ("In: Proc. ICML", "booktitle", "Proc. ICML"),
        ("In Advances in Nets,", "booktitle", "Advances in Nets"),
        ("In Search of Memory", "booktitle", "In Search of Memory"),
        ("In: Mind", "journal", "Mind"),
        ("In Vitro Cell. Dev. Biol.", "journal", "In Vitro Cell. Dev. Biol."),
        ("of Lecture Notes", "series", "Lecture Notes"),
        ("In", "booktitle", "In"),
    ],
)
def test_containers(text, label, container):
    assert parse_container(text, label) == container


@pytest.mark.parametrize(
    ("text", "genre", "number"),
    [
        ("Tech. Rep. CS-94-12", "Tech. Rep.", "CS-94-12"),
        ("Technical Report TR 95-12", "Technical Report", "TR 95-12"),
        ("Technical report no. 12", "Technical report", "12"),
        ("Technical Report CMU-CS-94-123, CMU", "Technical Report", "CMU-CS-94-123"),
        ("AI Memo 239", "AI Memo", "239"),
        ("PhD thesis", "PhD thesis", ""),
        ("RFC 1034", "", "RFC 1034"),
        ("ISO 690:2010", "", "ISO 690:2010"),
        ("IEEE Std 754-2008", "", "IEEE Std 754-2008"),
        ("[Computer software]", "Computer software", ""),
        ("", "", ""),
    ],
)
def test_reports(text, genre, number):
    assert parse_report(text) == (genre, number)


@given(NOISE)
def test_noise_gives_values_without_blanks_at_their_ends(text):
    values = [
        *parse_volume(text),
        *parse_report(text),
        parse_pages(text),
        parse_issue(text),
        parse_edition(text),
        parse_title(text),
        *(parse_container(text, label) for label in ("journal", "booktitle", "series")),
    ]
    assert all(value == value.strip() for value in values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vol. PAMI-6, no. 4", ("PAMI-6", "4")),
        ("第5卷第3期", ("5", "3")),
        ("5巻3号", ("5", "3")),
        ("第12期", ("", "12")),
    ],
)
def test_unusual_volumes(text, expected):
    assert parse_volume(text) == expected

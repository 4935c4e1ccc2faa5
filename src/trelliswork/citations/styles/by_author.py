"""Author-year citation styles."""

from __future__ import annotations

from dataclasses import replace

from trelliswork.citations.fields import GERMAN_MONTHS, SHORT_MONTHS
from trelliswork.citations.styles.names import FIRST_INVERTED, FULL, INITIALS, INVERTED, NameStyle
from trelliswork.citations.styles.render import PLACE_PUBLISHER, PLACE_PUBLISHER_YEAR, Style
from trelliswork.citations.styles.wording import BRACKETED, GERMAN, SHORT

APA = Style(
    name="apa",
    article="{$lead}{ ($date)}{. $title}{. $container}{, $volume}{, $pages}",
    chapter="{$lead}{ ($year)}{. $title}{. In $editors}{, $container|. In $container}"
    "{ (Vol. $volume)}{ (pp. $pages)}{. $publisher}",
    book="{$lead}{ ($year)}{. $title}{ ($edition)}{ (Vol. $volume)}{. $publisher}",
    report="{$lead}{ ($year)}{. $title}{ ($genre)}{. $institution}",
    online="{$lead}{ ($date)}{. $title}{ [$genre]}{. $container}{. $publisher}{. $url}",
    tail="{. https://doi.org/$doi}",
    end="",
    names=replace(INVERTED, last=", & ", pair=", & ", at_most=7, et_al=", et al."),
    editor_names=replace(INITIALS, last=", & ", pair=" & "),
    wording=BRACKETED,
    months=(),
    lower_titles=True,
)
MLA = Style(
    name="mla",
    article="{$lead}{. “$title.”}{ $container}{, $volume}{, $date}{, pp. $pages}",
    chapter="{$lead}{. “$title.”}{ $container}{, $editors}{, vol. $volume}{, $publisher}"
    "{, $date}{, pp. $pages}",
    book="{$lead}{. $title}{. $edition}{, vol. $volume}{, $publisher}{, $year}",
    report="{$lead}{. $title}{. $date}{. $institution}{, $genre}",
    online="{$lead}{. “$title.”}{ $container}{, $publisher}{, $date}{, $url}",
    names=replace(FIRST_INVERTED, at_most=2, et_al=", et al."),
    editor_names=FULL,
    wording=SHORT,
    months=SHORT_MONTHS,
    volume="vol. {volume}",
    issue=", no. {issue}",
)
CHICAGO_DATE = Style(
    name="chicago-author-date",
    article="{$lead}{. $year}{. “$title.”}{ $container}{ $volume}{: $pages}",
    chapter="{$lead}{. $year}{. “$title.”}{ In $container}{, edited by $edited}{, $pages}"
    + PLACE_PUBLISHER,
    book="{$lead}{. $year}{. $title}{. $edition}{. Vol. $volume}" + PLACE_PUBLISHER,
    report="{$lead}{. $year}{. “$title.”}{ $genre}{, $institution}{, $place}",
    online="{$lead}{. $year}{. “$title.”}{ $container}{. $publisher}{. $date}{. $url}",
    tail="{. https://doi.org/$doi}",
    names=FIRST_INVERTED,
    editor_names=FULL,
    wording=replace(SHORT, editor=", ed.", editors=", eds.", phd="PhD diss."),
    issue=" ({issue})",
)
CHICAGO_NOTES = Style(
    name="chicago-notes",
    article="{$lead}{, “$title,”}{ $container}{ $volume}{ ($date)}{: $pages}",
    chapter="{$lead}{, “$title,”}{ in $container}{, ed. $edited}"
    + PLACE_PUBLISHER_YEAR
    + "{, $pages}",
    book="{$lead}{, $title}{, $edition}{, vol. $volume}" + PLACE_PUBLISHER_YEAR,
    report="{$lead}{, “$title”}{ ($genre}{, $institution}{, $year)}",
    online="{$lead}{, “$title,”}{ $container}{, $publisher}{, $date}{, $url}",
    names=replace(FULL, at_most=3),
    editor_names=FULL,
    wording=replace(SHORT, editor=", ed.", editors=", eds.", phd="PhD diss."),
    issue=", no. {issue}",
)
HARVARD = Style(
    name="harvard",
    article="{$lead}{ ($year)}{ ‘$title’}{, $container}{, $volume}{, pp. $pages}",
    chapter="{$lead}{ ($year)}{ ‘$title’}{, in $editors}{ $container|, in $container}"
    + PLACE_PUBLISHER
    + "{, pp. $pages}",
    book="{$lead}{ ($year)}{ $title}{. $edition}{. Vol. $volume}" + PLACE_PUBLISHER,
    report="{$lead}{ ($year)}{ $title}{. $genre}{. $institution}{, $place}",
    online="{$lead}{ ($year)}{ $title}{. $publisher}{. Available at: $url}",
    names=replace(INVERTED, between_initials="", last=" and ", at_most=3),
    editor_names=replace(INVERTED, between_initials="", last=" and "),
    wording=replace(BRACKETED, editor=" (ed.)", editors=" (eds)", edition="{nth} edn"),
    lower_titles=True,
)
ACL = Style(
    name="acl",
    article="{$lead}{. $year}{. $title}{. $container}{, $volume}{:$pages|, pages $pages}",
    chapter="{$lead}{. $year}{. $title}{. In $editors}{, $container|. In $container}{, $volume}"
    "{, pages $pages}{, $place}{. $publisher}",
    book="{$lead}{. $year}{. $title}{, $edition}{, volume $volume}{. $publisher}{, $place}",
    report="{$lead}{. $year}{. $title}{. $genre}{, $institution}{, $place}",
    online="{$lead}{. $year}{. $title}{. $container}{. $genre}{. Available at $url}",
    names=FULL,
    editor_names=FULL,
    wording=replace(SHORT, editor=", editor", editors=", editors", edition="{word} edition"),
    lower_titles=True,
)
ECONOMICS = Style(
    name="economics",
    article="{$lead}{. $year}{. “$title.”}{ $container}{, $volume}{: $pages}",
    chapter="{$lead}{. $year}{. “$title.”}{ In $container}{, $editors}{, $pages}{. $place}"
    "{: $publisher|. $publisher}",
    book="{$lead}{. $year}{. $title}{. $edition}" + PLACE_PUBLISHER,
    report="{$lead}{. $year}{. “$title.”}{ $institution}{ $genre}",
    online="{$lead}{. $year}{. “$title.”}{ $publisher}{. $url}",
    names=FIRST_INVERTED,
    editor_names=FULL,
    wording=replace(SHORT, editor=", ed.", editors=", eds.", report="Working Paper"),
)
DIN = Style(
    name="din",
    article="{$lead}{: $title}{. In: $container}{ $volume}{ ($year)}{, Nr. $issue}{, S. $pages}",
    chapter="{$lead}{: $title}{. In: $editors}{: $container|. In: $container}{, Bd. $volume}"
    "{. $place}{: $publisher|. $publisher}{, $year}{, S. $pages}",
    book="{$lead}{: $title}{. Bd. $volume}{. $edition}" + PLACE_PUBLISHER + "{, $year}",
    report="{$lead}{: $title}{. $place}{, $institution|. $institution}{, $genre}{, $year}",
    online="{$lead}{: $title}{. $date}{. URL $url}",
    tail="{ – $note}{. DOI $doi}",
    end="",
    names=NameStyle(
        order="family",
        given="full",
        capitals=True,
        separator=" ; ",
        last=" ; ",
        pair=" ; ",
        at_most=3,
        et_al=" u. a.",
    ),
    editor_names=NameStyle(order="family", given="full", separator="; ", last="; ", pair="; "),
    wording=GERMAN,
    months=GERMAN_MONTHS,
    issue="",
    dash="-",
)
AAAI = Style(
    name="aaai",
    article="{$lead}{. $year}{. $title}{. $container}{ $volume}{:$pages|, $pages}",
    chapter="{$lead}{. $year}{. $title}{. In $editors}{, $container|. In $container}{, $pages}"
    "{. $place}{: $publisher|. $publisher}",
    book="{$lead}{. $year}{. $title}{, volume $volume}" + PLACE_PUBLISHER + "{, $edition}",
    report="{$lead}{. $year}{. $title}{. $genre}{, $institution}{, $place}",
    online="{$lead}{. $year}{. $title}{. $container}{. $url}",
    names=replace(INVERTED, separator="; ", last="; and ", pair="; and ", et_al="; et al."),
    editor_names=replace(INVERTED, separator="; ", last="; and ", pair=", and "),
    wording=replace(SHORT, editor=", ed.", editors=", eds.", phd="Ph.D. Dissertation"),
    dash="-",
)

BY_AUTHOR = (APA, MLA, CHICAGO_DATE, CHICAGO_NOTES, HARVARD, ACL, ECONOMICS, DIN, AAAI)

"""Citation styles with numbers or keys."""

from __future__ import annotations

from dataclasses import replace

from trelliswork.citations.fields import BARE_MONTHS, SHORT_MONTHS
from trelliswork.citations.styles.names import FULL, INITIALS, INVERTED, NameStyle
from trelliswork.citations.styles.render import PLACE_PUBLISHER, Style
from trelliswork.citations.styles.wording import BRACKETED, SHORT

IEEE = Style(
    name="ieee",
    article="{[$key]}{ $lead}{, “$title,”}{ $container}{, $volume}{, pp. $pages}{, $date}",
    chapter="{[$key]}{ $lead}{, “$title,”}{ in $container}{, $editors}{, vol. $volume}{, $place}"
    "{: $publisher|, $publisher}{, $date}{, pp. $pages}",
    book="{[$key]}{ $lead}{, $title}{, vol. $volume}{, $edition}" + PLACE_PUBLISHER + "{, $year}",
    report="{[$key]}{ $lead}{, “$title,”}{ $genre}{, $institution}{, $place}{, $date}",
    online="{[$key]}{ $lead}{, “$title,”}{ $container}{, $date}{. [Online]. Available: $url}",
    tail="{, doi: $doi}",
    names=replace(INITIALS, at_most=6),
    wording=SHORT,
    key="number",
    months=SHORT_MONTHS,
    volume="vol. {volume}",
    issue=", no. {issue}",
    venue="abbreviated",
)
ACM = Style(
    name="acm",
    article="{[$key]}{ $lead}{. $year}{. $title}{. $container}{ $volume}{ ($date)}{, $pages}",
    chapter="{[$key]}{ $lead}{. $year}{. $title}{. In $container}{ ($series)}{, $editors}"
    "{. $publisher}{, $place}{, $pages}",
    book="{[$key]}{ $lead}{. $year}{. $title}{ ($edition)}{. $publisher}{, $place}",
    report="{[$key]}{ $lead}{. $year}{. $title}{. $genre}{. $institution}{, $place}",
    online="{[$key]}{ $lead}{. $year}{. $title}{. $genre}{. $container}{. $url}",
    tail="{. DOI:https://doi.org/$doi}{. $note}",
    end="",
    names=FULL,
    editor_names=FULL,
    wording=replace(SHORT, editor=" (Ed.)", editors=" (Eds.)", phd="Ph.D. Dissertation"),
    key="number",
    issue=", {issue}",
)
VANCOUVER = Style(
    name="vancouver",
    article="{$key.}{ $lead}{. $title}{. $container}{. $date}{;$volume}{:$pages}",
    chapter="{$key.}{ $lead}{. $title}{. In: $editors}{. $container|. In: $container}"
    + PLACE_PUBLISHER
    + "{; $year}{. p. $pages}",
    book="{$key.}{ $lead}{. $title}{. $edition}{. Vol. $volume}" + PLACE_PUBLISHER + "{; $year}",
    report="{$key.}{ $lead}{. $title}{ [$genre]}{. $place}{: $institution|. $institution}{; $year}",
    online="{$key.}{ $lead}{. $title}{. $container}{; $date}{. Available from: $url}",
    tail="{. doi: $doi}",
    names=NameStyle(
        order="family",
        initial="",
        between_initials="",
        comma=" ",
        last=", ",
        pair=", ",
        at_most=6,
        keep=6,
        et_al=", et al",
    ),
    editor_names=NameStyle(
        order="family", initial="", between_initials="", comma=" ", last=", ", pair=", "
    ),
    wording=replace(SHORT, editor=", editor", editors=", editors", phd="dissertation"),
    key="number",
    months=BARE_MONTHS,
    date="{year} {month}",
    dash="-",
    pages="short",
    venue="undotted",
    lower_titles=True,
)
NATURE = Style(
    name="nature",
    article="{$key.}{ $lead}{. $title}{. $container}{ $volume}{, $pages}{ ($year)}",
    chapter="{$key.}{ $lead}{. $title}{. in $container}{ $editors}{ vol. $volume}{ $pages}"
    "{ ($publisher}{, $year)| ($year)}",
    book="{$key.}{ $lead}{. $title}{ $edition}{ vol. $volume}{ ($publisher}{, $year)| ($year)}",
    report="{$key.}{ $lead}{. $title}{. $genre}{, $institution}{ ($year)}",
    online="{$key.}{ $lead}{. $title}{. $container}{ $url}{ ($year)}",
    names=replace(INVERTED, last=" & ", pair=" & ", at_most=5),
    editor_names=replace(INVERTED, last=" & ", pair=" & "),
    wording=replace(BRACKETED, editor=" (ed.)", editors=" (eds)", phd="PhD thesis"),
    key="number",
    issue="",
    venue="abbreviated",
    lower_titles=True,
)
PLAIN = Style(
    name="bibtex-plain",
    article="{[$key]}{ $lead}{. $title}{. $container}{, $volume}{:$pages|, pages $pages}{, $date}",
    chapter="{[$key]}{ $lead}{. $title}{. In $editors}{, $container|. In $container}"
    "{, volume $volume}{ of $series|, $series}{, pages $pages}{, $place}{, $date}{. $publisher}",
    book="{[$key]}{ $lead}{. $title}{, volume $volume}{ of $series|. $series}{. $publisher}"
    "{, $place}{, $edition}{, $date}",
    report="{[$key]}{ $lead}{. $title}{. $genre}{, $institution}{, $place}{, $date}",
    online="{[$key]}{ $lead}{. $title}{. $genre}{. $container}{, $date}{. URL $url}",
    names=FULL,
    key="number",
    lower_titles=True,
)
ALPHA = Style(
    name="alpha",
    article="{[$key]}{ $lead}{. “$title”}{. In: $container}{ $volume}{ ($date)}{, pp. $pages}",
    chapter="{[$key]}{ $lead}{. “$title”}{. In: $container}{. Ed. by $edited}{. Vol. $volume}"
    "{. $series}" + PLACE_PUBLISHER + "{, $date}{, pp. $pages}",
    book="{[$key]}{ $lead}{. $title}{. $edition}{. Vol. $volume}{. $series}"
    + PLACE_PUBLISHER
    + "{, $year}",
    report="{[$key]}{ $lead}{. “$title”}{. $genre}{. $place}{: $institution|. $institution}"
    "{, $date}",
    online="{[$key]}{ $lead}{. $title}{. $container}{. $date}{. URL: $url}",
    names=replace(FULL, at_most=6),
    editor_names=FULL,
    wording=replace(SHORT, editor=", ed.", editors=", eds.", phd="PhD thesis", report="Tech. rep."),
    key="alpha",
    months=SHORT_MONTHS,
    issue=".{issue}",
)
LNCS = Style(
    name="lncs",
    article="{$key.}{ $lead}{: $title}{. $container}{ $volume}{, $pages}{ ($year)}",
    chapter="{$key.}{ $lead}{: $title}{. In: $editors}{ $container|. In: $container}"
    "{. $series}{, vol. $volume}{, pp. $pages}{. $publisher}{, $place}{ ($year)}",
    book="{$key.}{ $lead}{: $title}{. $series}{, vol. $volume}{, $edition}{. $publisher}{, $place}"
    "{ ($year)}",
    report="{$key.}{ $lead}{: $title}{. $genre}{, $institution}{, $place}{ ($date)}",
    online="{$key.}{ $lead}{: $title}{. $container}{ ($year)}{, $url}",
    tail="{. https://doi.org/$doi}",
    end="",
    names=replace(INVERTED, between_initials="", last=", ", pair=", "),
    editor_names=replace(INVERTED, between_initials="", last=", ", pair=", "),
    wording=replace(BRACKETED, editor=" (ed.)", editors=" (eds.)", edition="{nth} edn."),
    key="number",
    venue="abbreviated",
    lower_titles=True,
)
PHYSICS = Style(
    name="physics",
    article="{[$key]}{ $lead}{, $title}{, $container}{ $volume}{, $pages}{ ($year)}",
    chapter="{[$key]}{ $lead}{, $title}{, in $container}{, $editors}"
    "{ ($publisher}{, $place| ($place}{, $year)| ($year)}{, p. $pages}",
    book="{[$key]}{ $lead}{, $title}{, $edition}{, Vol. $volume}"
    "{ ($publisher}{, $place| ($place}{, $year)| ($year)}",
    report="{[$key]}{ $lead}{, $title}{, $genre}{, $institution}{, $year}",
    online="{[$key]}{ $lead}{, $title}{, $container}{, $url}{ ($year)}",
    names=replace(INITIALS, at_most=4),
    wording=replace(SHORT, editor=" (Ed.)", editors=" (Eds.)", phd="Ph.D. thesis"),
    key="number",
    issue="",
    pages="first",
    venue="abbreviated",
)
AMS = Style(
    name="ams",
    article="{[$key]}{ $lead}{, $title}{, $container}{ $volume}{ ($year)}{, no. $issue}{, $pages}",
    chapter="{[$key]}{ $lead}{, $title}{, $container}{ ($editors)}{, $series}{, vol. $volume}"
    "{, $publisher}{, $place}{, $year}{, pp. $pages}",
    book="{[$key]}{ $lead}{, $title}{, $edition}{, $series}{, vol. $volume}{, $publisher}"
    "{, $place}{, $year}",
    report="{[$key]}{ $lead}{, $title}{, $genre}{, $institution}{, $place}{, $year}",
    online="{[$key]}{ $lead}{, $title}{, $container}{, $year}{, available at $url}",
    names=FULL,
    editor_names=INITIALS,
    wording=replace(SHORT, editor=", ed.", editors=", eds.", phd="Ph.D. thesis"),
    key="number",
    issue="",
    venue="abbreviated",
)
ELSEVIER = Style(
    name="elsevier",
    article="{[$key]}{ $lead}{, $title}{, $container}{ $volume}{ ($year)}{ $pages}",
    chapter="{[$key]}{ $lead}{, $title}{, in: $editors}{, $container|, in: $container}"
    "{, $publisher}{, $place}{, $year}{, pp. $pages}",
    book="{[$key]}{ $lead}{, $title}{, $edition}{, $publisher}{, $place}{, $year}",
    report="{[$key]}{ $lead}{, $title}{, $genre}{, $institution}{, $place}{, $year}",
    online="{[$key]}{ $lead}{, $title}{, $year}{. $url}",
    tail="{. doi:$doi}",
    names=NameStyle(between_initials="", last=", ", pair=", ", at_most=6),
    editor_names=NameStyle(between_initials="", last=", ", pair=", "),
    wording=replace(BRACKETED, edition="{word} ed.", phd="Ph.D. thesis"),
    key="number",
    issue=" ({issue})",
    venue="abbreviated",
    lower_titles=True,
)
SIAM = Style(
    name="siam",
    article="{[$key]}{ $lead}{, $title}{, $container}{, $volume}{ ($year)}{, pp. $pages}",
    chapter="{[$key]}{ $lead}{, $title}{, in $container}{, $editors}{, vol. $volume}"
    "{ of $series|, $series}{, $place}{, $date}{, $publisher}{, pp. $pages}",
    book="{[$key]}{ $lead}{, $title}{, vol. $volume}{ of $series|, $series}{, $publisher}"
    "{, $place}{, $edition}{, $year}",
    report="{[$key]}{ $lead}{, $title}{, $genre}{, $institution}{, $place}{, $date}",
    online="{[$key]}{ $lead}{, $title}{, $url}{, $year}",
    names=replace(INITIALS, capitals=True),
    wording=replace(SHORT, editor=", ed.", editors=", eds.", phd="PhD thesis"),
    key="number",
    issue="",
    dash="-",
    venue="abbreviated",
)

BY_NUMBER = (IEEE, ACM, VANCOUVER, NATURE, PLAIN, ALPHA, LNCS, PHYSICS, AMS, ELSEVIER, SIAM)

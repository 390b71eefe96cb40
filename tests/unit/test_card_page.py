import base64
import copy
import html
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from auditlib.audits.caveats import ZERO
from auditlib.audits.names import clean
from auditlib.audits.said import shown
from auditlib.card.names import marked
from auditlib.card.page import PAPER, _stressed, fragment, page
from auditlib.card.readings import limits, readings, tipping
from auditlib.card.tables import tables
from auditlib.card.words import BARRED, barred
from auditlib.errors import AuditInputError
from auditlib.plots import style
from tests.unit.card_examples import AUDITS, HOSTILE, LONG, pictures, results
from tests.unit.test_style import contrast

VOID, INLINE = {"meta", "img"}, {"bdi", "strong", "abbr", "span"}
TAGS = {
    *("html", "head", "body", "title", "style", "meta", "header", "main", "footer", "div", "section", "figure", "img"),
    *("figcaption", "table", "caption", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "ul", "ol", "li", "p"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "bdi", "abbr", "strong", "code", "span"),
}
KNOWN = {"class", "alt", "src", "scope", "title", "role", "aria-label", "tabindex", "lang", "name", "content",
         "charset", "http-equiv", "style"}  # fmt: skip
FORMS = ("points", "width", "count", "risk", "value", "percent", "ten thousand", "per ten thousand", "share")


class Read(HTMLParser):
    """A page in parts: its elements, the text of each, and all that a reader sees."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.seen = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen += [] if tag in INLINE else [" "]
        element = {"tag": tag, "attrs": dict(attrs), "text": ""}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        self.seen += [] if tag in INLINE else [" "]
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data):
        if not any(element["tag"] == "style" for element in self.open):
            self.seen.append(data)
        for element in self.open:
            element["text"] += data

    def all(self, tag):
        return [element for element in self.elements if element["tag"] == tag]

    def texts(self, tag):
        return [" ".join(element["text"].split()) for element in self.all(tag)]

    @property
    def text(self):
        return " ".join("".join(self.seen).split())


def read(name):
    return Read(page(results(name), pictures(name)))


def names_in(held):
    given = [held["input"][key] for key in ("name", "label", "unit", "site", "outcome", "score", "model")
             if held["input"].get(key)]  # fmt: skip
    given += [*held["input"]["groups"], *(line["group"] for line in held["groups"])]
    given += [row[axis] for row in held["questions"]["choices"].get("rows", []) for axis in ("people", "compared")
              if axis in row]  # fmt: skip
    return [*given, *(one["command"] for one in held["follow_ups"])]


def cells(found, name):
    """The texts of one table, row by row."""
    rows, inside = [], False
    for element in found.elements:
        if element["attrs"].get("aria-label") == f"Table of {name}":
            inside = True
        elif element["tag"] in ("section", "footer") or element["attrs"].get("role"):
            inside = False
        if inside and element["tag"] == "tr":
            rows.append([])
        if inside and element["tag"] in ("th", "td"):
            rows[-1].append(" ".join(element["text"].split()))
    return rows


@pytest.mark.parametrize("name", AUDITS)
def test_a_page_is_whole_and_loads_nothing(name):
    found = read(name)
    assert {element["tag"] for element in found.elements} <= TAGS
    assert {key for element in found.elements for key in element["attrs"]} <= KNOWN
    (policy,) = [e["attrs"]["content"] for e in found.all("meta") if e["attrs"].get("http-equiv")]
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    (css,) = found.texts("style")
    assert not re.search(r"url\(|@import|https?:", css)
    assert found.all("html")[0]["attrs"] == {"lang": "en"}
    assert [len(found.all(tag)) for tag in ("header", "main", "footer", "h1", "title")] == [1] * 5


@pytest.mark.parametrize("name", AUDITS)
def test_the_headline_is_title_and_first_heading(name):
    found, said = read(name), " ".join(clean(results(name)["headline"]["text"]).split())
    assert found.texts("h1") == [said]
    assert found.texts("title") == [said]
    levels = [int(element["tag"][1]) for element in found.elements if re.fullmatch("h[1-6]", element["tag"])]
    assert levels == [1] + [2] * (len(levels) - 1)
    assert found.texts("h2")[:4] == [tile["question"] for tile in results(name)["tiles"]]


@pytest.mark.parametrize("name", AUDITS)
def test_figures_are_embedded_with_their_alt_texts(name):
    shown_ = [(e["attrs"]["src"], e["attrs"]["alt"]) for e in read(name).all("img")]
    start = "data:image/svg+xml;base64,"
    decoded = [(base64.b64decode(src.removeprefix(start)).decode(), alt) for src, alt in shown_]
    assert decoded == [(picture.svg, picture.alt) for picture in pictures(name).values()]
    assert page(results(name)) == page(results(name), pictures(name))


@pytest.mark.parametrize("name", AUDITS)
def test_everything_said_stands_on_the_card_in_order(name):
    held, text = results(name), read(name).text
    said = [held["headline"]["text"], *(tile["text"] for tile in held["tiles"])]
    said += [caveat["text"] for caveat in held["caveats"]]
    said += [part for one in held["follow_ups"] for part in (one["why"]["text"], one["command"])]
    plain = re.sub(r"\s", "", text)
    place = 0
    for each in said:
        place = plain.index(re.sub(r"\s", "", clean(each)), place)


def leaves(found):
    if isinstance(found, dict):
        for value in found.values():
            yield from leaves(value)
    elif isinstance(found, list):
        for value in found:
            yield from leaves(value)
    elif isinstance(found, int | float) and not isinstance(found, bool):
        yield found


@pytest.mark.parametrize("name", ["confusion", "benefit", "rows", "sites", "gap-age"])
def test_every_number_on_the_card_is_one_of_the_results(name):
    held, found = results(name), read(name)
    values = set(leaves({key: value for key, value in held.items() if key not in ("headline", "tiles")}))
    values |= {line["tp"] + line["fn"] for line in held["groups"]}
    values |= {1 - line["prevalence"][end] for line in held["groups"] for end in ("estimate", "low", "high")}
    known = {shown(value, form) for value in values for form in FORMS if abs(value) < 1e12}
    known |= {text.strip("%+") for text in known} | {f"{100 * held['options']['level']:g}", "10,000", "256", "30", "5"}
    # Dates, checksum and version are texts; 20,000 rows and one in twenty are said in caveats.
    alike = [
        held["made"],
        held["auditlib"],
        held["input"]["sha256"] or "-",
        "SMASH 2026",
        "20,000 training",
        "died = 1",
    ]
    names = sorted({clean(each) for each in [*names_in(held), *alike]}, key=len, reverse=True)
    text = found.text + " " + " ".join(picture.alt for picture in pictures(name).values())
    for each in names:
        text = re.sub(rf"(?<!\w){re.escape(each)}(?!\w)", " ", text)
    text = re.sub(r"AC1|top \d+%", " ", text)
    numbers = re.findall(r"[−+]?\d[\d,]*(?:\.\d+)?(?:e-\d+)?", text)
    assert len(numbers) > 50
    bands = {
        band
        for row in held["questions"]["choices"].get("rows", [])
        for band in re.findall(r"\d+", str(row.get("age_bands")))
    }
    assert {each.rstrip(",") for each in numbers} - known - bands == set()


def test_the_table_of_groups_of_case_14():
    assert cells(read("confusion"), "groups") == [
        ["group", "n", "With outcome", "Sensitivity, %", "PPV, %", "Flagged, %"],
        ["Women", "950", "110", "72.7 (63.7–80.2)", "66.7 (57.8–74.5)", "12.6 (10.7–14.9)"],
        ["Men", "935", "145", "82.8 (75.8–88.0)", "57.1 (50.4–63.6)", "22.5 (19.9–25.2)"],
    ]


def test_a_verdict_that_never_flipped_has_a_bound_and_one_at_its_limit_says_so():
    rows = {row[0]: row[1:] for row in cells(read("confusion"), "verdicts")}
    assert rows["DI"] == ["0.562", "≥ 0.8", "fail", "0.0%", "0 (at most 0.3%)", "–"]
    assert rows["EOpp"] == ["over 0.100", "≤ 0.1", "fail", "49.7%", "49.7%", "49.8%"]
    assert rows["Cal"] == ["–", "≤ 0.05", "undefined", "–", "–", "–"]
    assert "Undef." not in rows["Metric"]


def test_undefined_says_why_and_never_reads_as_a_number():
    rows = cells(read("undefined"), "groups")
    assert rows[1][:4] == ["A*", "50", "0", "undefined (nobody with the outcome)"]
    assert cells(read("nobody"), "groups")[1][4] == "undefined (nobody flagged)"
    assert "Undef." in cells(read("undefined"), "verdicts")[0]
    assert "A is small" not in read("undefined").text
    assert "* small: under 30" in read("undefined").text


def test_net_benefit_by_group_beside_nobody_treated():
    held = results("rows")
    rows = cells(read("rows"), "benefit")
    assert rows[0] == ["race", "n", "With this model", "Nobody treated", "Gained by use", "At capacity"]
    found = {line["group"]: line for line in held["benefit"]["groups"]}
    groups = {line["group"]: line for line in held["groups"]}
    capped = {line["group"]: line["snb"] for line in held["capacity"]["groups"]}
    for row in rows[1:]:
        line, low, high = found[row[0]], *(1 - groups[row[0]]["prevalence"][end] for end in ("high", "low"))
        assert row[2] == limits(line["snb"], "ten thousand")
        assert row[3] == limits({"estimate": line["untreated"], "low": low, "high": high}, "ten thousand")
        assert row[4] == limits(line["gain"], "per ten thousand")
        assert row[5] == limits(capped[row[0]], "ten thousand")
    assert limits(held["benefit"]["gap"], "per ten thousand") in read("rows").text
    assert limits(held["capacity"]["gap"], unit=" points") in read("rows").text


def test_net_benefit_is_called_by_both_of_its_questions():
    (table,) = [each for each in tables(results("benefit")) if each.name == "benefit"]
    assert table.caption == "Who ends better off, and who gains (per 10,000, λ = 0.3)"
    assert "Gained: over nobody treated." in table.note
    women = [*map(str, table.rows[0])]
    assert women[4] == "+239 (+185 to +292)"  # 0.3 · (80 − 40/9)/950
    gained = 0.3 * np.repeat([1, -1 / 9, 0], [80, 40, 830])
    half = 1.96 * gained.std() / 950**0.5
    assert women[4] == "+{:.0f} (+{:.0f} to +{:.0f})".format(
        *(10_000 * gained.mean() + 10_000 * k * half for k in (0, -1, 1))
    )


@pytest.mark.parametrize(
    ("name", "left"),
    [("benefit", []), ("rows", ["n", "Nobody treated"]), ("long", ["Nobody treated"])],  # λ stays
)
def test_columns_that_paper_has_no_room_for(name, left):
    """Head and cells of them are on the screen alone, and all are there."""
    rows = [row for row in read(name).elements if row["tag"] in ("th", "td")]
    heads = [e for e in rows if e["attrs"].get("scope") == "col" and e["attrs"].get("class") == "al-screen"]
    assert [e["text"] for e in heads] == left
    cells_ = [e for e in rows if e["tag"] == "td" and e["attrs"].get("class") == "al-screen"]
    assert len(cells_) == len(left) * (len(cells(read(name), "benefit")) - 1)


@pytest.mark.parametrize("name", AUDITS)
def test_on_paper_zero_is_never_left_out_of_the_caveats(name):
    """What else is there fits, comes in its order, and the rest is counted."""
    held, found = results(name), read(name)
    texts = [caveat["text"] for caveat in held["caveats"]]
    items = [e for e in found.elements if e["tag"] == "li" and e["text"].strip() in map(clean, texts)]
    assert len(items) == len(texts)
    printed = [text for text, item in zip(texts, items, strict=True) if item["attrs"].get("class") != "al-screen"]
    assert ZERO in printed
    others = [text for text in texts if text != ZERO]
    assert [text for text in printed if text != ZERO] == others[: len(printed) - 1]
    assert sum(map(len, printed)) <= PAPER or len(printed) == 2
    if len(printed) < len(texts):
        assert f"{len(texts) - len(printed)} more in results.json." in found.text


def test_one_effect_a_group_stands_beside_it():
    held = results("long")
    assert [row[1] for row in cells(read("long"), "benefit")] == [
        "λ", *(shown(held["benefit"]["lam"][row], "risk") for row in order(held))
    ]  # fmt: skip


def order(held):
    first = [held["comparison"]["a"], held["comparison"]["b"]]
    rest = [line["group"] for line in held["groups"] if line["attribute"] == held["comparison"]["attribute"]]
    return [*first, *(name for name in rest if name not in first)][:8]


def test_at_most_eight_groups_and_the_rest_counted():
    assert len(cells(read("many"), "groups")) == 9
    assert "17 more groups are in results.json." in read("many").text
    assert "more groups" not in read("confusion").text


def test_sites_and_other_attributes():
    held = results("sites")
    rows = cells(read("sites"), "sites")
    metrics = held["sites"]["metrics"]
    assert rows[0] == ["Metric", *(line["metric"] for line in metrics)]
    assert rows[1] == ["Pass", *(shown(line["passed"], "share") for line in metrics)]
    assert rows[4] == ["κ", *("–" if line["kappa"] is None else shown(line["kappa"], "value") for line in metrics)]
    assert "Do 6 sites agree?" in read("sites").text
    spread = held["attributes"][1]["spread"]
    assert f"“place”: 8 groups, sensitivities spread over {limits(spread, 'width')} points;" in read("sites").text


def test_the_published_gap_stands_beside_ours():
    held, text = results("gap-age"), read("gap-age").text
    ours = held["questions"]["chance"]["gap"]
    assert (
        "+10.4 points (−7.0 to +23.2), percentile, in Ghorbanpourbaboli et al., SMASH 2026; "
        f"here {limits(ours, unit=' points')}, Newcombe;" in text
    )
    assert f"difference {shown(held['published']['difference'], 'points')}, of much the same people." in text
    other = copy.deepcopy(held)
    other["published"] |= {"same_question": False, "difference": None}
    assert (
        "There “10–29” minus “60+”, with another model, threshold or rows: no difference is taken."
        in Read(page(other, pictures("gap-age"))).text
    )


def test_what_was_audited_stands_first():
    found = read("rows")
    held = dict(zip(found.texts("dt"), found.texts("dd"), strict=True))
    assert held["Audited"] == "preds.csv"
    assert held["People"] == "4,000"
    assert held["Outcome"] == "died = 1"
    assert held["Model"] == "score risk"
    assert held["Compared"].endswith("by race (the two groups with the most people with the outcome)")
    assert held["Date"] == results("rows")["made"]
    assert "Model" not in read("confusion").texts("dt")
    assert "14,892 with 21,264 rows" in read("gap-age").text
    assert "n counts rows, of which a person may have several." in read("gap-age").text


def test_how_it_was_made_stands_last():
    (foot,) = read("gap-age").texts("footer")
    held = results("gap-age")
    assert foot.startswith(
        f"auditlib {held['auditlib']} · seed 42 · 200 replicates · 95% intervals · SHA-256 of the input"
    )
    assert held["input"]["sha256"] in foot
    assert f"{held['input']['small_cells']:,} lines of counts.csv hold fewer than 5 rows: who knows these" in foot
    assert "No line of counts.csv holds fewer than 5 people." in read("confusion").texts("footer")[0]


@pytest.mark.parametrize("level", [1, 3, 5])
def test_a_fragment_has_no_landmarks_and_its_headings_start_where_asked(level):
    found = Read(fragment(results("rows"), pictures("rows"), level))
    levels = [int(element["tag"][1]) for element in found.elements if re.fullmatch("h[1-6]", element["tag"])]
    assert levels == [level] + [level + 1] * (len(levels) - 1)
    assert not {"html", "head", "body", "main", "header", "footer", "title"} & {e["tag"] for e in found.elements}
    assert "region" not in {element["attrs"].get("role") for element in found.elements}
    assert not [element for element in found.elements if "id" in element["attrs"]]
    assert found.elements[0]["attrs"] == {"class": "al-card"}


def test_styles_of_a_fragment_touch_nothing_but_the_card():
    (css,) = Read(fragment(results("confusion"), pictures("confusion"))).texts("style")
    rules = re.sub(r"@(?:media|supports|container)[^{]*\{|--[\w-]+:[^;]*;", "", css)
    selectors = re.findall(r"([^{};]+)\{", rules)
    assert len(selectors) > 30
    assert all(".al-card" in selector for selector in selectors)


@pytest.mark.parametrize("level", [0, 6, "3", None, 2.5])
def test_other_levels_are_refused(level):
    with pytest.raises(AuditInputError, match="from 1 to 5"):
        fragment(results("confusion"), pictures("confusion"), level)


def test_hostile_names_are_text():
    found = read("hostile")  # whose tags and attributes another test has
    assert not found.all("b")
    assert not found.all("i")
    shown_ = [(e["attrs"].get("title"), e["text"]) for e in found.all("bdi")]
    for name in HOSTILE:
        assert any(clean(name) in (title, text) for title, text in shown_)
    assert "{{ 7*7 }}" in found.text
    assert not re.search("[\x00-\x08\u202a-\u202e\ud800-\udfff]", page(results("hostile"), pictures("hostile")))
    page(results("hostile"), pictures("hostile")).encode()


def test_long_names_are_short_apart_and_whole_in_a_title():
    rows = cells(read("long"), "groups")[1:]
    assert len({row[0].rstrip("*") for row in rows}) == 8
    titles = {element["attrs"].get("title") for element in read("long").all("bdi")}
    assert {LONG + str(k) for k in range(8)} <= {title for title in titles if title}


def test_half_a_character_never_reaches_a_page():
    held = copy.deepcopy(results("confusion"))
    held["input"]["name"] = "half \ud800 a\u202epair"
    text = page(held, pictures("confusion"))
    assert "half � a�pair" in text
    text.encode()


def names_whose_words_are_their_own(name):
    return [*names_in(results(name)), *(axis for axis in results(name)["questions"]["choices"].get("axes", {}))]


@pytest.mark.parametrize("name", AUDITS)
def test_no_barred_word_on_any_card(name):
    found = read(name)
    said = [found.text, *(text for picture in pictures(name).values() for text in (picture.alt, picture.caption))]
    assert barred("\n".join(said), names_whose_words_are_their_own(name)) == []


@pytest.mark.parametrize(
    ("text", "names", "found"),
    [
        ("A fair and Unbiased, non-discriminatory card.", [], ["fair", "Unbiased", "discriminatory"]),
        ("the fairest result is unfairly striking", [], ["fairest", "unfairly", "striking"]),
        ("“Fair skin” is a fair name", ["Fair skin"], ["fair"]),
        ("“Fair skin and b…” and “Bias…ward”", ["Fair skin and brown hair", "Biased old ward"], []),
        ("fair  isle", ["fair isle"], []),
        ("affairs, fairy, fairground, biathlon", [], []),
        ("A fair text with … in it", ["fairly long name"], ["fair"]),
    ],
)
def test_barred_words(text, names, found):
    assert barred(text, names) == found
    assert all(re.compile(pattern) for pattern in BARRED)


def test_tiles_stress_their_answers():
    found = [Read(str(_stressed(tile))).texts("strong") for tile in results("gap-age")["tiles"]]
    held = results("gap-age")["questions"]
    assert found[0] == [shown(held["chance"]["gap"]["estimate"], "points")]
    assert found[1] == [shown(held["prevalence"]["raw"]["estimate"], "points")]
    assert found[3] == [shown(held["choices"][side], "count") for side in ("above", "below")]
    for tile in results("gap-age")["tiles"]:
        assert Read(str(_stressed(tile))).text == tile["text"]


def changed(name, place, **values):
    held = copy.deepcopy(results(name))
    target = held
    for key in place.split("/"):
        target = target[key]
    target |= values
    return held


ABOVE, BELOW, OVER = ({"estimate": e, "low": low, "high": high} for e, low, high in
                      ((0.1, 0.05, 0.2), (-0.1, -0.2, -0.05), (0.01, -0.1, 0.1)))  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "level", "start"),
    [
        (ABOVE, ABOVE, "At one prevalence the gap keeps its sign."),
        (ABOVE, BELOW, "At one prevalence the gap has the other sign."),
        (ABOVE, OVER, "At one prevalence the gap can no longer be told from zero."),
        (OVER, OVER, "At one prevalence the gap, too, cannot be told from zero."),
        (OVER, BELOW, "At one prevalence the gap can be told from zero; as it is, it cannot."),
    ],
)
def test_readings_of_prevalence(raw, level, start):
    held = changed("confusion", "questions/prevalence", raw=raw, standardized=level)
    assert readings(held)["prevalence"].replace(" (that of the two groups together)", "").startswith(start)


def test_too_few_flagged_for_an_interval():
    held = changed("confusion", "questions/prevalence/raw", low=None, high=None)
    assert readings(held)["prevalence"].startswith("Too few people are flagged")
    assert limits(held["questions"]["prevalence"]["raw"]) == "+9.5 (no interval)"


def test_most_replicates_against_the_verdict():
    """Where resampling contradicts the verdict, the table marks it."""
    held = copy.deepcopy(results("confusion"))
    (line,) = [line for line in held["verdicts"] if line["metric"] == "SPD"]
    line |= {"dominant": "fail", "p_pass": 0.27}
    found = Read(page(held, pictures("confusion")))
    assert {row[0]: row[4] for row in cells(found, "verdicts")}["SPD"] == "27.0% †"
    assert "† most replicates contradict the verdict." in found.text


def test_readings_of_chance_and_of_what_cannot_be_asked():
    held = changed("confusion", "questions/chance/gap", **ABOVE)
    assert readings(held)["chance"].startswith("The interval excludes zero")
    assert readings(results("confusion"))["chance"].startswith("The interval contains zero")
    assert readings(results("undefined"))["chance"].startswith("Nobody in “A” has the outcome")
    assert readings(results("confusion"))["choices"] == results("confusion")["questions"]["choices"]["why"]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"estimate": 0.68, "low": 0.4, "high": 1.2, "form": "bounded"},
         "it changes sign at λ = 0.680 (the data allow 0.4 and more)"),
        ({"estimate": None, "low": 0.7, "high": 2.42, "form": "outside"},
         "its estimate changes sign at no λ up to 1 (the data allow up to 0.7, or from 2.42)"),
        ({"estimate": 0.5, "low": None, "high": None, "form": "all"},
         "it changes sign at λ = 0.500 (the data allow any λ)"),
        ({"estimate": None, "low": None, "high": None, "form": "undefined"},
         "its estimate changes sign at no λ up to 1"),
        (None, "with one λ a group, no single λ is asked where it changes sign"),
    ],
)  # fmt: skip
def test_where_the_gap_in_net_benefit_changes_sign(found, said):
    assert tipping(changed("benefit", "benefit", tipping=found)) == said


def test_a_name_from_right_to_left_is_isolated_in_a_sentence():
    assert marked("“النساء” has 5") == "“<bdi>النساء</bdi>” has 5"


def test_text_can_be_read_on_the_tint_of_tiles_and_code():
    css = html.unescape(page(results("confusion"), pictures("confusion")))
    light, dark = re.search(r"--al-tint: light-dark\((#\w{6}), (#\w{6})\)", css).groups()
    for name in ("ink", "muted"):
        assert contrast(style.PALETTE[name].light, light) >= 4.5
        assert contrast(style.PALETTE[name].dark, dark) >= 4.5


def test_the_card_needs_nothing_but_the_results_as_json():
    held = json.loads(json.dumps(results("sites")))
    assert page(held) == page(results("sites"), pictures("sites"))

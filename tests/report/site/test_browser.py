"""The page in a real Chromium, opened from disk as a reader opens it."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from narrowing import present

import mklbench
from mklbench.report.analysis.assemble import assemble
from mklbench.report.analysis.places import RunFinder, recorded_source
from mklbench.report.layout.ranking import rank_methods
from mklbench.report.loading import load_table

Built = Any
Driver = Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
CHROMEDRIVER = shutil.which("chromedriver")

pytestmark = [
    pytest.mark.xdist_group("site"),
    pytest.mark.skipif(
        importlib.util.find_spec("selenium") is None, reason="selenium is not installed"
    ),
    pytest.mark.skipif(
        CHROMIUM is None or CHROMEDRIVER is None,
        reason="there is no Chromium: apt-get install chromium chromium-driver",
    ),
]
# Seconds, many times those of a busy machine.
PATIENCE = 240.0
TABLE = "table[data-table=gehler2008_table1]"
FORM = "form[data-table=gehler2008_table1]"
WIDTHS = (360, 1920)
PAGES = (
    "start",
    "picard2012",
    "gehler2008",
    "aflalo2011",
    "cortes2009",
    "own",
    "explore",
    "compare",
)


@pytest.fixture(scope="module")
def driver(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.binary_location = str(CHROMIUM)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with webdriver.Chrome(options=options, service=Service(CHROMEDRIVER)) as found:
        found.set_script_timeout(PATIENCE)
        found.set_window_size(1280, 1000)
        yield found


@pytest.fixture(scope="module")
def visit(driver: Driver, built: Built) -> Callable[..., Driver]:
    """Return what shows a part of the page, which is loaded once, at a width and in a scheme."""
    driver.get_log("browser"), driver.get_log("performance")
    driver.get(built.path.as_uri())
    wait_for(driver, "return document.body.dataset.ready")

    def at(place: str = "start", width: int = 1280, dark: bool = False) -> Driver:
        metrics = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})
        turn_to(driver, place)
        return driver

    return at


def wait_for(driver: Driver, script: str, seconds: float = PATIENCE) -> Any:
    """Return what a script gives as soon as it is true."""
    end = time.monotonic() + seconds
    while not (found := driver.execute_script(script)):
        assert time.monotonic() < end, f"{script} was never true"
        time.sleep(0.05)
    return found


def drawn(driver: Driver) -> None:
    if not driver.execute_script("return Boolean(document.getElementById('library'))"):
        pytest.skip("vl-convert-python is not installed, so that there are no plots")
    wait_for(driver, "return document.body.dataset.plots === 'drawn'")


def painted(driver: Driver) -> None:
    """Return when what has changed was painted."""
    driver.execute_async_script(
        "const done = arguments[0];"
        "requestAnimationFrame(() => requestAnimationFrame(() => done()));"
    )


def texts(driver: Driver, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)"
    found: list[str] = driver.execute_script(script, selector)
    return found


def turn_to(driver: Driver, place: str) -> None:
    """Show another page of the report, painted."""
    driver.execute_script("location.hash = arguments[0]", place)
    wait_for(driver, f"return document.getElementById('{place}').getClientRects().length > 0")
    if place == "explore":
        drawn(driver)
    painted(driver)


def photograph(driver: Driver, name: str) -> None:
    """Keep a picture of the page in the directory MKLBENCH_SCREENSHOTS, where that is set."""
    if directory := os.environ.get("MKLBENCH_SCREENSHOTS"):
        Path(directory).mkdir(parents=True, exist_ok=True)
        driver.save_screenshot(str(Path(directory, f"{name}.png")))


def test_every_page_fits_the_screen_without_an_error_and_without_the_network(
    driver: Driver, visit: Callable[..., Driver]
) -> None:
    for width in WIDTHS:
        for place in PAGES:
            visit(place, width)
            photograph(driver, f"{place}-{width}")
            wide = driver.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width, place
            # Every tab can be reached without scrolling sideways, and tables begin above the fold.
            ends = driver.execute_script(
                "return [...document.querySelectorAll('.top li a')]"
                ".map(tab => tab.getBoundingClientRect().right)"
            )
            assert max(ends) <= width
            tops = driver.execute_script(
                "return [...document.querySelectorAll('.page:not([hidden]) table.numbers')]"
                ".map(table => table.getBoundingClientRect().top + scrollY)"
            )
            assert min(tops, default=0.0) < 800
    assert driver.get_log("browser") == []
    messages = (json.loads(entry["message"])["message"] for entry in driver.get_log("performance"))
    asked = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    assert asked
    assert all(url.startswith(("file:", "data:", "about:", "blob:")) for url in asked)


def test_it_is_dark_where_the_screen_is(visit: Callable[..., Driver]) -> None:
    driver = visit(dark=True)
    photograph(driver, "start-dark")
    assert "invert" in driver.execute_script(
        "return getComputedStyle(document.querySelector('figure img')).filter"
    )
    colours = driver.execute_script(
        "const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]"
    )
    back, ink = (sum(map(int, colour[4:-1].split(","))) for colour in colours)
    assert back < 150 < 500 < ink
    driver.execute_script("document.getElementById('theme').click()")
    assert driver.execute_script("return document.documentElement.dataset.theme") == "light"
    assert (
        driver.execute_script(
            "return getComputedStyle(document.querySelector('figure img')).filter"
        )
        == "none"
    )


def test_pointing_at_a_number_tells_what_the_records_have(
    visit: Callable[..., Driver], built: Built
) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    driver = visit("gehler2008_table1")
    place = driver.find_element(
        By.CSS_SELECTOR,
        f"{TABLE} tbody[data-group=splice] tr[data-line=paper] td.number",
    )
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", place)
    ActionChains(driver).move_to_element(place).perform()
    shown = "const tip = document.getElementById('tip'); return !tip.hidden && tip.innerText"
    tip = wait_for(driver, shown)
    told = built.data["numbers"][int(place.get_attribute("data-number"))]
    assert "Splice · SVM (single)" in tip
    for name in ("mean", "sd", "splits", "published", "difference"):
        assert told[name] in tip, name
    assert told["verdict"] in tip
    assert built.data["runs"][told["run"]]["command"] in tip
    assert "Splits of the two-class sets" in tip
    place.click()  # as a tap: it stays
    ActionChains(driver).move_by_offset(-5, -60).perform()
    assert driver.execute_script("return !document.getElementById('tip').hidden")
    driver.find_element(By.CSS_SELECTOR, "#tip ul a").click()
    seen = wait_for(
        driver, "return document.querySelector('.ledger li > details[open]')?.innerText"
    )
    assert "fixed splits" in seen


def test_the_keyboard_reaches_every_number(visit: Callable[..., Driver]) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    driver = visit("gehler2008_table1")
    table = driver.find_element(By.CSS_SELECTOR, TABLE)
    assert len(table.find_elements(By.CSS_SELECTOR, "td[tabindex='0']")) == 1
    driver.execute_script("arguments[0].querySelector(\"td[tabindex='0']\").focus()", table)
    first = driver.find_element(By.ID, "tip").text
    driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    second = driver.find_element(By.ID, "tip").text
    driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    third = driver.find_element(By.ID, "tip").text
    assert first.startswith("Banana · SVM (single)")
    assert second.startswith("Banana · MKL (single)")
    assert third.startswith("Banana · MKL (single)")
    assert "C halved" in third
    driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert driver.execute_script("return document.getElementById('tip').hidden")


AS_PRINTED = (
    ("gehler2008_table1", "splice", "10.6 ± 0.7|11.1 ± 0.7|2.0|12.6 ± 0.9|2.0", None),
    ("gehler2008_table1", "dna", "7.7 ± 0.7|7.8 ± 0.7|1.4|7.7 ± 0.8|2.0||||", None),
    ("picard2012_table1", "sonar", "77.9 ± 5.5|6.2|86.6 ± 3.4|1.0|82.3 ± 4.8|81.3 ± 3.9", 2),
    ("picard2012_table1", "pima", "71.4 ± 4.1|4.4|76.4 ± 1.9|2.8|77.2 ± 2.1|75.4 ± 2.3", 4),
    ("picard2012_table2", "ionosphere", "91.2 ± 2.6|67.2|93.3 ± 2.4|99.9", 2),
    (
        "aflalo2011_table1",
        "caltech256",
        "32.06|100|34.71|201|35.39|188|36.69|151|21.07|21",
        None,
    ),
    ("aflalo2011_table1", "flowers17", "85.59|41|85.69|70", None),
)


def test_the_tables_of_the_papers_stand_as_the_papers_print_them(
    visit: Callable[..., Driver],
) -> None:
    """Typed from the papers: their columns, digits, bold, and where they have no number."""
    driver = visit()
    for table, row, printed, bold in AS_PRINTED:
        turn_to(driver, table)
        found = driver.execute_script(
            """
            const [table, group] = arguments;
            const form = document.querySelector(`form[data-table=${table}]`);
            if (form.elements.metric) form.elements.metric.value = '';
            const before = form.elements.line.value;
            form.elements.line.value = 'published';
            form.elements.line.dispatchEvent(new Event('input', {bubbles: true}));
            const numbers = document.querySelector(`table[data-table=${table}]`);
            const seen = element => element.getClientRects().length > 0;
            const bodies = [...numbers.tBodies].filter(seen);
            const rows = bodies.flatMap(body => [...body.rows].filter(seen));
            const row = rows.find(row => row.parentElement.dataset.group === group);
            const cells = [...row.cells].slice(2).filter(cell => !cell.hidden);
            const found = {
              lines: [...new Set(rows.map(row => row.dataset.line))],
              texts: cells.map(cell => cell.innerText),
              bold: cells.findIndex(cell => Number(getComputedStyle(cell).fontWeight) >= 600),
              numbers: numbers.querySelectorAll('td.number').length,
            };
            form.elements.line.value = before;
            form.elements.line.dispatchEvent(new Event('input', {bubbles: true}));
            return found;
            """,
            table,
            row,
        )
        assert found["lines"] == ["published"]
        expected = printed.split("|")
        assert found["texts"][: len(expected)] == expected
        if bold is not None:
            assert len(found["texts"]) == len(expected)
            assert found["bold"] == bold
        assert found["numbers"] > 0


def test_a_table_sorts_and_filters(visit: Callable[..., Driver]) -> None:
    driver = visit("gehler2008_table1")
    reset = f"document.querySelector('{FORM} [type=reset]').click()"

    def groups() -> list[str]:
        found: list[str] = driver.execute_script(
            f"return [...document.querySelectorAll('{TABLE} tbody')]"
            ".filter(b => b.getClientRects().length).map(b => b.dataset.group)"
        )
        return found

    def measured() -> list[float]:
        cells = driver.execute_script(
            f"return [...document.querySelectorAll('{TABLE} tbody tr[data-line=paper]')]"
            ".filter(r => r.getClientRects().length).map(r => Number(r.cells[2].dataset.value))"
        )
        return [float(cell) for cell in cells]

    def choose(name: str, value: str) -> None:
        driver.execute_script(
            f"const s = document.querySelector('{FORM}').elements[arguments[0]];"
            "s.value = arguments[1]; s.dispatchEvent(new Event('input', {bubbles: true}));",
            name,
            value,
        )

    head = f"document.querySelector('{TABLE} th[data-column=svm]')"
    driver.execute_script(f"{head}.querySelector('button').click()")
    assert measured() == sorted(measured())
    assert driver.execute_script(f"return {head}.getAttribute('aria-sort')") == "ascending"
    driver.execute_script(f"{head}.querySelector('button').click()")
    assert measured() == sorted(measured(), reverse=True)

    shown = texts(driver, f"{TABLE} tbody tr:not([hidden]) td.line")
    assert set(shown) == {"published", "measured", "C halved"}
    choose("line", "")
    choose("group", "splice")
    assert groups() == ["splice"]
    choose("group", "")
    choose("column", "ikl_products")
    heads = texts(driver, f"{TABLE} thead th:not([hidden])")
    assert [text.split("\n")[0] for text in heads[2:]] == ["IKL (products)", "IKL (products)"]
    choose("column", "")
    for kind in ("match", "close", "higher", "unjudged"):
        driver.execute_script(f"document.querySelector('{FORM} [value={kind}]').click()")
    bright = driver.execute_script(
        f"return [...document.querySelectorAll('{TABLE} td.number')]"
        ".filter(cell => !cell.classList.contains('dim'))"
        ".map(cell => cell.className)"
    )
    numbers = mklbench.table("gehler2008_table1")
    n_lower = int((numbers["verdict"] == "differs (lower)").sum())
    assert len(bright) == n_lower
    assert all("lower" in name for name in bright)
    assert texts(driver, f"{FORM} .count") == [f"{n_lower} of {len(numbers)} numbers"]
    driver.execute_script(reset)
    wait_for(driver, f"return document.querySelectorAll('{TABLE} td.dim').length === 0")
    assert len(groups()) == 18


def test_explore_finds_runs_and_downloads_their_splits(
    visit: Callable[..., Driver], built: Built
) -> None:
    driver = visit("explore")
    driver.execute_script("""
        window.saved = [];
        URL.createObjectURL = (blob) => {
          blob.text().then(text => window.saved.push(text));
          return "#";
        };
        HTMLAnchorElement.prototype.click = () => {};
        const search = document.querySelector('#find [name=text]');
        search.value = 'gehler2008 splice products';
        search.dispatchEvent(new Event('input', {bubbles: true}));
    """)
    rows = texts(driver, "#runs tbody tr")
    assert len(rows) == 1
    assert "Splice" in rows[0]
    assert "1 run with" in texts(driver, "#found")[0]
    driver.execute_script("document.querySelector('#runs .open-row').click()")
    run = built.data["runs"][
        driver.execute_script(
            "return Number(document.querySelector('#runs tr[data-run]').dataset.run)"
        )
    ]
    inner = texts(driver, "#runs tr.splits tbody tr")
    assert len(inner) == len(run["splits"])
    assert str(run["split"]["accuracy"][0]) in inner[0]

    driver.execute_script("document.getElementById('csv').click()")
    saved = wait_for(driver, "return window.saved[0]")
    lines = list(csv.DictReader(io.StringIO(saved)))
    assert [float(line["accuracy"]) for line in lines] == run["split"]["accuracy"]
    assert {line["key"] for line in lines} == {run["key"]}

    driver.execute_script("document.querySelector('#find [type=reset]').click()")
    wait_for(driver, "return document.querySelectorAll('#runs tbody tr').length > 1")
    # How many runs there are is one number.
    n_runs = len(built.data["runs"])
    assert texts(driver, "#found")[0].startswith(f"{n_runs} runs with")
    assert f"{n_runs} runs" in texts(driver, "footer")[0]


@pytest.fixture(scope="class")
def explore(visit: Callable[..., Driver]) -> Driver:
    driver = visit("explore")
    drawn(driver)
    return driver


class TestPlots:
    def test_the_plots_show_what_is_chosen(self, explore: Driver) -> None:
        assert explore.execute_script("return document.querySelectorAll('.plot svg').length") == 4
        explore.execute_script("""
            const form = document.getElementById('plot-methods');
            const second = form.elements.second;
            second.value = [...second.options].find(option => option.text === 'QN-PKL').value;
            second.dispatchEvent(new Event('input', {bubbles: true}));
        """)
        wait_for(
            explore,
            "return document.querySelector('#plot-methods ~ .chart svg').textContent"
            ".includes('QN-PKL, accuracy')",
        )
        points = "#plot-methods ~ .chart [aria-roledescription=point]"
        told = explore.execute_script(
            f"return [...document.querySelectorAll('{points}')]"
            ".map(p => p.getAttribute('aria-label'))"
        )
        assert len(told) == 8  # QN-PKL is not run on mfeat
        assert any("Sonar" in text for text in told)

    def test_the_course_of_a_fit_is_drawn_as_its_record_has_it(self, explore: Driver) -> None:
        table = load_table("aflalo2011_descents")
        finder = RunFinder(recorded_source(table))
        courses = {}
        for slot in table.slots():
            if slot.row.name == "sonar":
                courses[slot.column.label] = present(finder(slot).done[0].descent)
        choose = """
            const form = document.getElementById('plot-courses');
            for (const [name, text] of Object.entries(arguments[0])) {
              const select = form.elements[name];
              select.value = [...select.options].find(option => option.text === text).value;
            }
            form.elements.course.dispatchEvent(new Event('input', {bubbles: true}));
        """
        for shown, name in (("certified gap", "gap"), ("J", "objective")):
            explore.execute_script(choose, {"table": table.title})
            explore.execute_script(choose, {"row": "Sonar", "course": shown})
            title = "document.querySelector('#plot-courses ~ .chart svg').textContent"
            wait_for(explore, f"return {title}.includes('{shown}')")
            told = wait_for(
                explore,
                f"""
                const rows = [...document.querySelectorAll('#plot-courses ~ details tbody tr')];
                const told = rows.map(row => [...row.cells].map(cell => cell.textContent));
                const last = {courses["mkl (ours)"][name][-1]};
                return told.some(row => Number(row[2]) === last) && told;
                """,
            )
            for method, course in courses.items():
                kept = [
                    (calls, value)
                    for calls, value in zip(course["svm_calls"], course[name], strict=True)
                    if value is not None
                ]
                assert [(int(row[1]), float(row[2])) for row in told if row[0] == method] == kept

    def test_the_ranks_are_those_of_the_table(self, explore: Driver) -> None:
        table = load_table("all_methods")
        report = assemble(table, RunFinder(recorded_source(table)))
        expected = rank_methods(report, table.ranking)
        assert expected is not None
        rows = explore.execute_script("""
            const rows = [...document.querySelectorAll('#plot-ranks ~ details tbody tr')];
            return rows.map(row => [...row.cells].map(cell => cell.textContent));
        """)
        shown = {method: float(rank) for method, rank in rows}
        for column, rank in zip(expected.columns, expected.mean_ranks, strict=True):
            assert shown[column.label] == pytest.approx(rank, rel=1e-4), column.label
        critical = explore.execute_script(
            "return document.getElementById('plot-ranks').closest('section').dataset.critical"
        )
        assert float(critical) == pytest.approx(expected.critical_difference, rel=1e-5)


def test_what_to_try_is_answered_from_sets_of_several_views(visit: Callable[..., Driver]) -> None:
    driver = visit("which")
    driver.execute_script("""
        const views = document.querySelector('#advise [name=views]');
        views.value = 4;
        views.dispatchEvent(new Event('input', {bubbles: true}));
    """)
    answer = texts(driver, "#advice")[0]
    assert "Try first:" in answer
    assert "recorded sets most like yours" in answer
    assert "mklbench run" in answer
    assert "data=csv" in answer
    assert "from mklbench import" in answer
    assert "views)" in answer
    assert "one table of features" not in answer
    below = texts(driver, "#advice tbody td:nth-child(3)")
    assert [float(text) for text in below] == sorted(map(float, below))


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_serious_violation(visit: Callable[..., Driver], dark: bool) -> None:
    axe = pytest.importorskip("axe_core_python.selenium", reason="axe-core-python is not installed")
    driver = visit("explore", dark=dark)
    drawn(driver)
    # It looks at every number of every page; those of a table are alike after its first lines.
    driver.execute_script(
        """
        for (const page of document.querySelectorAll('.page')) {
          page.hidden = !arguments[0].includes(page.id);
          if (page.hidden) page.remove();
        }
        for (const table of document.querySelectorAll('.page table')) {
          for (const body of [...table.tBodies].slice(3)) body.remove();
          for (const row of [...table.rows].slice(6)) row.remove();
        }
    """,
        ["start", "gehler2008", "explore", "compare"],
    )
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if dark:  # the colours alone are others
        options["runOnly"] = ["color-contrast"]
    violations = axe.Axe().run(driver, options=options)["violations"]
    serious = [
        (item["id"], [node["html"][:120] for node in item["nodes"][:3]])
        for item in violations
        if item["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_it_prints_the_page_without_its_controls(visit: Callable[..., Driver]) -> None:
    driver = visit("gehler2008", dark=True)
    light = "rgb(255, 255, 255)"
    media = {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    shown = """
        const controls = [...document.querySelectorAll('.controls, .top, .copy')];
        return controls.filter(control => control.getClientRects().length).length;
    """
    assert driver.execute_script(shown) == 0
    back = "return getComputedStyle(document.body).backgroundColor"
    assert driver.execute_script(back) == light
    chip = "return getComputedStyle(document.querySelector('.page:not([hidden]) .match')).color"
    assert driver.execute_script(chip) == "rgb(5, 62, 107)"  # of the light page
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_differences_of_an_own_store_are_marked_and_found(visit: Callable[..., Driver]) -> None:
    driver = visit("compare")
    states = driver.execute_script(
        "return [...document.querySelectorAll('#compared tbody tr')]"
        ".map(row => [row.dataset.state, row.cells[2].innerText, row.innerText])"
    )
    moved = [(metric, text) for state, metric, text in states if state == "moved"]
    assert {metric for metric, _ in moved} == {"accuracy %"}  # of a cell of two tables
    for _, text in moved:
        assert {"✗ differs", "20"} <= set(text.split("\t"))  # points, on one of 20 splits
    same = [text for state, _, text in states if state == "same"]
    assert len(same) >= 3
    assert all("✓ same" in text for text in same)
    driver.execute_script("document.getElementById('only-moved').click()")
    assert len(texts(driver, "#compared tbody tr:not([hidden])")) == len(moved)
    driver.execute_script("location.hash = 'explore'")
    driver.execute_script("""
        const search = document.querySelector('#find [name=text]');
        search.value = 'yours';
        search.dispatchEvent(new Event('input', {bubbles: true}));
    """)
    rows = texts(driver, "#runs tbody tr")
    assert len(rows) >= 2
    assert all(", yours" in row for row in rows)

package browser

import (
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestBoard finds each session on the board, under what it needs, with the state that wfs list prints.
func TestBoard(t *testing.T) {
	t.Parallel()
	u := serve(newShop(t))
	p := u.open(t)
	for id, state := range map[string]string{
		"csv-export": "waiting", "ready": "completed", "stuck": "blocked", "paused": "paused",
	} {
		var card string
		p.js(`document.querySelector("main a[href$='/`+id+`']").closest("li").innerText`, &card)
		testkit.Holds(t, card, id, state)
	}
	text := p.text()
	needs, paused := strings.Index(text, "Needs you"), strings.Index(text, "Not running")
	if needs < 0 || needs > paused {
		t.Errorf("what needs a person is not first:\n%s", text)
	}
	if other := p.sentElsewhere(u.origin); len(other) > 0 {
		t.Errorf("the page asked %q", other)
	}
}

// TestSession reads what happened in a session: its time line, the tests of each attempt, an attempt's evidence, its
// brief and words, and what changed between two checkpoints.
func TestSession(t *testing.T) {
	t.Parallel()
	u := serve(newShop(t))
	p := u.open(t)
	u.session(p, "csv-export")
	testkit.Holds(t, p.text(), "csv export", "waiting", "WORK", "REVIEW", "attempt 1", "attempt 2",
		"said that it is done, and it was not", "quotes commas", "Read the work.")
	var cells []string
	p.js(`[...document.querySelectorAll("table.matrix tbody tr")].map(r => r.innerText).
		find(text => text.includes("quotes commas")).split(/\s+/)`, &cells)
	testkit.Holds(t, strings.Join(cells, " "), "✗", "✓")

	p.load("the first attempt", func() { p.click("#timeline a[href$='/at/1']") })
	testkit.Holds(t, p.text(), "@1", "quotes commas", "Fixed, all tests pass.", "What the agent was told")
	p.click("summary")
	p.awaitText("csv export")

	p.load("its changes", func() { p.click("#changes") })
	testkit.Holds(t, p.text(), "csv.go", "func Field(s string) string { return s }")
	p.js(`document.querySelector("[name=from]").value = "1"; document.querySelector("[name=to]").value = "2"; 0`, nil)
	p.load("another pair", func() { p.click("form button") })
	testkit.Holds(t, p.text(), "func Field(s string) string { return s }",
		`func Field(s string) string { return "\"" + s + "\"" }`, "quotes commas")
}

// TestLive watches a run, without any reload of the page.
func TestLive(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	r.OK("wfs", "switch", "main")
	first, second := pipe(r, "first"), pipe(r, "second")
	r.Write("../gated.sh", `echo "working on $WFS_ATTEMPT"
case $WFS_ATTEMPT in 1) read -r line < ../first ;; *) read -r line < ../second ;; esac
. ../agent.sh
`)
	r.OK("wfs", "new", "live one", "--agent", "sh ../gated.sh")
	u := serve(r)
	board, p := u.open(t), u.open(t)
	u.session(p, "live-one")
	const unchanged = "window.loadedOnce === 1"
	board.js("window.loadedOnce = 1", nil)
	p.js("window.loadedOnce = 1", nil)
	board.awaitText("live")
	board.press("j", "j") // the second session, on which the focus stays although the first one is another later
	var focused string
	board.js("document.activeElement.innerText", &focused)
	p.await(`document.querySelector("#state").innerText === "live"`)

	r.OK("wfs", "run", "--detach")
	card := func(state string) string {
		return `document.querySelector("main a[href$='/live-one']").closest("li").innerText.includes("` + state + `")`
	}
	board.await(card("running"))
	p.await(`document.querySelector("h1").innerText.includes("running")`)
	p.await(`document.querySelector("#agent").innerText.includes("working on 1")`)
	first()
	p.await(`document.querySelector("#timeline").innerText.includes("said that it is done, and it was not")`)
	p.await(`document.querySelector("#matrix").innerText.includes("quotes commas")`)
	second()
	p.await(`document.querySelector("h1").innerText.includes("waiting")`)
	p.await(`document.querySelector("#act button")`)
	p.await(`document.title.includes("waiting")`)
	board.await(card("waiting"))
	board.await(`document.activeElement.innerText === ` + quote(focused) +
		` && document.querySelector(".here").contains(document.activeElement)`)
	_, _ = r.Try("wfs", "watch", "live-one") // until the run has ended
	for _, p := range []*page{p, board} {
		if !p.is(unchanged) {
			t.Error("the page was loaded anew")
		}
	}
}

// TestKeys uses the pages without a mouse.
func TestKeys(t *testing.T) {
	t.Parallel()
	u := serve(newShop(t))
	p := u.open(t)
	p.press("?")
	p.awaitText("next, previous")
	p.await(`document.querySelector("dialog").open`)
	p.press("Escape")
	p.await(`!document.querySelector("dialog").open`)

	p.press("/")
	p.await(`document.activeElement.matches("input")`)
	p.typed("stuck")
	p.await(`[...document.querySelectorAll("[data-item]")].filter(e => e.offsetParent).length === 1`)
	p.press("Escape", "j")
	p.load("stuck", func() { p.press("Enter") })
	p.await(`document.title.includes("stuck")`)
	p.load("the board", func() { p.press("g") })
	p.await(`document.querySelector("#state").innerText === "live"`)

	p.press("j", "j", "k")
	p.await(`document.activeElement === document.querySelector("[data-item] a")`)
	var first string
	p.js(`document.activeElement.innerText`, &first)
	p.load(first, func() { p.press("Enter") })
	p.await(`document.querySelector("h1").innerText.includes(` + quote(first) + `)`)
	u.session(p, "csv-export")
	p.load("the changes", func() { p.press("d") })
	p.awaitText("csv.go")
	p.load("one up", func() { p.press("u") })
	p.press("a")
	p.await(`document.activeElement.matches("textarea")`)
}

// pages are the addresses below the board's that the tests of all pages look at.
func (u *ui) pages(p *page) []string {
	p.t.Helper()
	p.open(u.root)
	var at string
	p.js(`document.querySelector("main a[href$='/csv-export']").href`, &at)
	stuck := strings.TrimSuffix(at, "csv-export") + "stuck"
	return []string{u.root, at, at + "/at/0", at + "/at/1", at + "/at/2", at + "/diff?from=base&to=2",
		at + "/diff?from=1&to=2", at + "/diff?from=2&to=2", stuck}
}

// TestPhone opens each page in a narrow window: nothing is cut off, and nothing scrolls sideways but what says so.
func TestPhone(t *testing.T) {
	t.Parallel()
	u := serve(newShop(t))
	p := u.open(t)
	for _, address := range u.pages(p) {
		p.size(360, 740)
		p.open(address)
		p.narrow()
		p.size(320, 640)
		p.narrow()
	}
}

// TestAccessible runs axe-core on each page, in dark and in light, wide and narrow.
func TestAccessible(t *testing.T) {
	t.Parallel()
	u := serve(newShop(t))
	p := u.open(t)
	for _, address := range u.pages(p) {
		p.open(address)
		p.axe()
	}
	p.size(360, 740)
	p.open(u.root)
	p.axe()
	p.press("?")
	p.await(`document.querySelector("dialog").open`)
	p.axe()
}

// TestWithoutScripts reads all pages, and approves, with the browser's scripts switched off.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	u := serve(r)
	p := newPage(t)
	p.scripts(false)
	u.enter(p)
	u.session(p, "csv-export")
	testkit.Holds(t, p.text(), "waiting", "attempt 1", "quotes commas", "Read the work.")
	p.load("the changes", func() { p.click("#changes") })
	testkit.Holds(t, p.text(), "csv.go", "is a field of CSV, quoted.")
	p.load("the result", func() { p.click("#review button") })
	testkit.Holds(t, p.text(), "wfs approve")
	testkit.Holds(t, r.OK("wfs", "status", "csv-export"), "DONE at @")
	for _, address := range u.pages(p) {
		p.open(address)
		if len(p.text()) < 100 {
			t.Errorf("%s is empty: %q", address, p.text())
		}
	}
}

package browser

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// TestLarge prints how long pages with a thousand sessions, and with a session of a thousand attempts, take until the
// browser has all of it. It asserts no time.
func TestLarge(t *testing.T) {
	if os.Getenv("WFS_BENCH") == "" {
		t.Skip(".ci/browser bench runs it")
	}
	count := 1000
	if n := os.Getenv("WFS_BENCH_COUNT"); n != "" {
		if _, err := fmt.Sscan(n, &count); err != nil {
			t.Fatal(err)
		}
	}
	r := newShop(t)
	r.OK("wfs", "switch", "main")
	r.Write(".wfs/config.yaml", "version: 1\nclean-proof: off\nauto-save: off\n"+
		"gates:\n  tests: {run: cat tests.tap, format: tap}\n")
	r.Write(".wfs/workflows/many.yaml", "version: 1\nname: many\nstart: WORK\n"+
		"laps: {agree: auto, max: 1000}\nphases:\n"+
		"  WORK: {run: {command: sh ../lap.sh}, gates: [{use: tests}], on: {pass: next-lap}}\n")
	r.Write("../lap.sh", `echo "$WFS_RUN_ID" > work.txt`+"\n")
	items := ""
	for i := range count {
		items += fmt.Sprintf("- [ ] item %d\n", i)
	}
	r.Write("items.md", items)
	r.OK("git", "add", "-A")
	r.OK("git", "commit", "-q", "-m", "many")
	r.OK("wfs", "trust", "--yes")
	r.OK("wfs", "new", "attempts", "--workflow", "many", "--spec", "items.md")
	r.OK("wfs", "run")
	r.OK("wfs", "switch", "main")
	made := time.Now()
	for i := range count {
		r.OK("wfs", "new", fmt.Sprintf("session %d", i), "--workflow", "plain", "--agent", "true")
		r.OK("git", "switch", "-q", "main")
	}
	t.Logf("made in %s", time.Since(made).Round(time.Second))

	u := serve(r)
	p := u.open(t)
	timed := func(name, address, complete string) {
		for _, again := range []string{"first", "again"} {
			var size struct{ Nodes, Bytes int }
			begun := time.Now()
			p.open(address)
			p.await(complete)
			took := time.Since(begun)
			p.js(`({Nodes: document.querySelectorAll("*").length,
				Bytes: document.documentElement.outerHTML.length})`, &size)
			t.Logf("%-32s %-6s %5d ms, %d elements, %d KB",
				name, again, took.Milliseconds(), size.Nodes, size.Bytes/1000)
		}
	}
	timed(fmt.Sprintf("board, %d sessions", count), u.root, atLeast("#board [data-item]", count))
	var at string
	p.js(`document.querySelector("main a[href$='/attempts']").href`, &at)
	timed(fmt.Sprintf("session, %d attempts", count), at, atLeast("#timeline [data-item]", count))
	timed("its changes", at+"/diff", `document.querySelector("#main")`)
	timed("its newest checkpoint", fmt.Sprintf("%s/at/%d", at, count), `document.querySelector("#main")`)
}

// atLeast is true in a page with so many elements that a selector finds.
func atLeast(selector string, count int) string {
	return fmt.Sprintf("document.querySelectorAll(%s).length >= %d", quote(selector), count)
}

package browser

import (
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestApprove approves on the session's page, and sees the command and its result; wfs says the same.
func TestApprove(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	u := serve(r)
	p := u.open(t)
	u.session(p, "csv-export")
	p.press("a")
	p.typed("fine <b>so</b>")
	p.load("the result", func() { p.click("#act form[action$='/approve'] button") })
	testkit.Holds(t, p.text(), "wfs approve", "DONE")
	p.load("the session", func() { p.click("main p a") })
	testkit.Holds(t, p.text(), "completed")
	testkit.Holds(t, r.OK("wfs", "status", "csv-export"), "DONE at @")
	if out := r.OK("wfs", "log", "csv-export", "--events", "--json"); !strings.Contains(out, "fine") {
		t.Errorf("the words are not in the events:\n%s", out)
	}
}

// TestRejectWithComment rejects with a comment on a line of the changes. The next brief has the comment with its place.
func TestRejectWithComment(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	u := serve(r)
	p := u.open(t)
	u.session(p, "csv-export")
	p.load("the changes", func() { p.click("#act a[href*='/diff']") })
	p.click(".sbs tr[data-path] th[id*='-right-'] a")
	p.await(`document.activeElement.matches("#comments textarea")`)
	p.typed("quote only what has a comma")
	p.click(".sbs tr[data-path] th[id*='-left-'] a")
	p.awaitText(" (old): ")
	p.load("the result", func() { p.click("#review button[formaction$='/reject']") })
	testkit.Holds(t, p.text(), "wfs reject", "quote only what has a comma")
	testkit.Holds(t, r.OK("wfs", "log", "csv-export", "--events", "--json"), "quote only what has a comma", "csv.go:")
	r.Write("../agent.sh", `cat "$WFS_BRIEF" > ../brief`+"\n")
	_, _ = r.Try("wfs", "run", "csv-export", "--max-attempts", "1")
	brief, _ := r.Try("cat", "../brief")
	testkit.Holds(t, brief, "quote only what has a comma", "csv.go:")
}

// TestForms uses the other forms: a note, going back with a preview, switch, and finish.
func TestForms(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	u := serve(r)
	p := u.open(t)
	u.session(p, "paused")
	p.press("n")
	p.typed("dates are ISO 8601")
	p.load("the note", func() { p.click("form[action$='/note'] button") })
	testkit.Holds(t, p.text(), "wfs note", "paused")
	testkit.Holds(t, r.OK("wfs", "log", "paused", "--events", "--json"), "dates are ISO 8601")

	u.session(p, "csv-export")
	p.load("attempt 1", func() { p.click("#timeline a[href$='/at/1']") })
	p.load("the preview", func() { p.click("form[action$='/resume'] button") })
	testkit.Holds(t, p.text(), "wfs resume", "dry-run", "csv-export@1", "Nothing was changed yet")
	testkit.Holds(t, r.OK("wfs", "status", "csv-export", "--json"), `"checkpoint":2`)
	p.load("the move", func() { p.click("form[action$='/resume'] button") })
	testkit.Holds(t, r.OK("wfs", "status", "csv-export", "--json"), `"checkpoint":1`)
	testkit.Holds(t, r.OK("git", "show", "HEAD:csv.go"), "return s }")

	u.session(p, "ready")
	p.load("the preview", func() { p.click("form[action$='/switch'] button") })
	p.load("the switch", func() { p.click("form[action$='/switch'] button") })
	u.session(p, "ready")
	p.load("the preview", func() { p.click("form[action$='/finish'] button") })
	testkit.Holds(t, p.text(), "wfs finish", "dry-run", "Nothing was changed yet")
	p.load("the result", func() { p.click("form[action$='/finish'] button") })
	testkit.Holds(t, r.OK("git", "show", "ready:csv.go"), "quoted")
	u.session(p, "ready")
	testkit.Holds(t, p.text(), "finished")

	// attempts that were left are read as well as others
	u.session(p, "csv-export")
	testkit.Holds(t, p.text(), "left")
	p.axe()
}

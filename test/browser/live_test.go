package browser

import (
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// livePage opens the page of a session that changes.
func livePage(t *testing.T) (*testkit.Repo, *ui, *page) {
	t.Parallel()
	r := newShop(t)
	u := serve(r)
	p := u.open(t)
	u.session(p, "paused")
	p.await(`document.querySelector("#state").innerText === "live"`)
	return r, u, p
}

// TestLiveKeeps changes sessions while a person is in the middle of something: what was typed, opened and filtered
// stays as it is.
func TestLiveKeeps(t *testing.T) {
	r, u, p := livePage(t)
	note := func(text string) {
		r.OK("wfs", "note", "-m", text, "paused")
		p.await(`document.querySelector("#timeline").innerText.includes(` + quote(text) + `)`)
	}
	const folded = `!document.querySelector("#act details").open`
	p.press("n")
	p.typed("half a thought")
	note("while the note is written")
	if !p.is(`document.activeElement.id === "note" && document.activeElement.value === "half a thought"`) {
		t.Error("the field lost the focus or its text")
	}
	p.press("Escape")
	note("after the field was left")
	if p.is(folded) || !p.is(`document.querySelector("#note").value === "half a thought"`) {
		t.Error("a text that was not sent is gone")
	}
	p.js(`document.querySelector("#note").value = ""`, nil)
	note("with an empty field")
	if p.is(folded) {
		t.Error("what was unfolded is folded again")
	}

	p.open(u.root)
	p.await(`document.querySelector("#state").innerText === "live"`)
	p.press("/")
	p.typed("stuck")
	const filtered = `[...document.querySelectorAll("#board [data-item]")].filter(e => e.offsetParent).length === 1`
	p.await(filtered)
	p.js(`document.querySelector("#board [data-item]").id = "before"`, nil)
	r.OK("wfs", "note", "-m", "while the board is filtered", "paused")
	p.await(`!document.querySelector("#before")`)
	if !p.is(filtered) {
		t.Error("the filter is off")
	}
}

// TestLiveMissesNothing changes a session while the page still loads what an earlier change has brought.
func TestLiveMissesNothing(t *testing.T) {
	r, _, p := livePage(t)
	p.js(`window.told = 0
		window.held = []
		new EventSource(document.body.dataset.root + "/events").onmessage = () => told++
		const plain = window.fetch
		window.fetch = async (...all) => {
			const answer = await plain(...all)
			await new Promise((release) => held.push(release))
			return answer
		}
		0`, nil)
	r.OK("wfs", "note", "-m", "the first one", "paused")
	p.await("told > 0 && held.length === 1")
	p.js("told = 0", nil)
	r.OK("wfs", "note", "-m", "the second one", "paused")
	p.await("told > 0")
	p.js("held.pop()()", nil)
	p.await("held.length === 1")
	p.js("held.pop()()", nil)
	p.await(`document.querySelector("#timeline").innerText.includes("the second one")`)
}

// TestLiveEnds ends wfs ui: the page that is still open says so.
func TestLiveEnds(t *testing.T) {
	t.Parallel()
	u := serve(newShop(t))
	p := u.open(t)
	p.await(`document.querySelector("#state").innerText === "live"`)
	p.expect("") // the browser reports what it cannot load
	u.stop()
	p.awaitText("not connected")
}

// TestSendsByKey sends a form with Ctrl-Enter, unless it has more than one button: to approve is a choice.
func TestSendsByKey(t *testing.T) {
	t.Parallel()
	u := serve(newShop(t))
	p := u.open(t)
	send := func(id, key string) (sent string) {
		u.session(p, id)
		p.js(`window.sent = ""
		addEventListener("submit", e => { sent += e.target.action; e.preventDefault() }); 0`, nil)
		p.press(key)
		p.typed("fine")
		p.do("Input.dispatchKeyEvent",
			map[string]any{"type": "keyDown", "key": "Enter", "windowsVirtualKeyCode": 13, "modifiers": 2})
		p.js("sent", &sent)
		return sent
	}
	testkit.Holds(t, send("paused", "n"), "/paused/note")
	if sent := send("csv-export", "a"); sent != "" {
		t.Errorf("sent %s", sent)
	}
}

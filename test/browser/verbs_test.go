package browser

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// hand uses the page without a browser.
type hand struct {
	*ui
	headers map[string]string
}

func (u *ui) hand() *hand {
	key := u.cookie()
	return &hand{u, map[string]string{"Cookie": key.Name + "=" + key.Value, "Origin": u.origin}}
}

// at returns the address of a session's page.
func (h *hand) at(id string) string {
	h.r.T.Helper()
	board := body(h.send("GET", h.root, h.headers, nil))
	before, _, ok := strings.Cut(board, "/"+id+`"`)
	if !ok {
		h.r.T.Fatalf("%s is not on the board:\n%s", id, board)
	}
	return h.origin + before[strings.LastIndex(before, `"`)+1:] + "/" + id
}

// form returns the address and the hidden fields of the form for an action on the page of a session.
func (h *hand) form(id, action string) (address string, fields url.Values) {
	h.r.T.Helper()
	page := h.at(id)
	address = page + "/" + action
	text := body(h.send("GET", page, h.headers, nil))
	_, form, ok := strings.Cut(text, `action="`+strings.TrimPrefix(address, h.origin)+`">`)
	if !ok {
		h.r.T.Fatalf("no form for %s on %s:\n%s", action, page, text)
	}
	form, _, _ = strings.Cut(form, "</form>")
	return address, hidden(form)
}

// post sends a form, and returns the page that follows.
func (h *hand) post(address string, fields url.Values) string {
	h.r.T.Helper()
	answer := h.send("POST", address, h.headers, fields)
	if answer.StatusCode != http.StatusSeeOther {
		h.r.T.Fatalf("%s: %s\n%s", address, answer.Status, body(answer))
	}
	return body(h.send("GET", h.origin+answer.Header.Get("Location"), h.headers, nil))
}

// hidden returns the hidden fields of a form.
func hidden(form string) url.Values {
	fields := url.Values{}
	for _, field := range strings.Split(form, `<input type="hidden" name="`)[1:] {
		name, rest, _ := strings.Cut(field, `" value="`)
		value, _, _ := strings.Cut(rest, `"`)
		fields.Add(name, value)
	}
	return fields
}

// act presses the button of an action on the page of a session, with these values added.
func (h *hand) act(id, action string, values ...string) string {
	h.r.T.Helper()
	address, fields := h.form(id, action)
	for i := 0; i < len(values); i += 2 {
		fields.Set(values[i], values[i+1])
	}
	return h.post(address, fields)
}

// confirm sends the form that follows a preview.
func (h *hand) confirm(preview string) string {
	h.r.T.Helper()
	_, address, ok := strings.Cut(preview, `action="`)
	if !ok {
		h.r.T.Fatalf("nothing to confirm:\n%s", preview)
	}
	address, _, _ = strings.Cut(address, `"`)
	return h.post(h.origin+address, hidden(preview))
}

// TestVerbs answers a question, runs, stops, undoes, and switches, from the page. What the commands did is seen in the
// terminal.
func TestVerbs(t *testing.T) {
	t.Parallel()
	r := shopWithoutBrowser(t)
	r.OK("wfs", "switch", "main")
	asked := pipe(r, "asked")
	r.Write("../asks.sh", `if [ "$WFS_ATTEMPT" = 1 ] && [ ! -e ../once ]; then
  touch ../once; echo '{"ask": "comma or semicolon?"}' > "$WFS_RESULT"
else
  read go < ../asked; printf '1..1\nok 1 reads\n' > tests.tap
  cat "$WFS_BRIEF" > ../brief; echo '{"done": false}' > "$WFS_RESULT"
fi
`)
	r.OK("wfs", "new", "asks", "--workflow", "plain", "--agent", "sh ../asks.sh")
	exits(r, testkit.ExitDecision, "wfs", "run")
	h := serve(r).hand()
	testkit.Holds(t, body(h.send("GET", h.at("asks"), h.headers, nil)), "comma or semicolon?")
	testkit.Holds(t, h.act("asks", "note", "text", "semicolon, please"), "wfs note --message=", "semicolon, please")
	testkit.Holds(t, r.OK("wfs", "log", "asks", "--events", "--json"), `"answered"`)

	testkit.Holds(t, h.act("asks", "run"), "wfs run --detach asks", "runs in the background")
	testkit.Holds(t, h.act("asks", "stop"), "wfs stop asks")
	asked()
	_, _ = r.Try("wfs", "watch", "asks") // until the run has ended
	testkit.Holds(t, r.OK("wfs", "status", "asks"), "paused")
	brief, _ := r.Try("cat", "../brief")
	testkit.Holds(t, brief, "semicolon, please")

	r.OK("wfs", "note", "asks", "-m", "only for undo")
	preview := h.act("asks", "undo")
	testkit.Holds(t, preview, "wfs undo --dry-run asks", "Nothing was changed yet")
	if events := r.OK("wfs", "log", "asks", "--events", "--json"); strings.Contains(events, `"taken_back"`) {
		t.Error("a preview has undone something")
	}
	testkit.Holds(t, h.confirm(preview), "wfs undo asks")
	testkit.Holds(t, r.OK("wfs", "log", "asks", "--events", "--json"), `"taken_back"`)

	r.OK("wfs", "new", "jam", "--workflow", "plain", "--agent", "rm -f tests.tap")
	exits(r, testkit.ExitBlocked, "wfs", "run")
	testkit.Holds(t, body(h.send("GET", h.at("jam")+"/diff", h.headers, nil)), `id="review"`) // lines can be commented on
	testkit.Holds(t, h.act("jam", "again"), "wfs run --detach --reset-breaker jam", "runs in the background")
	_, _ = r.Try("wfs", "watch", "jam")

	r.OK("wfs", "switch", "main")
	away := body(h.send("GET", h.at("asks"), h.headers, nil))
	testkit.Holds(t, away, "No work tree has it checked out")
	if strings.Contains(away, ">Run</button>") {
		t.Error("it can be run without a work tree")
	}
	address, old := h.form("asks", "switch")
	r.OK("wfs", "note", "asks", "-m", "changed meanwhile")
	testkit.Holds(t, h.post(address, old), "have changed since that page was loaded", "Nothing was done")
	testkit.Holds(t, h.confirm(h.act("asks", "switch")), "wfs switch asks", "now on wfs/asks")
	testkit.Holds(t, body(h.send("GET", h.at("asks"), h.headers, nil)), ">Run</button>")

	page := h.at("asks")
	r.OK("wfs", "switch", "main")
	r.OK("wfs", "delete", "asks", "--force")
	gone := h.send("GET", page, h.headers, nil)
	testkit.Holds(t, body(gone), "was deleted", "wfs delete --restore asks")
	if gone.StatusCode != http.StatusNotFound {
		t.Errorf("a deleted session: %s", gone.Status)
	}
}

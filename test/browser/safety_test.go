package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// hostile are texts that would do something in a page that believed them, or hide something in a terminal.
const hostile = `<script>window.hacked=1</script><img src=x onerror="window.hacked=1"><svg onload="window.hacked=1">` +
	`</pre></textarea></title><iframe src="http://attacker.test/"></iframe>` +
	`<a href="javascript:window.hacked=1">go</a> {{.Form}}`

// TestHostileTexts shows texts of an agent, a repository and a runner that look like markup. All stay text.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	r.OK("wfs", "switch", "main")
	unseen := "\x1b[31m\x1b]0;title\x07\u202eevil\u202c\u200b"
	r.Write("../hostile.txt", hostile+unseen+"\n")
	r.Write("../hostile.sh", `cat ../hostile.txt
cat ../hostile.txt > 'a<img src=x onerror=window.hacked=1>.txt'
cat ../hostile.txt > plain.md
printf '1..2\nok 1 reads\nnot ok 2 %s\n' "$(cat ../hostile.txt)" > tests.tap
`)
	r.OK("wfs", "new", hostile[:60], "--agent", "sh ../hostile.sh")
	id := between(r.OK("wfs", "status", "--json"), `"id":"`, `"`)
	_, _ = r.Try("wfs", "run", id, "--max-attempts", "2")
	r.OK("wfs", "note", "-m", hostile, id)
	u := serve(r)
	p := u.open(t)
	u.session(p, id)
	var at string
	p.js("location.href", &at)
	for _, address := range []string{u.root, at, at + "/at/0", at + "/at/1", at + "/at/2", at + "/diff?from=base&to=2",
		at + "/diff?from=1&to=2"} {
		p.open(address)
		if p.is("window.hacked") {
			t.Errorf("%s: a script of the agent ran", address)
		}
		if p.is(`document.querySelector("main script, main img, main iframe, main svg[onload], ` +
			`a[href^='javascript:'], [onerror], [onload], [onclick], [style]")`) {
			t.Errorf("%s: text became markup", address)
		}
		var source string
		p.js("document.documentElement.outerHTML", &source)
		for _, sign := range []string{"\x1b", "\u202e", "\u202c", "\x07"} {
			if strings.Contains(source, sign) {
				t.Errorf("%s: %q is on the page", address, sign)
			}
		}
	}
	p.open(at + "/diff?from=base&to=1")
	testkit.Holds(t, p.text(), "<script>window.hacked=1</script>", "<iframe", "{{.Form}}",
		"a<img src=x onerror=window.hacked=1>.txt")
	p.open(at)
	testkit.Holds(t, p.text(), "<script>window.hacked=1</script>")
	p.open(at + "/at/1")
	testkit.Holds(t, p.text(), "<script>window.hacked=1</script>", "<img src=x onerror")
	if other := p.sentElsewhere(u.origin); len(other) > 0 {
		t.Errorf("requests to %q", other)
	}
	// Addresses, too, may name what is hostile.
	p.expect("404")
	p.expect("403")
	for _, path := range []string{
		"/%3Cscript%3Ewindow.hacked=1%3C/script%3E", "/x/%3Cimg%20src=x%20onerror=alert(1)%3E",
		"/../../etc/passwd", "/file/..%2fpage.go",
	} {
		p.open(u.root + strings.TrimPrefix(path, "/"))
		if p.is("window.hacked") || p.is(`document.querySelector("main img, main script")`) {
			t.Errorf("%s became markup", path)
		}
	}
}

// TestRefusesRequests sends what other pages and programs could send.
func TestRefusesRequests(t *testing.T) {
	t.Parallel()
	r := shopWithoutBrowser(t)
	u := serve(r)
	address := u.address()
	key := u.cookieAt(address)
	if !key.HttpOnly || key.SameSite != http.SameSiteStrictMode || key.Path == "/" {
		t.Errorf("the cookie is %v", key)
	}
	with := func(headers ...string) map[string]string {
		all := map[string]string{"Cookie": key.Name + "=" + key.Value}
		for i := 0; i < len(headers); i += 2 {
			all[headers[i]] = headers[i+1]
		}
		return all
	}
	board := u.send("GET", u.root, with(), nil)
	policy := board.Header.Get("Content-Security-Policy")
	testkit.Holds(t, policy, "default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'")
	if strings.Contains(policy, "unsafe") || board.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("headers: %v", board.Header)
	}
	h := &hand{u, with()}
	at := h.at("csv-export")
	approve, form := h.form("csv-export", "approve")
	form.Set("text", "forged")
	const site = "Sec-Fetch-Site"
	elsewhere, port := "http://"+otherHost, strings.Split(u.origin, ":")[2]
	without := func(name string) url.Values {
		some := url.Values{}
		for key, value := range form {
			if key != name {
				some[key] = value
			}
		}
		return some
	}

	for name, c := range map[string]struct {
		method, address string
		headers         map[string]string
		form            url.Values
	}{
		"no token":                      {"GET", u.root, nil, nil},
		"a wrong token":                 {"GET", u.root + "?token=wrong", nil, nil},
		"an empty token":                {"GET", u.root + "?token=", nil, nil},
		"a token that was used":         {"GET", address, nil, nil},
		"a wrong cookie":                {"GET", u.root, map[string]string{"Cookie": key.Name + "=wrong"}, nil},
		"an empty cookie":               {"GET", u.root, map[string]string{"Cookie": key.Name + "="}, nil},
		"events without a cookie":       {"GET", u.root + "events", nil, nil},
		"another host":                  {"GET", u.root, with("Host", otherHost), nil},
		"another host with the port":    {"GET", u.root, with("Host", otherHost+":"+port), nil},
		"the name localhost.attacker":   {"GET", u.root, with("Host", "localhost."+otherHost), nil},
		"127.0.0.1 as a name's part":    {"GET", u.root, with("Host", "127.0.0.1."+otherHost+":80"), nil},
		"no host":                       {"GET", u.root, with("Host", " "), nil},
		"a link on another site":        {"GET", u.root, with(site, "cross-site"), nil},
		"a page at another port":        {"GET", u.root, with(site, "same-site"), nil},
		"a form without its cookie":     {"POST", approve, map[string]string{"Origin": u.origin}, form},
		"a form of another origin":      {"POST", approve, with("Origin", elsewhere), form},
		"a form of another port":        {"POST", approve, with("Origin", "http://127.0.0.1:1"), form},
		"a form of a sandbox":           {"POST", approve, with("Origin", "null"), form},
		"a form without an origin":      {"POST", approve, with(), form},
		"a form across sites":           {"POST", approve, with("Origin", u.origin, site, "cross-site"), form},
		"a form without its secret":     {"POST", approve, with("Origin", u.origin), without("form")},
		"a form at another host":        {"POST", approve, with("Origin", elsewhere, "Host", otherHost), form},
		"an action by GET":              {"GET", approve + "?" + form.Encode(), with(), nil},
		"an action by PUT":              {"PUT", approve, with("Origin", u.origin), form},
		"an action by HEAD":             {"HEAD", approve + "?" + form.Encode(), with(), nil},
		"an action that does not exist": {"POST", at + "/delete", with("Origin", u.origin), form},
		"a file beside the page's":      {"GET", u.root + "file/page.go", with(), nil},
		"the page below another path":   {"GET", u.origin + "/", with(), nil},
	} {
		answer := u.send(c.method, c.address, c.headers, c.form)
		text := body(answer)
		served := answer.StatusCode < 400 && !strings.Contains(text, "There is no such")
		if served || strings.Contains(text, "csv-export") {
			t.Errorf("%s: %s\n%s", name, answer.Status, text)
		}
		if len(answer.Cookies()) > 0 {
			t.Errorf("%s gives a cookie", name)
		}
	}
	testkit.Holds(t, r.OK("wfs", "status", "csv-export"), "waiting")
	post := func(address string) *http.Response { return u.send("POST", address, with("Origin", u.origin), form) }
	option := post(strings.TrimSuffix(at, "csv-export") + "--help/approve")
	text := body(u.send("GET", u.origin+option.Header.Get("Location"), with(), nil))
	if strings.Contains(text, "Usage") {
		t.Errorf("a session's name became an option: %s", text)
	}
	form.Set("once", "another")

	// The same form with all of it right: it was refused for the reasons given.
	if answer := post(approve); answer.StatusCode != http.StatusSeeOther {
		t.Errorf("the right form: %s\n%s", answer.Status, body(answer))
	}
	before := r.OK("wfs", "log", "csv-export", "--events", "--json")
	testkit.Holds(t, before, "forged")
	if answer := post(approve); answer.StatusCode != http.StatusSeeOther {
		t.Errorf("the form again: %s", answer.Status)
	}
	if after := r.OK("wfs", "log", "csv-export", "--events", "--json"); after != before {
		t.Error("a form that is posted twice acts twice")
	}
}

// TestOtherSites opens a hostile site, in the browser that has the page open: it frames the page, reads it, posts its
// forms, opens its stream; and a name of it leads to the page's address.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	u := serve(r)
	p := u.open(t)
	u.session(p, "csv-export")
	var at, token, seen string
	p.js("location.href", &at)
	p.js(`document.querySelector("[name=form]").value`, &token)
	p.js(`document.querySelector("[name=seen]").value`, &seen)
	before := r.OK("wfs", "log", "csv-export", "--events", "--json")

	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>a site</title><iframe src="%[1]s"></iframe>
<form method=post action="%[2]s/approve"><input name=form value="%[3]s"><input name=seen value="%[4]s">
<input name=at value=2><button>win</button></form>
<a id=link href="%[1]s">link</a>
<script>window.got = []
const gets = (text) => () => got.push(text), refused = gets("refused")
fetch("%[1]s", {credentials: "include"}).then(gets("read"), refused)
const body = new URLSearchParams({form: "%[3]s", seen: "%[4]s", at: "2"})
fetch("%[2]s/approve", {method: "POST", credentials: "include", mode: "no-cors", body}).then(gets("sent"), refused)
const e = new EventSource("%[1]sevents", {withCredentials: true}); e.onopen = gets("stream"); e.onerror = refused
const s = document.createElement("script"); s.src = "%[1]sfile/page.js"; s.onload = gets("script"); s.onerror = refused
document.body.append(s)
</script>`, u.root, at, token, seen)
	}))
	defer site.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(site.URL, "http://"), ":")
	for _, host := range []string{otherHost, "127.0.0.1"} { // at the same host, SameSite alone would not help
		p.expect("") // the browser reports all that it refuses
		p.open("http://" + host + ":" + port + "/")
		p.await("got.length >= 4")
		var got []string
		p.js("got", &got)
		for _, result := range got {
			if result != "refused" && result != "sent" { // sent without an answer that could be read
				t.Errorf("%s: %v", host, got)
			}
		}
		p.load("what the form leads to", func() { p.click("form button") })
		if text := p.text(); strings.Contains(text, "csv-export") {
			t.Errorf("%s: a form of another site: %s", host, text)
		}
		p.open("http://" + host + ":" + port + "/")
		p.load("what the link leads to", func() { p.click("#link") })
		if text := p.text(); strings.Contains(text, "csv-export") {
			t.Errorf("%s: a link of another site: %s", host, text)
		}
	}
	// The attacker's name leads to the address of the page, with its port.
	p.open(strings.Replace(u.root, "127.0.0.1", otherHost, 1))
	if text := p.text(); strings.Contains(text, "csv-export") {
		t.Errorf("at another name: %s", text)
	}
	p.open(strings.Replace(u.address(), "127.0.0.1", otherHost, 1))
	if text := p.text(); strings.Contains(text, "csv-export") {
		t.Errorf("at another name, with a token: %s", text)
	}
	if after := r.OK("wfs", "log", "csv-export", "--events", "--json"); after != before {
		t.Error("another site has changed the session")
	}
	p.open(u.root)
	testkit.Holds(t, p.text(), "csv-export")
}

// TestAgentCannotApprove lets an agent, which has got hold of all secrets, post the form from its run.
func TestAgentCannotApprove(t *testing.T) {
	t.Parallel()
	r := shopWithoutBrowser(t)
	if _, exit := r.Try("bash", "-c", ": < /dev/null"); exit != 0 {
		t.Skip("needs bash, which can open connections")
	}
	u := serve(r)
	h := u.hand()
	approve, fields := h.form("csv-export", "approve")
	fields.Set("text", "by the agent")
	form := fields.Encode()
	host := strings.TrimPrefix(u.origin, "http://")
	name, port, _ := strings.Cut(host, ":")
	r.Write("../post", fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nCookie: %s\r\n"+
		"Connection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s",
		strings.TrimPrefix(approve, u.origin), host, u.origin, h.headers["Cookie"], len(form), form))
	r.Write("../posts.sh", fmt.Sprintf(`exec 3<>/dev/tcp/%s/%s; cat ../post >&3; cat <&3 > ../answer`+"\n", name, port))
	r.OK("wfs", "switch", "main")
	r.OK("wfs", "new", "thief", "--workflow", "plain", "--agent", "bash ../posts.sh")
	r.OK("wfs", "run", "thief")
	answer, err := os.ReadFile(filepath.Join(filepath.Dir(r.Dir), "answer"))
	if err != nil || len(answer) == 0 {
		t.Fatalf("the agent got no answer: %v", err)
	}
	if out := r.OK("wfs", "log", "csv-export", "--events", "--json"); strings.Contains(out, "by the agent") {
		t.Errorf("an agent has approved; its answer: %s", answer)
	}
	testkit.Holds(t, r.OK("wfs", "status", "csv-export"), "waiting")
}

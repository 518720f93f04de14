package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestHarnessBites opens a page that has each fault which the tests look for, and expects that they find it.
func TestHarnessBites(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/strict":
			w.Header().Set("Content-Security-Policy", "default-src 'none'")
			fmt.Fprint(w, `<!doctype html><title>strict</title><p onclick="x()">text<script>window.ran = 1</script>`)
		case "/errors":
			fmt.Fprint(w, `<!doctype html><title>errors</title><script>console.error("said"); null.x</script>
				<img src="http://elsewhere.test/x.png">`)
		case "/wide":
			fmt.Fprint(w, `<!doctype html><html lang=en><title>wide</title>
				<meta name=viewport content="width=device-width"><style>:root{color-scheme:light dark}</style>
				<main style="width:400px;color:#999;background:#fff">pale</main>
				<a href="/keys"></a>`)
		case "/keys":
			fmt.Fprint(w, `<!doctype html><title>keys</title><pre></pre><script>
				addEventListener("keydown", e => document.querySelector("pre").append(e.key + " "))
				const dark = matchMedia("(prefers-color-scheme: dark)").matches
				document.querySelector("pre").append(dark ? "dark " : "light ")</script>`)
		}
	}))
	defer server.Close()

	p := newPage(t)
	finds := func(path string, texts ...string) {
		t.Helper()
		p.open(server.URL + path)
		var found []string
		for _, text := range texts {
			p.until(text, func() bool {
				found = append(found, p.found()...)
				return slices.ContainsFunc(found, func(fault string) bool { return strings.Contains(fault, text) })
			})
		}
		p.found()
	}
	finds("/strict", "Content Security Policy", "CSP")
	if p.is("window.ran") {
		t.Error("a script ran against the policy")
	}
	finds("/errors", "said", "TypeError", "ERR_NAME_NOT_RESOLVED")
	if other := p.sentElsewhere(server.URL); !slices.Equal(other, []string{"http://elsewhere.test/x.png"}) {
		t.Errorf("requests to %q", other)
	}

	p.size(360, 740)
	p.open(server.URL + "/wide")
	if p.wide() == "" {
		t.Error("400 pixels fit into 360")
	}
	p.size(1280, 800)
	if wide := p.wide(); wide != "" {
		t.Error(wide)
	}
	var rules []string
	for _, v := range p.violations() {
		rules = append(rules, v.Impact+" "+v.ID)
	}
	for _, rule := range []string{"serious color-contrast", "serious link-name"} {
		if !slices.Contains(rules, rule) {
			t.Errorf("axe finds only %q", rules)
		}
	}

	p.scheme("dark")
	p.open(server.URL + "/keys")
	p.press("j", "?", "Enter")
	p.awaitText("dark j ? Enter")
	p.scheme("light")
	p.scripts(false)
	p.open(server.URL + "/keys")
	if text := strings.TrimSpace(p.text()); text != "" {
		t.Errorf("with scripts switched off the page says %q", text)
	}
}

package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// page is a tab of the browser, with cookies of its own. When the test ends it fails the test if the page had errors:
// messages on the console, exceptions, violations of its Content-Security-Policy, requests to anywhere else.
type page struct {
	t  *testing.T
	b  *chromium
	id string

	mu       sync.Mutex
	loads    int
	faults   []string
	requests []string // URLs, in order
	expected []string // parts of faults that the test expects
}

func newPage(t *testing.T) *page {
	t.Helper()
	b := open(t)
	p := &page{t: t, b: b}
	var context struct{ BrowserContextID string }
	var target struct{ TargetID string }
	var session struct{ SessionID string }
	p.must(b.call("", "Target.createBrowserContext", struct{}{}, &context))
	its := context.BrowserContextID
	p.must(b.call("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": its}, &target))
	p.must(b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session))
	p.id = session.SessionID
	b.mu.Lock()
	b.pages[p.id] = p
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network", "Audits"} {
		p.do(domain+".enable", nil)
	}
	p.size(1280, 800)
	t.Cleanup(func() {
		p.check()
		_ = b.call("", "Target.disposeBrowserContext", map[string]any{"browserContextId": its}, nil)
		b.mu.Lock()
		delete(b.pages, p.id)
		b.mu.Unlock()
	})
	return p
}

// take notes an event.
func (p *page) take(m message) {
	var e struct {
		Type             string
		Args             []struct{ Description, Value json.RawMessage }
		Entry            struct{ Level, Source, Text, URL string }
		Request          struct{ URL string }
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
		Issue struct {
			Code    string
			Details struct{ ContentSecurityPolicyIssueDetails json.RawMessage }
		}
	}
	if err := json.Unmarshal(m.Params, &e); err != nil {
		panic(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fault := ""
	switch m.Method {
	case "Page.loadEventFired":
		p.loads++
	case "Page.javascriptDialogOpening":
		fault = "a dialog opened: " + string(m.Params)
	case "Network.requestWillBeSent":
		p.requests = append(p.requests, e.Request.URL)
	case "Runtime.exceptionThrown":
		fault = e.ExceptionDetails.Text + " " + e.ExceptionDetails.Exception.Description
	case "Runtime.consoleAPICalled":
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			fault = "console." + e.Type + " " + string(m.Params)
		}
	case "Log.entryAdded":
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			fault = strings.Join([]string{e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL}, " ")
		}
	case "Audits.issueAdded":
		if e.Issue.Code == "ContentSecurityPolicyIssue" {
			fault = "CSP " + string(e.Issue.Details.ContentSecurityPolicyIssueDetails)
		}
	}
	known := slices.ContainsFunc(p.expected, func(part string) bool { return strings.Contains(fault, part) })
	if fault != "" && !known {
		p.faults = append(p.faults, fault)
	}
}

// expect lets faults with this text pass from now on.
func (p *page) expect(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, part)
}

// check fails the test if the page had faults since the last check.
func (p *page) check() {
	p.t.Helper()
	for _, fault := range p.found() {
		p.t.Errorf("the page has a fault: %s", fault)
	}
}

// found returns the faults since the last check.
func (p *page) found() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	faults := p.faults
	p.faults = nil
	return faults
}

// sent returns the requests to other places than those with the prefix.
func (p *page) sentElsewhere(prefix string) (others []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, url := range p.requests {
		if !strings.HasPrefix(url, prefix) && !strings.HasPrefix(url, "data:") {
			others = append(others, url)
		}
	}
	return others
}

func (p *page) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *page) do(method string, params map[string]any) {
	p.t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	p.must(p.b.call(p.id, method, params, nil))
}

// open loads an address, and waits until it is loaded.
func (p *page) open(url string) {
	p.t.Helper()
	p.load(url, func() {
		var answer struct{ ErrorText string }
		p.must(p.b.call(p.id, "Page.navigate", map[string]any{"url": url}, &answer))
		if answer.ErrorText != "" {
			p.t.Fatalf("%s: %s", url, answer.ErrorText)
		}
	})
}

// load waits until another document is loaded than the one before `by`.
func (p *page) load(what string, by func()) {
	p.t.Helper()
	p.mu.Lock()
	before := p.loads
	p.mu.Unlock()
	by()
	p.until(what+" to be loaded", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.loads > before
	})
}

func (p *page) until(what string, is func() bool) {
	p.t.Helper()
	for limit := time.Now().Add(patience); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			p.t.Fatalf("waited in vain for %s; the page says:\n%s\nfaults: %q", what, p.text(), p.found())
		}
	}
}

// js evaluates an expression in the page, waits for it if it is a promise, and stores its value in result. It works
// where the page's own scripts are switched off.
func (p *page) js(expression string, result any) {
	p.t.Helper()
	p.must(p.eval(expression, result))
}

func (p *page) eval(expression string, result any) error {
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	err := p.b.call(p.id, "Runtime.evaluate",
		map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	switch {
	case err != nil:
		return err
	case answer.ExceptionDetails != nil:
		return fmt.Errorf("%s: %s", answer.ExceptionDetails.Text, answer.ExceptionDetails.Exception.Description)
	case result == nil || answer.Result.Value == nil:
		return nil
	}
	return json.Unmarshal(answer.Result.Value, result)
}

// is reports whether an expression is true now; while a document is being replaced nothing is.
func (p *page) is(expression string) bool {
	var yes bool
	return p.eval("!!("+expression+")", &yes) == nil && yes
}

// await waits until an expression is true.
func (p *page) await(expression string) {
	p.t.Helper()
	p.until(expression, func() bool { return p.is(expression) })
}

// awaitText waits until the page shows a text.
func (p *page) awaitText(text string) {
	p.t.Helper()
	p.await("document.body.innerText.includes(" + quote(text) + ")")
}

// text is what the page shows.
func (p *page) text() (text string) {
	_ = p.eval("document.body ? document.body.innerText : ''", &text)
	return text
}

func quote(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// size sets the size of the window in CSS pixels. Below 500 it is that of a phone.
func (p *page) size(width, height int) {
	p.t.Helper()
	p.do("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
}

// scheme chooses "dark" or "light".
func (p *page) scheme(name string) {
	p.t.Helper()
	p.do("Emulation.setEmulatedMedia",
		map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": name}}})
}

func (p *page) scripts(on bool) {
	p.t.Helper()
	p.do("Emulation.setScriptExecutionDisabled", map[string]any{"value": !on})
}

func (p *page) offline() {
	p.t.Helper()
	p.do("Network.emulateNetworkConditions",
		map[string]any{"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
}

// keys are those whose names in DOM are not their character.
var keys = map[string]struct {
	code int
	text string
}{"Enter": {13, "\r"}, "Escape": {27, ""}, "Tab": {9, ""}, "ArrowDown": {40, ""}, "ArrowUp": {38, ""}}

// press presses keys one after the other, as named in DOM ("j", "?", "Enter").
func (p *page) press(names ...string) {
	p.t.Helper()
	for _, name := range names {
		key, named := keys[name]
		if !named {
			key.code, key.text = int(strings.ToUpper(name)[0]), name
		}
		event := map[string]any{"type": "keyDown", "key": name, "windowsVirtualKeyCode": key.code}
		if key.text != "" {
			event["text"] = key.text
		}
		p.do("Input.dispatchKeyEvent", event)
		p.do("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "windowsVirtualKeyCode": key.code})
	}
}

// typed puts a text where the keyboard's focus is.
func (p *page) typed(text string) {
	p.t.Helper()
	p.do("Input.insertText", map[string]any{"text": text})
}

// click clicks with the mouse on the first element that a selector finds, once it is there.
func (p *page) click(selector string) {
	p.t.Helper()
	p.await("document.querySelector(" + quote(selector) + ")")
	var at struct{ X, Y float64 }
	p.js(`(() => { const e = document.querySelector(`+quote(selector)+`)
		e.scrollIntoView({block: "center", behavior: "instant"})
		const r = e.getClientRects()[0]; return {X: r.x + r.width / 2, Y: r.y + r.height / 2} })()`, &at)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.do("Input.dispatchMouseEvent",
			map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1})
	}
}

// narrow fails the test if the page is wider than its window.
func (p *page) narrow() {
	p.t.Helper()
	if wide := p.wide(); wide != "" {
		p.t.Errorf("%s: %s", p.address(), wide)
	}
}

// wide says by what the page is wider than its window, or nothing.
func (p *page) wide() string {
	p.t.Helper()
	var wide struct {
		Page, Window int
		Elements     []string
	}
	p.js(`(() => { const window = document.documentElement.clientWidth
		const wide = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > window + 1)
		return {Page: document.documentElement.scrollWidth, Window: window,
			Elements: wide.slice(0, 5).map(e => e.outerHTML.slice(0, 100))} })()`, &wide)
	if wide.Page <= wide.Window {
		return ""
	}
	return fmt.Sprintf("%d pixels in a window of %d: %q", wide.Page, wide.Window, wide.Elements)
}

// address is the page's address without the token.
func (p *page) address() (path string) {
	p.js("location.pathname", &path)
	return path
}

// violation is a rule of axe-core that elements of the page break.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML, FailureSummary string
	}
}

// axe runs axe-core on the page in dark and in light, and fails the test for each serious or critical violation; others
// are logged.
func (p *page) axe() {
	p.t.Helper()
	for _, scheme := range []string{"dark", "light"} {
		p.scheme(scheme)
		for _, v := range p.violations() {
			report := p.t.Logf
			if v.Impact == "serious" || v.Impact == "critical" {
				report = p.t.Errorf
			}
			report("%s, %s: axe: %s: %s: %s", p.address(), scheme, v.Impact, v.ID, v.Help)
			for _, n := range v.Nodes[:min(3, len(v.Nodes))] {
				report("  %.200s\n  %s", n.HTML, n.FailureSummary)
			}
		}
	}
}

func (p *page) violations() (found []violation) {
	p.t.Helper()
	if !p.is("window.axe") {
		source, err := os.ReadFile(os.Getenv("WFS_AXE"))
		p.must(err)
		p.js(string(source)+";0", nil)
	}
	p.js("axe.run({resultTypes: ['violations']}).then(r => r.violations)", &found)
	return found
}

// picture returns the page as a PNG, from the beginning of an element to the end of another.
func (p *page) picture(from, until string) []byte {
	p.t.Helper()
	var size struct{ Top, Width, Height float64 }
	p.js(`(() => { const at = (selector) => document.querySelector(selector).getBoundingClientRect()
		const top = Math.max(0, Math.floor(scrollY + at(`+quote(from)+`).top) - 8)
		const bottom = Math.ceil(scrollY + at(`+quote(until)+`).bottom) + 16
		return {Top: top, Width: innerWidth, Height: bottom - top} })()`, &size)
	var shot struct{ Data []byte }
	p.must(p.b.call(p.id, "Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true,
		"clip": map[string]any{"x": 0, "y": size.Top, "width": size.Width, "height": size.Height, "scale": 1}}, &shot))
	return shot.Data
}

package browser

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// shop is a repository with a session in each state that the board groups by: csv-export waits for a person after a
// refuted claim, ready is done, paused has one attempt, stuck is blocked.
var shop = testkit.Template{Fast: true}

func newShop(t *testing.T) *testkit.Repo {
	t.Helper()
	if os.Getenv("WFS_BROWSER") == "" {
		open(t) // skips
	}
	return shopWithoutBrowser(t)
}

// shopWithoutBrowser is newShop for tests that send their requests themselves, and so run everywhere.
func shopWithoutBrowser(t *testing.T) *testkit.Repo {
	t.Helper()
	r := shop.Copy(t, makeShop)
	if err := os.RemoveAll(filepath.Join(filepath.Dir(r.Dir), "state")); err != nil { // it names the template
		t.Fatal(err)
	}
	r.Trust("ready", "stuck", "paused", "csv-export")
	return r
}

const failing = "printf '1..1\\nnot ok 1 reads\\n' > tests.tap"

func makeShop(r *testkit.Repo) {
	begin(r)
	r.OK("wfs", "new", "ready", "--workflow", "plain", "--agent", "sh ../agent.sh")
	r.OK("wfs", "run")
	r.OK("wfs", "switch", "main")
	r.OK("wfs", "new", "stuck", "--workflow", "plain", "--agent", failing)
	exits(r, testkit.ExitBlocked, "wfs", "run")
	r.OK("wfs", "switch", "main")
	r.OK("wfs", "new", "paused", "--workflow", "plain", "--agent", failing)
	_, _ = r.Try("wfs", "run", "--max-attempts", "1")
	r.OK("wfs", "switch", "main")
	r.OK("wfs", "new", "csv export", "--agent", "sh ../agent.sh")
	exits(r, testkit.ExitDecision, "wfs", "run")
}

// begin creates the repository and its agent, which says after a first attempt that it is done when it is not.
func begin(r *testkit.Repo) {
	r.WriteAll(map[string]string{
		"../gitconfig": testkit.GitConfig,
		"../agent.sh": `case $WFS_ATTEMPT in
1) printf '1..2\nok 1 reads\nnot ok 2 quotes commas\n' > tests.tap
   printf 'package shop\n\n// Field is a field of CSV.\nfunc Field(s string) string { return s }\n' > csv.go
   echo '{"done": true}' > "$WFS_RESULT"
   echo 'Fixed, all tests pass.' ;;
*) printf '1..2\nok 1 reads\nok 2 quotes commas\n' > tests.tap
   printf 'package shop\n\n// Field is a field of CSV, quoted.\n' > csv.go
   printf 'func Field(s string) string { return "\\"" + s + "\\"" }\n' >> csv.go
   echo 'Fields are quoted now.' ;;
esac
`,
		"csv.go":    "package shop\n\n// Field is a field of CSV.\n",
		"tests.tap": "1..1\nok 1 reads\n",
		".wfs/config.yaml": "version: 1\nworkflow: reviewed-by-me\n" +
			"gates:\n  tests: {run: cat tests.tap, format: tap}\n",
		".wfs/workflows/plain.yaml": "version: 1\nname: plain\nstart: WORK\nphases:\n" +
			"  WORK: {run: agent, gates: [{use: tests}], on: {pass: done, fail: WORK}}\n",
		".wfs/workflows/reviewed-by-me.yaml": "version: 1\nname: reviewed-by-me\nstart: WORK\nphases:\n" +
			"  WORK: {run: agent, gates: [{use: tests}], on: {pass: REVIEW, fail: WORK}}\n" +
			"  REVIEW: {run: human, brief: Read the work., gates: [{use: tests}], on: {pass: done, fail: WORK}}\n",
	})
	r.OK("git", "init", "-q")
	r.OK("git", "add", "-A")
	r.OK("git", "commit", "-q", "-m", "start")
	r.OK("wfs", "trust", "--yes")
}

func exits(r *testkit.Repo, want int, args ...string) string {
	r.T.Helper()
	out, exit := r.Try(args...)
	if exit != want {
		r.T.Fatalf("%s: exit %d, want %d: %s", strings.Join(args, " "), exit, want, out)
	}
	return out
}

// ui is a running `wfs ui`.
type ui struct {
	r         *testkit.Repo
	addresses chan string // each opens the page once
	origin    string
	root      string // address of the board
	stop      func() // ends wfs ui, as Ctrl-C does
}

var printedAddress = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+/\S*token=\w+`)

// serve starts `wfs ui`, which ends with the test.
func serve(r *testkit.Repo, args ...string) *ui {
	t := r.T
	t.Helper()
	u := &ui{r: r, addresses: make(chan string, 100)}
	cmd := exec.Command(testkit.Wfs(t), append([]string{"ui"}, args...)...)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	ended := make(chan struct{})
	go u.read(out, io.Discard)
	go func() { u.read(errs, &said); close(ended) }()
	u.stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		<-ended
		_ = cmd.Wait()
	})
	t.Cleanup(func() {
		u.stop()
		if t.Failed() {
			t.Logf("wfs ui said: %s", said.String())
		}
	})
	address := u.address()
	u.addresses <- address
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.origin = at.Scheme + "://" + at.Host
	u.root = u.origin + at.Path
	return u
}

// read collects the addresses in an output.
func (u *ui) read(from io.Reader, to io.Writer) {
	for lines := bufio.NewScanner(io.TeeReader(from, to)); lines.Scan(); {
		if address := printedAddress.FindString(lines.Text()); address != "" {
			u.addresses <- address
		}
	}
}

// address returns an address that has not been opened yet.
func (u *ui) address() string {
	u.r.T.Helper()
	select {
	case address := <-u.addresses:
		return address
	case <-time.After(patience):
		u.r.T.Fatal("wfs ui printed no address")
		return ""
	}
}

// open opens the board in a tab of its own.
func (u *ui) open(t *testing.T) *page {
	t.Helper()
	p := newPage(t)
	u.enter(p)
	return p
}

func (u *ui) enter(p *page) {
	p.t.Helper()
	p.open(u.address())
	p.await("location.href === " + quote(u.root) + " && document.readyState === 'complete'")
}

// session opens the page of a session by the link on the board.
func (u *ui) session(p *page, id string) {
	p.t.Helper()
	p.open(u.root)
	p.load(id, func() { p.click("main a[href$=" + quote("/"+id) + "]") })
}

// cookie returns the cookie that a browser gets with the next address.
func (u *ui) cookie() *http.Cookie {
	u.r.T.Helper()
	return u.cookieAt(u.address())
}

func (u *ui) cookieAt(address string) *http.Cookie {
	u.r.T.Helper()
	answer := u.send("GET", address, nil, nil)
	if answer.StatusCode != http.StatusOK || len(answer.Cookies()) != 1 {
		u.r.T.Fatalf("%s, cookies %v", answer.Status, answer.Cookies())
	}
	return answer.Cookies()[0]
}

// body returns the text of an answer.
func body(r *http.Response) string {
	data, _ := io.ReadAll(r.Body)
	return string(data)
}

func between(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	return text
}

// send sends a request beside the browser, with these headers ("Host" among them), and returns the answer. It follows
// no redirection.
func (u *ui) send(method, address string, headers map[string]string, form url.Values) *http.Response {
	u.r.T.Helper()
	request, err := http.NewRequest(method, address, strings.NewReader(form.Encode()))
	if err != nil {
		u.r.T.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range headers {
		request.Header.Set(name, value)
		if name == "Host" {
			request.Host = value
		}
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := http.Client{Timeout: patience, CheckRedirect: stay}
	answer, err := client.Do(request)
	if err != nil {
		u.r.T.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil {
		u.r.T.Fatal(err)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer
}

// pipe is a named pipe in the home, at which an agent waits until the test writes a line.
func pipe(r *testkit.Repo, name string) (release func()) {
	r.T.Helper()
	path := filepath.Join(filepath.Dir(r.Dir), name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		r.T.Fatal(err)
	}
	return func() {
		r.T.Helper()
		if err := os.WriteFile(path, []byte("go\n"), 0o600); err != nil {
			r.T.Fatal(err)
		}
	}
}

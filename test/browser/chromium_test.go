// Package browser tests `wfs ui` and `wfs report` of the built binary in a real Chromium. .ci/browser installs one and
// runs the suite; without WFS_BROWSER all of it is skipped.
package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) {
	code := testkit.Main(m)
	if theBrowser.started != nil {
		theBrowser.started.stop()
	}
	os.Exit(code)
}

// patience limits a wait for something that is sure to come; a test that needs it has failed.
const patience = 60 * time.Second

// chromium is a running browser. It is driven with the Chrome DevTools Protocol through a pair of pipes, in which a
// message is JSON and ends with a zero byte.
type chromium struct {
	cmd     *exec.Cmd
	profile string
	to      io.WriteCloser

	mu      sync.Mutex
	calls   int
	waiting map[int]chan message
	pages   map[string]*page // by the id of the protocol's session
	ended   error
}

// message is a call, its answer, or an event.
type message struct {
	ID     int                             `json:"id,omitempty"`
	Page   string                          `json:"sessionId,omitempty"`
	Method string                          `json:"method,omitempty"`
	Params json.RawMessage                 `json:"params,omitempty"`
	Result json.RawMessage                 `json:"result,omitempty"`
	Error  *struct{ Message, Data string } `json:"error,omitempty"`
}

var theBrowser struct {
	sync.Mutex
	started *chromium
	err     error
}

// open returns the browser that all tests share. It is started by the first test that needs it.
func open(t *testing.T) *chromium {
	t.Helper()
	program := os.Getenv("WFS_BROWSER")
	if program == "" {
		t.Skip("WFS_BROWSER names no browser; .ci/browser installs one")
	}
	theBrowser.Lock()
	defer theBrowser.Unlock()
	if theBrowser.started == nil && theBrowser.err == nil {
		theBrowser.started, theBrowser.err = start(program)
	}
	if theBrowser.err != nil {
		t.Fatal(theBrowser.err)
	}
	return theBrowser.started
}

// otherHost is a name for the loopback address that is not the page's own, as an attacker's DNS server could give one.
// The browser resolves no other name.
const otherHost = "attacker.test"

func start(program string) (*chromium, error) {
	profile, err := os.MkdirTemp("", "wfs-chromium-")
	if err != nil {
		return nil, err
	}
	b := &chromium{profile: profile, waiting: map[int]chan message{}, pages: map[string]*page{}}
	b.cmd = exec.Command(program, "--headless", "--remote-debugging-pipe", "--user-data-dir="+profile, "--no-first-run",
		"--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-sync",
		"--disable-background-networking", "--disable-component-update", "--no-default-browser-check",
		"--hide-scrollbars", "--font-render-hinting=none", "--disable-lcd-text", "--lang=en",
		"--host-resolver-rules=MAP "+otherHost+" 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
	if os.Getuid() == 0 {
		b.cmd.Args = append(b.cmd.Args, "--no-sandbox") // Chromium has no sandbox for root
	}
	b.cmd.Args = append(b.cmd.Args, "about:blank")
	b.cmd.Env = append(os.Environ(), "HOME="+profile)
	said, err := os.Create(filepath.Join(profile, "said"))
	if err != nil {
		return nil, err
	}
	b.cmd.Stderr = said
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	theirs, to, err := os.Pipe()
	from, theirsToo, err2 := os.Pipe()
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	b.cmd.ExtraFiles = []*os.File{theirs, theirsToo} // descriptors 3 and 4
	b.to = to
	if err := b.cmd.Start(); err != nil {
		return nil, fmt.Errorf("WFS_BROWSER: %w", err)
	}
	for _, f := range []*os.File{theirs, theirsToo, said} {
		f.Close()
	}
	go b.read(from)
	return b, nil
}

func (b *chromium) read(from io.Reader) {
	in := bufio.NewReader(from)
	for {
		data, err := in.ReadBytes(0)
		var m message
		if err == nil {
			err = json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &m)
		}
		b.mu.Lock()
		if err != nil {
			b.ended = fmt.Errorf("the browser ended: %w", err)
			for _, answer := range b.waiting {
				close(answer)
			}
			b.waiting = nil
			b.mu.Unlock()
			return
		}
		answer, at := b.waiting[m.ID], b.pages[m.Page]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		switch {
		case m.ID != 0 && answer != nil:
			answer <- m
		case m.ID == 0 && at != nil:
			at.take(m)
		}
	}
}

// call calls a method of the protocol, and stores its answer in result unless that is nil. page is "" for methods of
// the browser itself.
func (b *chromium) call(page, method string, params, result any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	b.mu.Lock()
	if b.ended != nil {
		b.mu.Unlock()
		return fmt.Errorf("%w\n%s", b.ended, b.said())
	}
	b.calls++
	answer := make(chan message, 1)
	b.waiting[b.calls] = answer
	data, err := json.Marshal(message{ID: b.calls, Page: page, Method: method, Params: raw})
	if err == nil {
		_, err = b.to.Write(append(data, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("%s: the browser ended\n%s", method, b.said())
		case m.Error != nil:
			return fmt.Errorf("%s: %s %s", method, m.Error.Message, m.Error.Data)
		case result != nil:
			return json.Unmarshal(m.Result, result)
		}
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s: no answer\n%s", method, b.said())
	}
}

func (b *chromium) stop() {
	_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL) // nothing in its profile is worth a longer goodbye
	_ = b.cmd.Wait()
	_ = os.RemoveAll(b.profile)
}

// said is what the browser wrote to its standard error.
func (b *chromium) said() string {
	data, _ := os.ReadFile(filepath.Join(b.profile, "said"))
	return string(data)
}

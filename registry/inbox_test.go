package registry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func post(t testing.TB, c *Clone, text string, at time.Time, salt string) session.Request {
	t.Helper()
	r, err := c.Session("auth").Inbox().Post(session.Request{Kind: session.RequestNote, Text: text}, at, salt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func texts(t testing.TB, c *Clone) []string {
	t.Helper()
	list, err := c.Session("auth").Inbox().Requests()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range list {
		all = append(all, r.Text)
	}
	return all
}

// TestInboxOrder keeps requests in order, even if the clock stops or goes back.
func TestInboxOrder(t *testing.T) {
	t.Parallel()
	c := clone(t)
	if got := texts(t, c); got != nil {
		t.Fatalf("an inbox that is not there holds %q", got)
	}
	if _, err := os.Stat(c.Dir()); err == nil {
		t.Fatal("looking made a directory")
	}
	var want []string
	for i, at := range []time.Time{noon, noon, noon.Add(-time.Hour), noon.Add(time.Nanosecond), noon.Add(-time.Hour), noon.Add(time.Hour)} {
		text := fmt.Sprint(i)
		post(t, c, text, at, fmt.Sprintf("%08x", 99-i))
		want = append(want, text)
	}
	if got := texts(t, c); !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

// TestInboxMany posts from many goroutines at once. No request gets lost.
func TestInboxMany(t *testing.T) {
	t.Parallel()
	c := clone(t)
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { post(t, c, fmt.Sprint(i), noon, fmt.Sprintf("%08x", i)) })
	}
	wg.Wait()
	if got := texts(t, c); len(got) != n {
		t.Errorf("%d of %d are there: %q", len(got), n, got)
	}
}

// TestInboxWithdraw removes a request permanently, and accepts that it is missing.
func TestInboxWithdraw(t *testing.T) {
	t.Parallel()
	c := clone(t)
	one, two := post(t, c, "one", noon, "aa"), post(t, c, "two", noon, "bb")
	for range 2 {
		if err := c.Session("auth").Inbox().Withdraw(one.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := texts(t, c); !slices.Equal(got, []string{"two"}) {
		t.Errorf("left: %q", got)
	}
	if err := c.Session("auth").Inbox().Withdraw("../" + two.ID); err == nil {
		t.Error("a request's id led out of the inbox")
	}
}

// TestInboxGarbage skips invalid requests. The lock's holder sets them aside; those of a newer wfs stay.
func TestInboxGarbage(t *testing.T) {
	t.Parallel()
	c := clone(t)
	post(t, c, "good", noon, "aa")
	dir := filepath.Join(c.Dir(), "sessions/auth/inbox")
	for name, text := range map[string]string{
		"00000000000000000000-torn.json": `{"v":1,"kind":"no`, "00000000000000000001-kind.json": `{"v":1,"kind":"dance"}`,
		"00000000000000000002-newer.json": `{"v":2,"kind":"dance"}`, durable.TempPrefix + "1": "half", "readme": "",
		"00000000000000000003-large.json": strings.Repeat(" ", maxRequest+1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "00000000000000000004-link.json")); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, c); !slices.Equal(got, []string{"good"}) {
		t.Errorf("found %q", got)
	}
	j, err := c.Session("auth").Journal("")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if got, err := j.Requests(); err != nil || len(got) != 1 {
		t.Errorf("found %v, %v", got, err)
	}
	bad, err := filepath.Glob(filepath.Join(dir, "*.bad"))
	if err != nil || len(bad) != 4 {
		t.Errorf("set aside: %v, %v", bad, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "00000000000000000002-newer.json")); err != nil {
		t.Error(err)
	}
}

// TestInboxIsPrivate refuses an inbox that is a link to elsewhere.
func TestInboxIsPrivate(t *testing.T) {
	t.Parallel()
	c := clone(t)
	post(t, c, "one", noon, "aa")
	dir := filepath.Join(c.Dir(), "sessions/auth/inbox")
	if err := os.Rename(dir, dir+"-real"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir+"-real", dir); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Session("auth").Inbox().Requests(); !errors.Is(err, durable.ErrNotPrivate) {
		t.Errorf("Requests: %v", err)
	}
	if _, err := c.Session("auth").Inbox().Post(session.Request{Kind: session.RequestNote}, noon, "bb"); !errors.Is(err, durable.ErrNotPrivate) {
		t.Errorf("Post: %v", err)
	}
}

// TestEnded returns the end of a run only to callers that ask about that run.
func TestEnded(t *testing.T) {
	t.Parallel()
	c := clone(t)
	if _, found := c.Session("auth").Ended(""); found {
		t.Error("found the end of a run that never was")
	}
	post(t, c, "one", noon, "aa") // makes the directory
	if err := c.Session("auth").KeepEnded(Ended{Driver: "7-1", Exit: 4}); err != nil {
		t.Fatal(err)
	}
	if e, found := c.Session("auth").Ended("7-1"); !found || e.Exit != 4 {
		t.Errorf("%+v, %v", e, found)
	}
	if _, found := c.Session("auth").Ended("7-2"); found {
		t.Error("found another run's end")
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(`{"v":1,"at":1,"kind":"note","text":"hello"}`))
	f.Add([]byte(`{"v":1,"at":1,"kind":"stop","driver":"7-1"}`))
	f.Add([]byte(`{"v":1,"at":1,"kind":"now"}`))
	f.Add([]byte(`{"v":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, ok := parseRequest(data)
		known := []session.RequestKind{session.RequestNote, session.RequestStop, session.RequestNow, session.RequestAllow,
			session.RequestBudget}
		if ok && r.V <= FormatVersion && !slices.Contains(known, r.Kind) {
			t.Errorf("took %q for a request", data)
		}
	})
}

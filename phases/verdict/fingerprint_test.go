package verdict

import (
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestFingerprintOfMessages: two runs with the same failure have one fingerprint, whatever a clock, a port, a random
// number or a map put into their messages. Different failures have different ones.
func TestFingerprintOfMessages(t *testing.T) {
	t.Parallel()
	of := func(message string) string {
		return Fingerprint(session.ClassTargetFailing, []session.TestID{"t"}, map[session.TestID]string{"t": message})
	}
	for _, same := range [][2]string{
		{"got 4, want 2", "got 17, want 2"},
		{"/tmp/TestAdd123/001/a.txt: no such file", "/tmp/TestAdd98765/002/a.txt: no such file"},
		{`C:\Users\me\AppData\Local\Temp\x1\a.txt is gone`, `C:\Users\me\AppData\Local\Temp\x22\a.txt is gone`},
		{"panic at 0xc000012345", "panic at 0xc0000abcde"},
		{"goroutine 18 [running]:\nmain.f(0x1)", "goroutine 7 [running]:\nmain.f(0x2)"},
		{"dial tcp 127.0.0.1:34567: refused", "dial tcp 127.0.0.1:50001: refused"},
		{"id 550e8400-e29b-41d4-a716-446655440000 is unknown", "id 6ba7b810-9dad-11d1-80b4-00c04fd430c8 is unknown"},
		{"at 2030-01-02T03:04:05.678Z", "at 2031-11-12T13:14:15Z"},
		{"Mon, 02 Jan 2006 15:04:05 GMT", "Wednesday, 21 November 2026 04:05:06 GMT"},
		{"Sat Nov 21 14:02:11 2026 it broke", "Sun Dec  1 04:12:19 2026 it broke"},
		{"took 1m2.5s", "took 350ms"},
		{"took 0.52 seconds", "took 12.1 seconds"},
		{"--- seed=1699312345 shuffle", "--- seed=42 shuffle"},
		{"com.x.Foo@1a2b3c4d expected", "com.x.Foo@77f03bb1 expected"},
		{"<Foo object at 0x7f12ab>", "<Foo object at 0x7fffcc>"},
		{"\x1b[31mFAIL\x1b[0m got 3", "FAIL got 4"},
		{"commit deadbeefcafe0123 is wrong", "commit 0123456789abcdef is wrong"},
		{"cannot open tmpab3x9z_k", "cannot open tmp0qwert_1"},
		{"first failed\nsecond failed\n", "second failed\nfirst failed"},
		{"a (12:3)", "a (7:44)"},
		{"session 4f9kq2x7w1 expired", "session b7d2m1z8r3p expired"},
		{"3 passed, 1 failed in 0.02s", "3 passed, 1 failed in 11.90s"},
		{strings.Repeat("/tmp/a1/b/c ", 20) + "\nend", strings.Repeat("/tmp/a1234567/b/c ", 20) + "\nend"},
	} {
		if of(same[0]) != of(same[1]) {
			t.Errorf("these should be one failure:\n%q\n%q\n%q\n%q", same[0], same[1], normalised(same[0]), normalised(same[1]))
		}
	}
	for _, other := range [][2]string{
		{"undefined: Add", "undefined: Sub"},
		{"nil pointer dereference", "index out of range"},
		{"expected feedback", "expected defaced"},
		{"got true, want false", "got false, want true"},
		{"KeyError: 'name'", "KeyError: 'size'"},
		{"", "something"},
		{"a.go:3: missing return", "a.go:3: unused variable x"},
		{"line one", "line one\nline two"},
	} {
		if of(other[0]) == of(other[1]) {
			t.Errorf("these are two failures: %q and %q (%q)", other[0], other[1], normalised(other[0]))
		}
	}
	if Fingerprint(session.ClassTargetFailing, []session.TestID{"b", "a"}, nil) != Fingerprint(session.ClassTargetFailing, []session.TestID{"a", "b"}, nil) {
		t.Error("the order of tests counts")
	}
	// A huge message costs little.
	if n := len(normalised(strings.Repeat("word ", 10<<20))); n > maxTellingLine {
		t.Errorf("%d bytes", n)
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	of := func(message string) string {
		return Fingerprint(session.ClassTargetFailing, []session.TestID{"a", "b"}, map[session.TestID]string{"a": message})
	}
	same := []string{
		"/tmp/TestX123/001/f.go:12: took 1.5s at 0xc000123 on 2026-01-02T03:04:05Z",
		"/var/folders/x/y/f.go:7: took 20ms at 0x1 on 2031-11-12T13:14:15Z",
	}
	if of(same[0]) != of(same[1]) {
		t.Errorf("differ: %q, %q", normalised(same[0]), normalised(same[1]))
	}
	if of(same[0]) == of("something else") {
		t.Error("equal")
	}
	if of("x") == Fingerprint(session.ClassBrokeGreen, []session.TestID{"a", "b"}, map[session.TestID]string{"a": "x"}) {
		t.Error("the class does not count")
	}
}

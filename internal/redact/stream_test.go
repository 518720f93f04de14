package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func stream(r *Redactor, text string, pieces func() int) string {
	var out bytes.Buffer
	s := r.Stream(&out)
	for len(text) > 0 {
		n := min(max(1, pieces()), len(text))
		s.Write([]byte(text[:n]))
		text = text[n:]
	}
	s.Close()
	return out.String()
}

// TestStreamIsString compares the result for pieces with that for the whole text.
func TestStreamIsString(t *testing.T) {
	t.Parallel()
	r := New(environ)
	rnd := rand.New(rand.NewPCG(3, 4))
	var lines []string
	for name, text := range planted() {
		if name != "open block" {
			lines = append(lines, text, "nothing to see here", "")
		}
	}
	for range 20 {
		rnd.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		text := strings.Join(lines, "\n")
		whole := stream(r, text, func() int { return len(text) })
		if got := stream(r, text, func() int { return rnd.IntN(90) }); strings.ReplaceAll(got, "\n", "") != strings.ReplaceAll(whole, "\n", "") {
			t.Fatalf("%q\nand at once\n%q", got, whole)
		}
	}
}

// TestStreams compares the two outputs of one stream with those of two streams.
func TestStreams(t *testing.T) {
	t.Parallel()
	r := New(environ)
	rnd := rand.New(rand.NewPCG(13, 14))
	var lines []string
	for _, text := range planted() {
		lines = append(lines, text, "nothing to see here", "\x1b[1m"+text+"\x1b[0m")
	}
	for n := range 20 {
		rnd.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		text := strings.Join(lines, []string{"\n", " "}[n%2])
		var all, forms, wantAll, wantForms bytes.Buffer
		streams := []*Stream{r.Streams(&all, &forms), r.Stream(&wantAll), r.Forms().Stream(&wantForms)}
		for rest := []byte(text); len(rest) > 0; {
			n := min(1+rnd.IntN(5000), len(rest))
			for _, s := range streams {
				s.Write(rest[:n])
			}
			rest = rest[n:]
		}
		for _, s := range streams {
			s.Close()
		}
		if all.String() != wantAll.String() || forms.String() != wantForms.String() || forms.String() == all.String() {
			t.Errorf("%d bytes become %d and %d, want %d and %d", len(text), all.Len(), forms.Len(), wantAll.Len(), wantForms.Len())
		}
	}
}

// TestBeginnings has secrets at the start of a text, and of a line.
func TestBeginnings(t *testing.T) {
	t.Parallel()
	r := New(nil)
	token := drawn(rand.New(rand.NewPCG(15, 16)), letters, 30)
	for _, text := range []string{"earer " + token + "\x1b[0m", "Bearer " + token, "--password " + token, "x\n--api-key " + token, "\"--password " + token, "glpat-" + token,
		"-" + "glpat-" + token, "password=" + token, "://a:" + token + "@b",
		"run --spring-datasource-hikari-main-password " + token} {
		if got := r.String(text); strings.Contains(got, token) {
			t.Errorf("%q", got)
		}
	}
}

// TestLongLines puts secrets at every position of lines that do not end.
func TestLongLines(t *testing.T) {
	t.Parallel()
	r := New(environ)
	token := "ghp_" + drawn(rand.New(rand.NewPCG(5, 6)), letters, 36)
	for _, at := range []int{0, 1000, longest - held - 40, longest - held - 20, longest - held, longest - 20, longest, 2*longest - held, 3 * longest} {
		for _, filler := range []string{"a ", "{\"k\":1},"} {
			text := strings.Repeat(filler, at/len(filler)) + " password=\"" + token + "\" plain-words-and-nothing-else " + strings.Repeat(filler, 2*longest/len(filler))
			got := stream(r, text, func() int { return 4093 })
			if strings.Contains(got, token[4:]) || strings.Contains(got, "plain-words") || strings.Count(got, "[redacted") != 2 {
				t.Errorf("%q at %d: %d bytes, %d marks", filler, at, len(got), strings.Count(got, "[redacted"))
			}
			if want := strings.Repeat(filler, 2*longest/len(filler)); !strings.HasSuffix(got, want) {
				t.Errorf("%q at %d: the end is missing", filler, at)
			}
		}
	}
}

// TestKeys has private keys with all kinds of text around their lines, at once and in pieces.
func TestKeys(t *testing.T) {
	t.Parallel()
	r := New(nil)
	line := func(n int) string {
		return fmt.Sprintf("MIIEow%dIBAAKCAQEAPLANTED/K3f9Qm2XyT7bWz4sLr8HcNd1PqEjU6iAoGtVhYkMnB", n)
	}
	body := []string{"-----BEGIN RSA PRIVATE KEY-----", line(1), line(2), line(3), "Rw8PLANTEDTQm2==", "-----END RSA PRIVATE KEY-----"}
	const colour, off = "\x1b[32m", "\x1b[0m"
	for name, text := range map[string]string{
		"plain":     strings.Join(body, "\n"),
		"CRLF":      strings.Join(body, "\r\n"),
		"time":      "12:00:01 x | " + strings.Join(body, "\n12:00:02 x | "),
		"diff":      "+" + strings.Join(body, "\n+"),
		"colour":    colour + strings.Join(body, off+"\n"+colour) + off,
		"highlight": strings.ReplaceAll(strings.Join(body, "\n"), "PLANTED", "PLA"+colour+"NTED"+off),
		"JSON":      `{"a": "` + strings.Join(body, `\n`) + `", "b": 1}`,
		"JSON diff": `{"a": "+` + strings.Join(body, `\r\n+`) + `", "b": 1}`,
		"twice":     `{"a": "{\"b\": \"` + strings.ReplaceAll(strings.Join(body, `\\n`), "/", `\\/`) + `\"}"}`,
		"lines":     `{"Output":"    ` + strings.Join(body, "\\n\"}\n{\"Output\":\"    ") + `\n"}`,
		"coloured":  `{"a": "\u001b[1m` + strings.Join(body, `\u001b[0m\n\u001b[1m`) + `"}`,
		"one line":  strings.Join(body, " "),
		"no end":    strings.Join(body[:5], "\n"),
		"between":   strings.Join(body, "\nserver: GET /x 200\n"),
		"headers":   strings.Join(append([]string{body[0], "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,PLANTED", ""}, body[1:]...), "\n"),
	} {
		whole := r.String("before\n" + text + "\nafter it\n")
		if strings.Contains(whole, "PLANTED") || strings.Count(whole, "[redacted") != 1 ||
			!strings.HasPrefix(whole, "before\n") || !strings.HasSuffix(whole, "\nafter it\n") {
			t.Errorf("%s: %q", name, whole)
		}
		if strings.HasPrefix(text, "{") {
			for l := range strings.Lines(strings.TrimSuffix(strings.TrimPrefix(whole, "before\n"), "after it\n")) {
				if !json.Valid([]byte(l)) {
					t.Errorf("%s: %q", name, l)
				}
			}
		}
		for n := 1; n < 100; n += 13 {
			if got := stream(r, "before\n"+text+"\nafter it\n", func() int { return n }); strings.Contains(got, "PLANTED") {
				t.Errorf("%s by %d: %q", name, n, got)
			}
		}
		long := strings.Repeat("x ", longest) // a line too long to hold back, split anywhere in a key
		for at := range 8 {
			got := stream(r, long+strings.Repeat(".", at*97)+" "+strings.ReplaceAll(text, "\n", `\n`)+`\n`+long, func() int { return 4093 })
			if strings.Contains(got, "PLANTED") {
				t.Errorf("%s in a long line at %d", name, at)
			}
		}
	}
	public := "-----BEGIN CERTIFICATE-----\n" + line(1) + "\n-----END CERTIFICATE-----\nThe PRIVATE KEY is elsewhere:\n" + line(2) + "\n"
	if got := r.String(public); got != public {
		t.Errorf("%q", got)
	}
}

// TestStreamIsBounded writes text without an end, and measures the held-back part.
func TestStreamIsBounded(t *testing.T) {
	t.Parallel()
	r := New(nil)
	for name, p := range map[string]string{"one line": "x", "a token": "ghp_abc123", "names": "password=", "a key": "-----BEGIN RSA PRIVATE KEY-----"} {
		var n counter
		s := r.Stream(&n)
		p := []byte(strings.Repeat(p, 1+50_000/len(p)))
		for range 5 {
			s.Write(p)
			if cap(s.rest) > 8*longest {
				t.Fatalf("%s: %d bytes are kept", name, cap(s.rest))
			}
		}
		s.Close()
		if n == 0 {
			t.Errorf("%s: nothing came through", name)
		}
	}
	// Endless lines that look like a private key are not one.
	var out bytes.Buffer
	s := r.Stream(&out)
	fmt.Fprintln(s, "-----BEGIN RSA PRIVATE KEY-----")
	for range 2 * keyMax / 64 {
		fmt.Fprintln(s, strings.Repeat("abcd", 16))
	}
	s.Close()
	if !strings.Contains(out.String(), "abcdabcd") {
		t.Error("everything behind the beginning of a key is gone")
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// FuzzString takes any text: nothing panics, redacting twice changes nothing, and a stream of whole lines gives the
// same result.
func FuzzString(f *testing.F) {
	r := New(environ)
	i := 0
	for _, text := range planted() {
		if i++; i < 20 {
			f.Add(text)
		}
	}
	f.Add("password=\"a1b2c3d4e5\\u003d://x:y1234@h -----BEGIN PRIVATE KEY-----\\nMII\\n\"}")
	f.Fuzz(func(t *testing.T, text string) {
		once := r.String(text)
		if again := r.String(once); again != once && !strings.Contains(text, "[redacted") {
			t.Errorf("%q: %q, then %q", text, once, again)
		}
		stream(r, text, func() int { return 7 })
	})
}

// BenchmarkString also reports its time as a multiple of that of a digest of the same text, in the same run.
func BenchmarkString(b *testing.B) {
	r := New(environ)
	text := strings.Repeat("2026-11-20 15:20:11 INFO server: request id=550e8400 path=/v1/users took 12ms\n\tgot := parse(key, token)\n", 1000)
	b.SetBytes(int64(len(text)))
	var digest time.Duration
	for b.Loop() {
		r.String(text)
		b.StopTimer()
		began := time.Now()
		sha256.Sum256([]byte(text))
		digest += time.Since(began)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(digest), "x-sha256")
}

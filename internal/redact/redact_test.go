package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// drawn returns random text from a set of characters; the same in every run.
func drawn(r *rand.Rand, chars string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[r.IntN(len(chars))]
	}
	return string(b)
}

const (
	letters  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	hexes    = "0123456789abcdef"
	base32s  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	urlChars = letters + "-_"
)

// environ is the environment for New in tests.
var environ = []string{
	"ANTHROPIC_API_KEY=plain-words-and-nothing-else", "DB_PASSWORD=it's \"quoted\" & <odd>", "MY_SECRET=line number one\nline number two",
	"PATH=/usr/bin:/usr/local/bin", "SSH_AUTH_SOCK=/tmp/ssh-abc/agent.12345", "AUTH_TYPE=password1234", "TOKEN_SHORT=abc", "MODE_TOKEN=disabled",
	"PWD=/home/someone/project", "GOOGLE_APPLICATION_CREDENTIALS=/home/someone/key.json", "EDITOR=some-editor-command",
}

// planted returns secrets with text around them. They are generated here, so that no scanner finds this file.
func planted() map[string]string {
	r := rand.New(rand.NewPCG(7, 11))
	a := func(n int) string { return drawn(r, letters, n) }
	all := map[string]string{
		"key block":  "-----BEGIN RSA PRIVATE KEY-----\n" + drawn(r, letters+"+/", 64) + "\n" + drawn(r, letters+"+/", 64) + "\n-----END RSA PRIVATE KEY-----",
		"open block": "-----BEGIN OPENSSH PRIVATE KEY-----\n" + drawn(r, letters+"+/", 64) + "\n" + drawn(r, letters+"+/", 64),
		"jwt":        "eyJ" + a(20) + ".eyJ" + a(40) + "." + drawn(r, urlChars, 43),
		"basic":      "Authorization: Basic " + a(30) + "==",
		"bearer":     "curl -H 'Authorization: Bearer " + drawn(r, urlChars, 40) + "'",
		"address":    "postgres://app:" + a(12) + "@db.example.com:5432/app",
		"short":      "redis://:" + a(9) + "@localhost",
		"env":        "export API_KEY=" + a(24),
		"quoted":     `password = "` + a(13) + `7"`,
		"yaml":       "client_secret: " + a(32),
		"json":       `{"apiKey":"` + drawn(r, hexes, 32) + `"}`,
		"aws":        "aws_secret_access_key = " + drawn(r, letters+"+/", 40),
		"flag":       "login --password " + a(12) + " --user me",
		"arrow":      `:secret_key => '` + a(30) + `'`,
		"npmrc":      "//registry.npmjs.org/:_authToken=" + a(36),
		"symbols":    `DB_PASSWORD="p4` + a(6) + `!#%"`,
		"query":      "https://example.com/x?access_token=" + a(30) + "&y=1",
		"digits":     "xoxb-" + drawn(r, "0123456789", 12) + "-" + drawn(r, "0123456789", 13),
		"telegram":   "https://api.telegram.org/bot123456789:AA" + drawn(r, urlChars, 33) + "/getMe",
		"weak":       `token: "` + a(32) + `"`,
		"value":      "the key is plain-words-and-nothing-else, use it",
		"odd value":  `echo it's "quoted" & <odd> | cat`,
		"odd query":  "x?p=it%27s+%22quoted%22+%26+%3Codd%3E",
		"two lines":  "line number one\nline number two",
	}
	for _, v := range parse(vendors) {
		if v.kind == "uuid" {
			h := func(n int) string { return drawn(r, hexes, n) }
			all["vendor "+v.prefix] = strings.ToUpper(v.prefix) + "_API: " + h(8) + "-" + h(4) + "-4" + h(3) + "-a" + h(3) + "-" + h(12)
			continue
		}
		chars := ""
		for c := byte('!'); c < 0x7f; c++ {
			if v.in(c) && alnum(c) {
				chars += string(c)
			}
		}
		name := v.prefix
		if v.kind == "secret" {
			name += ".credential"
		}
		all[fmt.Sprint("vendor ", v.prefix, v.least)] = name + "=" + drawn(r, chars, v.least-2) + "7" + chars[len(chars)-1:] // digits and letters
	}
	for _, f := range parse(tokens) {
		chars := ""
		for c := byte('!'); c < 0x7f; c++ {
			if f.in(c) && (c != '.' && c != '-' && c != '=' && c != '/' || f.has == string(c)) {
				chars += string(c)
			}
		}
		text := f.prefix + f.has + drawn(r, chars, f.least-len(f.has))
		if f.prefix == "eyJ" {
			text = f.prefix + drawn(r, letters, 20) + "." + drawn(r, letters, 30)
		}
		all[f.kind+" "+f.prefix] = "token " + text + " end"
	}
	return all
}

// secret returns the longest word of a planted text, or the known secret for some names.
func secret(name, s string) string {
	if strings.HasPrefix(name, "vendor ") {
		return s[strings.LastIndexAny(s, "= ")+1:]
	}
	switch name {
	case "value":
		return "plain-words-and-nothing-else"
	case "odd value":
		return `it's "quoted" & <odd>`
	case "odd query":
		return "it%27s+%22quoted%22+%26+%3Codd%3E"
	case "two lines":
		return "line number two"
	case "address", "short":
		_, s, _ = strings.Cut(s, "://")
		_, s, _ = strings.Cut(s, ":")
		s, _, _ = strings.Cut(s, "@")
		return s
	case "query":
		_, s, _ = strings.Cut(s, "=")
		s, _, _ = strings.Cut(s, "&")
		return s
	case "symbols":
		return strings.Split(s, `"`)[1]
	case "telegram":
		return strings.Split(s, "/")[3][13:]
	case "npmrc":
		_, s, _ = strings.Cut(s, "=")
		return s
	case "flag":
		return strings.Fields(s)[2]
	}
	longest := ""
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \n\"'=,:{}", r) }) {
		if len(w) > len(longest) {
			longest = w
		}
	}
	return longest
}

func TestPlanted(t *testing.T) {
	t.Parallel()
	r := New(environ)
	all := planted()
	if len(all) < 250 {
		t.Fatal(len(all))
	}
	for name, text := range all {
		hidden := secret(name, text)
		if len(hidden) < 8 {
			t.Fatalf("%s: %q", name, hidden)
		}
		escaped, err := json.Marshal(map[string]string{"text": "a\n" + text + "\nb"})
		if err != nil {
			t.Fatal(err)
		}
		inner, _ := json.Marshal(hidden)
		for form, in := range map[string]string{
			"plain": text, "lines": "before\n" + text + "\nafter\n", "JSON": string(escaped), "twice": text + "\n" + text,
			"in a log": "12:30:01 INFO " + text + " (ok)",
		} {
			got := r.String(in)
			if strings.Contains(got, hidden) || strings.Contains(got, string(inner[1:len(inner)-1])) {
				t.Errorf("%s, %s: %q is in %q", name, form, hidden, got)
			}
			if again := r.String(got); again != got {
				t.Errorf("%s, %s: %q, and again: %q", name, form, got, again)
			}
			if form == "JSON" && !json.Valid([]byte(got)) {
				t.Errorf("%s: %s", name, got)
			}
			if form == "lines" && (!strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, "\nafter\n")) {
				t.Errorf("%s: %q", name, got)
			}
		}
		for cut := range len(text) { // split over two writes
			var out bytes.Buffer
			s := r.Stream(&out)
			fmt.Fprint(s, "x ", text[:cut])
			fmt.Fprint(s, text[cut:], "\nafter\n")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), hidden) || !strings.HasSuffix(out.String(), "\nafter\n") {
				t.Errorf("%s cut at %d: %q", name, cut, out.String())
			}
		}
	}
}

func TestNoSecrets(t *testing.T) {
	t.Parallel()
	r := New(environ)
	for _, s := range []string{
		"commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "HEAD is now at 9fceb02", "550e8400-e29b-41d4-a716-446655440000",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "key: 9fceb02d0ae598e95dc970b74767f19372d61af8",
		"idempotency_key=550e8400-e29b-41d4-a716-446655440000", "--- FAIL: TestTokenKeyPassword123 (0.00s)", "/usr/lib/go/src/crypto/secret_key_test.go:123",
		"aGVsbG8gd29ybGQ=", "password: string", `"password": "required"`, "password = getPassword1()", "token := lexer.Next2()", "tokens: 15000",
		"max_tokens=4096", "token_url: https://auth.example.com/oauth2", "cacheKey = `user:1234`", "const secretName = \"my-tls-secret\"",
		"key: value", "PWD=/home/someone/project2", "OLDPWD=/home/someone/a1", "password=$DB_PASSWORD1", "password: ${{ secrets.PASSWORD1 }}",
		"https://user@example.com/path:1", "git@github.com:wfs-dev/wfs.git", "ssh://git@host:22/x", "http://localhost:8080/@scope/pkg@1.2.3",
		"file:///a/b:c@d", "bearer of good news that is long enough", "Basic understanding of things1234567890", "sk-learn-contrib-and-so-on-and-so-forth",
		"hf_config_for_transformers_and_so_on", "npm_config_registry_url", "pk_live_51H8", "eyJ0eXAi", "github_pat_", "ghp_short", "AKIA", "ASIA-PACIFIC",
		"-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2mWc6fH0Q7e3X8pXx1 me@host", "some-editor-command", "agent at /tmp/ssh-abc/agent.12345", "password1234 is disabled",
		"h1:ihbySMvVjLAeSH1IbfcRTkD/iNscyz8rGzjF/E5hV6U=", "integrity sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==",
		"wfs(green): 12/14 tests pass (lap 2, attempt 3)", "Wfs-Session: auth\nWfs-Checkpoint: 7", `{"id":"toolu_01A09q90qw90lq917835lq9","name":"Bash"}`,
		"msg_01XFDUDYJgAACzvnptvVoYEL", "func (s *Server) authToken(ctx context.Context) (string, error) {", "secret := os.Getenv(\"API_SECRET2\")",
		"heroku_app_id=550e8400-e29b-41d4-a716-446655440000", "X-Heroku-Request-ID: 550e8400-e29b-41d4-a716-446655440000", "datadog agent commit: 9fceb02d0ae598e95dc970b74767f19372d61af8",
		"github.com/DataDog/datadog-go: 9fceb02d0ae598e95dc970b74767f19372d61af8", "sentry release: 9fceb02d0ae598e95dc970b74767f19372d61af8", "drone.build = feature2of3branches4of5names6of7",
		"sonar: 9fceb02d0ae598e95dc970b74767f19372d61af8", "segment = 0123456789abcdef0123456789abcdef", "etag: 5d41402abc4b2a76b9719d911017c592", "md5=5d41402abc4b2a76b9719d911017c592",
		"sentry_trace: d41402abc4b2a76b9719d911017c5925", "trello board name: WeeklyPlanning2of3AndMore", "opsgenie_request: 550e8400-e29b-41d4-a716-446655440000", "codecov upload id = 550e8400-e29b-41d4-a716-446655440000",
		"jira: PROJ-1234-fix-the-thing2", "twitter: see https://t.co/abc", "looker: some24characterslongname1",
		"password==other.password1", "expected token ')' got '}'", "keys: [a1, b2, c3, d4, e5]", "private_key_path: ~/.ssh/id_ed25519", "",
	} {
		if got := r.String(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// TestSource redacts the standard library. It must change only test secrets there, and strings that are not secrets.
func TestSource(t *testing.T) {
	t.Parallel()
	r := New(nil)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip(err)
	}
	lines, changed := 0, 0
	for _, dir := range []string{"net/http", "crypto/tls", "go/parser", "encoding/json", "os", "text/template"} {
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if lines++; r.String(line) != line {
					changed++
					t.Logf("%s: %s", f, r.String(line))
				}
			}
		}
	}
	if lines > 0 && changed*500 > lines {
		t.Errorf("%d of %d lines changed", changed, lines)
	}
	t.Logf("%d of %d lines changed", changed, lines)
}

package running

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOnEventDocuments runs each example of the documents as a person would paste it: those with curl against a server
// here, and with a notify-send that records its arguments.
func TestOnEventDocuments(t *testing.T) {
	t.Parallel()
	text := ""
	for _, name := range []string{"guide.md", "workflows.md"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	var examples []string
	for _, pattern := range []string{"```yaml\n([^`]*\\bon-event: [^`]*)```", "`('curl -d [^`]*')`"} {
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			examples = append(examples, found[1])
		}
	}
	if len(examples) != 4 {
		t.Fatalf("examples in the documents: %q", examples)
	}
	setUp := regexp.MustCompile("```\n(echo 'url = [^`]*)```").FindStringSubmatch(text)
	if setUp == nil {
		t.Fatal("no example of a file with a secret address")
	}
	for _, example := range examples {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			tryExample(t, example, setUp[1])
		})
	}
}

// tryExample runs one example, and checks that the person is told how a run has ended.
func tryExample(t *testing.T, example, setUp string) {
	for _, tool := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil && strings.Contains(example, tool+" ") {
			t.Skipf("SKIPPED: %s is not here", tool)
		}
	}
	p := newPlace(t)
	const told = "one completed: all that was requested is done, and all gates pass"
	p.write("../bin/notify-send", "#!/bin/sh\nprintf '%s|' \"$@\" > \"$HOME/told\"\necho >> \"$HOME/told\"\n")
	p.ok("chmod", "+x", "../bin/notify-send")
	want := "wfs|" + told + "|"
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		told := fmt.Sprintln(r.Method, r.URL.Path, r.Header.Get("Content-Type"), string(data))
		p.write("../home/told", told)
	}))
	t.Cleanup(server.Close)
	here := strings.NewReplacer("https://ntfy.sh", server.URL, "https://hooks.example.com", server.URL)
	switch {
	case strings.Contains(example, "webhook"):
		want = `POST /services/T0/B0/SECRET application/json {"text":"` + told + `"}`
	case strings.Contains(example, "curl"):
		want = "POST /my-topic application/x-www-form-urlencoded " + told
		example = "on-event: " + example + "\n"
	}
	if !strings.Contains(example, "version: 1\n") {
		example = "version: 1\n" + example
	}
	p.env = append(p.env, "XDG_CONFIG_HOME=", "PATH="+filepath.Join(p.home, "..", "bin")+":"+os.Getenv("PATH"))
	p.write("../home/.config/wfs/config.yaml", here.Replace(example))
	p.ok("sh", "-c", here.Replace(setUp))
	p.agent("echo done > done.txt")
	p.ok("wfs", "new", "one")
	if out := p.ok("wfs", "run"); strings.Contains(out, "on-event") {
		t.Errorf("%s", out)
	}
	if got := p.read("told"); got != want {
		t.Errorf("%s: told %q, want %q", example, got, want)
	}
	if out := p.ok("ls", "-l", p.home+"/.config/wfs/webhook"); !strings.HasPrefix(out, "-rw------- ") {
		t.Errorf("others can read the secret address: %s", out)
	}
}

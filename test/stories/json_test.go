package stories

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestJSONOfEveryCommand runs every command without arguments, and a few with some, with --json: each that exits 0
// must have printed JSON, and nothing else.
func TestJSONOfEveryCommand(t *testing.T) {
	r := plain(t)
	page, err := os.ReadFile("../../docs/cli.md") // a test in cmd keeps this page complete
	if err != nil {
		t.Fatal(err)
	}
	lines := [][]string{nil} // wfs alone
	for line := range strings.Lines(string(page)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "## wfs ")
		// these take long, never end, or speak with a program
		if ok && !slices.Contains([]string{"demo", "hook run", "mcp", "ui"}, command) {
			lines = append(lines, strings.Fields(command))
		}
	}
	slices.Reverse(lines) // abandon comes last
	lines = append(lines, []string{"help"}, []string{"help", "run"}, []string{"run", "--help"}, []string{"trust", "--revoke"}, []string{"switch", "main"}, []string{"switch", "main"})
	good := 0
	for _, args := range lines {
		cmd := exec.Command(testkit.Wfs(t), append(args, "--json")...)
		cmd.Dir, cmd.Env = r.Dir, r.Env
		out, err := cmd.Output()
		if err != nil {
			continue
		}
		good++
		values, dec := 0, json.NewDecoder(bytes.NewReader(out))
		for {
			var v any
			if err := dec.Decode(&v); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("wfs %s --json: %v: %.200q", strings.Join(args, " "), err, out)
				break
			}
			values++
		}
		if values == 0 {
			t.Errorf("wfs %s --json printed no JSON: %.200q", strings.Join(args, " "), out)
		}
	}
	if good < 30 {
		t.Errorf("only %d of %d commands ended well", good, len(lines))
	}
}

package cmd

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestJSONOfEveryCommand types every command without arguments, and a few with some, with --json: whatever ends with exit
// code 0 has printed JSON, and nothing else.
func TestJSONOfEveryCommand(t *testing.T) {
	f := plainTemplate.fixture(t)
	commands, _ := everyCommand((&app{color: "auto"}).root())
	slices.Reverse(commands) // abandon comes last
	var lines [][]string
	for _, c := range commands {
		switch c.CommandPath() {
		case "wfs demo", "wfs hook run": // long, without an end, or for an agent
		default:
			lines = append(lines, strings.Fields(c.CommandPath())[1:])
		}
	}
	lines = append(lines, []string{"help"}, []string{"help", "run"}, []string{"run", "--help"}, []string{"trust", "--revoke"}, []string{"switch", "main"}, []string{"switch", "main"})
	good := 0
	for _, args := range lines {
		var out bytes.Buffer
		exit := Main(Env{Args: append(args, "--json"), Dir: f.dir, Environ: f.env, Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard,
			Now: time.Now, Rand: rand.Reader, PID: os.Getpid()})
		if exit != exitOK {
			continue
		}
		good++
		values, dec := 0, json.NewDecoder(bytes.NewReader(out.Bytes()))
		for {
			var v any
			if err := dec.Decode(&v); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("wfs %s --json: %v: %.200q", strings.Join(args, " "), err, out.String())
				break
			}
			values++
		}
		if values == 0 {
			t.Errorf("wfs %s --json printed no JSON: %.200q", strings.Join(args, " "), out.String())
		}
	}
	if good < 30 {
		t.Errorf("only %d of %d commands ended well", good, len(lines))
	}
}

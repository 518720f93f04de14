package cmd

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/session"
)

// prompter asks the user at the terminal.
type prompter struct {
	screen *present.Screen
	exit   func() int // returns the exit code after Ctrl-C
}

// ask asks a yes-or-no question at the terminal. Pressing Enter means no. Without a terminal it returns an error with
// the flag that answers the question.
func (p *prompter) ask(ctx context.Context, question, flag string) (bool, error) {
	answer, err := p.promptFor(ctx, question, flag, "", "y", "yes", "n", "no")
	return strings.HasPrefix(answer, "y"), err
}

// asksHere reports whether wfs can ask the user: there is a terminal, and --json was not given.
func (p *prompter) asksHere() bool { return p.screen.StdinTTY && p.screen.StderrTTY && !p.screen.JSON }

// promptFor asks until the answer is one of the `known` ones, but at most three times. It returns the answer in lower
// case.
func (p *prompter) promptFor(ctx context.Context, question, flag string, known ...string) (string, error) {
	for try := 1; ; try++ {
		answer, err := p.prompt(ctx, question, flag)
		if low := strings.ToLower(answer); err != nil || slices.Contains(known, low) {
			return low, err
		}
		unknown := fmt.Sprintf("%q is not one of the answers", answer)
		if try == 3 {
			return "", usage(flag, "%s", unknown)
		}
		p.screen.Note("%s", unknown)
	}
}

// prompt asks the user for a line of text. Ctrl-C cancels it; the read from the terminal then stays blocked until the
// process ends.
func (p *prompter) prompt(ctx context.Context, question, flag string) (string, error) {
	if !p.asksHere() {
		return "", session.Refuse(session.RefuseUntrusted, flag,
			"this needs a decision, and there is no terminal to ask on")
	}
	fmt.Fprint(p.screen.Stderr, question)
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(p.screen.Stdin).ReadString('\n')
		got <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(p.screen.Stderr)
		return "", exitWith(p.exit()) // the user has typed Ctrl-C: no message needed
	case r := <-got:
		if r.err != nil && r.line == "" {
			return "", r.err
		}
		return strings.TrimSpace(r.line), nil
	}
}

package cmd

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// ask asks a yes-or-no question at the terminal, Enter being no. Without one it refuses and names the flag.
func (a *app) ask(ctx context.Context, question, flag string) (bool, error) {
	answer, err := a.promptFor(ctx, question, flag, "", "y", "yes", "n", "no")
	return strings.HasPrefix(answer, "y"), err
}

// asksHere reports whether there is a terminal at which a person can be asked.
func (a *app) asksHere() bool { return a.env.StdinTTY && a.env.StderrTTY && !a.json }

// promptFor asks until the answer is one of those that are known, in small letters, three times at most.
func (a *app) promptFor(ctx context.Context, question, flag string, known ...string) (string, error) {
	for try := 1; ; try++ {
		answer, err := a.prompt(ctx, question, flag)
		if low := strings.ToLower(answer); err != nil || slices.Contains(known, low) {
			return low, err
		}
		unknown := fmt.Sprintf("%q is not one of the answers", answer)
		if try == 3 {
			return "", usage(flag, "%s", unknown)
		}
		a.note("%s", unknown)
	}
}

// prompt asks at the terminal for a line. Ctrl-C is an answer too: the read that it leaves behind ends with the
// process.
func (a *app) prompt(ctx context.Context, question, flag string) (string, error) {
	if !a.asksHere() {
		return "", session.Refuse(session.RefuseUntrusted, flag,
			"this needs a decision, and there is no terminal to ask on")
	}
	fmt.Fprint(a.env.Stderr, question)
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(a.env.Stdin).ReadString('\n')
		got <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.env.Stderr)
		return "", exitWith(a.signals.exitCode()) // who typed it knows
	case r := <-got:
		if r.err != nil && r.line == "" {
			return "", r.err
		}
		return strings.TrimSpace(r.line), nil
	}
}

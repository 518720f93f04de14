package cmd

import (
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/safetext"
)

func TestHelpFits(t *testing.T) {
	commands, topics := everyCommand((&app{}).root())
	for _, c := range append(commands, topics...) {
		for _, width := range []int{60, 80, 100} {
			text := helpText(c, width)
			for _, line := range strings.Split(text, "\n") {
				fixed := strings.Contains(c.Example, line) || strings.Contains(c.Long, line) || strings.Contains(usageLines(c), line)
				if safetext.Width(line) > width && !fixed {
					t.Errorf("%s at %d columns: %q", c.CommandPath(), width, line)
				}
			}
		}
		for _, text := range []string{c.Long, c.Example} { // lines that are not wrapped must fit on most terminals
			for _, line := range strings.Split(text, "\n") {
				if strings.HasPrefix(line, " ") && safetext.Width(line) > 100 {
					t.Errorf("%s: %d columns: %q", c.CommandPath(), safetext.Width(line), line)
				}
			}
		}
	}
}

func TestParagraphs(t *testing.T) {
	list := paragraphs("One\ntwo three.\n\n  kept   as\n    it is\n\nFour\n")
	want := []paragraph{{"One two three.", false}, {"  kept   as\n    it is", true}, {"Four", false}}
	if len(list) != len(want) {
		t.Fatalf("%d paragraphs: %+v", len(list), list)
	}
	for i := range want {
		if list[i] != want[i] {
			t.Errorf("%+v, want %+v", list[i], want[i])
		}
	}
	if got := list[0].wrapped(8); got != "One two\nthree." {
		t.Errorf("wrapped: %q", got)
	}
	if got := list[1].wrapped(3); got != want[1].text {
		t.Errorf("an indented paragraph was wrapped: %q", got)
	}
}

// TestExitCodesTopic checks that the topic has all exit codes.
func TestExitCodesTopic(t *testing.T) {
	text := topics()[0].Long
	for _, code := range []int{exitOK, exitError, exitUsage, exitDecision, exitBlocked, exitHeld, exitWaiting, exitInterrupted, exitTerminated} {
		if !strings.Contains(text, "    "+itoa(code)+" ") && !strings.Contains(text, "    "+itoa(code)+",") && !strings.Contains(text, ", "+itoa(code)+" ") {
			t.Errorf("no exit code %d", code)
		}
	}
}

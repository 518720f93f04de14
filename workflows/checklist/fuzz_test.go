package checklist

import (
	"strings"
	"testing"
)

func FuzzChecklist(f *testing.F) {
	for _, s := range []string{"", "- [ ] a\n  b\n", "1. [x] a\n\n\t- [ ] b", "```\n- [ ] a\n```", "<!--", "* * *", "- [ ] \r\n-", "# a\n> b", "Feature: a\nRule: b\n Scenario: c", "1. Given a then b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + 1
		for _, item := range Spec(text) {
			if item.Text == "" || strings.ContainsAny(item.Text, "\n\r\x1b\x00") || item.Line > lines {
				t.Errorf("bad item %+v", item)
			}
		}
		last, size := 0, 0
		for _, item := range Parse(text) {
			if item.Text == "" || strings.ContainsAny(item.Text, "\n\r\x1b\x00") || item.Line <= last || item.Line > lines {
				t.Errorf("bad item %+v", item)
			}
			last = item.Line
			size += len(item.Text)
		}
		if size > 3*len(text) { // a byte that is not UTF-8 may become three
			t.Errorf("%d bytes of items out of %d", size, len(text))
		}
	})
}

package experiment

import "testing"

func TestSameCode(t *testing.T) {
	for _, c := range []struct {
		file, before, after string
		same                bool
	}{
		{"a.go", "func A() { return }\n", "// A does nothing.\nfunc A() {\n\treturn\n}\n", true},
		{"a.go", "x := 1\n", "x := 2\n", false},
		{"a.py", "x = 1  # one\n", "x = 1\n\n\n", true},
		{"a.py", "if x:\n    a()\n    b()\n", "if x:\n    a()\nb()\n", false},
		{"a.unknown", "x", "x ", false},
	} {
		if got := SameCode(c.file, []byte(c.before), []byte(c.after)); got != c.same {
			t.Errorf("%s: %q and %q: %v", c.file, c.before, c.after, got)
		}
	}
}

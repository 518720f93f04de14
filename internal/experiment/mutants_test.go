package experiment

import (
	"strings"
	"testing"
)

func TestMutants(t *testing.T) {
	for _, c := range []struct {
		file, src string
		want      []string
	}{
		{"a.go", "import \"a/b+1\"\nfunc Sub(a, b *int) int {\n\tlog.Println(3)\n\treturn a - b\n}\n", []string{"- → +"}},
		{"a.py", "def f(a):\n    if a >= 3:\n        return -a\n    return a + 1\n", []string{">= → <", "+ → -"}},
		{"a.rs", "fn f(a: Vec<i32>) -> &'static str {\n    if a[0] == 1 && true { \"a\" } else { \"b\" }\n}\n",
			[]string{"0 → 1"}},
		{"a.ts", "const f = (a: Array<number>) => a.length > 0 || b\n", []string{"> → <="}},
	} {
		var got []string
		for _, m := range Mutants(c.file, []byte(c.src), all(c.src), 5) {
			got = append(got, m.Was+" → "+m.Now)
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", c.src, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %q, want %q", c.src, got[i], c.want[i])
			}
		}
	}
}

// TestNegations doubles negations, and leaves signs alone that only look like one.
func TestNegations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, src, was, now string }{ // was is "" if nothing changes
		{"a.go", "return !ok(a)\n", "!ok", "!!ok"},
		{"a.js", "if (!a) b()\n", "(!a", "(!!a"},
		{"a.ts", "const a = !b\n", "= !b", "= !!b"},
		{"a.rs", "    !v.is_empty()\n", "!v", "!!v"},
		{"a.py", "if not ready(a):\n", "not ready", "not not ready"},
		{"a.py", "if a not in b:\n", "", ""},
		{"a.py", "return a is not b\n", "", ""},
		{"a.rs", "println!(\"a\");\n", "", ""},
		{"a.rs", "ensure!(a);\n", "", ""},
		{"a.rs", "let v = vec![a];\n", "", ""},
		{"a.ts", "const y = x!.name\n", "", ""},
		{"a.ts", "g(x!)\n", "", ""},
		{"a.ts", "return h(x)!.b[i]!.c\n", "", ""},
	} {
		want := c.src
		if c.was != "" {
			want = strings.Replace(c.src, c.was, c.now, 1)
		}
		got := c.src
		for _, m := range Mutants(c.file, []byte(c.src), all(c.src), 5) {
			got = string(m.Text)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", c.file, got, want)
		}
	}
}

package experiment

import "testing"

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

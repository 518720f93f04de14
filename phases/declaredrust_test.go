package phases

import (
	"slices"
	"strings"
	"testing"
)

// TestRustDeclarations finds the tests that are marked, and those that a macro makes.
func TestRustDeclarations(t *testing.T) {
	t.Parallel()
	one := "macro_rules! t {\n  ($t:ident : $a:expr => $b:expr) => {\n    #[test]\n    fn $t() { assert_eq!($a.kebab(), $b) }\n  };\n}\n"
	many := "macro_rules! cases {\n  ($($name:ident: $value:expr,)*) => { $(\n    #[test]\n    #[allow(x)]\n    fn $name() { let (a, b) = $value; ok(a, b) }\n  )* };\n}\n"
	for src, want := range map[string]string{
		"#[test]\nfn adds() { assert!(true) }\n#[tokio::test]\nasync fn waits() { ok().await }":                     "adds, waits",
		one + "t!(test1: \"Camel, Case: x => y\" => \"camel)\");\n// t!(gone: 1 => 2);\nt!(test2: \"a\" => \"b\");": "test1, test2",
		many + "cases! {\n  zero: (0, f(1, x)),\n  // four: (4, 4),\n  one: (1, Pair { a: 1 }),\n}\nfn cases() {}":  "zero, one",
		one + "assert!(t1: 2); format!(\"{}\", x); nott!(test1: 1 => 2);":                                           "",
		"macro_rules! m { ($a:expr) => { assert!($a) } }\nm!(adds: 1);":                                             "",
		strings.ReplaceAll(one, "#[test]", "#[tokio::test]") + "t!(a, \"x\", b);":                                   "a",
		"t!(first: 1 => 2);\n" + one: "first",
	} {
		var got []string
		for _, d := range declarations("src/a.rs", []byte(src)) {
			got = append(got, d.name)
		}
		slices.Sort(got)
		wanted := strings.Split(want, ", ")
		slices.Sort(wanted)
		if text := strings.Join(got, ", "); text != strings.Join(wanted, ", ") {
			t.Errorf("%s\n%s, want %s", src, text, want)
		}
	}
}

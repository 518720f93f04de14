package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// TestAdded judges additions of an attempt in RED, given possible reports of a runner.
func TestAdded(t *testing.T) {
	t.Parallel()
	const head = "package a\n\nimport \"testing\"\n\n"
	const goBye = head + "func TestBye(t *testing.T) { if Bye() != \"bye\" { t.Error() } }\n"
	const goTable = head + "func TestUpper(t *testing.T) { for _, c := range cases { if Upper(c.in) != c.want { t.Error() } } }\n"
	const suites = head + "type S struct{ suite.Suite }\n\nfunc TestS(t *testing.T) { suite.Run(t, new(S)) }\n\nfunc (s *S) TestHello() { s.Equal(\"hello\", Hello()) }\n"
	const pyTable = "from calc import add\n\nCASES = [\n    (1, 2, 3),\n]\n\n\ndef test_add():\n    for a, b, want in CASES:\n        assert add(a, b) == want\n\n\ndef test_zero():\n    result = add(0, 0)\n    assert result == 0\n"
	const jsTable = "describe('add', () => {\n  const cases = [\n    [1, 2, 3],\n  ];\n  test('adds', () => {\n    for (const [a, b, c] of cases) expect(add(a, b)).toBe(c);\n  });\n  test('zero', () => {\n    expect(add(0, 0)).toBe(0);\n  });\n});\n"
	const setUp = "import unittest\nimport calc\n\n\nclass AccTest(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.acc = calc.Account(10)\n\n    def test_balance(self):\n        self.assertEqual(self.acc.balance, 10)\n"
	const rustLib = "pub fn low(n: u32) -> u32 { n }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn low_of() {\n        assert_eq!(low(1), 1);\n    }\n}\n"
	missing := func(unit session.TestID, file, name string) report.Breakage {
		return report.Breakage{Unit: unit, File: file, Missing: name}
	}
	rust := func(file string, line int, message string) report.Breakage {
		return report.Breakage{Unit: session.TestID(file), File: file, Line: line, Message: message, Build: true}
	}
	pass := func(ids ...session.TestID) session.Tests {
		tests := session.Tests{}
		for _, id := range ids {
			tests[id] = session.TestPass
		}
		return tests
	}
	for _, tc := range []struct {
		name        string
		before, now map[string]string // all files of the tree
		start       session.Tests
		ran         session.Tests
		broken      []report.Breakage
		known       []session.TestID
		class       session.Class
		found       string // targets and expected names
	}{
		{name: "a method of a suite", before: map[string]string{"a_test.go": suites},
			now:   map[string]string{"a_test.go": suites + "\nfunc (s *S) TestBye() { s.Equal(\"bye\", Bye()) }\n"},
			start: pass("x.org/a.TestS", "x.org/a.TestS/TestHello"), broken: []report.Breakage{missing("x.org/a", "a_test.go", "Bye")},
			class: session.ClassMissingSymbol, found: "x.org/a"},
		{name: "a test with a tag that the compiler speaks of", before: map[string]string{},
			now:    map[string]string{"bye_test.go": "//go:build integration\n\n" + goBye},
			broken: []report.Breakage{missing("x.org/a", "bye_test.go", "Bye")}, class: session.ClassMissingSymbol, found: "x.org/a"},
		{name: "an example", before: map[string]string{},
			now:    map[string]string{"example_test.go": "package a_test\n\nimport \"fmt\"\n\nfunc ExampleBye() {\n\tfmt.Println(a.Bye())\n\t// Output: bye\n}\n\nfunc Example_other() {\n\tfmt.Println(1)\n}\n"},
			broken: []report.Breakage{missing("x.org/a", "example_test.go", "a.Bye")}, class: session.ClassMissingSymbol, found: "x.org/a"},
		{name: "an example that is to print something else", before: map[string]string{"e_test.go": "package a\n\nfunc ExampleBye() {\n\tprint(Bye())\n\t// Output: bye\n}\n"},
			now:   map[string]string{"e_test.go": "package a\n\nfunc ExampleBye() {\n\tprint(Bye())\n\t// Output: bye!\n}\n"},
			start: pass("x.org/a.ExampleBye"), ran: session.Tests{"x.org/a.ExampleBye": session.TestFail}, class: session.ClassTargetFailed, found: "x.org/a.ExampleBye"},
		{name: "a case in a file", before: map[string]string{"a_test.go": strings.ReplaceAll(goTable, "cases", "read(t, \"testdata/upper.json\")") + "func TestZero(t *testing.T) { f() }\n", "testdata/upper.json": "[]"},
			now:   map[string]string{"a_test.go": strings.ReplaceAll(goTable, "cases", "read(t, \"testdata/upper.json\")") + "func TestZero(t *testing.T) { f() }\n", "testdata/upper.json": "[1]"},
			start: pass("x.org/a.TestUpper", "x.org/a.TestZero"), ran: session.Tests{"x.org/a.TestUpper": session.TestFail, "x.org/a.TestZero": session.TestPass}, class: session.ClassTargetFailed, found: "x.org/a.TestUpper"},
		{name: "a file in a directory that is read as a whole", before: map[string]string{"a_test.go": strings.ReplaceAll(goTable, "cases", "glob(\"testdata/*.txt\")")},
			now:   map[string]string{"a_test.go": strings.ReplaceAll(goTable, "cases", "glob(\"testdata/*.txt\")"), "testdata/new.txt": "x"},
			start: pass("x.org/a.TestUpper"), ran: session.Tests{"x.org/a.TestUpper": session.TestFail}, class: session.ClassTargetFailed, found: "x.org/a.TestUpper"},
		{name: "a table in a file of its own", before: map[string]string{"a_test.go": goTable, "cases_test.go": "package a\n\nvar cases = []c{{1}}\n"},
			now:   map[string]string{"a_test.go": goTable, "cases_test.go": "package a\n\nvar cases = []c{{1}, {2}}\n"},
			start: pass("x.org/a.TestUpper"), ran: session.Tests{"x.org/a.TestUpper": session.TestFail}, class: session.ClassTargetFailed, found: "x.org/a.TestUpper"},
		{name: "a row of a table in Python", before: map[string]string{"tests/test_calc.py": pyTable}, now: map[string]string{"tests/test_calc.py": strings.Replace(pyTable, "(1, 2, 3),", "(1, 2, 3),\n    ('1', 2, 3),", 1)},
			start: pass("tests.test_calc::test_add", "tests.test_calc::test_zero"), ran: session.Tests{"tests.test_calc::test_add": session.TestFail, "tests.test_calc::test_zero": session.TestPass},
			class: session.ClassTargetFailed, found: "tests.test_calc::test_add"},
		{name: "a fixture of pytest", before: map[string]string{"tests/conftest.py": "@pytest.fixture\ndef cart():\n    return Cart()\n", "tests/test_cart.py": "def test_total(cart):\n    assert cart.total() == 0\n"},
			now:   map[string]string{"tests/conftest.py": "@pytest.fixture\ndef cart():\n    return Cart(tax=1)\n", "tests/test_cart.py": "def test_total(cart):\n    assert cart.total() == 0\n"},
			start: pass("tests.test_cart::test_total"), ran: session.Tests{"tests.test_cart::test_total": session.TestFail}, class: session.ClassTargetFailed, found: "tests.test_cart::test_total"},
		{name: "a row of a table in JavaScript", before: map[string]string{"test/add.test.js": jsTable}, now: map[string]string{"test/add.test.js": strings.Replace(jsTable, "[1, 2, 3],", "[1, 2, 3],\n    ['1', 2, 3],", 1)},
			start: pass("add > adds", "add > zero"), ran: session.Tests{"add > adds": session.TestFail, "add > zero": session.TestPass}, class: session.ClassTargetFailed, found: "add > adds"},
		{name: "a package that waits beside tests of others", before: map[string]string{"go.mod": "module x.org/a\n"},
			now: map[string]string{"go.mod": "module x.org/a\n", "top_test.go": strings.ReplaceAll(goBye, "TestBye", "TestTop"), "b/b_test.go": strings.ReplaceAll(goBye, "TestBye", "TestOther"),
				"shop/b/bye_test.go": strings.Replace(goBye, "package a", "package b", 1)},
			ran:    session.Tests{"x.org/a.TestTop": session.TestFail, "x.org/a/b.TestOther": session.TestFail},
			broken: []report.Breakage{missing("x.org/a/shop/b", "shop/b/bye_test.go", "Bye")}, class: session.ClassTargetFailed, found: "x.org/a.TestTop x.org/a/b.TestOther x.org/a/shop/b"},
		{name: "packages that wait, with tests of one name", before: map[string]string{"go.mod": "module x.org/a\n"},
			now:    map[string]string{"go.mod": "module x.org/a\n", "b/b_test.go": goBye, "shop/b/bye_test.go": goBye},
			broken: []report.Breakage{missing("x.org/a/b", "b/b_test.go", "Bye"), missing("x.org/a/shop/b", "shop/b/bye_test.go", "Bye")},
			class:  session.ClassMissingSymbol, found: "x.org/a/b x.org/a/shop/b"},
		{name: "other arguments in Rust", before: map[string]string{"tests/low.rs": "#[test]\nfn low() {\n    assert_eq!(lib::low(1), 2);\n}\n"},
			now:    map[string]string{"tests/low.rs": "#[test]\nfn low() {\n    assert_eq!(lib::low(1, 2), 2);\n}\n"},
			broken: []report.Breakage{rust("tests/low.rs", 3, "error[E0061]: this function takes 1 argument but 2 arguments were supplied")}, class: session.ClassMissingSymbol, found: "tests/low.rs"},
		{name: "a syntax error beside that", before: map[string]string{"tests/low.rs": "#[test]\nfn low() {\n    assert_eq!(lib::low(1), 2);\n}\n"},
			now: map[string]string{"tests/low.rs": "#[test]\nfn low() {\n    assert_eq!(lib::low(1, 2), 2)\n    let\n}\n"},
			broken: []report.Breakage{rust("tests/low.rs", 3, "error[E0061]: this function takes 1 argument but 2 arguments were supplied"),
				rust("tests/low.rs", 4, "error: expected pattern, found `}`")}, class: session.ClassBuildBroken},
		{name: "other arguments in the tests of a module in Rust", before: map[string]string{"src/lib.rs": rustLib},
			now:    map[string]string{"src/lib.rs": strings.Replace(rustLib, "low(1)", "low(1, 2)", 1)},
			broken: []report.Breakage{rust("src/lib.rs", 9, "error[E0061]: this function takes 1 argument but 2 arguments were supplied")}, class: session.ClassMissingSymbol, found: "src/lib.rs"},
		{name: "the code itself in Rust", before: map[string]string{"src/lib.rs": rustLib},
			now:    map[string]string{"src/lib.rs": strings.Replace(strings.Replace(rustLib, "low(1)", "low(1, 2)", 1), "{ n }", "{ \"a\" }", 1)},
			broken: []report.Breakage{rust("src/lib.rs", 1, "error[E0308]: mismatched types")}, class: session.ClassBuildBroken},
		{name: "a crate that is renamed away", before: map[string]string{"Cargo.toml": "[package]\nname = \"my-lib\"\n", "tests/low.rs": "use my_lib::low;\n"},
			now: map[string]string{"Cargo.toml": "[package]\nname = \"other\"\n", "tests/low.rs": "use my_lib::low;\n\n#[test]\nfn low_of() {\n    assert_eq!(low(1), 2);\n}\n"},
			broken: []report.Breakage{{Unit: "tests/low.rs", File: "tests/low.rs", Build: true, Missing: "my_lib",
				Message: "error[E0432]: unresolved import `my_lib`\n  |     ^^^^^^^ use of unresolved module or unlinked crate `my_lib`"}}, class: session.ClassBuildBroken},
		{name: "a crate that has no library yet", before: map[string]string{"Cargo.toml": "[package]\nname = \"my-lib\"\n"},
			now: map[string]string{"Cargo.toml": "[package]\nname = \"my-lib\"\n", "tests/low.rs": "use my_lib::low;\n\n#[test]\nfn low_of() {\n    assert_eq!(low(1), 2);\n}\n"},
			broken: []report.Breakage{{Unit: "tests/low.rs", File: "tests/low.rs", Build: true, Missing: "my_lib",
				Message: "error[E0432]: unresolved import `my_lib`\n  |     ^^^^^^^ use of unresolved module or unlinked crate `my_lib`"}}, class: session.ClassMissingSymbol, found: "tests/low.rs"},
		{name: "a suite that was pending", before: map[string]string{"test/omit.test.js": "describe.skip('omit', () => {\n  it('drops', () => { assert(omit()); });\n});\n"},
			now:   map[string]string{"test/omit.test.js": "describe('omit', () => {\n  it('drops', () => { assert(omit()); });\n});\n"},
			start: session.Tests{"omit::drops": session.TestSkip}, ran: session.Tests{"omit::drops": session.TestFail}, class: session.ClassTargetFailed, found: "omit::drops"},
		{name: "a suite that was pending and passes", before: map[string]string{"test/omit.test.js": "describe.skip('omit', () => {\n  it('drops', () => { assert(omit()); });\n});\n"},
			now:   map[string]string{"test/omit.test.js": "describe('omit', () => {\n  it('drops', () => { assert(omit()); });\n});\n"},
			start: session.Tests{"omit::drops": session.TestSkip}, ran: session.Tests{"omit::drops": session.TestPass}, class: session.ClassNothingAdded},
		{name: "a test that another file kept from running", before: map[string]string{"conftest.py": "SKIP = True\n", "tests/test_omit.py": "def test_omit():\n    assert omit()\n"},
			now:   map[string]string{"conftest.py": "SKIP = False\n", "tests/test_omit.py": "def test_omit():\n    assert omit()\n"},
			start: session.Tests{"tests.test_omit::test_omit": session.TestSkip}, ran: session.Tests{"tests.test_omit::test_omit": session.TestFail}, class: session.ClassTargetFailed, found: "tests.test_omit::test_omit"},
		{name: "tests that the machine runs now, and nothing was done", before: map[string]string{"README.md": "a"}, now: map[string]string{"README.md": "b"},
			start: session.Tests{"x.org/a.TestNet": session.TestSkip, "x.org/a.TestDisk": session.TestSkip},
			ran:   session.Tests{"x.org/a.TestNet": session.TestFail, "x.org/a.TestDisk": session.TestPass}, class: session.ClassNothingAdded},
		{name: "a module that skipped itself, and waits for a name", before: map[string]string{"tests/test_omit.py": "import pytest\npytest.skip('later', allow_module_level=True)\nfrom lib import omit\n\n\ndef test_omit():\n    assert omit()\n"},
			now:    map[string]string{"tests/test_omit.py": "from lib import omit\n\n\ndef test_omit():\n    assert omit()\n"},
			start:  session.Tests{"pytest > tests.test_omit": session.TestSkip, "tests.test_a::test_a": session.TestPass},
			broken: []report.Breakage{missing("tests.test_omit", "tests/test_omit.py", "omit")}, class: session.ClassMissingSymbol, found: "tests.test_omit"},
		{name: "what a class sets up", before: map[string]string{}, now: map[string]string{"tests/test_acc.py": setUp},
			broken: []report.Breakage{{Unit: "tests.test_acc.AccTest", File: "tests/test_acc.py", Missing: "Account", Setup: true}}, class: session.ClassMissingSymbol, found: "tests.test_acc.AccTest"},
		{name: "what a class sets up does not work yet", before: map[string]string{}, now: map[string]string{"tests/test_acc.py": setUp},
			broken: []report.Breakage{{Unit: "tests.test_acc.AccTest", File: "tests/test_acc.py", Setup: true}}, class: session.ClassMissingSymbol, found: "tests.test_acc.AccTest"},
		{name: "what a class sets up was broken", before: map[string]string{"tests/test_acc.py": setUp}, now: map[string]string{"tests/test_acc.py": setUp, "calc.py": "x"},
			start: pass("tests.test_acc.AccTest::test_balance"), broken: []report.Breakage{{Unit: "tests.test_acc.AccTest", File: "tests/test_acc.py", Setup: true}}, class: session.ClassBuildBroken},
		{name: "a package that could not be built before", before: map[string]string{"shop/shop_test.go": head},
			now:    map[string]string{"shop/shop_test.go": head, "shop/bye_test.go": strings.Replace(goBye, "package a", "package shop", 1)},
			broken: []report.Breakage{missing("x.org/a/shop", "shop/shop.go", "generated")}, known: []session.TestID{"x.org/a/shop"}, class: session.ClassBuildBroken},
		{name: "a package that could not be built before, and a test beside it", before: map[string]string{},
			now: map[string]string{"b_test.go": goBye, "shop/bye_test.go": strings.Replace(goBye, "package a", "package shop", 1)}, ran: session.Tests{"x.org/a.TestBye": session.TestFail},
			broken: []report.Breakage{missing("x.org/a/shop", "shop/shop.go", "generated")}, known: []session.TestID{"x.org/a/shop"}, class: session.ClassTargetFailed, found: "x.org/a.TestBye"},
		{name: "a package that could not be built before, and now only waits", before: map[string]string{},
			now:    map[string]string{"shop/bye_test.go": strings.Replace(goBye, "package a", "package shop", 1)},
			broken: []report.Breakage{missing("x.org/a/shop", "shop/bye_test.go", "Bye")}, known: []session.TestID{"x.org/a/shop"}, class: session.ClassMissingSymbol, found: "x.org/a/shop"},
		{name: "a file that could not be loaded before for the same reason", before: map[string]string{"test_db.py": "import psycopg2\n"},
			now:    map[string]string{"test_db.py": "import psycopg2\n\n\ndef test_more():\n    assert f()\n"},
			broken: []report.Breakage{missing("test_db", "test_db.py", "psycopg2")}, known: []session.TestID{"test_db"}, class: session.ClassBuildBroken},
		{name: "a package that could not be built before, and is left alone", before: map[string]string{"shop/bye_test.go": goBye}, now: map[string]string{"shop/bye_test.go": goBye},
			broken: []report.Breakage{missing("x.org/a/shop", "shop/shop.go", "generated")}, known: []session.TestID{"x.org/a/shop"}, class: session.ClassNothingAdded},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			files := &Files{Now: func(p string) []byte {
				if text, ok := tc.now[p]; ok {
					return []byte(text)
				}
				return nil
			}, Before: func(p string) []byte { return []byte(tc.before[p]) }}
			for _, p := range report.SortedKeys(tc.now) {
				if was, had := tc.before[p]; !had {
					files.Changes = append(files.Changes, session.Change{Path: p, Status: "A"})
				} else if was != tc.now[p] {
					files.Changes = append(files.Changes, session.Change{Path: p, Status: "M"})
				}
			}
			l := &Lap{Gate: "g", Start: tc.start, Known: map[session.TestID]bool{}, Now: report.New(), Files: files}
			for id, s := range tc.ran {
				l.Now.Set(id, s)
			}
			for _, b := range tc.broken {
				l.Now.Breaks(b)
			}
			for _, id := range tc.known {
				l.Known[id] = true
			}
			f := judgeRed(l)
			if len(f.Retry) > 0 && files.OnlyTests() { // as asChanged does
				l.Different = f.Retry
				f = judgeRed(l)
			}
			if found := slices.Concat(f.targets, asTests(f.Expected)); f.Class != tc.class || namesOf(found) != tc.found {
				t.Errorf("%s, found %q: %s", f.Class, namesOf(found), f.Reason)
			}
		})
	}
}

func asTests(names []string) []session.TestID {
	var out []session.TestID
	for _, n := range names {
		out = append(out, session.TestID(n))
	}
	return out
}

func namesOf(ids []session.TestID) string { return strings.Trim(fmt.Sprint(ids), "[]") }

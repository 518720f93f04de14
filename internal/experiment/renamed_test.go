package experiment

import "testing"

func TestRenamed(t *testing.T) {
	py := func(s string) Files { return Files{"test_calc.py": []byte(s)} }
	code := func(s string) Files { return Files{"calc.py": []byte(s)} }
	for _, c := range []struct {
		why                               string
		testsBefore, testsAfter, was, now Files
		want                              bool
	}{
		{"the subject and its test", py("def test_sub():\n    assert sub(3, 1) == 2\n"),
			py("def test_minus():\n    assert minus(3, 1) == 2\n"), code("def sub(a, b): pass"), code("def minus(a, b): pass"),
			true},
		{"a literal too", py("def test_sub():\n    assert sub(3, 1) == 2\n"),
			py("def test_minus():\n    assert minus(3, 1) == 3\n"), code("def sub(a, b): pass"), code("def minus(a, b): pass"),
			false},
		{"two names become one", py("def test():\n    assert a() == b()\n"), py("def test():\n    assert c() == c()\n"),
			code("def a(): pass\ndef b(): pass"), code("def c(): pass"), false},
		{"an assertion", py("def test_sub(self):\n    self.assertEqual(sub(3), sub(4))\n"),
			py("def test_sub(self):\n    self.assertTrue(sub(3), sub(4))\n"), code("def sub(a): pass"), code("def sub(a): pass"),
			false},
		{"an assertion of the agent's own", py("def test_sub(self):\n    self.assertEqual(sub(3), 4)\n"),
			py("def test_sub(self):\n    self.same(sub(3), 4)\n"), code("def sub(a): pass"),
			code("def sub(a): pass\ndef same(a, b): pass"), false},
		{"where it is imported from", py("from calc import sub\n\ndef test_sub():\n    assert sub(3) == 2\n"),
			py("from calc.arith import (\n    sub,\n)\n\n# why\ndef test_sub():\n    assert (sub(3)) == 2\n"),
			code("def sub(a): pass"), code("def sub(a): pass"), false},
		{"where it is imported from", py("from calc import sub\n\ndef test_sub():\n    assert sub(3) == 2\n"),
			py("from calc.arith import (\n    sub,\n)\n\n# why\ndef test_sub():\n    assert sub(3) == 2\n"),
			code("def sub(a): pass"), code("def sub(a): pass"), true},
		{"another file", py("def test_sub():\n    assert sub(3) == 2\n"),
			Files{"tests/test_sub.py": []byte("def test_sub():\n    assert sub(3) == 2\n")}, code("def sub(a): pass"),
			code("def sub(a): pass"), true},
		{"a file is gone", py("def test_sub():\n    assert sub(3) == 2\n"), Files{}, code("def sub(a): pass"),
			code("def sub(a): pass"), false},
		{"one that is new", py("def test_sub():\n    assert sub(3) == 2\n"),
			Files{"test_calc.py": []byte("def test_sub():\n    assert sub(3) == 2\n"), "conftest.py": []byte("import x\n")},
			code("def sub(a): pass"), code("def sub(a): pass"), false},
		{"a message", py("def test_sub():\n    assert sub(3) == 2, 'sub of 3'\n"),
			py("def test_sub():\n    assert minus(3) == 2, 'minus of 3'\n"), code("def sub(a): pass"),
			code("def minus(a): pass"), true},
		{"an expected text", py("def test_sub():\n    assert sub(3) == 'two'\n"),
			py("def test_sub():\n    assert sub(3) == 'three'\n"), code("def sub(a): pass"), code("def sub(a): pass"), false},
		{"the module", py("import sub\ndef test_sub():\n    assert sub.sub(3) == 2\n"),
			py("import minus\ndef test_sub():\n    assert minus.sub(3) == 2\n"),
			Files{"sub.py": []byte("def sub(a): pass")}, Files{"minus.py": []byte("def sub(a): pass")}, true},
		{"a library that asserts", py("import check\ndef test_sub():\n    check.equal(sub(3), 2)\n"),
			py("import mild\ndef test_sub():\n    mild.equal(sub(3), 2)\n"),
			code("def sub(a): pass"), Files{"calc.py": []byte("def sub(a): pass"), "mild.py": []byte("def equal(a, b): pass")},
			false},
		{"a variable", py("def test_sub():\n    x = sub(3)\n    assert x == 2\n"),
			py("def test_sub():\n    got = sub(3)\n    assert got == 2\n"), code(""), code(""), true},
	} {
		if got := Renamed(c.testsBefore, c.testsAfter, c.was, c.now); got != c.want {
			t.Errorf("%s: %v", c.why, got)
		}
	}
	goBefore, goAfter := Files{"a_test.go": []byte("package a\n\nimport \"testing\"\n\nfunc TestSub(t *testing.T) {\n\tif Sub(3) != 2 {\n\t\tt.Fatal()\n\t}\n}\n")},
		Files{"b_test.go": []byte("package b\n\nimport (\n\t\"testing\"\n\n\t\"x/y\"\n)\n\nfunc TestMinus(t *testing.T) {\n\tif Minus(3) != 2 {\n\t\tt.Fatal()\n\t}\n}\n")}
	if !Renamed(goBefore, goAfter, Files{"a.go": []byte("func Sub() {}")}, Files{"a.go": []byte("func Minus() {}")}) {
		t.Error("Go: not taken for renamed")
	}
}

package phases

import (
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// A renamed test is recognised by its text, and only by it: what is weaker, or another test, is gone.
func TestRenamed(t *testing.T) {
	t.Parallel()
	const head = "package calc\n\nimport \"testing\"\n\n"
	test := func(name, body string) string { return "func " + name + "(t *testing.T) { " + body + " }\n" }
	const real = `if Add(1, 2) != 3 { t.Error("wrong") }`
	for _, tc := range []struct {
		name, file, text string
		verdict          session.Verdict
		class            session.Class
	}{
		{"renamed in its file", "calc_test.go", head + test("TestSum", real), session.Pass, session.ClassGreen},
		{"renamed, and another one added", "calc_test.go", head + test("TestOther", real+" \n t.Log(1)") + test("TestSum", real), session.Pass, session.ClassGreen},
		{"in another file", "sum_test.go", head + test("TestAdd", real), session.Pass, session.ClassGreen},
		{"renamed and made weaker", "calc_test.go", head + test("TestSum", `if Add(1, 2) == 0 { t.Error("wrong") }`), session.Fail, session.ClassBrokeGreen},
		{"the same name, made weaker, in another file", "sum_test.go", head + "func TestMore(t *testing.T) {}\n", session.Fail, session.ClassBrokeGreen},
		{"emptied under a new name", "calc_test.go", head + test("TestSum", ""), session.Fail, session.ClassBrokeGreen},
		{"renamed and skipped", "calc_test.go", head + test("TestSum", "t.Skip(); "+real), session.Fail, session.ClassBrokeGreen},
		{"deleted", "calc_test.go", head, session.Fail, session.ClassNoTests},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"go.mod": "module x.org/calc\n", "calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n", "calc_test.go": head + test("TestAdd", real)})
			s := l.baseline(goGate())
			edit := map[string]string{tc.file: tc.text}
			if tc.text == head {
				edit[tc.file] = "package calc\n"
			} else if tc.file != "calc_test.go" {
				edit["calc_test.go"] = "-"
			}
			l.write(edit)
			check(t, l.judged(s, goGate(), workflows.ExpectPass, nil, nil), tc.verdict, tc.class)
		})
	}
}

// One renamed test stands for one: two that were the same need two.
func TestRenamedOnlyOnce(t *testing.T) {
	t.Parallel()
	old := "def test_a():\n    assert f()\n\n\ndef test_b():\n    assert f()\n"
	now := "def test_c():\n    assert f()\n"
	files := &lapFiles{changes: []session.Change{{Path: "test_x.py", Status: "M"}}, now: func(string) []byte { return []byte(now) },
		before: func(string) ([]byte, bool) { return []byte(old), true }}
	r := newReport()
	r.set("test_x::test_c", session.TestPass)
	l := &lap{gate: "g", start: session.Tests{"test_x::test_a": session.TestPass, "test_x::test_b": session.TestPass}, known: map[session.TestID]bool{}, now: r, files: files}
	if f := judgeGreen(l); f.class != session.ClassBrokeGreen || !strings.Contains(f.reason, "1 test that was green is gone") {
		t.Errorf("%s: %s", f.class, f.reason)
	}
}

func TestParent(t *testing.T) {
	t.Parallel()
	for id, want := range map[session.TestID]session.TestID{
		"x.org/a.TestA/sub": "x.org/a.TestA", "tests.a::test_x[1-2]": "tests.a::test_x", "org.x.CalcTest::many(int)[1]": "org.x.CalcTest::many(int)",
		"org.x.CalcTest::many(int)": "org.x.CalcTest::many", "N.CalcTests::Adds(a: 1)": "N.CalcTests::Adds", "CalcTest::testMany with data set #0": "CalcTest::testMany",
		"calc::tests::adds::case_1": "calc::tests::adds", "src/a.test.js::adds (twice)": "", "src/a.test.js::add(1)": "", "calc::tests::adds": "", "adds": "",
	} {
		if got := parent(id); got != want {
			t.Errorf("parent(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestLeaf(t *testing.T) {
	t.Parallel()
	for id, want := range map[session.TestID]string{
		"x.org/a.TestA/sub": "TestA", "tests.a.T::test_x[1-2]": "test_x", "org.x.CalcTest::many(int)[1]": "many", "org.x.CalcTest::adds()": "adds",
		"N.CalcTests::Adds(a: 1)": "Adds", `CalcTest::testMany with data set "two (2)"`: "testMany", "src/a.test.js::suite > add(1)": "add(1)",
		"a.test.js::adds (twice)": "adds (twice)", "calc > adds#2": "adds", "calc.test › adds": "adds", "calc::tests::adds": "adds",
	} {
		if got := leaf(id); got != want {
			t.Errorf("leaf(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestOtherDeclarations(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ file, src, want string }{
		{"src/lib.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() { assert_eq!(add(1, 2), 3); }\n    #[tokio::test]\n    #[should_panic]\n    async fn waits() {}\n    fn helper() { x() }\n}\n", "adds waits(empty)"},
		{"CalcTest.java", "class CalcTest {\n  @Test void adds() { assertEquals(3, add(1, 2)); }\n  @ParameterizedTest(name = \"{0}\")\n  @CsvSource({\"a,b\", \"c,d\"})\n  public void pairs(String a) { check(a); }\n  @Test @DisplayName(\"adds nicely\")\n  void named() {\n    // nothing()\n  }\n  void helper() {}\n}", "adds pairs named=adds nicely(empty)"},
		{"CalcTest.kt", "class T {\n  @Test\n  fun `adds two numbers`() {\n    assertEquals(3, add(1, 2))\n  }\n}", "adds two numbers"},
		{"CalcTests.cs", "[Fact]\npublic async Task Adds() { Assert.True(true); }\n[Theory]\n[InlineData(1)]\npublic void Many(int a) { Assert.True(a > 0); }\n[Fact(DisplayName = \"shown\")] public void Named() { X(); }", "Adds Many Named=shown"},
		{"tests/CalcTest.php", "<?php class CalcTest { function testAdds(): void { $this->x(); } #[Test] public function it_works() { $this->y(); } private function helper() {} }", "testAdds it_works"},
		{"spec/calc_spec.rb", "describe 'x' do\n  it 'adds' do\n    expect(1).to eq 1\n  end\n  it(\"is one line\") { expect(2).to eq 2 }\n  test \"adds two\" do\n  end\nend\n", "adds is one line test_adds_two(empty)"},
		{"test/calc_test.rb", "class T\n  def test_adds\n    assert_equal 3, add\n  end\n  def helper; end\nend\n", "test_adds"},
		{"a.test.ts", "test.each([[1, f(2)]])('adds %i and $b', (a, b) => { expect(a).toBe(b); });\nit(`is ${x}`, () => { check(); });\ntest('plain', () => {});\ntest('named');\nrun({ a() {} });\n", "adds * and * is * plain(empty) named(empty)"},
		{"a.bats", "@test \"adds two\" {\n  true\n}\n", "adds two"},
	} {
		var got []string
		for _, d := range declarations(tc.file, []byte(tc.src)) {
			if !d.test {
				continue
			}
			text := d.name
			if d.alias != "" {
				text += "=" + d.alias
			}
			if d.empty {
				text += "(empty)"
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%s: %s, want %s", tc.file, text, tc.want)
		}
	}
}

// What formatters do to a test is no other text of it. What they never do is.
func TestRenamedInAnotherLayout(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, file, id, to, before, after string
		gone                              bool
	}{
		{"prettier", "calc.test.js", "muls", "multiplies", `test('muls',()=>{ assert.equal(calc.mul(2,3),6) })`,
			"test(\"multiplies\", () => {\n  assert.equal(\n    calc.mul(2, 3),\n    6,\n  );\n});\n", false},
		{"black", "test_x.py", "test_x::test_mul", "test_x::test_multiply", "def test_mul():\n    assert calc.mul(2,'a')=={1:[2]}\n",
			"def test_multiply():\n    assert calc.mul(\n        2,\n        \"a\",\n    ) == {1: [2]}\n", false},
		{"a method", "test_x.py", "test_x::test_mul", "test_x::T::test_multiply", "def test_mul(tmp):\n    assert calc.mul(2,3)==6\n",
			"class T:\n    def test_multiply(self, tmp):\n        assert calc.mul(2, 3) == 6\n", false},
		{"google-java-format", "CalcTest.java", "CalcTest::muls", "CalcTest::multiplies", "@Test void muls() { assertEquals(6,mul(2,3)); }",
			"@Test\nvoid multiplies() {\n    assertEquals(6, mul(2, 3));\n}\n", false},
		{"another number", "calc.test.js", "muls", "multiplies", `test('muls',()=>{ assert.equal(calc.mul(2,3),6) })`,
			"test(\"multiplies\", () => {\n  assert.equal(calc.mul(2, 3), 0);\n});\n", true},
		{"another quoted text", "test_x.py", "test_x::test_mul", "test_x::test_multiply", "def test_mul():\n    assert calc.mul(2,'a,b')==6\n",
			"def test_multiply():\n    assert calc.mul(2, \"a, b\") == 6\n", true},
		{"a quote in other quotes", "test_x.py", "test_x::test_mul", "test_x::test_multiply", "def test_mul():\n    assert calc.mul(2,'a\"b')==6\n",
			"def test_multiply():\n    assert calc.mul(2, 'ab') == 6\n", true},
	} {
		files := &lapFiles{changes: []session.Change{{Path: tc.file, Status: "M"}}, now: func(string) []byte { return []byte(tc.after) },
			before: func(string) ([]byte, bool) { return []byte(tc.before), true }}
		r := newReport()
		r.set(session.TestID(tc.to), session.TestPass)
		l := &lap{gate: "g", start: session.Tests{session.TestID(tc.id): session.TestPass}, known: map[session.TestID]bool{}, now: r, files: files}
		if f := judgeGreen(l); (f.class == session.ClassBrokeGreen) != tc.gone {
			t.Errorf("%s: %s: %s", tc.name, f.class, f.reason)
		}
	}
}

package report

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// parsed reads a text as a gate's output of a format.
func parsed(f workflows.Format, text string) *Report {
	r := NewReader(workflows.Gate{Format: f}, Place{"/top"}, func(string) {})
	_, _ = r.Stdout.Write([]byte(text))
	return r.Report()
}

// TestRunners reads real output of runners (testdata/runners).
func TestRunners(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		file   string
		format workflows.Format
		want   string
	}{
		{"cargo.txt", workflows.FormatCargo, `my_calc/doc::src/lib.rs - add=pass my_calc/integration::prints=pass my_calc/integration::whole=pass my_calc::tests::adds=pass my_calc::tests::fails=fail my_calc::tests::panics=pass my_calc::tests::slow=skip`},
		{"unittest.txt", workflows.FormatUnittest, `tests.test_broken=error tests.test_calc.TestCalc::test_adds=pass tests.test_calc.TestCalc::test_err=error tests.test_calc.TestCalc::test_fails=fail tests.test_calc.TestCalc::test_prints=pass tests.test_calc.TestCalc::test_prints2=pass tests.test_calc.TestCalc::test_skipped=skip tests.test_calc.TestCalc::test_sub=fail tests.test_calc.TestCalc::test_sub[i=0]=fail tests.test_calc.TestCalc::test_sub[i=2]=fail tests.test_calc.TestCalc::test_xfail=skip tests.test_calc.TestCalc::test_xpass=fail tests.test_calc.TestSetup=error [tests.test_broken tests/test_broken.py sub] [tests.test_calc.TestSetup tests/test_calc.py ]`},
		{"unittest38.txt", workflows.FormatUnittest, `tests.test_broken=error tests.test_calc.TestCalc::test_adds=pass tests.test_calc.TestCalc::test_err=error tests.test_calc.TestCalc::test_fails=fail tests.test_calc.TestCalc::test_prints=pass tests.test_calc.TestCalc::test_prints2=pass tests.test_calc.TestCalc::test_skipped=skip tests.test_calc.TestCalc::test_sub=fail tests.test_calc.TestCalc::test_sub[i=0]=fail tests.test_calc.TestCalc::test_sub[i=2]=fail tests.test_calc.TestCalc::test_xfail=skip tests.test_calc.TestCalc::test_xpass=fail tests.test_calc.TestSetup=error [tests.test_broken tests/test_broken.py sub] [tests.test_calc.TestSetup tests/test_calc.py ]`},
		{"minitest.txt", workflows.FormatMinitest, `CalcTest::test_adds=pass CalcTest::test_errs=error CalcTest::test_fails=fail CalcTest::test_prints=pass CalcTest::test_skip=skip`},
		{"rspec.json", workflows.FormatRSpec, `spec/calc_spec.rb::Calc adds=pass spec/calc_spec.rb::Calc errs=fail spec/calc_spec.rb::Calc fails=fail spec/calc_spec.rb::Calc is expected to eq 1=pass spec/calc_spec.rb::Calc is expected to eq 2=fail spec/calc_spec.rb::Calc pends=skip`},
		{"rspec-load.json", workflows.FormatRSpec, `spec/b_spec.rb=error [spec/b_spec.rb spec/b_spec.rb ./nope]`},
		{"jest.json", workflows.FormatJest, `b.test.js=error c.test.js=error calc.test.js::calc > adds=pass calc.test.js::calc > each 1 2=pass calc.test.js::calc > each 2 3=pass calc.test.js::calc > fails=fail calc.test.js::calc > mis=fail calc.test.js::calc > s=skip calc.test.js::calc > t=skip [b.test.js b.test.js ./nope] [c.test.js c.test.js ]`},
		{"vitest.json", workflows.FormatJest, `b.test.mjs=error v.test.mjs::calc > adds=pass v.test.mjs::calc > each 1 2=pass v.test.mjs::calc > each 2 3=pass v.test.mjs::calc > fails=fail v.test.mjs::calc > mis=fail v.test.mjs::calc > s=skip v.test.mjs::calc > t=skip [b.test.mjs b.test.mjs ./nope.mjs]`},
		{"vitest.xml", workflows.FormatJUnit, `b.test.mjs=error v.test.mjs::calc > adds=pass v.test.mjs::calc > each 1 2=pass v.test.mjs::calc > each 2 3=pass v.test.mjs::calc > fails=fail v.test.mjs::calc > mis=fail v.test.mjs::calc > s=skip v.test.mjs::calc > t=skip [b.test.mjs b.test.mjs ./nope.mjs]`},
		{"phpunit.xml", workflows.FormatJUnit, `CalcTest::testAdds=pass CalcTest::testErrs=error CalcTest::testFails=fail CalcTest::testMany with data set "two"=pass CalcTest::testMany with data set #0=pass CalcTest::testSkip=skip`},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", "runners", tc.file))
		if err != nil {
			t.Fatal(err)
		}
		if got := summary(parsed(tc.format, string(data))); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.file, got, tc.want)
		}
	}
}

func TestCargoParser(t *testing.T) {
	t.Parallel()
	const lib = "     Running unittests src/lib.rs (target/debug/deps/calc-0123456789abcdef)\n"
	for _, tc := range []struct{ name, in, want string }{
		{"one thread, and output between", lib + "running 2 tests\ntest a ... hello\nworld\nok\ntest b ... FAILED\n", "calc::a=pass calc::b=fail"},
		{"killed", lib + "running 2 tests\ntest a ... ok\nerror: test failed, to rerun pass `--lib`\n", "calc=error calc::a=pass"},
		{"killed in a test", lib + "running 1 test\ntest a ... ", "calc::a=error"},
		{"two programs of one crate", lib + "running 1 test\ntest a ... ok\n\n     Running unittests src/main.rs (target/debug/deps/calc-aaaaaaaaaaaaaaaa)\nrunning 1 test\ntest a ... ok\n", "calc/main::a=pass calc::a=pass"},
		{"members of a workspace", lib + "running 0 tests\n     Running tests/it.rs (target/debug/deps/it-aaaaaaaaaaaaaaaa)\nrunning 1 test\ntest a ... ok\n     Running unittests src/lib.rs (target/debug/deps/other-0123456789abcdef)\nrunning 0 tests\n     Running tests/it.rs (target/debug/deps/it-bbbbbbbbbbbbbbbb)\nrunning 1 test\ntest a ... FAILED\n", "calc/it::a=pass other/it::a=fail"},
		{"missing names, and what follows from them", "error[E0425]: cannot find function `sub` in this scope\n --> src/lib.rs:9:9\n  |\n\nerror[E0282]: type annotations needed\n --> src/lib.rs:9:9\n\nerror: could not compile `calc` (lib test) due to 2 previous errors\n", "src/lib.rs=error [src/lib.rs src/lib.rs sub]"},
		{"syntax", "error: expected one of `!` or `::`, found `x`\n --> tests/it.rs:1:1\n", "tests/it.rs=error [tests/it.rs tests/it.rs ]"},
		{"linker", "error: linking with `cc` failed: exit status: 1\n\nerror: could not compile `calc`\n", "crate=error [crate  ]"},
		{"what a test prints is no result", lib + "running 1 test\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\ntest b ... ok\nerror: nope\n\nfailures:\n    a\n", "calc::a=fail"},
	} {
		if got := summary(parsed(workflows.FormatCargo, tc.in)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestMissingInRust(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]string{
		"cannot find function `sub` in this scope":                                             "sub",
		"cannot find type `Calc` in this scope":                                                "Calc",
		"cannot find macro `calc` in this scope":                                               "calc",
		"cannot find struct, variant or union type `P` in this scope":                          "P",
		"unresolved import `my_calc::sub`":                                                     "my_calc::sub",
		"failed to resolve: use of undeclared type `Stack`":                                    "Stack",
		"failed to resolve: use of unresolved module or unlinked crate `stack`":                "stack",
		"failed to resolve: could not find `sub` in `super`":                                   "sub",
		"no function or associated item named `new` found for struct `S` in the current scope": "new",
		"no method named `pop` found for struct `S` in the current scope":                      "pop",
		"no field `len` on type `S`":                                                           "len",
		"file not found for module `stack`":                                                    "stack",
		"struct `S` has no field named `size`":                                                 "size",
		"mismatched types":                                                                     "",
		"this function takes 2 arguments but 1 argument was supplied":                          "",
		"expected one of `!` or `::`, found `x`":                                               "",
	} {
		if got := unknownInRust.find(msg); got != want {
			t.Errorf("%q misses %q, want %q", msg, got, want)
		}
	}
}

func TestTAPParser(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"bats", "1..3\nok 1 adds\nnot ok 2 fails\n# (in test file a.bats, line 5)\n#   `false' failed\nok 3 later # skip why\n", "adds=pass fails=fail later=skip"},
		{"ava", "TAP version 13\nok 1 - s # SKIP\nnot ok 2 - t # TODO\nok 3 - adds\nnot ok 4 - fails\n  ---\n    name: AssertionError\n  ...\n\n1..4\n# tests 3\n", "adds=pass fails=fail s=skip t=skip"},
		{"node prints", "TAP version 13\n# loaded\n# Subtest: adds\nok 1 - adds\n# multiplying 2 3\n# Subtest: muls\nnot ok 2 - muls\n1..2\n# tests 2\n", "adds=pass muls=fail"},
		{"tape", "TAP version 13\n# adds\nok 1 one\nnot ok 2 two\n  ---\n    operator: equal\n  ...\n# sub\nok 3 fine\n\n1..3\n# tests 3\n", "adds=fail sub=pass"},
		{"subtests", "TAP version 13\n# Subtest: a\n    # Subtest: b\n    ok 1 - b\n    # Subtest: c\n    not ok 2 - c\n    1..2\nnot ok 1 - a\n# Subtest: t\nok 2 - t\n1..2\n", "a > b=pass a > c=fail t=pass"},
		{"a test that fails outside of its subtests", "    ok 1 - b\n    1..1\nnot ok 1 - a\n1..1\n", "a=fail a > b=pass"},
		{"without names", "1..2\nok\nnot ok\n", "(1)=pass (2)=fail"},
		{"cut", "1..3\nok 1 a\n", "a=pass damaged"},
		{"no plan", "ok 1 a\n", "a=pass damaged"},
		{"bail out", "1..1\nok 1 a\nBail out!\n", "a=pass damaged"},
		{"ava, a file that cannot be loaded", "TAP version 13\nok 1 - b › b\nnot ok 2 - Error: Cannot find module '../nope.js'\n  ---\n    name: Error\n  ...\nnot ok 3 - test/a.js exited with a non-zero exit code: 1\n\n1..1\n", "b › b=pass test/a.js=error [test/a.js test/a.js ../nope.js]"},
		{"node, a file that cannot be loaded", "TAP version 13\n# Subtest: /top/test/a.test.js\nnot ok 1 - /top/test/a.test.js\n  ---\n  failureType: 'testCodeFailure'\n  ...\n1..1\n", "test/a.test.js=error [test/a.test.js test/a.test.js ]"},
		{"time", "1..1\nok 1 a # time=12.3ms\n", "a=pass"},
	} {
		if got := summary(parsed(workflows.FormatTAP, tc.in)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if m := parsed(workflows.FormatTAP, "1..1\nnot ok 1 fails\n# why\n").Messages["fails"]; m != "# why" {
		t.Errorf("message = %q", m)
	}
}

func TestMinitestParser(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"load error", "test/b_test.rb:1:in `require_relative': cannot load such file -- /top/nope (LoadError)\n\tfrom test/b_test.rb:1:in `<main>'\n", "test/b_test.rb=error [test/b_test.rb test/b_test.rb ./nope]"},
		{"cut", "CalcTest#test_a = 0.00 s = .\nCalcTest#test_b = ", "CalcTest::test_a=pass CalcTest::test_b=error damaged"},
		{"specs are numbered", "calc::when empty#test_0002_adds two = 0.00 s = .\n1 runs, 1 assertions, 0 failures\n", "calc::when empty::adds two=pass"},
	} {
		if got := summary(parsed(workflows.FormatMinitest, tc.in)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// TestJUnitDialects reads dialects of JUnit XML that no tool here writes.
func TestJUnitDialects(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want, raised string }{
		{"gradle", `<testsuite name="org.x.CalcTest" tests="3" timestamp="2026-11-21T05:00:00" hostname="h"><properties/><testcase name="adds()" classname="org.x.CalcTest" time="0.01"/><testcase name="[1] 1" classname="org.x.CalcTest"/><testcase name="stub()" classname="org.x.CalcTest"><failure message="java.lang.UnsupportedOperationException" type="java.lang.UnsupportedOperationException">at x</failure></testcase><system-out><![CDATA[]]></system-out></testsuite>`,
			"org.x.CalcTest::[1] 1=pass org.x.CalcTest::adds()=pass org.x.CalcTest::stub()=fail", ""},
		{"surefire, a stub and a suite that cannot be set up", `<testsuite name="x"><testcase name="stub" classname="org.x.T"><error message="no" type="java.lang.UnsupportedOperationException">x</error></testcase><testcase name="" classname="org.x.U"><error message="boom" type="x"/></testcase></testsuite>`,
			"org.x.T::stub=error org.x.U::(unnamed)=error", "org.x.T::stub"},
		{"rspec_junit_formatter", `<testsuite name="rspec"><testcase classname="spec.calc_spec" name="Calc adds" file="./spec/calc_spec.rb" time="0.01"></testcase></testsuite>`, "spec.calc_spec::Calc adds=pass", ""},
		{"jest-junit", `<testsuites name="jest tests"><testsuite name="calc" errors="0" failures="0"><testcase classname="/top/test/calc.test.js" name="calc &gt; adds" time="0"/></testsuite></testsuites>`, "test/calc.test.js::calc > adds=pass", ""},
		{"JunitXml.TestLogger", `<testsuites><testsuite name="Calc.Tests.dll"><testcase classname="Calc.Tests.CalcTests" name="Many(a: 1)" time="0.1"><failure message="no" type="failure">at x</failure></testcase></testsuite></testsuites>`, "Calc.Tests.CalcTests::Many(a: 1)=fail", ""},
		{"pytest's set-up", `<testsuite name="pytest"><testcase classname="tests.test_a" name="test_x[1-a/b]"><error message="failed on setup with &quot;E&quot;">x</error></testcase></testsuite>`, "tests.test_a::test_x[1-a/b]=error", ""},
		{"swift", `<testsuites><testsuite name="TestResults"><testcase classname="CalcTests.CalcTests" name="testAdds" time="0.1"/></testsuite></testsuites>`, "CalcTests.CalcTests::testAdds=pass", ""},
	} {
		r := parsed(workflows.FormatJUnit, tc.in)
		if got := summary(r); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		var raised []string
		for id := range r.Raised {
			raised = append(raised, string(id))
		}
		if got := strings.Join(raised, " "); got != tc.raised {
			t.Errorf("%s: raised %s, want %s", tc.name, got, tc.raised)
		}
	}
}

func TestTRXParser(t *testing.T) {
	t.Parallel()
	const doc = `<?xml version="1.0" encoding="utf-8"?><TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results>
<UnitTestResult testId="1" testName="Calc.Tests.CalcTests.Adds" outcome="Passed" duration="00:00:00.001"/>
<UnitTestResult testId="2" testName="Calc.Tests.CalcTests.Many(a: 1)" outcome="Failed"><Output><ErrorInfo><Message>Expected 4</Message><StackTrace>at /top/CalcTests.cs:line 3</StackTrace></ErrorInfo></Output></UnitTestResult>
<UnitTestResult testId="3" testName="Skipped" outcome="NotExecuted"/></Results>
<TestDefinitions><UnitTest name="x" id="1"><TestMethod className="Calc.Tests.CalcTests" name="Adds"/></UnitTest><UnitTest id="2"><TestMethod className="Calc.Tests.CalcTests" name="Many"/></UnitTest>
<UnitTest id="3"><TestMethod className="Calc.Tests.CalcTests, Calc.Tests, Version=1.0.0.0" name="Skipped"/></UnitTest></TestDefinitions></TestRun>`
	r := parsed(workflows.FormatTRX, doc)
	if got, want := summary(r), "Calc.Tests.CalcTests::Adds=pass Calc.Tests.CalcTests::Many(a: 1)=fail Calc.Tests.CalcTests::Skipped=skip"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if m := r.Messages["Calc.Tests.CalcTests::Many(a: 1)"]; m != "Expected 4\nat ./CalcTests.cs:line 3" {
		t.Errorf("message = %q", m)
	}
	if got := summary(parsed(workflows.FormatTRX, doc[:len(doc)/2])); !strings.Contains(got, "damaged") {
		t.Error(got)
	}
}

// TestSetUpIsNoTest reads unittest's output when set-up or teardown of a class or a module fails.
func TestSetUpIsNoTest(t *testing.T) {
	t.Parallel()
	rule, line := strings.Repeat("=", 70), strings.Repeat("-", 70)
	for what, unit := range map[string]string{"setUpClass (tests.test_acc.AccTest)": "tests.test_acc.AccTest", "tearDownClass (tests.test_acc.AccTest)": "tests.test_acc.AccTest",
		"setUpModule (tests.test_acc)": "tests.test_acc", "tearDownModule (tests.test_acc)": "tests.test_acc"} {
		r := parsed(workflows.FormatUnittest, what+" ... ERROR\n\n"+rule+"\nERROR: "+what+"\n"+line+"\nTraceback (most recent call last):\n  File \"/top/tests/base.py\", line 8, in x\n"+
			"AttributeError: module 'calc' has no attribute 'Account'\n\n"+line+"\nRan 0 tests in 0.000s\n\nFAILED (errors=1)\n")
		if len(r.Tests) != 1 || len(r.Broken) != 1 || r.Broken[0].Unit != session.TestID(unit) || r.Broken[0].File != "tests/test_acc.py" || r.Broken[0].Missing != "Account" || !r.Broken[0].Setup {
			t.Errorf("%s: %v %+v", what, r.Tests, r.Broken)
		}
	}
}

func TestTextParsersStaySmall(t *testing.T) {
	const size = 16 << 20
	for format, f := range map[workflows.Format]*flood{
		workflows.FormatCargo:    {head: "running 9 tests\n", body: "test a ... "},
		workflows.FormatUnittest: {body: "test_a (m.T.test_a) ... x"},
		workflows.FormatMinitest: {body: "A#test_a = 0.00 s = "},
		workflows.FormatTAP:      {body: "    ok 1 - a # "},
		workflows.FormatGoTest:   {head: `{"Action":"run","Package":"x","Test":"`, body: "TestA"},
	} {
		f.n = size
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		reader := NewReader(workflows.Gate{Format: format}, Place{"/top"}, func(string) {})
		_, _ = io.Copy(struct{ io.Writer }{reader.Stdout}, f)
		reader.Report()
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > size/2 {
			t.Errorf("%s: %d bytes allocated", format, grown)
		}
	}
}

// TestJestCompilesTypeScript: a file that ts-jest cannot compile waits for code when its compiler misses a name; the
// message is in colours.
func TestJestCompilesTypeScript(t *testing.T) {
	r := parsed(workflows.FormatJest, `{"testResults":[{"assertionResults":[],"message":"  ● Test suite failed to run\n\n    `+
		`\u001b[96mtest/calc.test.ts\u001b[0m:\u001b[93m2\u001b[0m:\u001b[93m15\u001b[0m - \u001b[91merror\u001b[0m\u001b[90m TS2305: `+
		`\u001b[0mModule '\"../src/calc\"' has no exported member 'sub'.\n\n    \u001b[7m2\u001b[0m import { add, sub } from '../src/calc';\n",`+
		`"name":"test/calc.test.ts","status":"failed"}]}`)
	if len(r.Broken) != 1 || r.Broken[0].Missing != "sub" || r.Broken[0].File != "test/calc.test.ts" {
		t.Errorf("broken: %+v", r.Broken)
	}
}

// TestDocumentThatIsTooLarge: a document is read as a whole, and refused beyond a size.
func TestDocumentThatIsTooLarge(t *testing.T) {
	for format, head := range map[workflows.Format]string{workflows.FormatJest: `{"testResults":["`, workflows.FormatJUnit: "<testsuite><!--"} {
		r := NewReader(workflows.Gate{Format: format}, Place{"/top"}, func(string) {})
		if err := r.File(&flood{head: head, body: "x", n: maxDocument + 10}); err != nil || r.Report().Damaged == "" {
			t.Errorf("%s: a report without end was not refused, %v", format, err)
		}
	}
}

// fuzzFormat checks that any text can be read and judged, and that the report stays bounded.
func fuzzFormat(f *testing.F, format workflows.Format, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	files, _ := filepath.Glob("testdata/runners/*")
	for _, name := range files {
		if data, err := os.ReadFile(name); err == nil {
			f.Add(string(data))
		}
	}
	f.Fuzz(func(t *testing.T, in string) {
		r := parsed(format, in)
		for id := range r.Tests {
			if strings.ContainsAny(string(id), "\n\x1b\x00") || len(id) > 5*MaxName {
				t.Errorf("id %q", id)
			}
		}
	})
}

func FuzzCargo(f *testing.F) {
	fuzzFormat(f, workflows.FormatCargo, "running 1 test\ntest a ... ok\n")
}
func FuzzUnittest(f *testing.F) {
	fuzzFormat(f, workflows.FormatUnittest, "test_a (m.T.test_a) ... ok\nRan 1 test in 0.1s\n")
}
func FuzzMinitest(f *testing.F) { fuzzFormat(f, workflows.FormatMinitest) }
func FuzzTAP(f *testing.F) {
	fuzzFormat(f, workflows.FormatTAP, "1..1\n    ok 1 - b\n    1..1\nnot ok 1 - a\n  ---\n  x\n  ...\n")
}
func FuzzJest(f *testing.F)  { fuzzFormat(f, workflows.FormatJest, `x {"testResults":[]}`) }
func FuzzRSpec(f *testing.F) { fuzzFormat(f, workflows.FormatRSpec, `{"examples":[]}`) }
func FuzzTRX(f *testing.F) {
	fuzzFormat(f, workflows.FormatTRX, `<TestRun><UnitTestResult testId="1" testName="a" outcome="Passed"/></TestRun>`)
}

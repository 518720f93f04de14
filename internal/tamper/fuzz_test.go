package tamper

import "testing"

// Any text in any language is compared without a panic, in a time that grows with its length.
func FuzzCompare(f *testing.F) {
	f.Add("a_test.go", "func TestA(t *testing.T) { if f(1) != 2 { t.Error(\"no\") } }", "")
	f.Add("test_a.py", "@x\ndef test_a():\n    assert f(1) == 2, 'no'\n", "def test_a(): assert (1,")
	f.Add("a.test.ts", "it(`a ${b}`, async () => { expect(f(1)).not.toBe(/x/) })", "it.skip(")
	f.Add("a_spec.rb", "it 'a' do\n  expect(f).to eq 2\nend", "it")
	f.Add("lib.rs", "#[cfg(test)]\nmod tests { #[test] fn a() { assert_eq!(f(), 2); } }", "#[")
	f.Add("package.json", "{\"scripts\": {\"test\": \"x\"}}", "{")
	f.Add("Makefile", "test:\n\tgo test\n", ":")
	f.Add("a.snap", "exports[`a 1`] = `x`;", "exports[`")
	f.Fuzz(func(t *testing.T, path, a, b string) {
		Compare(Request{Files: []File{{Path: path, Before: []byte(a), After: []byte(b)}, {Path: "x/" + path, After: []byte(a)}, {Path: "y/" + path, Before: []byte(b)}}, Gates: []string{a}})
	})
}

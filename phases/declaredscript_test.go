package phases

import (
	"slices"
	"strings"
	"testing"
)

// TestScriptDeclarations finds tests in the ways in which people write them: none that tries something is empty, and none that
// tries nothing is not.
func TestScriptDeclarations(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"it('adds', () => assert.equal(add(1, 2), 3));\ndescribe('zero', () => {\n  const x = 1;\n});\n":          "adds",
		"test('adds', () => assert.equal(1, 1))\nconst { sub } = require('./sub')\n":                              "adds",
		"test('adds', () => expect(1).toBe(1))\nimport { sub } from './sub'\n":                                    "adds",
		"test('a', () => assert.ok(1)); test('b', () => {}); it('c', () => { assert.ok(1) })":                     "a, b (empty), c",
		"describe('x', () => { it('a', () => { ok() }); it('b', () => {}) })\nfunction helper() { ok() }":         "a, b (empty)",
		"it('a' + name, () => { ok(name) }); it(name, () => { ok() }); it(`${f({a: 1})} is ${b}`, () => ok())":    "a*, * is *",
		"it('takes long', () => { ok() }, 5000); it('is idle', async () => { /* ok() */ }, 5000)":                 "takes long, is idle (empty)",
		"test('options', { timeout: 5 }, () => { ok() }); test('only options', { timeout: 5 }); test('named')":    "options, only options (empty), named (empty)",
		"test('by name', addsTwo); test('old', function (done) { ok(done) }); test('oldest', function () {})":     "by name, old, oldest (empty)",
		"test('waits', async ({ page }): Promise<void> => { await page.goto('/') })":                              "waits",
		"test('typed', (): Promise<() => void> => {})\nit<Ctx>('generic', (ctx: Ctx) => { ok(ctx) })":             "typed (empty), generic",
		"it.each<[number, number]>([[1, 2], [3, 4]])('doubles %i', (a: number, b: number) => { ok(a, b) })":       "doubles *",
		"it.each`a | b\n${1} | ${2}\n`('adds $a', ({a, b}) => { ok(a) }); test.concurrent.only('c', () => ok())":  "adds *, c",
		"it('has brackets', () => ok(')', \"(\", `${')'}`, /[)/]\\)/, 4 / 2 / (1))) // :-)\nconst { a } = {}":     "has brackets",
		"it('says (much)', () => { const s = 'ok()'; /ok()/; `ok()` })\nok()":                                     "says (much) (empty)",
		"it('renders', () => { render(<p>don't</p>); expect(1) })\nconst { a } = b":                               "renders",
		"test('group', async t => {\n  await t.test('inner', () => ok());\n  t.test('idle', () => {});\n});\n":    "group, inner, idle (empty)",
		"test('nothing', () => undefined); test('object', () => ({})); test('promise', () => promise)":            "nothing (empty), object (empty), promise",
		"test.skip('later', () => { ok() }); test.todo('never'); test.describe('suite', () => { test('a', ok) })": "a",
		"test('broken', () => { ok(\ntest('next', () => {})":                                                      "broken, next (empty)",
		"test('throws', () => { if (1 > 2) throw new Error() }); test('only throws', () => { throw error })":      "throws, only throws",
	} {
		var got []string
		for _, d := range declarations("a.test.ts", []byte(src)) {
			if d.empty {
				d.name += " (empty)"
			}
			got = append(got, d.name)
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s\n%s, want %s", src, text, want)
		}
	}
}

// TestScriptBodies: what stands beside a test, or is declared in it, is not of it.
func TestScriptBodies(t *testing.T) {
	t.Parallel()
	bodies := func(src string) (all []string) {
		for _, d := range declarations("a.test.js", []byte(src)) {
			all = append(all, d.name+": "+d.body)
		}
		return all
	}
	before := "test('outer', async t => {\n  begin();\n  await t.test('inner', () => { ok(1) });\n  end();\n});\ntest('next', () => ok(2));\n"
	after := strings.ReplaceAll(before, "ok(1)", "ok(3)") + "const { a } = require('./a');\n"
	x, y := bodies(before), bodies(after)
	if len(x) != 3 || x[0] != y[0] || x[1] == y[1] || x[2] != y[2] {
		t.Errorf("%q\n%q", x, y)
	}
	if z := bodies(strings.Replace(before, "end()", "ended()", 1)); slices.Equal(x, z) || z[1] != x[1] {
		t.Errorf("%q", z)
	}
}

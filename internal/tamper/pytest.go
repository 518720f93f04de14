package tamper

import (
	"path"
	"slices"
	"strings"
)

// harmlessHooks are functions that pytest calls and by which no test runs otherwise.
var harmlessHooks = []string{"pytest_addoption", "pytest_report_header", "pytest_make_parametrize_id", "pytest_assertrepr_compare", "pytest_addhooks", "pytest_plugins", "pytest_asyncio", "pytest_mock", "pytest_django"}

// judgedHooks are those that honest projects use, too: what they do decides.
var judgedHooks = []string{"pytest_configure", "pytest_unconfigure", "pytest_sessionstart", "pytest_generate_tests", "pytest_runtest_setup", "pytest_runtest_teardown"}

// pytest finds functions by which pytest leaves tests out, runs others in their place, or tells other results.
func (c *comparison) pytest(f pair) {
	p := f.after
	had := map[string]string{}
	if f.before != nil {
		for _, u := range f.before.units {
			had[ownName(u.name)] += u.exact
		}
	}
	conftest := path.Base(f.path) == "conftest.py"
	for i, t := range p.toks {
		name := t.text
		switch {
		case t.kind == text && p.is(i-1, "=") && p.is(i-2, "specname") && strings.HasPrefix(name, "pytest_"),
			t.kind == ident && p.is(i-1, "def") && strings.HasPrefix(name, "pytest_"):
			u := p.unitAt(i)
			if p.is(i-1, "def") && p.near(u.from, i, "fixture") || had[ownName(u.name)] == u.exact && u.exact != "" || slices.Contains(harmlessHooks, name) {
				continue
			}
			says, bad := p.bends(u)
			if f.before != nil && had[ownName(u.name)] != "" && bad { // what it did before it may do
				for _, o := range f.before.units {
					if o.name == u.name {
						_, was := f.before.bends(o)
						bad = !was
					}
				}
			} else if !bad && had[ownName(u.name)] == "" {
				bad = !slices.Contains(judgedHooks, name)
			}
			if bad {
				c.found(Finding{Kind: Patched, Path: f.path, Line: t.line, After: strings.TrimSuffix("def "+name+": "+says, ": "), Grave: true})
			}
		case t.kind == ident && p.is(i-1, "=") && strings.HasPrefix(p.toks[max(0, i-2)].text, "pytest_") && p.toks[i-2].lead && conftest && !p.is(i-2, "pytest_plugins") && had[p.toks[i-2].text] == "" && (f.before == nil || !f.before.has(p.toks[i-2].text)):
			c.found(Finding{Kind: Patched, Path: f.path, Line: t.line, After: p.toks[i-2].text + " = " + name, Grave: true})
		case t.kind == ident && (name == "obj" || name == "runtest") && p.is(i-1, ".") && p.is(i+1, "="): // what an item of pytest calls
			if f.before == nil || !f.before.has(name) {
				c.found(Finding{Kind: Patched, Path: f.path, Line: t.line, After: shown(p.toks[max(0, i-4):min(len(p.toks), i+6)]), Grave: true})
			}
		case t.kind == text && (name == "obj" || name == "runtest") && p.near(i-8, i, "setattr"):
			c.found(Finding{Kind: Patched, Path: f.path, Line: t.line, After: shown(p.toks[max(0, i-4):min(len(p.toks), i+4)]), Grave: true})
		}
	}
}

// bends reports whether a function that pytest calls does more than to prepare: it sets what belongs to pytest, leaves tests
// out, or brings others of its kind.
func (p *parsed) bends(u *unit) (says string, bad bool) {
	for i := u.body; i < u.to; i++ {
		t := p.toks[i]
		if t.kind != ident {
			continue
		}
		switch t.text {
		case "setattr", "exec", "eval", "register", "_pytest", "modules", "skip", "xfail", "exit", "_exit", "addfinalizer", "callspec", "runtestprotocol":
			if t.text != "modules" || p.is(i-2, "sys") {
				return shown(p.toks[max(u.body, i-2):min(u.to, i+4)]), true
			}
		}
		if p.is(i-1, ".") && p.is(i+1, "=") && p.within[i] < 0 {
			on := p.toks[max(0, i-2)].text
			own := on == "config" && !slices.Contains([]string{"args", "option", "hook", "invocation_params", "known_args_namespace", "pluginmanager"}, t.text)
			if !own && on != "settings" && on != "self" {
				return shown(p.toks[max(u.body, i-4):min(u.to, i+4)]), true
			}
		}
	}
	return "", false
}

// plainParameters makes the names that parametrize is given the same: "a, b" and ("a", "b"), which formatters change.
func plainParameters(toks []token) []token {
	var out []token
	for i := 0; i < len(toks); i++ {
		out = append(out, toks[i])
		if word(toks, i) != "parametrize" || word(toks, i+1) != "(" || i+2 == len(toks) {
			continue
		}
		names, end := "", i+3 // behind the names
		switch first := toks[i+2]; {
		case first.kind == text:
			names = strings.ReplaceAll(first.text, " ", "")
		case word(toks, i+2) == "(", word(toks, i+2) == "[":
			for ; end < len(toks) && (toks[end].kind == text || word(toks, end) == ","); end++ {
				names += toks[end].text
			}
			if word(toks, end) != ")" && word(toks, end) != "]" {
				continue
			}
			end++
		default:
			continue
		}
		at := toks[i+2]
		at.kind, at.text = text, strings.TrimRight(names, ",")
		out = append(out, toks[i+1], at)
		i = end - 1
	}
	return out
}

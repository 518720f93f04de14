package tamper

import (
	"regexp"
	"slices"
	"strings"
)

// raised notes of a check by a call what it says of what is raised, or of what matches: a text that is asked for there is
// asked for as by a comparison with it, and is the same without what makes it an expression.
func (p *parsed) raised(c *check, words []string, args []int) {
	if len(args) == 0 || c.strength == 0 {
		return
	}
	last, list := words[len(words)-1], p.arguments(args[len(args)-1])
	var texts []int
	switch {
	case p.l.name == "python" && (strings.Contains(last, "raises") || strings.Contains(last, "warns")):
		c.raises = true
		for n, a := range list[min(1, len(list)):] {
			named := p.is(a[0], "match") && p.is(a[0]+1, "=")
			if named {
				a[0] += 2
			}
			if p.is(a[0], "re") && p.is(a[0]+2, "escape") && p.is(a[0]+3, "(") && p.close(a[0]+3) == a[1] {
				a = [2]int{a[0] + 4, a[1] - 1}
			}
			if (named || n == 0 && strings.HasSuffix(last, "regex")) && a[1] == a[0]+1 && p.isKind(a[0], text) {
				texts = append(texts, a[0])
			}
		}
	case p.l.name == "script" && (strings.Contains(last, "throw") || last == "rejects") && !slices.Contains(words, "not"):
		c.raises = true
		for _, a := range list {
			for i := a[0]; i < a[1]; i++ {
				if !p.isKind(i, text) {
					continue
				}
				pattern := strings.HasPrefix(p.toks[i].text, "/")
				switch {
				case a[1] == a[0]+1 && (pattern || words[0] == "expect"), // elsewhere a text alone is for people
					p.is(i-1, ":") && p.is(i-2, "message") && p.within[i] == a[0],
					words[0] == "expect" && p.is(a[0], "new") && p.is(i-1, "(") && i == a[0]+3:
					texts = append(texts, i)
				}
			}
		}
	case p.l.name == "rust" && c.says == saysTrue && len(list) > 0 && p.is(list[0][1]-1, ")") && p.is(list[0][1]-2, "(") && p.is(list[0][1]-3, "is_err"):
		c.raises = true
	case p.l.name == "rust" && c.says == saysTrue && len(list) > 0 && p.is(list[0][0], "matches") && p.is(list[0][0]+2, "("):
		c.text = p.matchesText(list[0][0] + 2)
	}
	for _, i := range texts {
		if at := slices.Index(c.lits, p.toks[i].text); at >= 0 {
			c.text, c.lits[at] = true, plainText(p.toks[i].text)
		}
	}
	slices.Sort(c.lits)
}

// matchesText reports whether what matches! takes is compared with a text or number, and with nothing else in its place.
func (p *parsed) matchesText(open int) bool {
	end, n := p.close(open)-1, 0
	for i := firstArgument(p, open+1, end)[1]; i < end; i++ {
		switch t := p.toks[i]; {
		case p.is(i, "|"), p.is(i, "||"), p.is(i, "!="):
			return false
		case t.kind == text || t.kind == number:
			within := p.within[i] - 1 // a name of a pattern begins with a capital
			if !p.is(i-1, "==") && !(p.isKind(within, ident) && within > open && strings.ToLower(p.toks[within].text[:1]) != p.toks[within].text[:1]) {
				return false
			}
			n++
		}
	}
	return n > 0
}

// plainText is the text that a regular expression asks for, if it is one without alternatives.
func plainText(expression string) string {
	if m := regexp.MustCompile(`^/(.*)/[a-z]*$`).FindStringSubmatch(expression); m != nil {
		expression = m[1]
	}
	expression = strings.TrimSuffix(strings.TrimPrefix(expression, "^"), "$")
	return regexp.MustCompile(`\\+([^\\a-zA-Z0-9])`).ReplaceAllString(expression, "$1")
}

// standsFor reports whether a new check asks as much as a lost one.
func (g check) standsFor(l check) bool {
	return (g.strength >= l.strength || g.text && len(l.lits) > 0 && (!g.raises || l.ofError())) && !opposite(l.says, g.says)
}

// ofError reports whether a check looks at what was raised, as far as its names tell.
func (c check) ofError() bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(c.exact)), func(w string) bool {
		return slices.Contains([]string{"e", "ex", "caught", "thrown", "info"}, w) || strings.HasPrefix(w, "exc") || strings.HasPrefix(w, "err") || strings.HasSuffix(w, "err") || strings.HasSuffix(w, "error") || w == "message"
	})
}

// covers reports whether a new check asks for a text of what is raised, and so says what a lost one said: that something is.
func (g check) covers(l check) bool {
	return g.text && l.raises && !l.text && contains(g.lits, l.lits)
}

// unwraps reports whether a lost check only said that there is an error, and its test takes that error out, now as before:
// it fails where there is none.
func (l asserted) unwraps(before, after *side) bool {
	p := before.files[l.path]
	if !l.raises || p == nil || p.l.name != "rust" {
		return false
	}
	at := l.cond[0]
	if p.is(at, "(") {
		at++
	}
	taken := []string{"unwrap_err", "expect_err"}
	calls := func(u *unit) int { return u.calls[taken[0]] + u.calls[taken[1]] }
	for i := l.unit.body; i < l.unit.to; i++ {
		if p.isKind(at, ident) && p.is(at+1, ".") && p.is(i, p.toks[at].text) && p.is(i+1, ".") && p.near(i+2, i+3, taken...) {
			return slices.ContainsFunc(after.units[l.unit.name], func(u *unit) bool { return calls(u) >= calls(l.unit) })
		}
	}
	return false
}

// snapped reports whether what a lost check compared with a text in its place is compared with the same text in a file of
// snapshots now, which has it under the name of its test.
func (c *comparison) snapped(l asserted, gained []asserted, used []bool, index checkIndex) bool {
	if !strings.Contains(l.exact, "InlineSnapshot") {
		return false
	}
	for _, i := range index.near(l, true) {
		if g := gained[i]; !c.step() || used[i] || !strings.Contains(g.exact, "Snapshot") || strings.Contains(g.exact, "InlineSnapshot") || g.says != l.says {
			continue
		}
		for n, w := range l.lits {
			rest := slices.Delete(slices.Clone(l.lits), n, n+1)
			if contains(gained[i].lits, rest) && c.newEntry(ownName(l.unit.name), w) {
				used[i] = true
				return true
			}
		}
	}
	return false
}

// newEntry reports whether a file of snapshots has a text now under a name that ends with a test's, and a number.
func (c *comparison) newEntry(test, says string) bool {
	noise := regexp.MustCompile("[\\s`'\"\\\\;]")
	plain := func(s string) string { return noise.ReplaceAllString(s, "") }
	for _, f := range c.data {
		if !isSnapshot(f.Path) || f.After == nil {
			continue
		}
		was := snapshots(f.Before)
		for name, entry := range snapshots(f.After) {
			if _, had := was[name]; !had && strings.Contains(name, test) && plain(entry) == plain(says) {
				return true
			}
		}
	}
	return false
}

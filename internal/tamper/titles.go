package tamper

import (
	"maps"
	"slices"
)

// runTitles are what names the rows of a table of Go, in one file: what subtests are run by, and nothing else.
type runTitles struct {
	fields  map[string]bool     // of rows: whether they are only that
	columns map[int]map[int]int // by how many fields a row has: which of them it is, if more than nothing
	keys    map[*unit]bool      // tests that name rows by the keys of a map
	rows    map[int]bool        // tokens in the place of such a field
}

// findTitles reads what t.Run is given: c.name, or the key of a range over a map.
func (p *parsed) findTitles() {
	if p.l.name != "go" {
		return
	}
	t := runTitles{fields: map[string]bool{}, columns: map[int]map[int]int{}, keys: map[*unit]bool{}, rows: map[int]bool{}}
	p.titles = t
	var at map[string][]int // where each name stands
	for i := range p.toks {
		if !p.is(i, "Run") || !p.is(i-1, ".") || !p.is(i+1, "(") || !p.isKind(i+2, ident) {
			continue
		}
		if at == nil {
			at = map[string][]int{}
			for n, o := range p.toks {
				if o.kind == ident {
					at[o.text] = append(at[o.text], n)
				}
			}
		}
		switch u := p.unitAt(i); {
		case p.is(i+3, ".") && p.isKind(i+4, ident) && p.is(i+5, ","):
			name := p.toks[i+4].text
			if _, known := t.fields[name]; !known {
				t.fields[name] = p.onlyNames(at[name], func(n int) bool { return p.is(n-1, ".") && !p.is(n+1, "(") })
			}
		case p.is(i+3, ","):
			if _, known := t.keys[u]; !known {
				t.keys[u] = p.ranges(at[p.toks[i+2].text], u)
			}
		}
	}
	titled := slices.Contains(slices.Collect(maps.Values(t.fields)), true)
	for i := range p.toks {
		if p.is(i, "struct") && p.is(i+1, "{") && titled {
			p.titleColumns(i+1, t)
		}
	}
	for i := range p.toks {
		if p.is(i, "{") && p.pairs[i] > i && len(t.columns) > 0 {
			list := p.arguments(i)
			for at, a := range list {
				if t.columns[len(list)][at] > 0 && a[1] == a[0]+1 {
					t.rows[a[0]] = true
				}
			}
		}
	}
}

// ranges reports whether a name is the key of a range in a function, and what a subtest is run by, and nothing else.
func (p *parsed) ranges(key []int, u *unit) bool {
	is := false
	return p.onlyNames(key, func(n int) bool {
		if p.unitAt(n) != u {
			return false
		}
		if p.is(n-1, "for") && p.is(n+1, ",") {
			is = true
			return false
		}
		return !p.is(n-1, ".")
	}) && is
}

// onlyNames reports whether a name, which stands at some tokens, wherever that counts, is given to t.Run or said in a message.
func (p *parsed) onlyNames(name []int, counts func(int) bool) bool {
	for _, i := range name {
		if !counts(i) {
			continue
		}
		at := p.within[i]
		if !p.is(at, "(") || !(p.is(at-1, "Run") || p.isTalk(at-1)) || !p.is(at-2, ".") {
			return false
		}
	}
	return true
}

// titleColumns notes which fields of a struct, whose block opens at a token, name rows.
func (p *parsed) titleColumns(open int, t runTitles) {
	var fields []string
	for i, end := open+1, p.pairs[open]; i < end; i++ {
		if inner := p.pairs[i]; inner > i {
			i = inner
		} else if p.isKind(i, ident) && (p.toks[i].lead || p.is(i-1, "{") || p.is(i-1, ";")) {
			fields = append(fields, p.toks[i].text)
			for n := i + 1; p.is(n, ",") && p.isKind(n+1, ident); n += 2 { // a, b int
				fields = append(fields, p.toks[n+1].text)
				i = n + 1
			}
		}
	}
	for at, name := range fields {
		if t.columns[len(fields)] == nil {
			t.columns[len(fields)] = map[int]int{}
		}
		if t.fields[name] {
			t.columns[len(fields)][at]++
		} else {
			t.columns[len(fields)][at] -= len(p.toks) // another struct of as many fields means something else by it
		}
	}
}

// namesRow reports whether a text of Go names a row of a table: in its place, by its field, or as a key of a map.
func (p *parsed) namesRow(i int) bool {
	switch {
	case p.l.name != "go" || !p.isKind(i, text) || !p.is(p.within[i], "{"):
		return false
	case p.is(i-1, ":") && p.isKind(i-2, ident):
		return p.titles.fields[p.toks[i-2].text]
	case p.is(i+1, ":") && p.is(i+2, "{"):
		return p.titles.keys[p.unitAt(i)] && p.is(p.within[p.within[i]]-1, ")") // of a table, and not of a map in a row
	}
	return p.titles.rows[i]
}

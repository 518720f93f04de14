package jsonc

import (
	"bytes"
	"slices"
	"strings"
)

// Add puts a member (`"key": value`) into an object, or an element into an array, behind what is there already. indent is
// what its line begins with where the list has lines; the bracket of an empty one stands on a line that begins with outer.
func Add(text []byte, in *Value, item, indent, outer string) []byte {
	last := in.last()
	if last == 0 {
		body := "\n" + indent + item + "\n" + outer
		if bytes.ContainsAny(text[in.Start+1:in.End-1], "/") { // a comment stays, and the item stands before it
			body = "\n" + indent + item + string(text[in.Start+1:in.End-1])
		}
		return splice(text, in.Start+1, in.End-1, body)
	}
	lines := bytes.ContainsRune(text[in.Start:in.first()], '\n')
	between := " "
	if lines {
		between = "\n" + indent
	}
	if comma := commaAfter(text, last, in.End-1); comma > 0 { // one behind the last element: it stays the last
		return splice(text, comma, comma, between+item+",")
	}
	return splice(text, last, last, ","+between+item)
}

// Remove takes the n-th member or element away, with its comma and the line that it stood on.
func Remove(text []byte, in *Value, n int) []byte {
	start, end := in.bounds(n)
	switch comma := commaAfter(text, end, in.End-1); {
	case n > 0: // from the end of the one before it: its comma goes too
		_, before := in.bounds(n - 1)
		return splice(text, before, end, "")
	case comma > 0 && in.count() > 1:
		next, _ := in.bounds(1)
		return splice(text, start, next, "")
	case comma > 0:
		end = comma
	}
	from := in.Start + 1 + len(bytes.TrimRight(text[in.Start+1:start], " \t\r\n"))
	rest := text[end : in.End-1]
	return splice(text, from, end+len(rest)-len(bytes.TrimLeft(rest, " \t\r\n")), "")
}

func (v *Value) count() int { return len(v.Members) + len(v.Elements) }

func (v *Value) bounds(n int) (start, end int) {
	if v.Kind == '{' {
		return v.Members[n].Start, v.Members[n].Value.End
	}
	return v.Elements[n].Start, v.Elements[n].End
}

func (v *Value) first() int {
	start, _ := v.bounds(0)
	return start
}

// last is the end of the last member or element, 0 when there is none.
func (v *Value) last() int {
	if v.count() == 0 {
		return 0
	}
	_, end := v.bounds(v.count() - 1)
	return end
}

// commaAfter is the place behind the comma that follows, 0 for none before the end.
func commaAfter(text []byte, from, end int) int {
	p := &parser{text: text[:end], at: from}
	if p.space() != nil || p.peek() != ',' {
		return 0
	}
	return p.at + 1
}

func splice(text []byte, from, to int, with string) []byte {
	return slices.Concat(text[:from], []byte(with), text[to:])
}

// IndentOf is what the line of a member begins with, if that is nothing but white space, and else what is said instead.
func IndentOf(text []byte, at int, instead string) string {
	line := string(text[bytes.LastIndexByte(text[:at], '\n')+1 : at])
	if strings.Trim(line, " \t") != "" || at == len(line) {
		return instead
	}
	return line
}

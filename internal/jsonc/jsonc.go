// Package jsonc finds its way in the text of a JSON file that people edit, comments and all, so that a little of it can be
// changed and every other byte stays.
package jsonc

import (
	"encoding/json"
	"fmt"
)

// Value is one value in a text.
type Value struct {
	Kind       byte // '{', '[', '"', or the first byte of anything else
	Start, End int  // text[Start:End]
	Members    []Member
	Elements   []Value
	text       string // of a string, unquoted
}

// Member is one member of an object.
type Member struct {
	Key   string
	Start int // of the key, with its quote
	Value Value
}

// maxDepth is how deep values may be nested.
const maxDepth = 100

// Parse reads a text that holds one value. Comments (// and /* */) and commas after the last element are let through.
func Parse(text []byte) (Value, error) {
	p := &parser{text: text}
	if len(text) >= 3 && string(text[:3]) == "\ufeff" {
		p.at = 3
	}
	if err := p.space(); err != nil {
		return Value{}, err
	}
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	if err := p.space(); err != nil {
		return Value{}, err
	}
	if p.at < len(text) {
		return Value{}, p.wrong("nothing more")
	}
	return v, nil
}

// Get returns the value of an object's last member of that name.
func (v *Value) Get(key string) *Value {
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Key == key {
			return &v.Members[i].Value
		}
	}
	return nil
}

// Text is what a string says, "" for every other value.
func (v *Value) Text() string { return v.text }

type parser struct {
	text []byte
	at   int
}

func (p *parser) wrong(want string) error {
	line := 1
	for _, b := range p.text[:p.at] {
		if b == '\n' {
			line++
		}
	}
	return fmt.Errorf("line %d: it should have %s there", line, want)
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// space passes over white space and comments.
func (p *parser) space() error {
	for p.at < len(p.text) {
		switch b := p.text[p.at]; {
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			p.at++
		case b == '/' && p.at+1 < len(p.text) && p.text[p.at+1] == '/':
			for p.at < len(p.text) && p.text[p.at] != '\n' {
				p.at++
			}
		case b == '/' && p.at+1 < len(p.text) && p.text[p.at+1] == '*':
			end := p.at + 2
			for end+1 < len(p.text) && (p.text[end] != '*' || p.text[end+1] != '/') {
				end++
			}
			if end+1 >= len(p.text) {
				return p.wrong("an end of a comment")
			}
			p.at = end + 2
		default:
			return nil
		}
	}
	return nil
}

func (p *parser) value(depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, p.wrong("fewer levels")
	}
	v := Value{Kind: p.peek(), Start: p.at}
	var err error
	switch {
	case v.Kind == '{':
		v.Members, err = p.object(depth)
	case v.Kind == '[':
		v.Elements, err = p.array(depth)
	case v.Kind == '"':
		v.text, err = p.string()
	default:
		for b := p.peek(); b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b == '-' || b == '+' || b == '.' || b == 'E'; b = p.peek() {
			p.at++
		}
		if !json.Valid(p.text[v.Start:p.at]) {
			p.at = v.Start
			err = p.wrong("a value")
		}
	}
	v.End = p.at
	return v, err
}

func (p *parser) string() (string, error) {
	start := p.at
	for p.at++; p.peek() != '"'; p.at++ {
		if p.peek() == '\\' {
			p.at++
		}
		if p.at >= len(p.text) {
			p.at = start
			return "", p.wrong("an end of a text")
		}
	}
	p.at++
	var s string
	if json.Unmarshal(p.text[start:p.at], &s) != nil {
		p.at = start
		return "", p.wrong("a text")
	}
	return s, nil
}

// list reads what stands between brackets, with commas between them.
func (p *parser) list(end byte, one func() error) error {
	p.at++
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == end {
			p.at++
			return nil
		}
		if err := one(); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			p.at++
		case end:
		default:
			return p.wrong("a comma or " + string(end))
		}
	}
}

func (p *parser) object(depth int) (members []Member, err error) {
	err = p.list('}', func() error {
		m := Member{Start: p.at}
		if p.peek() != '"' {
			return p.wrong("a name")
		}
		if m.Key, err = p.string(); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() != ':' {
			return p.wrong("a colon")
		}
		p.at++
		if err := p.space(); err != nil {
			return err
		}
		m.Value, err = p.value(depth + 1)
		members = append(members, m)
		return err
	})
	return members, err
}

func (p *parser) array(depth int) (elements []Value, err error) {
	err = p.list(']', func() error {
		v, err := p.value(depth + 1)
		elements = append(elements, v)
		return err
	})
	return elements, err
}

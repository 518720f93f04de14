// Package lazyregexp compiles regular expressions at their first use, so that wfs starts quickly. Most commands use
// only a few of the expressions in the program.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regexp.Regexp that is compiled at its first use.
type Regexp struct{ get func() *regexp.Regexp }

// New returns a Regexp. Its first use panics if the text is not a valid regular expression.
func New(text string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

func (r *Regexp) MatchString(s string) bool                  { return r.get().MatchString(s) }
func (r *Regexp) Match(b []byte) bool                        { return r.get().Match(b) }
func (r *Regexp) FindString(s string) string                 { return r.get().FindString(s) }
func (r *Regexp) FindStringIndex(s string) []int             { return r.get().FindStringIndex(s) }
func (r *Regexp) FindStringSubmatch(s string) []string       { return r.get().FindStringSubmatch(s) }
func (r *Regexp) FindIndex(b []byte) []int                   { return r.get().FindIndex(b) }
func (r *Regexp) FindSubmatch(b []byte) [][]byte             { return r.get().FindSubmatch(b) }
func (r *Regexp) FindAllString(s string, n int) []string     { return r.get().FindAllString(s, n) }
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int { return r.get().FindAllStringIndex(s, n) }
func (r *Regexp) ReplaceAllString(src, repl string) string {
	return r.get().ReplaceAllString(src, repl)
}
func (r *Regexp) ReplaceAll(src, repl []byte) []byte { return r.get().ReplaceAll(src, repl) }
func (r *Regexp) Split(s string, n int) []string     { return r.get().Split(s, n) }

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

func (r *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return r.get().ReplaceAllStringFunc(src, repl)
}

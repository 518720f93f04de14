package workflows

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// Cards maps the name of each known agent to its card, which describes how to run the agent's program.
type Cards map[string]*Card

// BuiltinCards returns the cards that come with wfs.
func BuiltinCards() Cards {
	cards := Cards{}
	for _, name := range namesIn("agents") {
		text, _ := textIn("agents", name)
		if c, _ := ParseCard(name+".yaml", text); c != nil { // cannot fail: a test reads them all
			c.File = ""
			cards[name] = c
		}
	}
	return cards
}

// Names returns the names of the cards, sorted.
func (cs Cards) Names() []string { return slices.Sorted(maps.Keys(cs)) }

// CardSchema returns the JSON Schema (draft-07) of agent cards. It is as strict as ConfigSchema.
func CardSchema() []byte { return writeSchema(objects().card, CardSchemaFile, "wfs agent") }

// ParseCard reads and checks the text of an agent card. `file` is its name in findings, and must match the card's name.
// All mistakes are returned as findings, sorted by line; if there are any, the card is nil.
func ParseCard(file string, text []byte) (*Card, []Finding) {
	c, findings := parseFile[Card](file, text, objects().card)
	if c != nil {
		c.File = file
	}
	return c, findings
}

func (c *Card) check(r *reader, _ string) {
	file := path.Base(strings.ReplaceAll(r.file, `\`, "/"))
	if c.Name != "" && c.Name != strings.TrimSuffix(strings.TrimSuffix(file, ".yaml"), ".yml") {
		r.fail("name", " %s is not the name of the file\ncall the file %s.yaml", quote(c.Name), clip(c.Name))
	}
	var files []string
	if c.Files != nil {
		files = []string{"{files}"}
	}
	r.checkPlaces("command", c.Command, files)
	if c.New != nil && c.Resume == nil {
		r.fail("new", " names a conversation, but there is no resume to continue it")
	}
	filled := func(v string) bool { return strings.Contains(v, "{tools}") }
	if c.Each != "" && !slices.ContainsFunc(slices.Collect(maps.Values(c.Set)), filled) {
		r.fail("each", " is filled into {tools} of set, and there is none")
	}
	if c.Messages != nil && (c.Prompt != PromptStdin || !slices.Contains(messageDecoders, c.Decoder)) {
		r.fail("messages", " needs prompt: stdin, and one of these decoders: %s", strings.Join(messageDecoders, ", "))
	}
	if c.Permit != "" && !c.Permits() {
		r.fail("permit", " is a word of allow, and there is neither allow nor each")
	}
}

var placePattern = lazyregexp.New(`\{[a-z-]+\}`)

// checkPlaces reports placeholders, such as {model}, in `words` that cannot be filled in, and words without a
// placeholder if one of `places` is required.
func (r *reader) checkPlaces(at string, words, places []string) {
	found := placePattern.FindAllString(strings.Join(words, "\n"), -1)
	for _, p := range found {
		hint := ""
		if len(places) > 0 {
			hint = "\nwrite " + strings.Join(places, " or ")
		}
		switch {
		case !slices.Contains(places, p):
			r.fail(at, ": %s is filled in by nothing there%s", p, hint)
			return
		case p != found[0]:
			r.fail(at, " holds both %s and %s: one of them", found[0], p)
			return
		}
	}
	if len(places) > 0 && len(found) == 0 {
		r.fail(at, " has no word with %s", strings.Join(places, " or "))
	}
}

// DecoderNames returns the output formats that a card may name. Package agents has a decoder for each of them.
func DecoderNames() []string { return []string{"text", "claude", "codex", "gemini", "opencode"} }

// messageDecoders are the output formats that have a form for messages to the agent, see agents.Message.
var messageDecoders = []string{"claude"}

package workflows

import (
	"embed"
	"maps"
	"slices"
)

//go:embed agents/*.yaml
var agentCards embed.FS

// Cards are the agents that can be named.
type Cards map[string]*Card

// BuiltinCards returns the cards that come with wfs.
func BuiltinCards() Cards {
	cards := Cards{}
	for _, name := range BuiltinCardNames() {
		text, _ := BuiltinCardText(name)
		if c, _ := ParseCard(name+".yaml", text); c != nil { // a test reads them all
			c.File = ""
			cards[name] = c
		}
	}
	return cards
}

// BuiltinCardNames are the names of the cards that come with wfs, sorted.
func BuiltinCardNames() []string { return namesIn(agentCards, "agents") }

// BuiltinCardText returns the YAML text of a built-in card, and false if there is none of that name.
func BuiltinCardText(name string) ([]byte, bool) { return textIn(agentCards, "agents", name) }

// Names are the names of the cards, sorted.
func (cs Cards) Names() []string { return slices.Sorted(maps.Keys(cs)) }

// Read is ReadLayers with these cards instead of the built-in ones.
func (cs Cards) Read(layers ...Layer) (*Settings, []Finding) {
	m := merger{sum: &node{kind: mapping}, cards: cs}
	for i := range layers {
		m.add(&layers[i])
	}
	if len(m.findings) > 0 {
		return nil, m.findings
	}
	r := &reader{cards: cs} // what each layer was checked for holds for the sum
	s := &Settings{Config: *r.config(m.sum)}
	s.Config.Cards = cs
	for _, f := range r.findings {
		m.findings = append(m.findings, Finding{Message: "the configuration files contradict each other: " + f.Message,
			Hint: "wfs config list --show-origin"})
	}
	if len(m.findings) > 0 {
		return nil, m.findings
	}
	s.flatten("", m.sum, configObject)
	return s, nil
}

// pinned is what a plan keeps of a card.
func (c *Card) pinned() Card {
	if c == nil {
		return Card{}
	}
	kept := *c
	kept.File = ""
	return kept
}

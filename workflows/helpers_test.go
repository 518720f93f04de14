package workflows

// ReadLayers is Cards.Read with the built-in cards.
func ReadLayers(layers ...Layer) (*Settings, []Finding) {
	s, findings := BuiltinCards().Read(layers...)
	if s != nil {
		s.Config.Cards = nil // Resolve knows them
	}
	return s, findings
}

// ParseConfig reads and checks a repository's configuration by itself. file names the text in findings. Findings are
// everything that is wrong, in the order of lines; the configuration is nil if there is one.
func ParseConfig(file string, text []byte) (*Config, []Finding) {
	s, findings := ReadLayers(Layer{Source: FromRepository, Name: file, Text: text})
	if s == nil {
		return nil, findings
	}
	return &s.Config, nil
}

// Builtin returns a built-in workflow, and false if there is none of that name.
func Builtin(name string) (*Workflow, bool) {
	text, ok := BuiltinText(name)
	if !ok {
		return nil, false
	}
	w, _ := ParseWorkflow(name+".yaml", text)
	return w, w != nil
}

// BuiltinCardNames are the names of the cards that come with wfs, sorted.
func BuiltinCardNames() []string { return namesIn("agents") }

// BuiltinCardText returns the YAML text of a built-in card, and false if there is none of that name.
func BuiltinCardText(name string) ([]byte, bool) { return textIn("agents", name) }

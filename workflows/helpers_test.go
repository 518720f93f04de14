package workflows

// ReadLayers is Cards.Read with the built-in cards.
func ReadLayers(layers ...Layer) (*Settings, []Finding) {
	s, findings := BuiltinCards().Read(layers...)
	if s != nil {
		s.Config.Cards = nil // Resolve uses them by default
	}
	return s, findings
}

// ParseConfig reads and checks a repository's configuration alone. file names the text in findings. It returns all
// mistakes as findings, sorted by line; if there are any, the configuration is nil.
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

// BuiltinCardNames returns the names of the built-in cards, sorted.
func BuiltinCardNames() []string { return namesIn("agents") }

// BuiltinCardText returns the YAML text of a built-in card, and false if there is none of that name.
func BuiltinCardText(name string) ([]byte, bool) { return textIn("agents", name) }

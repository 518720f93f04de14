package workflows

// Card tells how the program of an agent is driven. It is data: `claude`, `codex`, `gemini` and `opencode` are built in,
// others come from .wfs/agents and the person's own configuration. A plan pins the card that it was made with.
//
// Command, and every list of words after it, is given to the program as it stands, without a shell. A word in braces is
// filled in; a list whose word has no value is left out as a whole.
type Card struct {
	Name    string   `json:"name"`
	About   string   `json:"about,omitempty"`
	Command []string `json:"command"` // the program, and what it gets at every start
	Prompt  Prompt   `json:"prompt"`
	Decoder string   `json:"decoder"` // of its standard output: see internal/agents

	New    []string `json:"new,omitempty"`    // begins a conversation; {id} is a UUID that the engine makes
	Resume []string `json:"resume,omitempty"` // goes on with the conversation {id}; none: every run is a new one
	Model  []string `json:"model,omitempty"`  // {model}
	Budget []string `json:"budget,omitempty"` // {usd}: what this run may cost
	Turns  []string `json:"turns,omitempty"`  // {turns}: how many turns this run may take
	Allow  []string `json:"allow,omitempty"`  // {tools}: what it may do unattended; the word is repeated for each
	Answer []string `json:"answer,omitempty"` // {schema}: a JSON schema for its last answer

	// Interrupt says that an interrupt (SIGINT) ends it in good order, with a last word about what it cost.
	Interrupt bool `json:"interrupt,omitempty"`

	Env   []string          `json:"env,omitempty"`   // names of variables that it may see, besides those that all runs see
	Set   map[string]string `json:"set,omitempty"`   // variables that it is started with
	Probe []string          `json:"probe,omitempty"` // prints its version, and costs nothing
	Login string            `json:"login,omitempty"` // what a person types to log in
}

// Prompt says how the brief reaches an agent.
type Prompt string

// An argument is bounded by the system (128 KB on Linux); standard input is not.
const (
	PromptStdin    Prompt = "stdin"
	PromptArgument Prompt = "argument" // the last word of the command
)

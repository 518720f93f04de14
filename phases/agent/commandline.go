package agent

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// maxArgument is what fits into one argument of a command on every system, with room to spare; Linux takes 128 KB.
const maxArgument = 120 << 10

// SchemaFile is where the schema of the answer stands in a run's directory, for agents that read it from a file.
const SchemaFile = "answer.schema.json"

// CardDir is where the files of an agent's card are written in a run's directory.
const CardDir = "card"

// CommandLine is what a run would be started with, for people: the words in braces differ from run to run. It
// is nil for a script.
func (r *Runner) CommandLine(ctx context.Context, req session.RunRequest) []string {
	req.Plan.Agent = *req.Plan.AgentOf(&req.Phase)
	if !r.goesOn(ctx, req) {
		req.Conversation = nil
	}
	agent, run := req.Plan.Agent, req.Phase.Run
	switch {
	case run.Agent && agent.Card != nil:
		line, _, _ := AgentCommand(req, []byte("{brief}"), "{id}")
		return line
	case run.Agent && agent.Script != "":
		return nil
	case run.Agent:
		return process.Argv(agent.Command)
	}
	return process.Argv(run.Command)
}

// AgentCommand is the command line by which an agent's card is driven for a run, and its standard input. A list of the
// card whose word has no value is left out. id names a new conversation. why says that it cannot be run so.
func AgentCommand(req session.RunRequest, prompt []byte, id string) (argv []string, stdin []byte, why string) {
	agent := req.Plan.Agent
	card := agent.Card
	if len(card.Command) == 0 {
		return nil, nil, "the agent card of " + card.Name + " has no command"
	}
	i := workflows.Invocation{Conversation: id, Model: agent.Model, Tools: agent.Allow, Args: agent.Args,
		USD: req.LeftUSD, Turns: req.LeftTurns,
		Schema: brief.Schema(req), SchemaFile: filepath.Join(req.RunDir, SchemaFile),
		Files: filepath.Join(req.RunDir, CardDir)}
	if c := req.Conversation; c != nil {
		i.Conversation, i.Resume = c.ID, true
	}
	if card.Prompt != workflows.PromptArgument {
		return card.Argv(i), prompt, ""
	}
	if len(prompt) > maxArgument {
		return nil, nil, fmt.Sprintf("the brief has %d bytes, too many for a command-line argument", len(prompt))
	}
	i.Prompt = string(prompt)
	return card.Argv(i), nil, ""
}

// conversationID is the UUID of a conversation that a run begins. The same run gives the same one, so that it can be
// found again.
func conversationID(runID string, try int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %s", try, runID))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80 // version 8 of RFC 9562: of our own making
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

package agent

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// maxArgument limits a brief that is passed as a command-line argument, in bytes. Linux has the lowest limit for one
// argument, 128 KB.
const maxArgument = 120 << 10

// SchemaFile is the file in a run's directory with the JSON schema of the answer. It is for agents that read the
// schema from a file.
const SchemaFile = "answer.schema.json"

// CardDir is the directory in a run's directory with the files that the agent's card contains.
const CardDir = "card"

// CommandLine returns the command line with which a run would start, to be shown to people. It returns nil for a
// script. Words in braces, such as {brief}, are different in each run.
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

// AgentCommand returns the command line and the standard input for an agent with a card. Options of the card that have
// no value in this run are left out. id is the id of a new conversation. `why` is the reason if the agent cannot be
// started in this way, else "".
func AgentCommand(req session.RunRequest, prompt []byte, id string) (argv []string, stdin []byte, why string) {
	agent := req.Plan.Agent
	card := agent.Card
	if len(card.Command) == 0 {
		return nil, nil, "the agent card of " + card.Name + " has no command"
	}
	i := workflows.Invocation{Conversation: id, Model: agent.Model, Tools: agent.Allow, Args: agent.Args,
		USD: req.LeftUSD, Turns: req.LeftTurns,
		Schema: brief.Schema(req), SchemaFile: filepath.Join(req.RunDir, SchemaFile),
		Files: filepath.Join(req.RunDir, CardDir), Messages: listens(req)}
	if c := req.Conversation; c != nil {
		i.Conversation, i.Resume = c.ID, true
	}
	if i.Messages {
		return card.Argv(i), agents.Message("", string(prompt)), ""
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

// conversationID returns a UUID for a new conversation. It is the same each time for the same run and try, so that the
// conversation can be found again.
func conversationID(runID string, try int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %s", try, runID))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80 // version 8 of RFC 9562: any other scheme
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

package workflows

import "strings"

// help describes every object and every key, with an underscore for each dash, for the JSON Schemas and for
// findings about keys that are missing. An accent (´) stands for a backquote.
var help = parseHelp(`
config Configuration of wfs: how a project is judged, and who works in it.
config.version Version of the format.
config.workflow The workflow of ´wfs new´ when no other is named.
config.agent Who works in phases with ´run: agent´: an agent that wfs knows, a command, or a mapping.
config.agents Further agents by name, for phases with ´run: {agent: NAME}´.
config.agree Who agrees that nothing is left to do: a person, or auto (no one). Overrides the workflow's laps.agree.
config.refactor Whether the phase after the one that makes red tests pass is entered in every lap, or (auto) only
  where the lap changed 20 lines of code or more. Overrides the workflow's refactor.
config.env Names of variables that agents and gates may see besides the usual ones. Never values.
config.on_event A command that is run when a session is blocked, waits, is completed, or needs a person. It gets JSON
  on standard input.
config.max_file_size Larger untracked files stay out of checkpoints until wfs allow permits them.
config.max_new_files A new directory with more files stays out of checkpoints until wfs allow permits it.
config.auto_save How often files are backed up while an agent works in a session, or off.
config.clean_proof Whether finished work must also pass in a clean checkout: the checkpoint's files and the
  dependencies, nothing else.
config.clean_provide Patterns of untracked and ignored files that clean checkouts get besides the usual dependencies,
  from the top: .env.test, data/*.bin.
config.finish How work is handed over.
config.holdout How tests run that the agent never sees.
config.gates Gates by name: commands that wfs runs itself, and that decide.
config.budget Cost limits.
config.limits Rate limits.
config.worktree How a work tree of a session's own is made (´wfs new --worktree´).

agent Who works in phases with ´run: agent´.
agent.use The name of an agent that wfs knows: claude, codex, gemini, opencode, or one of .wfs/agents. ´wfs agent
  list´ names them.
agent.model Which model it shall use, in the agent's own words.
agent.allow What it may do unattended besides what it may anyway, in the agent's own words: "Bash(go test:*)".
agent.args Further words of its command line.
agent.conversation phase: the attempts at a phase share one conversation. fresh: every attempt begins a new one.
agent.push Whether its git may push. A guard against mistakes: git's settings in its environment make a push fail.
agent.command The command. It gets its instructions on standard input and edits files in the work tree.
agent.script Path of a file of prepared edits, which wfs plays instead of running a command. For demonstrations and
  tests.
agent.idle Without any output for this long, the agent is stopped.
agent.timeout After this long, the agent is stopped, whatever it prints.

finish How work is handed over.
finish.report What the commit says beside the goal and its items. summary: what was tested and approved. full: also
  attempts, and reports of the agent that were not true.

holdout How hold-out tests run and are reported. Their place is given by wfs new --holdout DIR.
holdout.gate The gate that runs them, if it is not those of the workflow.
holdout.reveal What the agent learns about failing ones. count: how many. names: which. Never their content.

gate A command that wfs runs itself to judge what an attempt left.
gate.run The command that judges, run in the top directory of the work tree.
gate.format How its output is read. All but exit-code have per-test results.
gate.report With a format that is a document (junit, jest-json, rspec-json, trx), a pattern for report files below the
  work tree. Prefer $WFS_REPORT where a tool accepts a file name.
gate.paths It is run when a path that fits one of these patterns has changed in the lap, and when the work is
  complete. Without it: always.
gate.when How early it judges. attempt: in every attempt. lap: in phases that end a lap or the work. finish: when the
  work is complete. All judge what is complete.
gate.timeout After this long the gate is stopped.
gate.where Where it runs. in-place: in the work tree. clean: in a directory that holds the checkpoint's tree and
  installed packages, and nothing else. auto: clean, if it says the same of the base there as in the work tree.
gate.stable How many runs in a row must agree that all is well. A test of the lap that passes in some of them only has
  not passed.
gate.may_change_tree Whether the gate may change files that git does not ignore.

budget Cost limits. A repository may lower a user's limits, not raise them.
budget.session Limits per session.
budget.phase Limits per phase in one lap of a session.
budget.day Limits per day, for all sessions of a clone together.

cap The limits at which a session stops and asks.
cap.usd Dollars, as agents report them.
cap.tokens Tokens of all kinds.
cap.turns Turns of agents.
cap.attempts Attempts that were judged.
cap.time Time of agents, commands and gates, without waits.

calls Rate limits.
limits.calls_per_hour How many agents may start within an hour, in all sessions of a clone together.

worktree How a work tree of a session's own is made (´wfs new --worktree´).
worktree.dir Where: a path with {slug}, the session's name, and {repo}, that of the main work tree's directory.
  Relative to the main work tree.
worktree.copy Patterns of untracked and ignored files of the main work tree that are copied, from its top: .env,
  config/*.local.yaml.
worktree.link Paths of untracked and ignored files and directories of the main work tree that are linked to: they are
  shared.
worktree.setup A command that installs what git ignores, in a new work tree and in clean checkouts, before anything is
  judged there: npm ci.
worktree.timeout After this long the set-up is stopped.

workflow A workflow of wfs: the phases that work walks through, and when it may leave one.
workflow.version Version of the format.
workflow.name The name that ´wfs new --workflow´ takes.
workflow.description One line for lists.
workflow.start The first phase.
workflow.laps The phases are walked many times. Without it they are walked once.
workflow.tamper What happens when tests are weakened outside the phase that writes them. Without it: strict where a
  gate expects red, else off.
workflow.refactor Whether the phase after the one that makes red tests pass is entered in every lap, or (auto) only
  where the lap changed 20 lines of code or more.
workflow.phases Phases by name, at least one.

laps With laps, a lap is one open item of the spec's checklist.
laps.agree Who agrees that nothing is left: a person, or auto (no one).
laps.max The maximum number of laps without a checklist; with one, each open item has its lap.

phase What runs, how it is judged, and where each verdict leads.
phase.brief Instructions for the agent or person of this phase.
phase.run Who works here: the session's agent, a person, a command of the workflow's own, or an agent by name.
phase.gates What decides. Only a phase of a person may do without.
phase.guards Which paths may change while the work is in this phase.
phase.on Where each verdict leads: {pass: another phase, next-lap or done}.
phase.limits When the breaker stops the work.
phase.tamper The same for this phase alone.
phase.signal What the agent's own report counts beside the gates. auto: nothing. veto: its "not done" counts.
  required: it must report that it is done.
phase.half_open What is changed in the last attempt before the breaker opens.
phase.holdout Whether what passes here must also pass the hold-out tests. Without it finished work must.
phase.review The phase is a review: its agent approves or rejects the work, and changes nothing.

run A command of the workflow's own, or an agent that is not the session's.
run.command The command.
run.agent The name of an agent: of ´agents:´ in the configuration, or one that wfs knows.

gateUse A gate of the configuration (use), or one that belongs to the workflow (name, and what it looks at).
gateUse.use The gate of the configuration, or all: every one of them. Only expect and stable may stand beside it.
gateUse.name The name of a gate written on the spot.
gateUse.expect pass: the lap's tests pass and no passing test broke. red: a new test fails for the right reason and no
  passing test broke.
gateUse.document A document of the session, below .workflow/SESSION/, that must be there.
gateUse.needs What the document must hold. tasks: a task list. items: a task for every item of the spec's checklist.
  ticked: no task that is not ticked.
gateUse.changes A path that fits one of these patterns must have changed since the phase was entered.

guards Paths that an attempt may change. Patterns as in a .gitignore.
guards.only Nothing else may change.
guards.except These may not change.

on Where each verdict leads.
on.pass Where a passed attempt leads: a phase, next-lap or done.
on.fail Where a failed attempt leads: a phase. The phase itself when left out.

limits When the breaker stops the work.
limits.attempts Attempts at the phase each time it is entered, without those that leave fewer tasks open than any
  before.
limits.no_progress Attempts in a row without progress.
limits.same_failure Attempts in a row that fail in the same way.
limits.failed_runs Runs in a row that failed without changing anything.

halfOpen What is changed in the last attempt before the breaker opens, beside a new conversation and a digest of what
  failed.
halfOpen.agent The name of the agent that makes this attempt: of ´agents:´ in the configuration, or one that wfs
  knows.

review The phase is a review: its agent approves or rejects the work, and changes nothing but documents of the
  session.
review.by other: an agent or model other than those of the other phases. anyone: no restriction.
review.rounds How often the work may be sent back before a person decides.

card An agent of wfs: how to run the program of a coding agent.
card.version Version of the format.
card.name The name that ´agent:´ and --agent take; the file is called NAME.yaml.
card.about One line for lists.
card.command The program and its arguments at every start, without a shell.
card.prompt How it gets the brief: on standard input, or as the last argument.
card.decoder How its standard output is read. text is for a program that prints for people.
card.new Arguments that begin a conversation with the {id} that wfs makes, a UUID. Leave it out when the program makes
  ids itself.
card.resume Arguments that continue the conversation {id}. Without them every run is a new conversation.
card.model Arguments that choose a {model}.
card.budget Arguments that limit the cost of one run, in {usd}.
card.turns Arguments that limit the {turns} of one run.
card.allow Arguments that permit tools unattended: the one with {tools} is repeated for each.
card.answer Arguments that request a final answer by a JSON {schema}, or by the one in {schema-file}.
card.interrupt Whether an interrupt (SIGINT) ends it cleanly, with a final report of its cost.
card.loads Rule files of a project that it reads by itself when it is started so, such as AGENTS.md. The brief names
  the others.
card.env Names of variables that it may see besides those that every run sees; NAME_* for all that begin so.
card.set Variables that it is started with.
card.files Texts that are written for each run, by the names of files; {files} in command is the directory that they
  are in.
card.each JSON for one allowed {tool}. They replace {tools} in set, for a program that reads permissions from a
  variable.
card.probe A command that prints its version, and costs nothing.
card.login The command to log in.
card.logged_in A command that exits 0 when it is logged in, and costs nothing.
card.unattended What it may do unattended when nothing is allowed, in words.
card.permit How an entry of ´allow´ permits it to run {command} with any arguments.
card.tested Versions that this card was tried with.
`)

func parseHelp(text string) map[string]string {
	help := map[string]string{}
	last := ""
	for line := range strings.Lines(strings.ReplaceAll(text, "´", "`")) {
		name, about, _ := strings.Cut(line, " ")
		if name = strings.TrimSpace(name); name != "" {
			last = name
		}
		help[last] = strings.TrimSpace(help[last] + " " + strings.TrimSpace(about))
	}
	return help
}

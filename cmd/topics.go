package cmd

import "github.com/spf13/cobra"

// topic returns a help page that is about a topic and not about a command.
func topic(name, short, long string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, Long: long}
}

func topics() []*cobra.Command {
	return []*cobra.Command{
		topic("exit-codes", "what the exit code of a command means",
			`Every command ends with one of these codes. An error is one line on standard error, "error: …", with "hint: …" below it
where there is a command to type. With --json it is an object with the same code.

    0         done
    1         error
    2         usage error: of the command line, or of a workflow
    3         you have to decide: a question, uncommitted changes, trust
    4         blocked: breaker, gate, budget, login, hook, nothing green, findings; with evidence
    5         another process holds a lock; the message names it
    75        rate limited (wfs run --no-wait)
    130, 143  interrupted, terminated`),
		topic("addresses", "how sessions and checkpoints are named",
			`A session is named by its id, by the beginning of it that no other session has, or as trailers have it:

    csv-export    WFS-csv-export    csv

Where a name may be left out, the current session is meant: the one whose branch HEAD is on in this work tree.

A checkpoint is named by its number, alone or with its session, or by the beginning of its commit, at least four digits:

    7    cp-0007    csv-export@7    1f3c9ab

Numbers begin at 0, which is where the session began. They are never used again: after wfs resume @4 the next
checkpoint gets a new one, and those after 4 can still be named. For git a checkpoint is a commit like any other; wfs
log shows its id.`),
		topic("git", "wfs as a git command, and what it keeps in git", `To type git wfs instead of wfs, tell git once:

    git config --global alias.wfs '!wfs'

Paths are then relative to the directory that you are in, as with wfs itself. A link of that name does the same:

    ln -s "$(command -v wfs)" ~/.local/bin/git-wfs

A session's branch is wfs/<session>, with one ordinary commit for each checkpoint. Further refs hold the rest:

    refs/wfs/<session>/ledger       the session; it keeps every checkpoint reachable
    refs/wfs/<session>/rescue/<n>   backups of uncommitted files (wfs backups)

To see a history without them: git log --exclude='refs/wfs*' --all`),
		topic("environment", "environment variables", `wfs reads these:

    WFS_WORKFLOW      the workflow of wfs new; overrides configuration files
    WFS_AGENT         the agent of wfs new: a name, a command, or script:FILE
    WFS_AGREE         person or auto: who confirms that nothing is left to do
    XDG_CONFIG_HOME   where your own wfs/config.yaml is (default: ~/.config)
    WFS_PAGER         the pager of long output, instead of git's; empty for none
    NO_COLOR          no colours; CLICOLOR_FORCE=1: also without a terminal
    XDG_STATE_HOME    where wfs records what you trust (default: ~/.local/state)
    WFS_NOW           the time, instead of the clock's, for reproducible commits

The agent gets its brief in the file WFS_BRIEF and on standard input, may write its result to WFS_RESULT, and sees
WFS_SESSION, WFS_PHASE, WFS_LAP and WFS_ATTEMPT. Gates see WFS_REPORT. Other variables of yours reach neither, unless
env: in the configuration names them. Inside a run the first three are ignored.`),
	}
}

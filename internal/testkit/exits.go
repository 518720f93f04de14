package testkit

// The exit codes of wfs, as in docs/cli.md.
const (
	ExitOK          = 0
	ExitError       = 1
	ExitUsage       = 2
	ExitDecision    = 3
	ExitBlocked     = 4
	ExitHeld        = 5
	ExitWaiting     = 75
	ExitInterrupted = 130
	ExitTerminated  = 143
)

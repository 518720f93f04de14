package gitcmd

import "strings"

// ReadyError says why wfs cannot write to this repository now.
type ReadyError struct {
	Code   string // one of the Not… constants
	Detail string
}

// Codes of ReadyError.
const (
	NotCommitted  = "no_commits"  // there is no commit yet
	NotBorn       = "unborn"      // HEAD is on a branch without commits, and other branches have some
	NotOnBranch   = "detached"    // HEAD is detached
	NotDone       = "in_progress" // Detail is "merge", "rebase", …
	NotMerged     = "unmerged"    // the index has conflicts
	NotIdentified = "identity"    // neither configuration nor environment have an identity
	NotNamespace  = "namespace"   // a branch is called wfs, so that none can be called wfs/…
	NotExcludes   = "excludes"    // the user's exclude file cannot be read
	NotWhole      = "index"       // the index is damaged
)

// notReady has the messages by code. In a message, DETAIL stands for the field Detail.
var notReady = map[string]string{
	NotCommitted:  "the repository has no commits yet",
	NotBorn:       "HEAD is on DETAIL, which has no commit yet",
	NotOnBranch:   "HEAD is detached: it is on no branch",
	NotDone:       "a DETAIL is in progress",
	NotMerged:     "the index has unmerged paths: DETAIL",
	NotIdentified: "git does not know who you are: DETAIL",
	NotNamespace:  "DETAIL exists, so git cannot keep refs below that name",
	NotExcludes:   "your exclude file cannot be used: DETAIL",
	NotWhole:      "the index is damaged: DETAIL",
}

func (e *ReadyError) Error() string { return strings.Replace(notReady[e.Code], "DETAIL", e.Detail, 1) }

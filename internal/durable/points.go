package durable

// Point names a step of a protocol at which a test may kill the process. Builds without the tag "failpoints" ignore it.
type Point string

// The points, in the order in which their protocols pass them. Each name states the last finished step.
const (
	CheckpointAnchored  Point = "checkpoint/anchored"
	CheckpointStaged    Point = "checkpoint/staged"
	CheckpointObjects   Point = "checkpoint/objects"
	CheckpointJournaled Point = "checkpoint/journaled"
	LedgerMoved         Point = "ledger/moved"
	SettleIndexLocked   Point = "settle/index-locked"
	SettleIndex         Point = "settle/index"
	SettleBranch        Point = "settle/branch"
	SettleHead          Point = "settle/head"
	SettleDone          Point = "settle/done"
	OplogWritten        Point = "oplog/written"
	JournalRotated      Point = "journal/rotated"
	RescueWritten       Point = "rescue/written"
	AutoPacked          Point = "auto/packed" // an auto-save's objects exist, the ref still names the one before
	AutoMoved           Point = "auto/moved"
	MoveJournaled       Point = "move/journaled"
	MoveFiles           Point = "move/files" // they are about to be checked once more
	MovePlanned         Point = "move/planned"
	MoveHalf            Point = "move/half" // only the work tree has moved
	MoveRaw             Point = "move/raw"  // a file is removed, to be written again without git's conversion
	MoveTree            Point = "move/tree"
	MoveBack            Point = "move/back" // a move failed, and its files are restored
	FinishJournaled     Point = "finish/journaled"
	FinishBranch        Point = "finish/branch"
	FinishCommitted     Point = "finish/committed"
	NameFound           Point = "name/found" // for a new session whose lock is not yet taken
	BirthCreated        Point = "birth/created"
	AnswerGiven         Point = "answer/given"  // by the user, but not yet judged
	PathsAllowed        Point = "paths/allowed" // but not yet in the exclude file
	DeleteJournaled     Point = "delete/journaled"
	DeleteRestored      Point = "delete/restored"  // the session is restored, and the copies still exist
	WorktreeNoted       Point = "worktree/noted"   // recorded, but nothing is created
	WorktreeAdded       Point = "worktree/added"   // git knows it
	WorktreeFilled      Point = "worktree/filled"  // it has git's files
	WorktreeSetUp       Point = "worktree/set-up"  // it has all files
	WorktreeDoomed      Point = "worktree/doomed"  // its future name is recorded
	WorktreeMoved       Point = "worktree/moved"   // renamed, but not recorded
	WorktreeEmptied     Point = "worktree/emptied" // the directory is removed, git's entry is not
	RunStarted          Point = "run/started"
	RunEnded            Point = "run/ended"
	RunJudged           Point = "run/judged"
	RunDecided          Point = "run/decided"
	RefLocked           Point = "ref/locked"     // by us, with the new value of a ref or HEAD
	HeadLogged          Point = "head/logged"    // in its reflog, but HEAD is unchanged
	RefMoved            Point = "ref/moved"      // but its directory is not synced
	FilesOut            Point = "files/out"      // the files written to the work tree are on the disk
	EntryAway           Point = "worktree/away"  // git no longer knows the work tree, its entry is in our directory
	AsideMoved          Point = "aside/moved"    // a damaged file has another name
	CloneKnown          Point = "clone/known"    // the clone has its identity, or a new one
	JournalMended       Point = "journal/mended" // only its undamaged first part is left
	RefAway             Point = "ref/away"       // the file of a broken ref is moved away
	RefReplanted        Point = "ref/replanted"
	InboxPosted         Point = "inbox/posted"
	InboxHeard          Point = "inbox/heard" // its event is durable, the request still exists
	InboxRemoved        Point = "inbox/removed"
	SettingsKept        Point = "settings/kept"    // an agent's settings are copied
	SettingsWritten     Point = "settings/written" // our hooks are in them, or removed again
	HoldoutLaid         Point = "holdout/laid"     // hold-out tests are in the clean checkout
	CleanMade           Point = "clean/made"       // a clean checkout's directory exists, empty
	CleanWritten        Point = "clean/written"    // its files are those of the tree, next to old ones
	CleanAging          Point = "clean/aging"      // the times for its files are recorded
	CleanTidied         Point = "clean/tidied"     // old files and its repository are removed
	CleanSetUp          Point = "clean/setup"      // but nothing is installed yet
	CleanBrought        Point = "clean/brought"    // packages are there, but their seal is not yet written
	PackagesKept        Point = "packages/kept"    // the list of packages at the session's start is stored
)

// Points are all points, for tests that kill at every one.
var Points = []Point{
	CheckpointAnchored, CheckpointStaged, CheckpointObjects, CheckpointJournaled, LedgerMoved,
	SettleIndexLocked, SettleIndex, SettleBranch, SettleHead, SettleDone, OplogWritten, JournalRotated,
	RescueWritten, AutoPacked, AutoMoved, MoveJournaled, MoveFiles, MovePlanned, MoveHalf, MoveRaw,
	MoveTree, MoveBack,
	FinishJournaled, FinishBranch, FinishCommitted, NameFound, BirthCreated,
	DeleteJournaled, DeleteRestored,
	WorktreeNoted, WorktreeAdded, WorktreeFilled, WorktreeSetUp, WorktreeDoomed, WorktreeMoved, WorktreeEmptied,
	AnswerGiven, PathsAllowed, RunStarted, RunEnded, RunJudged, RunDecided,
	RefLocked, HeadLogged, RefMoved, FilesOut, EntryAway, AsideMoved, CloneKnown, JournalMended, RefAway, RefReplanted,
	InboxPosted, InboxHeard, InboxRemoved, SettingsKept, SettingsWritten, HoldoutLaid,
	CleanMade, CleanWritten, CleanAging, CleanTidied, CleanSetUp, CleanBrought, PackagesKept,
}

package durable

// Point names a step of a protocol at which a test may kill the process. Builds without the tag "failpoints" know
// nothing of them.
type Point string

// The points, in the order in which their protocols pass them. Each is named after what has just become true.
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
	AutoPacked          Point = "auto/packed" // an auto-save's objects are there, the ref names the one before
	AutoMoved           Point = "auto/moved"
	MoveJournaled       Point = "move/journaled"
	MoveFiles           Point = "move/files" // they are about to be looked at once more
	MovePlanned         Point = "move/planned"
	MoveHalf            Point = "move/half" // the work tree moved, nothing else
	MoveRaw             Point = "move/raw"  // a file is away whose own bytes are about to come
	MoveTree            Point = "move/tree"
	MoveBack            Point = "move/back" // the files are where a move began that failed
	FinishJournaled     Point = "finish/journaled"
	FinishBranch        Point = "finish/branch"
	FinishCommitted     Point = "finish/committed"
	NameFound           Point = "name/found" // for a new session, whose lock is not taken yet
	BirthCreated        Point = "birth/created"
	AnswerGiven         Point = "answer/given"  // by a person, and not judged yet
	PathsAllowed        Point = "paths/allowed" // and the exclude file does not say so yet
	DeleteJournaled     Point = "delete/journaled"
	DeleteRestored      Point = "delete/restored"  // the session is there again, the copies as well
	WorktreeNoted       Point = "worktree/noted"   // written down, nothing made
	WorktreeAdded       Point = "worktree/added"   // git knows it
	WorktreeFilled      Point = "worktree/filled"  // git's files are in it
	WorktreeSetUp       Point = "worktree/set-up"  // all files are in it
	WorktreeDoomed      Point = "worktree/doomed"  // it is written down where it will be renamed to
	WorktreeMoved       Point = "worktree/moved"   // it is renamed, and that is not written down
	WorktreeEmptied     Point = "worktree/emptied" // the directory is gone, git's entry is not
	RunStarted          Point = "run/started"
	RunEnded            Point = "run/ended"
	RunJudged           Point = "run/judged"
	RunDecided          Point = "run/decided"
	RefLocked           Point = "ref/locked"     // by us, with the new value of a ref or of HEAD
	HeadLogged          Point = "head/logged"    // its reflog says so, HEAD does not yet
	RefMoved            Point = "ref/moved"      // its directory is not synced yet
	FilesOut            Point = "files/out"      // what was written to the work tree is on the disk
	EntryAway           Point = "worktree/away"  // git does not know the work tree any more, its entry is in our directory
	AsideMoved          Point = "aside/moved"    // something damaged has another name
	CloneKnown          Point = "clone/known"    // the clone has an identity, or its new one
	JournalMended       Point = "journal/mended" // it ends with its good beginning
	RefAway             Point = "ref/away"       // the file of a broken ref is out of the way
	RefReplanted        Point = "ref/replanted"
	InboxPosted         Point = "inbox/posted"
	InboxHeard          Point = "inbox/heard" // its event is durable, the request still there
	InboxRemoved        Point = "inbox/removed"
	SettingsKept        Point = "settings/kept"    // a copy of an agent's settings is there
	SettingsWritten     Point = "settings/written" // our hooks are in them, or out again
	HoldoutLaid         Point = "holdout/laid"     // hold-out tests are in the clean tree
	CleanMade           Point = "clean/made"       // a clean tree's directory, with nothing in it
	CleanWritten        Point = "clean/written"    // its files are those of the tree, and others are still there
	CleanAging          Point = "clean/aging"      // it is noted which times they get
	CleanTidied         Point = "clean/tidied"     // those are gone, and so is its repository
	CleanSetUp          Point = "clean/setup"      // what is to be installed there is not yet
	CleanBrought        Point = "clean/brought"    // packages are there, and are not sealed yet
	PackagesKept        Point = "packages/kept"    // which packages a session began with
)

// Points are all of them, for tests that kill at every one.
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

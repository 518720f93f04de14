package durable

// Point names a moment in a protocol at which a test may kill the process. Builds without the tag "failpoints" ignore
// it.
type Point string

// All points, in the order in which the protocols reach them. The name of a point says which step has just finished.
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
	AutoPacked          Point = "auto/packed" // the auto-save's objects exist, but its ref still names the previous one
	AutoMoved           Point = "auto/moved"
	MoveJournaled       Point = "move/journaled"
	MoveFiles           Point = "move/files" // next, the move checks the user's files once more
	MovePlanned         Point = "move/planned"
	MoveHalf            Point = "move/half" // the work tree has changed, but index, refs and HEAD have not
	MoveRaw             Point = "move/raw"  // a file is removed, and is written next, without git's conversion
	MoveTree            Point = "move/tree"
	MoveBack            Point = "move/back" // the move failed, and its files are restored
	FinishJournaled     Point = "finish/journaled"
	FinishBranch        Point = "finish/branch"
	FinishCommitted     Point = "finish/committed"
	NameFound           Point = "name/found" // a free name for a new session is found, but its lock is not taken yet
	BirthCreated        Point = "birth/created"
	AnswerGiven         Point = "answer/given"  // the user has answered, but the answer is not judged yet
	PathsAllowed        Point = "paths/allowed" // recorded, but not yet in the exclude file
	DeleteJournaled     Point = "delete/journaled"
	DeleteRestored      Point = "delete/restored"  // the session's refs are restored, and their copies still exist
	WorktreeNoted       Point = "worktree/noted"   // the note about the work tree exists, but no directory yet
	WorktreeAdded       Point = "worktree/added"   // git has an entry for the work tree
	WorktreeFilled      Point = "worktree/filled"  // the work tree has the files that git has checked out
	WorktreeSetUp       Point = "worktree/set-up"  // the work tree has all files
	WorktreeDoomed      Point = "worktree/doomed"  // the path to which the work tree will be renamed is recorded
	WorktreeMoved       Point = "worktree/moved"   // the work tree is renamed, but this is not recorded
	WorktreeEmptied     Point = "worktree/emptied" // the directory is removed, but git's entry is not
	RunStarted          Point = "run/started"
	RunEnded            Point = "run/ended"
	RunJudged           Point = "run/judged"
	RunDecided          Point = "run/decided"
	RefLocked           Point = "ref/locked"     // the lock of a ref or HEAD has the new value
	HeadLogged          Point = "head/logged"    // the change is in HEAD's reflog, but HEAD is unchanged
	RefMoved            Point = "ref/moved"      // the ref has its new value, but its directory is not synced
	FilesOut            Point = "files/out"      // the files for the work tree are on the disk
	EntryAway           Point = "worktree/away"  // git's entry for the work tree is moved into a directory of wfs
	AsideMoved          Point = "aside/moved"    // a damaged file has its new name
	CloneKnown          Point = "clone/known"    // the clone's identity is recorded
	JournalMended       Point = "journal/mended" // the journal has only its undamaged beginning
	RefAway             Point = "ref/away"       // the file of a broken ref is moved aside
	RefReplanted        Point = "ref/replanted"
	InboxPosted         Point = "inbox/posted"
	InboxHeard          Point = "inbox/heard" // the request's event is durable, and the request still exists
	InboxRemoved        Point = "inbox/removed"
	SettingsKept        Point = "settings/kept"    // an agent's settings are copied to a backup
	SettingsWritten     Point = "settings/written" // the hooks of wfs are added to the settings, or removed from them
	HoldoutLaid         Point = "holdout/laid"     // the hold-out tests are in the clean checkout
	CleanMade           Point = "clean/made"       // the clean checkout's directory exists, and is empty
	CleanWritten        Point = "clean/written"    // the tree's files are written, and old files still exist
	CleanAging          Point = "clean/aging"      // the times for the files are recorded, but not set
	CleanTidied         Point = "clean/tidied"     // old files and the checkout's own repository are removed
	CleanSetUp          Point = "clean/setup"      // the checkout is ready, but no package is installed
	CleanBrought        Point = "clean/brought"    // the packages are installed, but their seal is not written
	PackagesKept        Point = "packages/kept"    // the list of packages at the session's start is stored
)

// Points lists all points, for tests that kill the process at each of them.
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

package gitstate

// core.worktree in a repository's configuration leads git to another work tree than the one that it is typed
// in. In submodules it says what is so anyway. But somebody may set it while a run goes on: gates would judge
// one directory, and the checkpoint be of another.

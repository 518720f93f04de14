package gitstate

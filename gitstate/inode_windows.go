package gitstate

import "io/fs"

// inodeOf knows nothing here.
func inodeOf(fs.FileInfo) uint64 { return 0 }

// deviceOf knows nothing here.
func deviceOf(fs.FileInfo) uint64 { return 0 }

// linksOf knows nothing here: a file counts as having one name.
func linksOf(fs.FileInfo) uint64 { return 1 }

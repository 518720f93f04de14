package registry

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Stamps tells which sessions of a clone change. It only asks for the sizes and times of files, and lists a directory
// only when that has changed, so it may look several times a second.
type Stamps struct {
	Clone *Clone
	known map[session.ID]listed
}

// listed has the files of a session's directory and of its newest run.
type listed struct {
	stamp string // of the directories
	run   string // directory of the newest run, "" for none
	files []string
}

// Of returns a text that changes with the session's state: with its journal, its requests, the process that drives it,
// and what its agent prints. It is "" if the clone has nothing of the session.
func (s *Stamps) Of(id session.ID) string {
	dir, err := s.Clone.Session(id).dir()
	if err != nil {
		return ""
	}
	runs := filepath.Join(dir, runsName)
	k, found := s.known[id]
	stamp := durable.Stamp(dir) + durable.Stamp(runs) + durable.Stamp(k.run)
	if !found || k.stamp != stamp {
		k = listed{files: filesOf(dir)}
		if all := filesOf(runs); len(all) > 0 {
			k.run = all[len(all)-1]
			k.files = append(k.files, filesOf(k.run)...)
		}
		k.stamp = durable.Stamp(dir) + durable.Stamp(runs) + durable.Stamp(k.run)
		stamp = k.stamp
		if s.known == nil {
			s.known = map[session.ID]listed{}
		}
		s.known[id] = k
	}
	var all strings.Builder
	all.WriteString(stamp)
	for _, path := range k.files {
		all.WriteString(durable.Stamp(path))
	}
	return all.String()
}

// filesOf returns the paths of all that is in a directory, none if it cannot be listed.
func filesOf(dir string) (paths []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	return paths
}

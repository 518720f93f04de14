package fold

import (
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// strayed records changes outside of the session, and the commits that the next checkpoint must keep reachable because
// refs lost them.
func strayed(s *session.Session, b session.Strayed) {
	unseen(s, b)
	for _, m := range b.Refs {
		if m.Old != "" && !slices.Contains(s.Keep, m.Old) {
			s.Keep = append(slices.Clip(s.Keep), m.Old)
		}
	}
}

// unseen adds changes to the list of changes that no person has seen yet. If a ref changed several times, the list has
// its first old and its last new value.
func unseen(s *session.Session, b session.Strayed) {
	var all session.Strayed
	if s.Unseen != nil && !b.Seen {
		all = session.Strayed{Refs: slices.Clone(s.Unseen.Refs), Files: slices.Clone(s.Unseen.Files),
			Made: slices.Clone(s.Unseen.Made), Was: maps.Clone(s.Unseen.Was)}
	}
	for _, m := range b.Refs {
		if i := slices.IndexFunc(all.Refs, func(o session.RefMove) bool { return o.Ref == m.Ref }); i >= 0 {
			all.Refs[i].New = m.New
		} else if len(all.Refs) < session.MaxNamed {
			all.Refs = append(all.Refs, m)
		}
	}
	all.Refs = slices.DeleteFunc(all.Refs, func(m session.RefMove) bool { return m.Old == m.New })
	for _, f := range b.Files {
		// already listed: the copy from before the earliest change counts
		if run := b.Was[f]; slices.Contains(all.Files, f) {
		} else if slices.Contains(b.Made, f) {
			all.Made = append(all.Made, f)
		} else if run != "" {
			if all.Was == nil {
				all.Was = map[string]string{}
			}
			all.Was[f] = run
		}
	}
	all.Files = slices.Compact(slices.Sorted(slices.Values(append(all.Files, b.Files...))))
	all.Files = all.Files[:min(len(all.Files), session.MaxNamed)]
	if s.Unseen = &all; all.Empty() {
		s.Unseen = nil
	}
}

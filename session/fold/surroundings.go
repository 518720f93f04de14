package fold

import (
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// strayed remembers the commits that the next checkpoint has to keep reachable.
func strayed(s *session.Session, b session.Strayed) {
	unseen(s, b)
	for _, m := range b.Refs {
		if m.Old != "" && !slices.Contains(s.Keep, m.Old) {
			s.Keep = append(slices.Clip(s.Keep), m.Old)
		}
	}
}

// unseen adds changes to those that no person has seen yet. For a ref it keeps the first old and the last new value.
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
		if run := b.Was[f]; slices.Contains(all.Files, f) { // the content before the earliest run counts
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

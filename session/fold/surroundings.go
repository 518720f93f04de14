package fold

import (
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// strayed remembers what the next checkpoint has to keep alive.
func strayed(s *session.Session, b session.Strayed) {
	unseen(s, b)
	for _, m := range b.Refs {
		if m.Old != "" && !slices.Contains(s.Keep, m.Old) {
			s.Keep = append(slices.Clip(s.Keep), m.Old)
		}
	}
}

// unseen adds to what no person has seen yet. A ref counts from where it was first to where it is now.
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
		if run := b.Was[f]; slices.Contains(all.Files, f) { // what it was before an earlier run is what counts
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

package autosave

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/workflows/checklist"
)

// maxList limits the size of a document whose tasks are counted, in bytes.
const maxList = 4 << 20

// tasks counts the ticked tasks of a session's documents. It reads a document only if its time or size has changed.
type tasks struct {
	lists []list
	most  int // highest number of ticked tasks so far
}

type list struct {
	path string
	info fs.FileInfo // of the file when it was read, nil for none
	done int
}

// of begins to count the tasks of these documents in a work tree.
func (t *tasks) of(root string, documents []string) {
	for _, path := range documents {
		t.lists = append(t.lists, list{path: filepath.Join(root, filepath.FromSlash(path))})
	}
	t.ticked()
}

// ticked reports whether more tasks are ticked than ever before.
func (t *tasks) ticked() bool {
	before, all := t.most, 0
	for i := range t.lists {
		all += t.lists[i].count()
	}
	t.most = max(before, all)
	return all > before
}

// count returns the number of ticked tasks, 0 if the document cannot be read.
func (l *list) count() int {
	was := l.info
	info, err := os.Lstat(l.path)
	if l.info = info; err != nil {
		l.info, l.done = nil, 0
	} else if was == nil || info.Size() != was.Size() || !info.ModTime().Equal(was.ModTime()) {
		l.done = 0
		text, _ := durable.ReadFile(l.path, maxList) // what is no regular file has no tasks
		for _, task := range checklist.Parse(text) {
			if task.Done {
				l.done++
			}
		}
	}
	return l.done
}

package brief

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows/checklist"
)

// MaxSpec bounds what a brief quotes of a specification, in bytes. Of a longer one it has a part, and the name
// of a file.
const MaxSpec = 16 << 10

// specification is what is wanted, in the words of the person who wrote it down.
type specification struct {
	Text  string
	Part  string // which part the text is of a long one
	Fence string // on the lines around it
}

// Specification is the text that is pinned: a file of that name in the work tree may be missing, or another one.
func (b *brief) Specification() *specification {
	text := strings.TrimSpace(safetext.Strip(string(b.Req.Spec)))
	if text == "" {
		return nil
	}
	mark := sha256.Sum256([]byte("specification " + b.nonce))
	s := specification{Fence: hex.EncodeToString(mark[:8])}
	if b.Req.SpecFile != "" {
		part := ""
		if item := b.Item(); item != "" {
			part = checklist.Section([]byte(text), item, MaxSpec)
		}
		s.Part = "the section with this lap's item"
		if part == "" {
			part, s.Part = text, "its beginning"
		}
		text = part
	}
	s.Text = strings.ReplaceAll(cut(text, MaxSpec), s.Fence, "")
	return &s
}

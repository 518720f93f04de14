package brief

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows/checklist"
)

// MaxSpec limits the quote of a specification in a brief, in bytes. Of a longer one the brief quotes a part, and
// names a file.
const MaxSpec = 16 << 10

// specification is the specification in a brief, in its author's words.
type specification struct {
	Text  string
	Part  string // which part of a long specification the text is
	Fence string // on the lines around it
}

// Specification returns the pinned text: the file in the work tree may be missing or different.
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

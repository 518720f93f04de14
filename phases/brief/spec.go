package brief

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows/checklist"
)

// MaxSpec limits how much of a specification a brief quotes, in bytes. For a longer one the brief quotes a part and
// names a file with the whole text.
const MaxSpec = 16 << 10

// specification is the part of a brief that quotes the specification.
type specification struct {
	Text  string
	Part  string // description of the part that Text is, if the specification is too long
	Fence string // mark on the lines before and after the text
}

// Specification returns the text that the session stores, not that of the file in the work tree, which may be missing
// or different. It returns nil if there is no specification.
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

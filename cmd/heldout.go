package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// heldOutRules keep files that look like keys out of checkpoints by name, as long as they are untracked: what is once
// an object stays one. A file that is meant to be committed is let in by `git add -f`, and a rule of the repository's
// own .gitignore wins over these.
const heldOutRules = `# Files that look like keys stay out of checkpoints while git does not track them.
.env
.env.*
!.env.example
!.env.sample
!.env.template
!.env.dist
id_rsa
id_dsa
id_ecdsa
id_ed25519
*.kdbx
*.p12
*.pfx
.netrc
.git-credentials
credentials.json
`

// heldOutFile is the file with the rules, for looking at a work tree before a session exists.
func (a *app) heldOutFile() (string, error) {
	path := filepath.Join(a.repo.StateDir(), "held-out")
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, []byte(heldOutRules)) {
		return path, nil
	}
	if err := durable.MkdirAll(a.repo.StateDir()); err != nil {
		return "", err
	}
	return path, durable.WriteFile(path, []byte(heldOutRules), 0o600)
}

// sayHeldOut names files that checkpoints do not hold although the repository's own rules would let them in: they look
// like keys, or were ignored when the session began.
func (a *app) sayHeldOut(ctx context.Context, s *session.Session) {
	file := a.clone.ExcludeFile(s.ID)
	if file == "" {
		return
	}
	names, err := a.repo.HeldOut(ctx, file)
	if err != nil || len(names) == 0 { // a reminder, not worth failing for
		return
	}
	list := strings.Join(names[:min(len(names), 5)], " ")
	if more := len(names) - 5; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	a.note("held out of checkpoints, by name or because it was ignored before: %s (to let one in: git add -f FILE)", list)
}

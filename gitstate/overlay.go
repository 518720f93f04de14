package gitstate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// WithoutRules is a digest of a tree without the files below .wfs/.
func (r *Repo) WithoutRules(ctx context.Context, tree session.Tree) (string, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "ls-tree", "-z", string(tree))
	h := sha256.New()
	for _, entry := range gitcmd.SplitZ(out) {
		if !strings.HasSuffix(entry, "\t"+userDir) {
			fmt.Fprintf(h, "%q\n", entry)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

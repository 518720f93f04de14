package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"

	"github.com/wfs-dev/wfs/cmd/internal/sidebyside"
	"github.com/wfs-dev/wfs/cmd/internal/style"
)

var (
	//go:embed page.html.tmpl
	pageText string
	//go:embed report.css
	ownSheet string
)

// HTML writes a report as one page that needs nothing else: no network, no script, no other file. Its policy lets a
// browser use the page's own style sheet, and nothing more.
func (r *Report) HTML(w io.Writer) error {
	title := "wfs report"
	if len(r.Sessions) == 1 {
		title = Text{Words: r.Sessions[0].Session.Of.Headline()}.Plain()
	}
	sheet := style.Sheet + sidebyside.Style + ownSheet
	sum := sha256.Sum256([]byte(sheet))
	page := template.Must(template.New("page").Parse(pageText)) // here, because other commands need no page
	return page.Execute(w, map[string]any{"Mark": template.HTML(Mark), "Title": title, "Sheet": template.CSS(sheet),
		"Policy": "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'",
		"Blocks": r.blocks(true)})
}

// Package style has the style sheet that the page of `wfs ui` and the file of `wfs report` share.
package style

import _ "embed"

// Sheet is the style sheet. It works in light and dark mode, on phones and on paper.
//
//go:embed style.css
var Sheet string

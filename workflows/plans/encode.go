package plans

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/wfs-dev/wfs/workflows"
)

// Encode returns a plan as JSON, and the SHA-256 of this JSON in hexadecimal. Equal plans have equal JSON.
func Encode(p *workflows.Plan) (data []byte, digest string) {
	data = workflows.IndentedJSON(p)
	sum := sha256.Sum256(data)
	return data, hex.EncodeToString(sum[:])
}

// ErrNewer is returned for a plan that a newer version of wfs wrote.
var ErrNewer = errors.New("written by a newer version of wfs")

// Decode returns the plan in JSON that Encode wrote. It returns an error for text that is not a plan, for a plan of a
// newer wfs (ErrNewer), and for a plan whose phases lead to missing phases.
func Decode(data []byte) (*workflows.Plan, error) {
	var head struct {
		Workflow struct {
			Version int `json:"version"`
		} `json:"workflow"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("not a plan: %w", err)
	}
	if v := head.Workflow.Version; v > workflows.FormatVersion {
		return nil, fmt.Errorf("%w: the plan has version %d; this wfs reads version %d", ErrNewer, v,
			workflows.FormatVersion)
	} else if v != workflows.FormatVersion {
		return nil, fmt.Errorf("the plan has version %d; this wfs reads version %d", v, workflows.FormatVersion)
	}
	p := &workflows.Plan{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("not a plan: %w", err)
	}
	if err := sound(&p.Workflow); err != nil {
		return nil, fmt.Errorf("not a plan: %w", err)
	}
	return p, nil
}

// sound returns an error for a workflow that cannot run. It checks less than ParseWorkflow: if ParseWorkflow becomes
// stricter, existing sessions must still be readable.
func sound(w *workflows.Workflow) error {
	if w.Phase(w.Start) == nil {
		return fmt.Errorf("start %q is not a phase", w.Start)
	}
	if to := w.AfterLaps(); w.Phase(w.LapStart()) == nil || to == workflows.NextLap || !leads(w, to) {
		return errors.New("its laps begin or end at a missing phase")
	}
	seen := map[workflows.PhaseName]bool{}
	for _, p := range w.Phases {
		if seen[p.Name] {
			return fmt.Errorf("phase %q is duplicated", p.Name)
		}
		seen[p.Name] = true
		if err := soundPhase(w, p); err != nil {
			return err
		}
	}
	return nil
}

// leads reports whether a target exists: it is a phase, or one of the special targets.
func leads(w *workflows.Workflow, to workflows.PhaseName) bool {
	return to == workflows.Done || to == workflows.NextLap || w.Phase(to) != nil
}

func soundPhase(w *workflows.Workflow, p workflows.Phase) error {
	for _, v := range []workflows.Verdict{workflows.Pass, workflows.Fail} {
		if to := p.On[v]; !leads(w, to) {
			return fmt.Errorf("phase %q: %s leads to %q, which is not a phase", p.Name, v, to)
		}
	}
	if len(p.Gates) == 0 && !p.Run.Human && !p.Approve {
		return fmt.Errorf("phase %s has no gate", p.Name)
	}
	for _, g := range p.Gates {
		if g.Name == "" || g.Runs() && g.Run.IsZero() {
			return fmt.Errorf("phase %q: gate %q has nothing to run", p.Name, g.Name)
		}
	}
	return nil
}

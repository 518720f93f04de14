package workflows

// Reveal says what agents are told about failing hold-out tests.
type Reveal string

const (
	RevealCount Reveal = "count" // the number of failing tests
	RevealNames Reveal = "names" // the names of failing tests
)

// Holdout describes hold-out tests: tests that agents never see. Their files are added to finished work in a clean
// tree. A plan identifies the files by a digest, but does not contain them.
type Holdout struct {
	Digest string `json:"digest"` // SHA-256 of the files, in hexadecimal
	Files  int    `json:"files"`
	// Gate is the gate that runs the hold-out tests; nil means the gates that the finished work has passed.
	Gate   *Gate  `json:"gate,omitempty"`
	Reveal Reveal `json:"reveal,omitempty"` // "" means RevealCount
}

// HoldoutConfig configures how hold-out tests run.
type HoldoutConfig struct {
	Gate   string `json:"gate,omitempty" is:"name"` // name of the gate that runs them
	Reveal Reveal `json:"reveal,omitempty" is:"count|names" default:"count"`
}

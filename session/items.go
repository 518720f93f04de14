package session

// ItemState is the state of an item of the checklist.
type ItemState string

const (
	ItemOpen      ItemState = "open"      // not done, or not judged yet
	ItemDelivered ItemState = "delivered" // gates, a person or a reviewer judged its tree
	ItemShown     ItemState = "shown"     // the agent named an existing test as evidence, and that test passes
	ItemSkipped   ItemState = "skipped"   // skipped without evidence, because the agent or a person said so
	ItemAgreed    ItemState = "agreed"    // a person said that it is done
)

// Settlement records that an item or a lap ended without a judgement.
type Settlement struct {
	Item int `json:"item"` // number of the item or lap, from 1; 0: the work as a whole
	// `shown` (an existing test passes that the agent named as evidence), `skipped` (without evidence), `agreed` (a
	// person said that it is done), `delivered` (its last phase was skipped, and its tests had passed)
	State      ItemState `json:"state"`
	Checkpoint int       `json:"checkpoint"`     // number of the checkpoint that was current when it ended
	Test       TestID    `json:"test,omitempty"` // the existing test that the agent named
	By         string    `json:"by,omitempty"`   // who said so: `agent`, `person`, `auto`
}

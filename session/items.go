package session

// ItemState says what is known of an item of the checklist.
type ItemState string

const (
	ItemOpen      ItemState = "open"      // nothing has judged it yet
	ItemDelivered ItemState = "delivered" // gates, a person or a reviewer judged the tree that it was done in
	ItemShown     ItemState = "shown"     // an existing test shows it, the agent says; that test passes
	ItemSkipped   ItemState = "skipped"   // on somebody's word alone
	ItemAgreed    ItemState = "agreed"    // a person said that it is done
)

// Settlement is the end of an item, or of a lap, that no judgement brought.
type Settlement struct {
	Item int `json:"item"` // of the item or lap, from 1; 0: the work as a whole
	// `shown` (an existing test passes that the agent named as evidence), `skipped` (without evidence), `agreed` (a
	// person said that it is done), `delivered` (its last phase was skipped, and its tests had passed)
	State      ItemState `json:"state"`
	Checkpoint int       `json:"checkpoint"`     // the current checkpoint then
	Test       TestID    `json:"test,omitempty"` // the existing test that the agent named
	By         string    `json:"by,omitempty"`   // who said so: `agent`, `person`, `auto`
}

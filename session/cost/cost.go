// Package cost counts what agents and gates use up: money, tokens and time.
package cost

import (
	"math"
	"strconv"
)

// Money is an amount of US dollars in millionths. Integers make sums exact in any order. In JSON it is a number of
// dollars.
type Money int64

// Dollars converts a cost in dollars that an agent reported. An impossible cost, such as a negative one, becomes 0.
func Dollars(usd float64) Money {
	const most = 1e6 // a higher cost is cut to this: no single run costs a million
	return money(min(usd, most))
}

func money(usd float64) Money {
	if !(usd > 0 && usd < math.MaxInt64/1e6) { // also catches NaN
		return 0
	}
	return Money(math.Round(usd * 1e6))
}

// USD returns the amount in dollars.
func (m Money) USD() float64 { return float64(m) / 1e6 }

// MarshalJSON implements json.Marshaler.
func (m Money) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, m.USD(), 'f', -1, 64), nil
}

// UnmarshalJSON implements json.Unmarshaler. As with other types, null changes nothing.
func (m *Money) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	usd, err := strconv.ParseFloat(string(text), 64)
	if err == nil {
		*m = money(usd)
	}
	return err
}

// Tokens counts the tokens that a model read and wrote.
type Tokens struct {
	Input      int64 `json:"input,omitempty"`       // tokens that the model read, without tokens from a cache
	Output     int64 `json:"output,omitempty"`      // tokens that the model wrote
	CacheRead  int64 `json:"cache_read,omitempty"`  // tokens read from the cache
	CacheWrite int64 `json:"cache_write,omitempty"` // tokens written to the cache
}

// Sum returns the total of all tokens.
func (t Tokens) Sum() int64 { return t.Input + t.Output + t.CacheRead + t.CacheWrite }

// New returns the number of new tokens: all except those read from a cache.
func (t Tokens) New() int64 { return t.Sum() - t.CacheRead }

// Sane returns the tokens without impossible numbers, because agents report them: negative numbers become 0, and huge
// ones are cut.
func (t Tokens) Sane() Tokens {
	const most = 1 << 50 // sums of many such numbers do not overflow
	sane := func(n int64) int64 { return max(0, min(n, most)) }
	return Tokens{Input: sane(t.Input), Output: sane(t.Output), CacheRead: sane(t.CacheRead),
		CacheWrite: sane(t.CacheWrite)}
}

// Usage counts money, tokens, runs and time.
type Usage struct {
	USD Money `json:"cost_usd,omitempty"` // cost that agents and commands reported, or that wfs estimated
	// the estimated part of it, for runs that were ended before they reported their cost
	Estimated Money  `json:"estimated_usd,omitempty"`
	Tokens    Tokens `json:"tokens,omitzero"` // tokens that models read and wrote
	Turns     int64  `json:"turns,omitempty"` // turns of conversations
	// runs in which an agent did work; runs that the provider rejected are not counted
	Runs     int64 `json:"runs,omitempty"`
	Priced   int64 `json:"priced,omitempty"`   // number of those runs with a cost
	Attempts int64 `json:"attempts,omitempty"` // judged attempts, except answers of a person
	// milliseconds of runs and gates; a run that was killed together with wfs counts until its last output
	Millis int64 `json:"millis,omitempty"`
}

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage { return u.plus(1, v) }

// Minus returns the difference of two usages.
func (u Usage) Minus(v Usage) Usage { return u.plus(-1, v) }

// plus returns u plus n times v.
func (u Usage) plus(n int64, v Usage) Usage {
	u.USD += Money(n) * v.USD
	u.Estimated += Money(n) * v.Estimated
	u.Turns += n * v.Turns
	u.Runs += n * v.Runs
	u.Priced += n * v.Priced
	u.Attempts += n * v.Attempts
	u.Millis += n * v.Millis
	u.Tokens.Input += n * v.Tokens.Input
	u.Tokens.Output += n * v.Tokens.Output
	u.Tokens.CacheRead += n * v.Tokens.CacheRead
	u.Tokens.CacheWrite += n * v.Tokens.CacheWrite
	return u
}

// Total is the usage of a conversation over all its runs.
type Total struct {
	CostUSD float64 `json:"cost_usd,omitempty"` // US dollars, as the agent reports them
	Tokens
}

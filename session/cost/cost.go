// Package cost counts what agents and gates use up: money, tokens and time.
package cost

import (
	"math"
	"strconv"
)

// Money is an amount of US dollars in millionths, so that sums are exact in any order. JSON has it in dollars.
type Money int64

// Dollars converts a reported cost. An impossible cost counts as 0.
func Dollars(usd float64) Money {
	const most = 1e6 // no single run costs a million
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

// UnmarshalJSON implements json.Unmarshaler.
func (m *Money) UnmarshalJSON(text []byte) error {
	usd, err := strconv.ParseFloat(string(text), 64)
	if err == nil {
		*m = money(usd)
	}
	return err
}

// Tokens counts the tokens that a model read and wrote.
type Tokens struct {
	Input      int64 `json:"input,omitempty"`       // without those from a cache
	Output     int64 `json:"output,omitempty"`      // written by the model
	CacheRead  int64 `json:"cache_read,omitempty"`  // read from the cache
	CacheWrite int64 `json:"cache_write,omitempty"` // written to the cache
}

// Sum returns the total of all tokens.
func (t Tokens) Sum() int64 { return t.Input + t.Output + t.CacheRead + t.CacheWrite }

// New returns the number of tokens that were not read from a cache.
func (t Tokens) New() int64 { return t.Sum() - t.CacheRead }

// Sane returns the tokens that an agent reported, without impossible numbers.
func (t Tokens) Sane() Tokens {
	const most = 1 << 50 // so that sums of them do not overflow
	sane := func(n int64) int64 { return max(0, min(n, most)) }
	return Tokens{Input: sane(t.Input), Output: sane(t.Output), CacheRead: sane(t.CacheRead),
		CacheWrite: sane(t.CacheWrite)}
}

// Usage counts money, tokens, runs and time.
type Usage struct {
	USD Money `json:"cost_usd,omitempty"` // reported by agents and commands, or estimated
	// the estimated part: for runs that were ended before they reported their cost
	Estimated Money  `json:"estimated_usd,omitempty"`
	Tokens    Tokens `json:"tokens,omitzero"` // Tokens
	Turns     int64  `json:"turns,omitempty"` // of conversations
	// runs in which an agent did work; runs that the provider rejected are not counted
	Runs     int64 `json:"runs,omitempty"`
	Priced   int64 `json:"priced,omitempty"`   // how many of those have a cost
	Attempts int64 `json:"attempts,omitempty"` // judged attempts, without answers of a person
	// time of runs and gates; a run that was killed together with wfs counts until its last output
	Millis int64 `json:"millis,omitempty"`
}

// Plus adds two usages.
func (u Usage) Plus(v Usage) Usage { return u.plus(1, v) }

// Minus subtracts a usage.
func (u Usage) Minus(v Usage) Usage { return u.plus(-1, v) }

// plus adds n times v.
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
	CostUSD float64 `json:"cost_usd,omitempty"` // in US dollars, as agents report it
	Tokens
}

package svg

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Unit is what the numbers of a plot count, as a plural noun: tests, tokens. Two units have their own way of writing.
type Unit string

const (
	Seconds Unit = "s"
	Dollars Unit = "$"
)

const minute, hour, day = 60, 3600, 86400

// most is the largest number that is drawn. No session costs or counts more; a larger number is a mistake.
const most = 1e15

// noun returns what an axis needs as its name. Money and time need none: each tick has its unit.
func (u Unit) noun() string {
	if u == Seconds || u == Dollars {
		return ""
	}
	return string(u)
}

// amount writes a number with its unit.
func (u Unit) amount(v float64) string { return strings.TrimSpace(u.text(v) + " " + u.noun()) }

// step returns the distance between ticks: the smallest that a person would choose and that is at least `least`.
func (u Unit) step(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	list := []float64{power, 2 * power, 5 * power, 10 * power}
	if u == Seconds && least > day {
		return day * Unit("").step(least/day)
	} else if u == Seconds && least > 0.5 {
		list = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, hour, 7200, 10800, 21600, 43200, day}
	}
	i, _ := slices.BinarySearch(list, least*(1-1e-9))
	return list[i]
}

// scale is an axis: from the first tick to the last.
type scale struct {
	low, high, step float64
	unit            Unit
}

// axis returns the scale of an axis for values between low and high. Things have no ticks between whole numbers.
func (u Unit) axis(low, high float64) scale {
	whole := u.noun() != ""
	if low > 0 && low <= 0.6*high { // only a difference that is small would not be seen from zero
		low = 0
	}
	switch {
	case low < high:
	case low == 0:
		high = 1
	case whole:
		low, high = low-1, high+1
	default:
		low, high = min(low, 0), max(high, 0)
	}
	step := u.step(max((high-low)/4, high/1e12, 1e-9))
	if whole {
		step = max(step, 1)
	}
	return scale{math.Floor(low/step+1e-9) * step, math.Ceil(high/step-1e-9) * step, step, u}
}

// ticks returns the positions of the ticks.
func (s scale) ticks() (list []float64) {
	for i := range int(math.Round((s.high-s.low)/s.step)) + 1 {
		list = append(list, s.low+float64(i)*s.step)
	}
	return list
}

// at returns where on the axis a value is: 0 at its low end, 1 at its high end.
func (s scale) at(v float64) float64 { return (v - s.low) / (s.high - s.low) }

// text writes a number as exactly as its axis needs it.
func (s scale) text(v float64) string { return s.unit.write(v, s.step) }

// text writes a number with about three digits: 1.2k, $0.61, 2 min 10 s.
func (u Unit) text(v float64) string {
	exact := math.Pow(10, math.Floor(math.Log10(max(math.Abs(v), 1e-9)))-2)
	if u == Dollars {
		if exact = max(exact, 0.01); math.Abs(v) < 0.1 {
			exact = 0.001
		}
	} else if u == Seconds {
		switch size := math.Abs(v); {
		case size < 10:
			exact = 0.1
		case size < hour:
			exact = 1
		case size < day:
			exact = minute
		default:
			exact = hour
		}
	}
	return u.write(v, exact)
}

// write writes a number rounded to a multiple of `exact`.
func (u Unit) write(v, exact float64) string {
	sign := ""
	if v = math.Round(v/exact) * exact; v < 0 {
		sign, v = "-", -v
	}
	switch u {
	case Seconds:
		return sign + duration(v, exact)
	case Dollars:
		sign += "$"
	}
	suffix := ""
	for _, s := range []string{"k", "M", "G", "T"} {
		if v < 1000 || exact < 1 && v < 10_000 {
			break
		}
		v, exact, suffix = v/1000, exact/1000, s
	}
	text := decimal(v, 1e9)
	if _, cents, _ := strings.Cut(text, "."); u == Dollars && suffix == "" && exact < 1 && len(cents) < 2 {
		text = strconv.FormatFloat(v, 'f', 2, 64)
	}
	return sign + text + suffix
}

// duration writes seconds that are a multiple of `exact`: 0.4 s, 30 s, 2 min 10 s, 1 h 5 min.
func duration(v, exact float64) string {
	text := ""
	for i, size := range []float64{day, hour, minute} {
		if n := math.Floor(v/size + 1e-9); n > 0 {
			text += decimal(n, 1) + []string{" d ", " h ", " min "}[i]
			v -= n * size
		}
	}
	if v > exact/2 || text == "" {
		text += decimal(v, 1e9) + " s"
	}
	return strings.TrimSpace(text)
}

// decimal writes a number rounded to a part of one (10: tenths), without zeros at the end.
func decimal(v, part float64) string {
	return strconv.FormatFloat(math.Round(v*part)/part+0, 'f', -1, 64)
}

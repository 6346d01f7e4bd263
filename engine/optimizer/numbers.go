package optimizer

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// decimals writes a finite number with at most n decimals, n > 0, rounded half
// away from zero, without trailing zeros, exponent and negative zero. What is
// rounded is the shortest decimal that means the number, so that 1.00005 is
// 1.0001 for whoever wrote it, although no float64 is quite that.
func decimals(v float64, n int) string {
	exact, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'f', -1, 64))
	if !ok {
		return "0"
	}
	text := strings.TrimSuffix(strings.TrimRight(exact.FloatString(n), "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// rounded is a number to n decimals, as [decimals] writes it.
func rounded(v float64, n int) float64 {
	r, err := strconv.ParseFloat(decimals(v, n), 64)
	if err != nil {
		return v
	}
	return r
}

// numeral is how numbers are shown.
func numeral(v float64) string { return decimals(v, 4) }

// finite keeps a result within what JSON can say.
func finite(v float64) float64 { return min(max(v, -math.MaxFloat64), math.MaxFloat64) }

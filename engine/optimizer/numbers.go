package optimizer

import (
	"math"
	"strconv"
	"strings"
)

// decimals writes a finite number with at most n decimals, n > 0, rounded half
// away from zero, without trailing zeros, exponent and negative zero. What is
// rounded is the shortest decimal that means the number, so that 1.00005 is
// 1.0001 for whoever wrote it, although no float64 is quite that.
func decimals(v float64, n int) string {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'f', -1, 64), ".")
	if len(fraction) > n {
		digits := whole + fraction[:n]
		if fraction[n] >= '5' {
			digits = increment(digits)
		}
		whole, fraction = digits[:len(digits)-n], digits[len(digits)-n:]
	}
	text := strings.TrimSuffix(whole+"."+strings.TrimRight(fraction, "0"), ".")
	if v < 0 && text != "0" {
		return "-" + text
	}
	return text
}

// increment adds one to a decimal number without sign.
func increment(digits string) string {
	b := []byte(digits)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != '9' {
			b[i]++
			return string(b)
		}
		b[i] = '0'
	}
	return "1" + string(b)
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

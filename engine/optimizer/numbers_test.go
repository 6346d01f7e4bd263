package optimizer

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumerals(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -1: "-1", 85: "85", 78.1: "78.1", 0.5: "0.5",
		1.00005: "1.0001", -1.00005: "-1.0001", 1.00004: "1", 0.00005: "0.0001", -0.00004: "0", 0.03125: "0.0313",
		9.99995: "10", 99.99999: "100", -9.99995: "-10", 0.99996: "1", 1.2: "1.2", 1.10001: "1.1", 100: "100",
		1e21: "1000000000000000000000", 123456789.123456: "123456789.1235", 1e-300: "0", -1e-300: "0", 5e-324: "0",
	} {
		if got := numeral(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := numeral(-math.MaxFloat64); len(got) != 310 || strings.ContainsAny(got, "e.") {
		t.Errorf("the least number: %s", got)
	}
}

// byHand rounds the shortest decimal of v, half away from zero, by fractions.
func byHand(v float64, n int) string {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(math.Abs(v), 'g', -1, 64))
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
	r.Mul(r, scale).Add(r, big.NewRat(1, 2))
	whole := new(big.Int).Div(r.Num(), r.Denom())
	text := strings.TrimRight(new(big.Rat).Quo(new(big.Rat).SetInt(whole), scale).FloatString(n), "0")
	text = strings.TrimSuffix(text, ".")
	if v < 0 && text != "0" {
		text = "-" + text
	}
	return text
}

func TestDecimalsAgreeWithFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1000, 1000),
			rapid.Map(rapid.IntRange(-2_000_000, 2_000_000), func(i int) float64 { return float64(i) / 1e5 })).Draw(t, "value")
		n := rapid.IntRange(1, 6).Draw(t, "decimals")
		if got, want := decimals(v, n), byHand(v, n); got != want {
			t.Fatalf("%v to %d: %s, want %s", v, n, got, want)
		}
		if r := rounded(v, n); decimals(r, n) != decimals(v, n) || r == 0 && math.Signbit(r) {
			t.Fatalf("%v to %d is %v", v, n, r)
		}
	})
}

package schemas

import (
	"errors"
	"math/big"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// wholeNumber stores a whole number in an int, however it is spelled: a schema
// takes 20, 20.0 and 2e1 alike.
func wholeNumber(dec *jsontext.Decoder, n *int) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if *n, err = strconv.Atoi(string(value)); err != nil {
		*n, err = wholeSpelled(string(value))
	}
	return err
}

// wholeSpelled reads a whole number with a fraction or an exponent. Both are
// short: see reasonable.
func wholeSpelled(text string) (int, error) {
	exact, ok := new(big.Rat).SetString(text)
	if !ok || !exact.IsInt() {
		return 0, strconv.ErrSyntax
	}
	if !exact.Num().IsInt64() || int64(int(exact.Num().Int64())) != exact.Num().Int64() {
		return 0, strconv.ErrRange
	}
	return int(exact.Num().Int64()), nil
}

package schemas

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Encode returns v as JSON the way placet writes it: two-space indentation, no
// escapes but those that JSON demands, a final newline. Equal values give
// equal bytes. A nil slice is [], a nil map {}, a nil pointer or Raw null; an
// [Object] keeps its order, numbers as json.Number and strings within a [Raw]
// keep their spelling.
func Encode(v any) ([]byte, error) {
	body, err := json.Marshal(v, writeOptions, jsontext.WithIndent("  "))
	if err != nil {
		return nil, err
	}
	return append(body, '\n'), nil
}

var writeOptions = json.JoinOptions(
	json.Deterministic(true),
	jsontext.PreserveRawStrings(true),
	json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, n stdjson.Number) error {
		return enc.WriteValue(jsontext.Value(n))
	})),
)

// Line returns v as one line of a JSON Lines journal, with its newline.
func Line(v any) ([]byte, error) {
	body, err := json.Marshal(v, writeOptions)
	if err != nil {
		return nil, err
	}
	return append(body, '\n'), nil
}

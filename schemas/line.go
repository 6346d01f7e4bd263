package schemas

import "github.com/go-json-experiment/json"

// Line returns v as one line of a JSON Lines journal, with its newline.
func Line(v any) ([]byte, error) {
	body, err := json.Marshal(v, writing())
	if err != nil {
		return nil, err
	}
	return append(body, '\n'), nil
}

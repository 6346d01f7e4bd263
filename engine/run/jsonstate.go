package run

import (
	"placet/engine"
	"placet/schemas"
)

// JSONState returns the format of a state document that is the JSON of S, checked by a schema.
// [Head.Extra] holds members of a later version, for which S has no field. unfit is
// [Format.Unfit]. A state that this machine wrote is not checked against the schema, because that
// takes ten times as long as decoding it; one of another version of placet is.
func JSONState[S any](schema string, head func(*S) Head, unfit func(*Input, S) error) Format[S] {
	read := func(schema, path string, body []byte) (st S, err error) {
		if err = schemas.Decode(schema, path, body, &st); err == nil {
			*head(&st).Extra, err = schemas.Rest(body, &st)
		}
		return st, err
	}
	return Format[S]{
		Head: head, Unfit: unfit,
		Decode: func(path string, body []byte) (S, error) { return read(schema, path, body) },
		DecodeOwn: func(body []byte) (S, error) {
			st, err := read(schemas.Own, stateFile, body)
			if err == nil && *head(&st).Version != 1 {
				return read(schema, stateFile, body)
			}
			return st, err
		},
		Encode: func(st S) ([]byte, error) {
			return schemas.Encode(append(schemas.Struct(st), *head(&st).Extra...))
		},
	}
}

// Summarize implements [engine.Machine].
func (f *Family[S, V]) Summarize(body []byte) engine.Summary {
	if f.Summary != nil {
		return f.Summary(body)
	}
	return summarize(body, f.Final)
}

// summarize is [Family.Summary] for a state document that stores requests in the kernel's format.
func summarize(body []byte, isFinal func(engine.Status) bool) engine.Summary {
	var st struct {
		Status   engine.Status `json:"status"`
		Requests []struct {
			Status   string `json:"status"`
			OpenedAt Text   `json:"opened_at"`
		} `json:"requests"`
	}
	if schemas.Decode("", stateFile, body, &st) != nil {
		return engine.Summary{}
	}
	p := engine.Summary{Status: st.Status, Final: isFinal(st.Status), Touched: true}
	for _, q := range st.Requests {
		if q.Status == Open && !p.Final {
			p.Ask(q.OpenedAt.Time())
		}
	}
	return p
}

// Config returns the settings of a family, or the default if the snapshot has none.
func Config[C any](s engine.Snapshot, byDefault func() C) C {
	if c, ok := s.Facts.Config.Family.(C); ok {
		return c
	}
	return byDefault()
}

package gate_test

import (
	"strings"
	"testing"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
)

// A press of a button counts where the gate lets it; about what cannot be undone only where it says
// so. Approvers are known by more than a press.
func TestAPressCountsWhereTheGateLetsIt(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		links        *bool
		irreversible bool
		approvers    []string
		source       string
		problem      string
	}{
		"by default":            {source: "link"},
		"allowed":               {source: "link", links: &yes},
		"refused":               {source: "link", links: &no, problem: "links = false"},
		"irreversible":          {source: "link", irreversible: true, problem: "cannot be undone"},
		"irreversible, allowed": {source: "link", irreversible: true, links: &yes},
		"irreversible, refused": {source: "link", irreversible: true, links: &no, problem: "links = false"},
		"another surface":       {source: "http", irreversible: true, links: &no},
		"an approver":           {source: "link", links: &yes, approvers: []string{"ntfy-00000000"}, problem: "lets only `ntfy-00000000` answer"},
	} {
		asked := engine.OpenRequest{
			Request: "r-1", Type: "approval", Options: []engine.RequestOption{{ID: "approve"}, {ID: "reject"}}, Digest: engine.Sum([]byte("shown")), Lang: "en", Irreversible: c.irreversible,
		}
		body, err := gate.Response{RequestID: "r-1", Response: "approve", Digest: asked.Digest, ProvidedBy: gate.By{User: "ntfy-00000000", Source: c.source}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		a := gate.EvaluationOf(asked, engine.Gate{Level: "file", Links: c.links, Approvers: c.approvers})
		_, problem := a.Check(engine.Document{Path: "response.json", Kind: layout.KindResponse, Body: body, Known: []string{"link:ntfy-00000000"}, Source: c.source})
		if (problem == "") != (c.problem == "") || !strings.Contains(problem, c.problem) {
			t.Errorf("%s: %q, expected %q", name, problem, c.problem)
		}
	}
}

package pal

import (
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// typeEscalation is the only type of request.
const typeEscalation = "escalation"

// Options of requests.
const (
	optRetry     = "retry"
	optSkip      = "skip"
	optTakeOver  = "take_over"
	optAbortPort = "abort_port"
	optAbortRun  = "abort_orchestration"
	optDismiss   = "dismiss"
)

var questions = map[string]run.Question[*view]{
	typeEscalation: {Fill: fill, Title: form, Tell: tellRequest},
}

// fill completes a request about an escalation as it was when it opened.
func fill(r *view, q *run.Request, req *gate.Request) schemas.Object {
	e := r.run.State.Escalations[q.ID]
	if e == nil {
		return schemas.Object{}
	}
	req.Prompt = e.Title
	if !templates.Blank(e.Description) {
		req.Prompt += "\n\n" + e.Description
	}
	port := string(e.PortID)
	for _, id := range offered(e) {
		req.Options = append(req.Options, gate.Option{ID: id, Description: r.say("option." + id), Effect: effectOf(r, id, e)})
	}
	if port != "" {
		req.CommentRequired = []string{optTakeOver}
		if e.Type == typeDecision {
			req.CommentRequired = []string{optRetry, optTakeOver}
		}
	}
	req.Artifacts = e.Artifacts
	return contextOf(e, q.ID, &r.run.State)
}

// tellRequest names the port that a request is about.
func tellRequest(r *view, q *run.Request, a *engine.OpenRequest) {
	if e := r.run.State.Escalations[q.ID]; e != nil && e.PortID != "" {
		a.Where = string(e.PortID)
	}
}

// canDismiss reports whether the port can continue as it is. It cannot if its tries are used up or
// a dependency has failed.
func canDismiss(e *Escalation) bool {
	return e.Digest != "" || e.Type != typeTestFailure && e.Type != typeDependency
}

// effectOf describes the effect of an option.
func effectOf(r *view, id string, e *Escalation) string {
	switch id {
	case optRetry:
		return retryEffect(r, e)
	case optSkip, optAbortPort:
		return dependentEffect(r, "effect."+id, e)
	case optDismiss:
		return dismissEffect(r, e)
	}
	return r.say("effect."+id, "port", string(e.PortID))
}

func retryEffect(r *view, e *Escalation) string {
	port := string(e.PortID)
	switch {
	case e.isOfDependency():
		return r.say("effect.retry.dependency", "port", port, "failed", strings.ReplaceAll(e.Cause, ",", ", "))
	case e.Cut != "":
		return r.say("effect.retry.cut_off", "port", port, "by", e.Cut)
	}
	max := 0
	if p := r.run.State.Ports[port]; p != nil {
		max = p.Limits.MaxRetries
	}
	return r.say("effect.retry", "port", port, "n", max)
}

// dismissEffect describes the effect of dismissing. Its words stay true whatever happens to the
// port meanwhile.
func dismissEffect(r *view, e *Escalation) string {
	port := string(e.PortID)
	switch {
	case port == "" || kinds[e.Type].weight == informs:
		return r.say("effect.dismiss")
	case kinds[e.Type].weight == holds:
		return r.say("effect.dismiss.holds", "port", port)
	case e.Type == typeTimeout && e.Digest == "":
		return r.say("effect.dismiss.timeout", "port", port)
	}
	return r.say("effect.dismiss.stops", "port", port)
}

// dependentEffect describes an effect and names the ports that depend on the escalation's port, if
// there are any.
func dependentEffect(r *view, key string, e *Escalation) string {
	var ids []string
	for _, d := range e.Dependents {
		ids = append(ids, d.Port)
	}
	if len(ids) == 0 {
		return r.say(key+".alone", "port", string(e.PortID))
	}
	n, more := len(ids), ""
	if n > mostNamed {
		ids, more = ids[:mostNamed], " …"
	}
	return r.say(key, "port", string(e.PortID), "n", n, "dependents", joined(ids)+more)
}

// mostNamed is how many ports an effect names.
const mostNamed = 10

// offered returns the options for a person.
func offered(e *Escalation) (ids []string) {
	if e.PortID != "" {
		ids = append(ids, optRetry, optSkip, optTakeOver, optAbortPort)
	}
	ids = append(ids, optAbortRun)
	if canDismiss(e) {
		ids = append(ids, optDismiss)
	}
	return ids
}

func form(r *view, q *run.Request) gate.Texts {
	t := gate.Texts{Lang: r.run.Lang, Title: r.say("title"), Where: r.run.State.ID}
	e := r.run.State.Escalations[q.ID]
	if e == nil {
		return t
	}
	if e.PortID != "" {
		t.Where += " " + string(e.PortID)
	}
	t.Lines = append(t.Lines, "- "+e.Type+" ("+e.Severity+")")
	for _, d := range e.Dependents {
		t.Lines = append(t.Lines, "- "+r.say("form.dependent", "port", templates.Inline(d.Port), "status", string(d.Status)))
	}
	for _, a := range e.Actions {
		if e.Digest == "" {
			break // these are the options already
		}
		t.Lines = append(t.Lines, "- "+r.say("form.suggested", "action", templates.Inline(templates.Cut(run.OneLine(a), 300))))
	}
	return t
}

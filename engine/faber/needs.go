package faber

import "placet/layout"

// watch is where the agent shows that it goes on.
func watch(r *view) []string {
	if r.kernel.Begun && !r.isClosed() && !r.foreign() && r.resumes() {
		return []string{r.Path("events")}
	}
	return nil
}

// needs are the files outside the run's folder that the state calls for.
func needs(r *view) []string {
	if r.state.status == "" || final(r.state.status) {
		return nil
	}
	needs := r.definitions().needs()
	if q := r.question(); q != nil {
		for _, d := range q.artifactDocs() {
			needs = append(needs, "still:"+d.Path) // what is shown must have stood still
		}
	}
	if r.goesOn() && !r.foreign() {
		needs = append(needs, contextNeeds(r)...)
	}
	if len(r.Snap.Lacks(needs)) > 0 || r.events.open {
		return needs
	}
	if need := r.committedNeed(); need != "" {
		if needs = append(needs, need); !r.Snap.Has(need) {
			return needs
		}
	}
	return append(needs, resumeNeeds(r)...)
}

// resumeNeeds are the files that resume.md hangs on where an answer is taken now.
func resumeNeeds(r *view) []string {
	spec := r.state.spec()
	if a := r.answered(); !layout.Safe(spec) || r.foreign() || a == nil || a.e.outcome == nil || a.e.to != InProgress {
		return nil
	}
	return []string{spec}
}

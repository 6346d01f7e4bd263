package afl

import "placet/templates"

// changesMD returns changes.md: what a person asked to change in the
// checkpoints, and what is wrong with them, one finding a line.
func changesMD(lang, session string, ch ChangesRequested, findings []string) []byte {
	return rendered(lang, "changes", templates.AFLChangesData{
		First: docLine(session, "", "changes", 0), Session: session,
		By: orDash(string(ch.By)), At: orDash(string(ch.At)), Digest: orDash(string(ch.Digest)),
		Comment: string(ch.Comment), Findings: findings,
	})
}

package gate

import "placet/engine"

// committed begins what is known of the author of an answer that came by git: the mail of
// the commit's author, which whoever commits may choose.
const committed = "committed:"

// unknownMail stands for a mail that cannot be told.
const unknownMail = "?"

// findCommitter finds out whether an answer file came by git. Its author is then who
// committed it. ok is false while git has not been asked.
func (a Evaluation) findCommitter(c *Claim) (ok bool) {
	user := c.By.User
	if c.Source == FromForm {
		user = "" // a form claims nobody
	}
	known, mail, ok := Author(c.file, user, a.Fact)
	if mail != "" {
		c.Known, c.By.User = known, mail
	}
	return ok
}

// Author is what is known of who wrote a file that names a user, "" for none. The author of
// one that no surface of this machine wrote and that came by git is who committed it, by mail,
// and not who owns the file: that is whoever pulled it. ok is false while git has not been
// asked. fact is [Evaluation.Fact].
func Author(d engine.Document, user string, fact func(need string) (engine.Document, bool)) (known []string, mail string, ok bool) {
	if fact != nil && d.Source == "" {
		said, ok := fact(engine.NeedCommitter(d))
		if !ok {
			return nil, "", false
		}
		mail = committer(said)
	}
	if mail == "" {
		return claimed(d.Known, user), "", true
	}
	return claimed([]string{committed + mail}, user), mail, true
}

// committer is the mail that a fact holds, "" where it says that the content did not come by
// git.
func committer(fact engine.Document) string {
	switch {
	case fact.Absent():
		return ""
	case fact.Err != nil:
		return unknownMail
	}
	return string(fact.Body)
}

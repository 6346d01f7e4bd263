package gate

import "placet/engine"

// committed is the prefix of what is known of the author of an answer that came by git. The
// mail of the commit's author follows it, which whoever commits may choose.
const committed = "committed:"

// unknownMail stands for a mail that cannot be determined.
const unknownMail = "?"

// findCommitter determines whether an answer file came by git. Its author is then whoever
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

// Author returns what is known of the author of a file that names a user, "" for none. If no
// surface of this machine wrote the file and it came by git, its author is whoever committed
// it, by mail. The owner of such a file is not its author, but whoever pulled it. ok is false
// while git has not been asked. fact is [Evaluation.Fact].
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

// committer returns the mail in a fact, "" if the fact says that the content did not come by
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

package sqlite

import (
	"slices"

	"modernc.org/sqlite"
)

// withAuthorizer inserts into a table while SQLite asks permission for every action that
// follows, because a trigger may have upstream's name and a different body.
func (c *connection) withAuthorizer(table string, insert func() error) error {
	var denied string
	leave := func(action sqlite.AuthorizerActionCode, of, function, _, by string) sqlite.AuthorizerReturnCode {
		if action == sqlite.AuthFunction {
			of = function
		}
		what := c.allowed.forbids(action, lower(of), lower(by), table)
		if what == "" {
			return sqlite.AuthorizerOK
		}
		if denied == "" {
			denied = "a trigger that " + what
			if by != "" {
				denied = "a trigger that uses " + quoteForPeople(by) + ", which " + what
			}
			if c.allowed.made[kindTrigger][lower(by)].name != "" {
				denied = "the trigger " + quoteForPeople(by) + ", which " + what
			}
		}
		return sqlite.AuthorizerDeny
	}
	if err := c.authorize(leave); err != nil {
		return err
	}
	err := insert()
	if again := c.authorize(nil); err == nil {
		err = again
	}
	if denied != "" {
		return unsound(denied)
	}
	return err
}

func (c *connection) authorize(leave sqlite.AuthorizerFn) error {
	return c.Raw(func(driver any) error { return driver.(sqlite.AuthorizerRegisterer).RegisterAuthorizer(leave) })
}

// called lists the functions that triggers and the defaults of what they write may call.
// Those of upstream call no others.
var called = []string{"coalesce", "ifnull", "current_timestamp"}

// forbids says what in an action goes beyond what upstream's schema does when a row is
// inserted into a table, "" if nothing does. Full-text indexes change their own tables
// through statements of their own.
func (s *upstream) forbids(action sqlite.AuthorizerActionCode, of, by, table string) string {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthTransaction, sqlite.AuthSavepoint:
		return ""
	case sqlite.AuthRead:
		if s.touches(of) || s.made[kindVirtual][of].name != "" {
			return ""
		}
		return "reads " + quoteForPeople(of)
	case sqlite.AuthInsert:
		if by == "" && (of == table || s.keeps(of)) || by != "" && s.into[[2]string{by, of}] {
			return ""
		}
		return "writes into " + quoteForPeople(of)
	case sqlite.AuthUpdate, sqlite.AuthDelete:
		if by == "" && s.keeps(of) {
			return ""
		}
		return "changes " + quoteForPeople(of)
	case sqlite.AuthPragma:
		if by == "" && of == "data_version" {
			return ""
		}
	case sqlite.AuthFunction:
		if slices.Contains(called, of) {
			return ""
		}
		return "calls " + quoteForPeople(of)
	}
	return "does what upstream's schema does not"
}

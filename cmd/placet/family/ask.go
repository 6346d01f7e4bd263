package family

import (
	"placet/engine/ask"
	"placet/layout"
	"placet/templates"
)

var askFamily = Family{
	Name: "ask", Noun: templates.NewMessage("family.noun.ask"),
	Machine: ask.New,
	Enabled: func(s *Settings) bool { return s.Ask.Enabled },
	Layout:  func(s *Settings) layout.Family { return layout.Ask{Folder: s.Ask.Root} },
	Config:  func(s *Settings) (any, string) { return s.Ask, s.Ask.Language },
	Check:   func(s *Settings) ([]string, error) { return nil, s.Ask.Check() },
	Policy:  [][]string{{"root"}},
}

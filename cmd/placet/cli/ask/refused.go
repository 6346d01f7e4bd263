package ask

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/schemas"
	"placet/templates"
)

// written maps each member of ask.json to how a person writes it on the command line.
var written = map[string]struct{ flag, example string }{
	"question":        {"QUESTION", `placet ask "Deploy 1.4 to production?"`},
	"type":            {"--type", "--type choice"},
	"options":         {"--option", `--option deploy="Deploy now" --option wait="Ask again tomorrow"`},
	"context":         {"--context", "--context-file notes.md"},
	"artifacts":       {"--artifact", "--artifact plan.md"},
	"deadline":        {"--deadline", `--deadline 90m, --deadline 2d or --deadline "tomorrow 18:00"`},
	"default":         {"--default", "--deadline 2h --default reject"},
	"may_answer":      {"--may-answer", "--may-answer kim"},
	"asked_by":        {"--as", "--as deploy.sh"},
	"tags":            {"--tag", "--tag release"},
	"parent":          {"--parent", "--parent faber/1234"},
	"correlation":     {"--correlation", "--correlation build-77"},
	"idempotency_key": {"--key", "--key deploy-1.4"},
	"supersedes":      {"--supersedes", "--supersedes deploy-13"},
	"round_of":        {"--round-of", "--round-of deploy-13"},
}

// refused returns why nobody can be asked, with the flag that is wrong and an example of it. Of
// a question from a file it names that file: nobody has written the ask.json that would have
// been made.
func (x *newAsk) refused(err error) error {
	var bad *schemas.Error
	if !errors.As(err, &bad) || len(bad.Names()) == 0 {
		return err
	}
	member := bad.Names()[0]
	w, known := written[member]
	given := slices.ContainsFunc(schemas.Struct(x.Ask), func(m schemas.Member) bool { return m.Name == member && !reflect.ValueOf(m.Value).IsZero() })
	if x.file != "" && !given || !known {
		there := *bad
		there.Path, there.Line = x.file, 0
		return console.Refused("workspace.ask.invalid", "error", &there)
	}
	if member == "options" && bad.Line == 0 {
		bad.Expected = templates.Message{} // an example for ask.json
	}
	p := console.Usage("cli.ask.flag", "flag", x.named(w.flag, bad.Names()), "problem", bad.Says())
	return p.Try("cli.ask.flag.try", "example", w.example)
}

// named returns a flag with the value that is wrong, if the flag may be given several times.
func (x *newAsk) named(flag string, at []string) string {
	if len(at) < 2 {
		return flag
	}
	i, err := strconv.Atoi(at[1])
	value := ""
	switch {
	case err != nil:
	case at[0] == "options" && i < len(x.Options):
		value = x.Options[i].ID
	case at[0] == "artifacts" && i < len(x.Artifacts):
		value = x.Artifacts[i].Path
	case at[0] == "may_answer" && i < len(x.MayAnswer):
		value = x.MayAnswer[i]
	case at[0] == "tags" && i < len(x.Tags):
		value = x.Tags[i]
	}
	if value == "" {
		return flag
	}
	return flag + " " + templates.ShellWord(console.OneLine(value))
}

// oneQuestion returns the question, which is one argument. A length after --wait belongs to
// that flag, as it does with a sign of equality.
func (x *newAsk) oneQuestion(c verb.Call) (question string, err error) {
	args := slices.Clone(c.Args)
	if c.Flags.Changed("wait") && x.wait.timeout == waitForEver {
		if i := slices.IndexFunc(args, isLength); len(args) <= 2 && i >= 0 {
			x.wait.timeout = args[i]
			args = slices.Delete(args, i, i+1)
		}
	}
	if len(args) > 1 {
		whole := console.Typed("ask", strings.Join(args, " "))
		return "", console.Usage("cli.ask.quotes", "n", len(args)).Try("say.text", "text", whole)
	}
	if c.Flags.Changed("wait") {
		_, err = Duration(x.wait.timeout)
	}
	return console.First(args), err
}

func isLength(s string) bool {
	_, err := Duration(s)
	return err == nil
}

// clockTimes are the layouts of a deadline as people write it, in their own zone.
var clockTimes = []string{"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05"}

// fromClock returns a deadline that is a time of the clock, "tomorrow 18:00" for example, as
// ask.json has it. A time without a day is the next one. Every other text stays as it is.
func fromClock(now time.Time, s string) string {
	now = now.Local()
	today, next := now.Format(time.DateOnly), now.AddDate(0, 0, 1).Format(time.DateOnly)
	text := strings.ToLower(strings.TrimSpace(s))
	text = strings.NewReplacer("today", today, "tomorrow", next).Replace(text)
	if len(text) == len("18:00") {
		text = today + " " + text
		if at, err := time.ParseInLocation(clockTimes[0], text, now.Location()); err == nil && at.Before(now) {
			text = next + text[len(today):]
		}
	}
	for _, layout := range clockTimes {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at.UTC().Format(time.RFC3339)
		}
	}
	return s
}

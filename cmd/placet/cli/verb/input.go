package verb

import (
	"io"
	"os"
	"strings"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/engine/gate"
	"placet/engine/store/fs"
	"placet/templates"
)

// ReadInput reads a file, or standard input, without its last line end.
func ReadInput(w *console.Env, name string) (string, error) {
	in, err := OpenInput(w, name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	body, err := io.ReadAll(io.LimitReader(in, config.LimitSmall))
	return strings.TrimSuffix(string(body), "\n"), err
}

// OpenInput opens a file that is named on the command line, or standard input for "-".
func OpenInput(w *console.Env, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(w.In), nil
	}
	return os.Open(w.Path(name))
}

// ReadBelow reads a small file below a root, and follows no link.
func ReadBelow(disk fs.FS, name string) ([]byte, error) {
	f, err := disk.Open(name, fs.ForReading, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body, err := io.ReadAll(io.NewSectionReader(f, 0, config.LimitSmall+1))
	if err == nil && len(body) > config.LimitSmall {
		err = templates.Errorf("cli.init.large")
	}
	return body, err
}

// CheckWords refuses a person's text, and a name, if it is longer than in an answer. what names
// the text: the reason, for example.
func CheckWords(w *console.Env, verb, of, what, words, by string) error {
	wrong := gate.CheckLimits(what, gate.Answer{Comment: words, By: gate.By{User: by}})
	if wrong == nil {
		return nil
	}
	return console.Refused("cli.control.refused", "verb", verb, "run", of, "why", answer.Unquoted(templates.In(w.Lang, wrong), what))
}

// OrNull returns a word, or nil for "".
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Exists reports whether a file or a folder exists at a path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
